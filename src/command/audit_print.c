/* audit_print.c: the report of rmcp audit as text, JSON and CSV. */
#include "command/audit.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static const char *const kind_names[AUDIT_N_KINDS] = { "native", "foreign", "other" };

/* ---- text ---- */

/* Names come from files: no control characters to the terminal. */
static void print_name(const char *text)
{
    for (; *text; text++) putchar((unsigned char)*text < 32 || *text == 127 ? '?' : *text);
}

static void print_library(const struct audit_report *report, const struct audit_library *library)
{
    static const char *const remarks[AUDIT_N_KINDS] = {
        "code for the chip",
        "runs there only under HSA_OVERRIDE_GFX_VERSION",
        "not gfx10: not decoded",
    };
    putchar('\n');
    print_name(library->name);
    printf("\n  code for %s: %s\n", isa_chip_name(report->chip),
           audit_has_native(library) ? "yes" : "none");
    printf("  %-24s %8s %9s %9s %9s\n", "target", "objects", "kernels", "lacking", "pattern");
    for (size_t i = 0; i < library->n_groups; i++) {
        const struct audit_group *g = &library->groups[i];
        printf("  %-24s %8" PRIu64 " %9" PRIu64, g->target, g->objects, g->kernels);
        if (g->kind == AUDIT_OTHER)
            printf(" %9s %9s  %s\n", "-", "-", remarks[g->kind]);
        else
            printf(" %9" PRIu64 " %9" PRIu64 "  %s\n", g->lacking.kernels, g->any.kernels,
                   strstr(g->target, ":xnack+") ? "needs XNACK, which RDNA drivers leave off"
                                                : remarks[g->kind]);
        if (g->repaired) printf("  %-24s %8" PRIu64 " made by rmcp repair\n", "", g->repaired);
    }
    if (library->n_others)
        printf("  %" PRIu64 " pieces of LLVM bitcode or SPIR-V: not decoded\n", library->n_others);
    if (library->n_troubles)
        printf("  %" PRIu64 " pieces could not be read\n", library->n_troubles);
}

/* Everything of one kind that was decoded. */
static struct audit_group sum_kind(const struct audit_report *report, enum audit_kind kind)
{
    struct audit_group sum = { .kind = kind };
    for (size_t i = 0; i < report->n_totals; i++) {
        const struct audit_group *g = &report->totals[i];
        if (g->kind != kind) continue;
        sum.objects += g->objects;
        sum.kernels += g->kernels;
        sum.functions += g->functions;
        sum.instructions += g->instructions;
        sum.unknown_words += g->unknown_words;
        sum.unknown_calls += g->unknown_calls;
        sum.across += g->across;
        sum.lacking.instructions += g->lacking.instructions;
        sum.lacking.kernels += g->lacking.kernels;
        sum.any.instructions += g->any.instructions;
        sum.any.kernels += g->any.kernels;
        for (size_t r = 0; r < ISA_N_RULES; r++) {
            sum.rule[r].instructions += g->rule[r].instructions;
            sum.rule[r].kernels += g->rule[r].kernels;
        }
        for (size_t d = 0; d < ISA_N_DETAILS; d++) {
            sum.detail[d].instructions += g->detail[d].instructions;
            sum.detail[d].kernels += g->detail[d].kernels;
        }
    }
    return sum;
}

static void print_row(const char *name, const struct audit_count *native,
                      const struct audit_count *foreign)
{
    printf("  %-24s %12" PRIu64 " %9" PRIu64 " %14" PRIu64 " %9" PRIu64 "\n", name,
           native->instructions, native->kernels, foreign->instructions, foreign->kernels);
}

