/* report.c: what a repair did, added up. */
#include "code/repair/repair.h"

#include <stdlib.h>
#include <string.h>

void repair_report_deinit(struct repair_report *report)
{
    for (size_t i = 0; i < report->n_refusals; i++) {
        free(report->refusals[i].name);
        free(report->refusals[i].reason);
    }
    free(report->refusals);
    memset(report, 0, sizeof *report);
}

static bool make_room(struct repair_report *report, size_t n)
{
    if (n <= report->room) return true;
    size_t room = report->room ? 2 * report->room : 16;
    if (room < n) room = n;
    struct repair_refusal *grown = realloc(report->refusals, room * sizeof *grown);
    if (!grown) return false;
    report->refusals = grown;
    report->room = room;
    return true;
}

rmcp_status repair_report_refuse(struct repair_report *report, const char *name, const char *reason,
                                 bool is_kernel)
{
    struct repair_refusal refusal = { strdup(name), strdup(reason), is_kernel };
    if (refusal.name && refusal.reason && make_room(report, report->n_refusals + 1)) {
        report->refusals[report->n_refusals++] = refusal;
        return RMCP_OK;
    }
    free(refusal.name);
    free(refusal.reason);
    return rmcp_fail_memory("refusals", report->n_refusals);
}

rmcp_status repair_report_merge(struct repair_report *report, struct repair_report *one)
{
    if (!make_room(report, report->n_refusals + one->n_refusals)) {
        repair_report_deinit(one);
        return rmcp_fail_memory("refusals", report->n_refusals);
    }
    report->n_files += one->n_files;
    report->n_changed_files += one->n_changed_files;
    report->n_copied_files += one->n_copied_files;
    report->n_left_out_files += one->n_left_out_files;
    report->n_repaired += one->n_repaired;
    report->n_already += one->n_already;
    report->n_native += one->n_native;
    report->n_other += one->n_other;
    report->n_replaced += one->n_replaced;
    report->n_refused_objects += one->n_refused_objects;
    report->n_kernels += one->n_kernels;
    report->n_refused += one->n_refused;
    report->n_by_name += one->n_by_name;
    report->n_host_places += one->n_host_places;
    report->n_functions += one->n_functions;
    for (size_t i = 0; i < ISA_N_RULES; i++) {
        report->n_found[i] += one->n_found[i];
        report->n_cures[i] += one->n_cures[i];
    }
    report->n_unreached += one->n_unreached;
    report->n_lowered += one->n_lowered;
    report->n_wide += one->n_wide;
    report->n_proven += one->n_proven;
    report->n_cu_mode += one->n_cu_mode;
    report->n_split += one->n_split;
    report->n_wide_flat += one->n_wide_flat;
    report->n_flat_elsewhere += one->n_flat_elsewhere;
    report->old_bytes += one->old_bytes;
    report->new_bytes += one->new_bytes;
    for (size_t i = 0; i < one->n_refusals; i++)
        report->refusals[report->n_refusals++] = one->refusals[i];
    one->n_refusals = 0;
    repair_report_deinit(one);
    return RMCP_OK;
}
