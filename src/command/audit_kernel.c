/* audit_kernel.c: the code of one kernel as rmcp audit sees it, findings marked. */
#include "command/audit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct listing {
    const char *name;
    unsigned chip;
    uint64_t n_troubles, n_functions, n_findings;
    /* of the function at hand */
    struct isa_finding *findings; /* in the order of the code */
    size_t n, room;
    uint8_t *causes; /* per word: it is the cause of a finding further on */
    size_t n_words;
    bool out_of_memory;
};

static void keep(const struct isa_finding *finding, void *context)
{
    struct listing *l = context;
    if (l->n == l->room) {
        size_t room = l->room ? 2 * l->room : 64;
        struct isa_finding *grown = realloc(l->findings, room * sizeof *grown);
        if (!grown) {
            l->out_of_memory = true;
            return;
        }
        l->findings = grown;
        l->room = room;
    }
    l->findings[l->n++] = *finding;
    if (finding->cause != ISA_NO_CAUSE && finding->cause != finding->at &&
        finding->cause / 4 < l->n_words)
        l->causes[finding->cause / 4] = 1;
}

static void print_finding(const struct isa_finding *f)
{
    const struct isa_rule_info *rule = &isa_rule_table[f->rule];
    printf("           ^ has the pattern %s", rule->id);
    if (f->cause != ISA_NO_CAUSE && f->cause != f->at) printf(", cause at %06" PRIx32, f->cause);
    printf(": %s\n", rule->silicon);
}

/* '>' is an instruction with a finding, 'c' one that makes a later one a finding. */
static void print_lines(struct listing *l, unsigned built, const uint32_t *words)
{
    struct isa_inst inst;
    char text[256];
    size_t next = 0;
    for (size_t at = 0, length; at < l->n_words; at += length ? length : 1) {
        const char *means = NULL;
        bool lacks = false;
        length = isa_decode(built, words + at, l->n_words - at, &inst);
        if (length) {
            isa_print(&inst, text, sizeof text);
            lacks = (built & ~(unsigned)ISA_WAVE64) != l->chip && isa_is_legal(&inst) &&
                    audit_lacks(l->chip, &inst, &means);
        } else {
            snprintf(text, sizeof text, ".long 0x%08" PRIx32, words[at]);
        }
        bool found = next < l->n && l->findings[next].at == 4 * at;
        printf("%c%c %06zx  %s", found || lacks ? '>' : ' ', l->causes[at] ? 'c' : ' ', 4 * at,
               text);
        if (length && inst.row->flags & ISA_BRANCH)
            printf(" ; to %06" PRIx64, (uint64_t)(4 * ((int64_t)(at + length) + inst.imm)));
        putchar('\n');
        if (lacks) {
            l->n_findings++;
            printf("           ^ %s lacks this instruction%s%s\n", isa_chip_name(l->chip),
                   means ? "; there it means " : "", means ? means : "");
        }
        for (; next < l->n && l->findings[next].at < 4 * (at + (length ? length : 1)); next++)
            print_finding(&l->findings[next]);
    }
    l->n_findings += l->n;
}

static int compare_findings(const void *left, const void *right)
{
    const struct isa_finding *a = left, *b = right;
    if (a->at != b->at) return a->at < b->at ? -1 : 1;
    return (a->rule > b->rule) - (a->rule < b->rule);
}

static rmcp_status print_function(struct listing *l, const struct codeobj_item *item,
                                  const struct codeobj *object, size_t index)
{
    struct isa_rules_count count;
    struct audit_code *code;
    rmcp_status status =
        audit_code_create(object, (unsigned)isa_chip_of_mach(item->target.mach), &code);
    if (status) return status;
    const struct isa_code *own = &code->codes[index];
    l->n = 0;
    l->n_words = own->n_words;
    l->causes = calloc(l->n_words + 1, 1);
    if (!l->causes ||
        (l->chip != ISA_GFX1030 && !isa_calls_check(code->calls, index, keep, l, &count)))
        l->out_of_memory = true;
    if (l->out_of_memory) {
        status = rmcp_fail_memory("findings", l->n_words);
    } else {
        if (l->n) qsort(l->findings, l->n, sizeof *l->findings, compare_findings);
        printf("%s%s\n%s, %s, %s mode, built for %s\n", l->n_functions++ ? "\n" : "", item->path,
               l->name, own->chip_mode & ISA_WAVE64 ? "wave64" : "wave32",
               own->wgp_mode ? "WGP" : "CU", item->target.text);
        print_lines(l, own->chip_mode, own->words);
    }
    free(l->causes);
    l->causes = NULL;
    audit_code_destroy(code);
    return status;
}

static rmcp_status visit(void *context, const struct codeobj_item *item)
{
    struct listing *l = context;
    struct codeobj *object;
    if (item->kind == CODEOBJ_TROUBLE) audit_complain(&l->n_troubles, item->path, item->message);
    if (item->kind != CODEOBJ_OBJECT || isa_chip_of_mach(item->target.mach) < 0) return RMCP_OK;
    rmcp_status status = codeobj_open(item->bytes, item->size, &object);
    if (status == RMCP_E_IO || status == RMCP_E_UNSUPPORTED) {
        audit_complain(&l->n_troubles, item->path, rmcp_last_error());
        return RMCP_OK;
    }
    if (status) return status;
    const struct codeobj_kernel *kernel = codeobj_find_kernel(object, l->name);
    const struct codeobj_function *function = kernel ? kernel->function : NULL;
    for (size_t i = 0; i < object->n_functions && !kernel && !function; i++)
        if (!strcmp(object->functions[i].name, l->name)) function = &object->functions[i];
    if (function) status = print_function(l, item, object, (size_t)(function - object->functions));
    codeobj_close(object);
    return status;
}

int audit_print_kernel(const char *name, unsigned chip, int n_paths, char **paths)
{
    struct listing l = { .name = name, .chip = chip };
    rmcp_status status = RMCP_OK;
    for (int i = 0; i < n_paths && !status; i++)
        status = codeobj_walk_path(paths[i], NULL, visit, &l);
    free(l.findings);
    if (status) return cli_failed("audit", status);
    if (!l.n_functions) {
        cli_complain("audit", "no gfx10 code of a kernel '%.200s' in there", name);
        return CLI_FINDINGS;
    }
    printf("\n%" PRIu64 " findings in %" PRIu64
           " functions of this name; nothing was run on silicon\n",
           l.n_findings, l.n_functions);
    return l.n_findings || l.n_troubles ? CLI_FINDINGS : CLI_OK;
}