static void print_totals(const struct audit_report *report)
{
    const struct audit_group native = sum_kind(report, AUDIT_NATIVE);
    const struct audit_group foreign = sum_kind(report, AUDIT_FOREIGN);
    const char *chip = isa_chip_name(report->chip);
    char left[48];
    snprintf(left, sizeof left, "code for %s", chip);
    printf("\ntotal\n  %-24s %22s %24s\n", "", left, "code for other gfx10");
    printf("  %-24s %12s %9s %14s %9s\n", "", "instructions", "kernels", "instructions", "kernels");
    print_row("all", &(struct audit_count){ native.instructions, native.kernels, 0 },
              &(struct audit_count){ foreign.instructions, foreign.kernels, 0 });
    print_row("lacking in the chip", &native.lacking, &foreign.lacking);
    print_row("any pattern", &native.any, &foreign.any);
    for (unsigned r = 0; r < ISA_N_RULES; r++) {
        print_row(isa_rule_table[r].id, &native.rule[r], &foreign.rule[r]);
        for (size_t d = 1; d < ISA_N_DETAILS; d++) {
            if (audit_detail_rules[d] != r || (!native.rule[r].kernels && !foreign.rule[r].kernels))
                continue;
            snprintf(left, sizeof left, "    %s", audit_detail_names[d]);
            print_row(left, &native.detail[d], &foreign.detail[d]);
        }
    }
    if (native.unknown_words + foreign.unknown_words)
        printf("  %" PRIu64 " words were no instructions of the chip they were built for\n",
               native.unknown_words + foreign.unknown_words);
    if (native.across + foreign.across)
        printf("  %" PRIu64 " native and %" PRIu64
               " foreign patterns are across calls, where LLVM does not look\n",
               native.across, foreign.across);
    if (native.unknown_calls + foreign.unknown_calls)
        printf("  %" PRIu64 " calls go to functions that are not known: taken for the worst\n",
               native.unknown_calls + foreign.unknown_calls);

    bool any = false;
    for (size_t r = 0; r < ISA_N_RULES; r++) {
        if (!native.rule[r].instructions && !foreign.rule[r].instructions) continue;
        if (!any) printf("\nwhat LLVM's sources say of the patterns that are there\n");
        any = true;
        printf("  %-20s %s\n  %-20s (%s)\n", isa_rule_table[r].id, isa_rule_table[r].silicon, "",
               isa_rule_table[r].feature);
    }
}

static void print_opcodes(const struct audit_report *report)
{
    if (!report->n_opcodes) return;
    printf("\ninstructions that %s lacks\n", isa_chip_name(report->chip));
    for (size_t i = 0; i < report->n_opcodes; i++) {
        const struct audit_opcode *o = &report->opcodes[i];
        printf("  %-32s %12" PRIu64 " in %" PRIu64 " kernels", o->name, o->instructions,
               o->kernels);
        if (o->means)
            printf("; there it means %s\n", o->means);
        else
            putchar('\n');
    }
}

static void print_worst(const struct audit_report *report, bool full)
{
    /* rocBLAS has names of 500 characters. */
    enum { BEFORE = 34, BEHIND = 18, LEAST = 20, USUAL = 100 };
    const int columns = cli_width(STDOUT_FILENO), room = (columns ? columns : USUAL) - BEFORE;
    bool shortened = false;
    if (!report->n_worst) return;
    printf("\nkernels with the most findings\n  %9s %9s  %-10s %s\n", "lacking", "patterns",
           "target", "kernel");
    for (size_t i = 0; i < report->n_worst; i++) {
        const struct audit_worst *w = &report->worst[i];
        printf("  %9" PRIu64 " %9" PRIu64 "  %-10s ", w->lacking, w->patterns, w->target);
        const int left = room - (w->is_kernel ? 0 : BEHIND), width = full           ? 0
                                                                     : left < LEAST ? LEAST
                                                                                    : left;
        cli_print_shortened(stdout, w->name, width);
        shortened |= width && strlen(w->name) > (size_t)width;
        puts(w->is_kernel ? "" : " (device function)");
    }
    if (shortened) puts("  names were shortened: --full has them whole");
}

