/* report.c: a report while it grows: libraries, groups by target, the worst kernels, totals. */
#include <stdlib.h>
#include <string.h>

#include "code/audit/report.h"

const char *const audit_detail_names[ISA_N_DETAILS] = {
    [ISA_DETAIL_NONE] = "",     [ISA_DETAIL_EXEC] = "exec",     [ISA_DETAIL_SGPR] = "sgpr",
    [ISA_DETAIL_VMEM] = "vmem", [ISA_DETAIL_CLAUSE] = "clause",
};
const enum isa_rule audit_detail_rules[ISA_N_DETAILS] = {
    [ISA_DETAIL_EXEC] = ISA_RULE_VMEM_SCALAR_WRITE,
    [ISA_DETAIL_SGPR] = ISA_RULE_VMEM_SCALAR_WRITE,
    [ISA_DETAIL_VMEM] = ISA_RULE_NSA,
    [ISA_DETAIL_CLAUSE] = ISA_RULE_NSA,
};

/* Room for one more in a list of `n`; sizes double. NULL when memory runs out, the old list stays.
 */
static void *grow(void *list, size_t n, size_t bytes)
{
    if (n & (n - 1) || (n && n < 4)) return list;
    const size_t room = n < 4 ? 4 : 2 * n;
    void *grown = realloc(list, room * bytes);
    if (!grown) rmcp_fail_memory("report", room * bytes);
    return grown;
}