void audit_print_text(const struct audit_report *report, bool full)
{
    printf("target     %s; read from the files alone, nothing was run on silicon\n",
           isa_chip_name(report->chip));
    size_t without = 0;
    for (size_t i = 0; i < report->n_libraries; i++) {
        print_library(report, &report->libraries[i]);
        without += !audit_has_native(&report->libraries[i]);
    }
    print_totals(report);
    print_opcodes(report);
    print_worst(report, full);
    printf("\n%zu of %zu libraries have no code for %s\n", without, report->n_libraries,
           isa_chip_name(report->chip));
    puts("A kernel that has a pattern may still work: the pattern is what LLVM keeps out of code "
         "for\n"
         "the chip, and which of them matter in practice only the chip can tell.");
}

/* ---- CSV ---- */

static void print_quoted(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"') putchar('"');
        putchar((unsigned char)*text < 32 ? '?' : *text);
    }
    putchar('"');
}

static void print_count(const struct audit_count *count)
{
    printf(",%" PRIu64 ",%" PRIu64 ",%" PRIu64, count->instructions, count->kernels,
           count->functions);
}

static void print_heads(const char *name)
{
    printf(",%s_instructions,%s_kernels,%s_functions", name, name, name);
}

void audit_print_csv(const struct audit_report *report)
{
    printf("library,target,kind,objects,kernels,kernels_without_code,functions,code_bytes,"
           "instructions,unknown_words");
    print_heads("lacking");
    print_heads("any_pattern");
    for (size_t r = 0; r < ISA_N_RULES; r++) print_heads(isa_rule_table[r].id);
    for (size_t d = 1; d < ISA_N_DETAILS; d++) {
        char name[64];
        snprintf(name, sizeof name, "%s:%s", isa_rule_table[audit_detail_rules[d]].id,
                 audit_detail_names[d]);
        print_heads(name);
    }
    putchar('\n');
    for (size_t i = 0; i < report->n_libraries; i++)
        for (size_t j = 0; j < report->libraries[i].n_groups; j++) {
            const struct audit_group *g = &report->libraries[i].groups[j];
            print_quoted(report->libraries[i].name);
            printf(",%s,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                   ",%" PRIu64,
                   g->target, kind_names[g->kind], g->objects, g->kernels, g->no_code, g->functions,
                   g->code_bytes, g->instructions, g->unknown_words);
            print_count(&g->lacking);
            print_count(&g->any);
            for (size_t r = 0; r < ISA_N_RULES; r++) print_count(&g->rule[r]);
            for (size_t d = 1; d < ISA_N_DETAILS; d++) print_count(&g->detail[d]);
            putchar('\n');
        }
}

/* ---- JSON ---- */

static void add_count(cJSON *object, const char *name, const struct audit_count *count)
{
    cJSON *row = cJSON_AddObjectToObject(object, name);
    cJSON_AddNumberToObject(row, "instructions", (double)count->instructions);
    cJSON_AddNumberToObject(row, "kernels", (double)count->kernels);
    cJSON_AddNumberToObject(row, "functions", (double)count->functions);
}

static cJSON *groups_json(const struct audit_group *groups, size_t n)
{
    cJSON *rows = cJSON_CreateArray();
    for (size_t i = 0; i < n; i++) {
        const struct audit_group *g = &groups[i];
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "target", g->target);
        cJSON_AddStringToObject(row, "kind", kind_names[g->kind]);
        cJSON_AddNumberToObject(row, "objects", (double)g->objects);
        cJSON_AddNumberToObject(row, "repaired", (double)g->repaired);
        cJSON_AddNumberToObject(row, "kernels", (double)g->kernels);
        cJSON_AddNumberToObject(row, "kernels_without_code", (double)g->no_code);
        if (g->kind != AUDIT_OTHER) {
            cJSON_AddNumberToObject(row, "functions", (double)g->functions);
            cJSON_AddNumberToObject(row, "code_bytes", (double)g->code_bytes);
            cJSON_AddNumberToObject(row, "instructions", (double)g->instructions);
            cJSON_AddNumberToObject(row, "unknown_words", (double)g->unknown_words);
            cJSON_AddNumberToObject(row, "unknown_calls", (double)g->unknown_calls);
            cJSON_AddNumberToObject(row, "across_calls", (double)g->across);
            add_count(row, "lacking", &g->lacking);
            add_count(row, "any_pattern", &g->any);
            cJSON *rules = cJSON_AddObjectToObject(row, "patterns");
            for (unsigned r = 0; r < ISA_N_RULES; r++) {
                add_count(rules, isa_rule_table[r].id, &g->rule[r]);
                for (size_t d = 1; d < ISA_N_DETAILS; d++)
                    if (audit_detail_rules[d] == r)
                        add_count(cJSON_GetObjectItem(rules, isa_rule_table[r].id),
                                  audit_detail_names[d], &g->detail[d]);
            }
        }
        cJSON_AddItemToArray(rows, row);
    }
    return rows;
}

static cJSON *worst_json(const struct audit_worst *w)
{
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "kernel", w->name);
    cJSON_AddStringToObject(row, "library", w->library);
    cJSON_AddStringToObject(row, "target", w->target);
    cJSON_AddBoolToObject(row, "is_kernel", w->is_kernel);
    cJSON_AddNumberToObject(row, "lacking", (double)w->lacking);
    cJSON *rules = cJSON_AddObjectToObject(row, "patterns");
    for (size_t r = 0; r < ISA_N_RULES; r++)
        if (w->rule[r]) cJSON_AddNumberToObject(rules, isa_rule_table[r].id, (double)w->rule[r]);
    return row;
}

static cJSON *opcode_json(const struct audit_opcode *o)
{
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "instruction", o->name);
    cJSON_AddNumberToObject(row, "instructions", (double)o->instructions);
    cJSON_AddNumberToObject(row, "kernels", (double)o->kernels);
    if (o->means) cJSON_AddStringToObject(row, "means_there", o->means);
    return row;
}

int audit_print_json(const struct audit_report *report)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "target", isa_chip_name(report->chip));
    cJSON_AddBoolToObject(object, "run_on_silicon", 0);
    cJSON *rules = cJSON_AddArrayToObject(object, "rules");
    for (size_t r = 0; r < ISA_N_RULES; r++) {
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "id", isa_rule_table[r].id);
        cJSON_AddStringToObject(row, "llvm_feature", isa_rule_table[r].feature);
        cJSON_AddStringToObject(row, "pattern", isa_rule_table[r].pattern);
        cJSON_AddStringToObject(row, "silicon", isa_rule_table[r].silicon);
        cJSON_AddItemToArray(rules, row);
    }
    cJSON *libraries = cJSON_AddArrayToObject(object, "libraries");
    for (size_t i = 0; i < report->n_libraries; i++) {
        const struct audit_library *library = &report->libraries[i];
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "library", library->name);
        cJSON_AddBoolToObject(row, "has_code_for_target", audit_has_native(library));
        cJSON_AddNumberToObject(row, "bitcode_or_spirv", (double)library->n_others);
        cJSON_AddNumberToObject(row, "unreadable_pieces", (double)library->n_troubles);
        cJSON_AddItemToObject(row, "targets", groups_json(library->groups, library->n_groups));
        cJSON_AddItemToArray(libraries, row);
    }
    cJSON_AddItemToObject(object, "totals", groups_json(report->totals, report->n_totals));
    cJSON *opcodes = cJSON_AddArrayToObject(object, "lacking_instructions");
    for (size_t i = 0; i < report->n_opcodes; i++)
        cJSON_AddItemToArray(opcodes, opcode_json(&report->opcodes[i]));
    cJSON *worst = cJSON_AddArrayToObject(object, "worst");
    for (size_t i = 0; i < report->n_worst; i++)
        cJSON_AddItemToArray(worst, worst_json(&report->worst[i]));
    return cli_print_json(object, "rmcp.audit/1");
}