static char *copy_text(const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    if (!copy) {
        rmcp_fail_memory("name", length);
        return NULL;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

rmcp_status report_find_library(struct audit_report *report, size_t first, const char *path,
                                size_t length, size_t *index)
{
    const size_t n = report->n_libraries;
    for (size_t i = n; i-- > first;) { /* most often the last */
        const char *name = report->libraries[i].name;
        if (strlen(name) != length || strncmp(name, path, length)) continue;
        *index = i;
        return RMCP_OK;
    }
    struct audit_library *list = grow(report->libraries, n, sizeof *list);
    if (!list) return RMCP_E_NOMEM;
    report->libraries = list;
    memset(&list[n], 0, sizeof list[n]);
    if (!(list[n].name = copy_text(path, length))) return RMCP_E_NOMEM;
    report->n_libraries++;
    *index = n;
    return RMCP_OK;
}

static struct audit_group *find_group(struct audit_group **groups, size_t *n, const char *target,
                                      enum audit_kind kind)
{
    for (size_t i = 0; i < *n; i++)
        if (!strcmp((*groups)[i].target, target)) return &(*groups)[i];
    struct audit_group *list = grow(*groups, *n, sizeof *list);
    if (!list) return NULL;
    *groups = list;
    struct audit_group *group = &list[(*n)++];
    memset(group, 0, sizeof *group);
    strncpy(group->target, target, sizeof group->target - 1);
    group->kind = kind;
    return group;
}

rmcp_status report_find_group(struct audit_library *library, const char *target,
                              enum audit_kind kind, size_t *index)
{
    struct audit_group *group = find_group(&library->groups, &library->n_groups, target, kind);
    if (!group) return RMCP_E_NOMEM;
    *index = (size_t)(group - library->groups);
    return RMCP_OK;
}

/* ---- the worst ---- */

static int compare_counts(const struct audit_worst *a, const struct audit_worst *b)
{
    if (a->lacking != b->lacking) return a->lacking > b->lacking ? -1 : 1;
    if (a->patterns != b->patterns) return a->patterns > b->patterns ? -1 : 1;
    return 0;
}

/* A total order, so that the list does not depend on who came first. */
static int compare_worst(const struct audit_worst *a, const struct audit_worst *b)
{
    int order = compare_counts(a, b);
    if (!order) order = strcmp(a->name, b->name);
    if (!order) order = strcmp(a->target, b->target);
    if (!order) order = strcmp(a->library, b->library);
    return order ? order : memcmp(a->rule, b->rule, sizeof a->rule);
}

bool report_is_worse(const struct audit_report *report, size_t most, const struct audit_worst *one)
{
    if (report->n_worst < most) return true;
    return most && compare_counts(one, &report->worst[most - 1]) <= 0;
}

static void worst_deinit(struct audit_worst *one)
{
    free(one->name);
    free(one->library);
}

rmcp_status report_add_worst(struct audit_report *report, size_t most,
                             const struct audit_worst *one)
{
    size_t at = report->n_worst;
    while (at && compare_worst(one, &report->worst[at - 1]) < 0) at--;
    if (at >= most) return RMCP_OK;
    if (report->n_worst < most) {
        struct audit_worst *list = grow(report->worst, report->n_worst, sizeof *list);
        if (!list) return RMCP_E_NOMEM;
        report->worst = list;
    }
    struct audit_worst copy = *one;
    copy.name = copy_text(one->name, strlen(one->name));
    copy.library = copy_text(one->library, strlen(one->library));
    if (!copy.name || !copy.library) {
        worst_deinit(&copy);
        return RMCP_E_NOMEM;
    }
    if (report->n_worst == most)
        worst_deinit(&report->worst[most - 1]);
    else
        report->n_worst++;
    memmove(&report->worst[at + 1], &report->worst[at],
            (report->n_worst - 1 - at) * sizeof *report->worst);
    report->worst[at] = copy;
    return RMCP_OK;
}

/* ---- totals ---- */

static void add_count(struct audit_count *sum, const struct audit_count *more)
{
    sum->instructions += more->instructions;
    sum->kernels += more->kernels;
    sum->functions += more->functions;
}

static void add_group(struct audit_group *sum, const struct audit_group *more)
{
    sum->objects += more->objects;
    sum->repaired += more->repaired;
    sum->kernels += more->kernels;
    sum->no_code += more->no_code;
    sum->functions += more->functions;
    sum->code_bytes += more->code_bytes;
    sum->instructions += more->instructions;
    sum->unknown_words += more->unknown_words;
    sum->unknown_calls += more->unknown_calls;
    sum->across += more->across;
    add_count(&sum->lacking, &more->lacking);
    add_count(&sum->any, &more->any);
    for (size_t i = 0; i < ISA_N_RULES; i++) add_count(&sum->rule[i], &more->rule[i]);
    for (size_t i = 0; i < ISA_N_DETAILS; i++) add_count(&sum->detail[i], &more->detail[i]);
}

static int compare_groups(const void *left, const void *right)
{
    const struct audit_group *a = left, *b = right;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    return strcmp(a->target, b->target);
}

static int compare_opcodes(const void *left, const void *right)
{
    const struct audit_opcode *a = left, *b = right;
    if (a->instructions != b->instructions) return a->instructions > b->instructions ? -1 : 1;
    return strcmp(a->name, b->name);
}

static rmcp_status add_opcodes(struct audit_report *report, const struct scan_opcodes *opcodes,
                               size_t n)
{
    for (unsigned id = 1; id < ISA_N_IDS; id++) {
        struct audit_opcode one = { .name = isa_row(id)->name };
        for (size_t i = 0; i < n; i++) {
            one.instructions += opcodes[i].instructions[id];
            one.kernels += opcodes[i].kernels[id];
            if (opcodes[i].means[id]) one.means = opcodes[i].means[id];
        }
        if (!one.instructions) continue;
        if (id == ISA_s_getreg_b32_SOPK) one.name = "s_getreg_b32 hwreg(HW_REG_SHADER_CYCLES)";
        struct audit_opcode *list = grow(report->opcodes, report->n_opcodes, sizeof *list);
        if (!list) return RMCP_E_NOMEM;
        report->opcodes = list;
        list[report->n_opcodes++] = one;
    }
    if (report->n_opcodes)
        qsort(report->opcodes, report->n_opcodes, sizeof *report->opcodes, compare_opcodes);
    return RMCP_OK;
}

rmcp_status report_finish(struct audit_report *report, const struct scan_opcodes *opcodes, size_t n)
{
    for (size_t i = 0; i < report->n_libraries; i++) {
        struct audit_library *library = &report->libraries[i];
        if (library->n_groups)
            qsort(library->groups, library->n_groups, sizeof *library->groups, compare_groups);
        for (size_t j = 0; j < library->n_groups; j++) {
            const struct audit_group *group = &library->groups[j];
            struct audit_group *total =
                find_group(&report->totals, &report->n_totals, group->target, group->kind);
            if (!total) return RMCP_E_NOMEM;
            add_group(total, group);
        }
    }
    if (report->n_totals)
        qsort(report->totals, report->n_totals, sizeof *report->totals, compare_groups);
    return add_opcodes(report, opcodes, n);
}

bool audit_has_code(const struct audit_library *library)
{
    return library->n_groups || library->n_others;
}

bool audit_has_native(const struct audit_library *library)
{
    for (size_t i = 0; i < library->n_groups; i++)
        if (library->groups[i].kind == AUDIT_NATIVE) return true;
    return false;
}

void audit_report_destroy(struct audit_report *report)
{
    if (!report) return;
    for (size_t i = 0; i < report->n_libraries; i++) {
        free(report->libraries[i].name);
        free(report->libraries[i].groups);
    }
    for (size_t i = 0; i < report->n_worst; i++) worst_deinit(&report->worst[i]);
    free(report->libraries);
    free(report->totals);
    free(report->opcodes);
    free(report->worst);
    free(report);
}
