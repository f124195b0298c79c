/* object.c: one code object repaired: refuse what cannot be, cure, write, check what was written.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/audit/audit.h"
#include "code/codeobj/write.h"
#include "code/repair/lds.h"
#include "code/repair/repair.h"
#include "code/rewrite/cures.h"
#include "code/rewrite/lower.h"
#include "code/rewrite/rewrite.h"

enum { MOST_ATTEMPTS = 4, RSRC1_WGP_MODE = 1 << 29 };

/* Wide accesses of LDS are settled before. */
#define CURES (REWRITE_ALL_CURES & ~(1u << ISA_RULE_LDS_MISALIGNED))

static const char does_not_fit[] =
    "wide LDS accesses whose alignment is not proven and that cannot be taken apart, and its "
    "workgroups may be too large for one CU, where they are safe";
static const char does_nothing[] =
    "it is empty in code for gfx1030: the library has one for each chip, and this one for chips "
    "that its host code has no name for, as gfx1010 is";
static const char tuned_elsewhere[] =
    "its sizes are what rocPRIM is tuned to for gfx1030; the host code launches it with those for "
    "chips that it has no name for, as gfx1010 is";
static const char calls_refused[] = "calls through a pointer, and a function is refused";

struct job {
    const struct codeobj *object;
    enum isa_chip target;
    bool is_named;                /* as in struct repair_code */
    struct repair_report *report; /* of this object alone */
    struct rewrite *r;
    struct rewrite_text text;
    struct codeobj_room room;
    struct codeobj_kernel_change *changes; /* of each kernel */
    unsigned *has;                         /* of each function: REPAIR_WIDE_DS … */
    uint8_t *bytes;
    size_t size;
};

rmcp_status repair_target_parse(const char *name, enum isa_chip *out)
{
    const int chip = audit_chip_parse(name);
    if (chip == ISA_GFX1010 || chip == ISA_GFX1011 || chip == ISA_GFX1012) {
        *out = (enum isa_chip)chip;
        return RMCP_OK;
    }
    if (chip == ISA_GFX1013)
        return rmcp_fail(RMCP_E_ARG, "gfx1013 is no card's chip: nothing is known of its bugs");
    if (chip == ISA_GFX1030)
        return rmcp_fail(RMCP_E_ARG, "gfx1030 is what code is taken from: it needs no repair");
    struct codeobj_target target;
    if (codeobj_target_parse(name, &target) && isa_chip_of_mach(target.mach) < 0)
        return rmcp_fail(RMCP_E_ARG,
                         "%.40s is of another generation: its instructions are other ones; known "
                         "are gfx1010, gfx1011 and gfx1012",
                         name);
    return rmcp_fail(RMCP_E_ARG,
                     "'%.40s' is no chip that code can be made for; these are gfx1010, gfx1011 and "
                     "gfx1012",
                     name);
}

/* ---- what is refused ---- */

static rmcp_status check_source(const struct codeobj *object)
{
    const int chip = isa_chip_of_mach(object->target.mach);
    if (chip < 0)
        return rmcp_fail(RMCP_E_UNSUPPORTED,
                         "code for %s is of another generation: its instructions are other ones",
                         object->target.text);
    if (chip != ISA_GFX1030)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "code for %s needs no repair", object->target.text);
    return RMCP_OK;
}

/* The first instruction of a function that the target lacks, or NULL. */
static const char *find_lacking(const struct job *job, const struct rewrite_function *f)
{
    for (uint32_t i = f->entry; i != f->end && i != REWRITE_NONE; i = rewrite_next(job->r, i)) {
        struct isa_inst inst;
        const char *means;
        if (rewrite_is_reached(job->r, i) && rewrite_decode(job->r, f, i, &inst) &&
            audit_lacks(job->target, &inst, &means))
            return inst.row->name;
    }
    return NULL;
}

static void refuse_lacking(struct job *job)
{
    size_t n;
    const struct rewrite_function *f = rewrite_functions(job->r, &n);
    for (size_t i = 0; i < n; i++) {
        const char *name = f[i].refused ? NULL : find_lacking(job, &f[i]);
        if (name) rewrite_refuse_function(job->r, i, name);
    }
}

/* Replaces what the target lacks; kernels that need more registers for it get them. */
static rmcp_status lower(struct job *job)
{
    struct rewrite_lowered lowered;
    rmcp_status status = rewrite_lower(job->r, job->target, &lowered);
    if (status) return status;
    for (size_t i = 0; i < ISA_N_IDS; i++) job->report->n_lowered += lowered.n_lowered[i];
    for (size_t k = 0; !status && k < job->object->n_kernels; k++)
        if (lowered.vgprs && lowered.vgprs[k])
            status = codeobj_kernel_set_vgprs(job->object, &job->changes[k], lowered.vgprs[k]);
    rewrite_lowered_deinit(&lowered);
    if (!status) refuse_lacking(job); /* what is still there */
    return status;
}

/* rocPRIM and rocRAND of ROCm 7.2 have each kernel once for every chip that they are tuned for, and
 * once for all others: the chip is a template argument, by which the host chooses. In the code for
 * a chip all but its own are empty. A card that is named gfx1010 would get such an empty one. */
static bool is_for_unknown_chip(const char *name)
{
    static const char argument[] = "11target_archE";
    enum { LEAST_CHIP = 600, MOST_CHIP = 9999 };
    const char *at = strstr(name, argument);
    if (!at) return false;
    const unsigned long long chip = strtoull(at + sizeof argument - 1, NULL, 10);
    return chip < LEAST_CHIP || chip > MOST_CHIP;
}

/* rocPRIM before that has a kernel once, whose sizes (work-items of a group, elements of each,
 * local memory) are compiled in by the chip, and host code that chooses the same by the card's
 * name: unless the program gave sizes of its own, the configuration is called default_config. A
 * kernel for gfx1030 that is launched with another chip's sizes leaves results out, or reads beyond
 * its own. */
static bool is_tuned_by_chip(const char *name)
{
    return strstr(name, "rocprim") && strstr(name, "wrapped_") && strstr(name, "default_config");
}

static bool is_empty(const struct job *job, const struct rewrite_function *f)
{
    for (uint32_t i = f->entry; i != f->end && i != REWRITE_NONE; i = rewrite_next(job->r, i)) {
        struct isa_inst inst;
        if (!rewrite_is_reached(job->r, i) || !rewrite_decode(job->r, f, i, &inst)) continue;
        if (inst.id != ISA_s_endpgm_SOPP && inst.id != ISA_s_nop_SOPP &&
            inst.id != ISA_s_inst_prefetch_SOPP)
            return false;
    }
    return true;
}

/* Kernels of rocPRIM fit host code that believes in the chip that they were compiled for. */
static bool is_chosen_by_name(const char *name)
{
    return is_tuned_by_chip(name) || (strstr(name, "rocprim") && strstr(name, "11target_archE"));
}

static void refuse_chosen_by_name(struct job *job)
{
    size_t n;
    const struct rewrite_function *f = rewrite_functions(job->r, &n);
    for (size_t i = 0; i < n; i++) {
        if (!f[i].is_kernel || f[i].refused) continue;
        if (job->is_named && is_chosen_by_name(f[i].symbol->name)) continue;
        if (is_tuned_by_chip(f[i].symbol->name))
            rewrite_refuse_function(job->r, i, tuned_elsewhere);
        else if (is_for_unknown_chip(f[i].symbol->name) && is_empty(job, &f[i]))
            rewrite_refuse_function(job->r, i, does_nothing);
    }
}

/* A pointer may lead to a function that is left out. */
static void refuse_pointers(struct job *job)
{
    size_t n, n_refused = 0;
    const struct rewrite_function *f = rewrite_functions(job->r, &n);
    for (size_t i = 0; i < n; i++) n_refused += f[i].refused && !f[i].is_kernel;
    for (size_t i = 0; n_refused && i < n; i++)
        if (f[i].calls_unknown && !f[i].refused) rewrite_refuse_function(job->r, i, calls_refused);
}

/* ---- wide accesses of LDS ---- */

static size_t function_of(const struct job *job, const struct codeobj_kernel *kernel)
{
    size_t n, i = 0;
    const struct rewrite_function *f = rewrite_functions(job->r, &n);
    while (i < n && f[i].symbol != kernel->function) i++;
    return i;
}

/* Accesses in pieces, in a kernel and in what it may call. */
static rmcp_status split(struct job *job, size_t function)
{
    size_t n;
    const struct rewrite_function *f = rewrite_functions(job->r, &n);
    rmcp_status status = RMCP_OK;
    for (size_t i = 0; i < n && !status; i++) {
        const bool is_called = !f[i].is_kernel && job->has[function] & REPAIR_CALLS;
        bool done = true;
        if (f[i].refused || !(job->has[i] & REPAIR_UNPROVEN_DS) || (i != function && !is_called))
            continue;
        /* Many kernels may call the same function. */
        if (!(job->has[i] & (REPAIR_IS_SPLIT | REPAIR_NO_SPLIT))) {
            status = repair_lds_split(job->r, i, &done);
            job->has[i] |= done ? REPAIR_IS_SPLIT : REPAIR_NO_SPLIT;
        }
        done = !(job->has[i] & REPAIR_NO_SPLIT);
        if (!done) rewrite_refuse_function(job->r, function, does_not_fit);
    }
    if (!status && !f[function].refused) job->report->n_split++;
    return status;
}

static rmcp_status settle_wgp_mode(struct job *job, size_t kernel, unsigned has, size_t function)
{
    struct codeobj_kernel_change *change = &job->changes[kernel];
    if (!(has & REPAIR_WIDE)) return RMCP_OK;
    job->report->n_wide++;
    if (!(has & (REPAIR_UNPROVEN_DS | REPAIR_UNPROVEN_FLAT))) {
        job->report->n_proven++;
        return RMCP_OK;
    }
    if (!(change->descriptor.rsrc1 & RSRC1_WGP_MODE)) return RMCP_OK;
    if (repair_fits_cu(change)) {
        job->report->n_cu_mode++;
        return codeobj_kernel_set_wgp_mode(job->object, change, false);
    }
    const bool is_lds =
        has & REPAIR_LDS_ADDRESS || repair_is_given_aperture(&job->object->kernels[kernel]);
    if (has & REPAIR_UNPROVEN_FLAT && is_lds)
        job->report->n_wide_flat++;
    else if (has & REPAIR_UNPROVEN_FLAT)
        job->report->n_flat_elsewhere++;
    return has & REPAIR_UNPROVEN_DS ? split(job, function) : RMCP_OK;
}

/* Whoever calls something may call anything: what any device function has, he has. */
static rmcp_status settle_lds(struct job *job)
{
    size_t n;
    unsigned of_functions = 0;
    const struct rewrite_function *f = rewrite_functions(job->r, &n);
    for (size_t i = 0; i < n; i++) {
        rmcp_status status = f[i].refused ? RMCP_OK : repair_lds_scan(job->r, i, &job->has[i]);
        if (status) return status;
        if (!f[i].is_kernel) of_functions |= job->has[i];
    }
    for (size_t k = 0; k < job->object->n_kernels; k++) {
        const size_t i = function_of(job, &job->object->kernels[k]);
        if (i == n || f[i].refused) continue;
        const unsigned has = job->has[i] | (job->has[i] & REPAIR_CALLS ? of_functions : 0);
        rmcp_status status = settle_wgp_mode(job, k, has, i);
        if (status) return status;
    }
    return RMCP_OK;
}

/* ---- writing ---- */

/* Fills `changes` with those that are to be given to the writer; returns their number. Kernels that
 * are refused are left out. */
static size_t collect_changes(const struct job *job, struct codeobj_kernel_change *changes,
                              size_t *n_refused)
{
    size_t n, n_changes = 0;
    const struct rewrite_function *f = rewrite_functions(job->r, &n);
    *n_refused = 0;
    for (size_t k = 0; k < job->object->n_kernels; k++) {
        const size_t i = function_of(job, &job->object->kernels[k]);
        changes[n_changes] = job->changes[k];
        if (i == n || f[i].refused) {
            codeobj_kernel_change_init(&changes[n_changes], job->object, k);
            changes[n_changes].is_left_out = true;
            ++*n_refused;
        }
        n_changes++;
    }
    return n_changes;
}

static rmcp_status write_object(struct job *job, const struct codeobj_kernel_change *changes,
                                size_t n_changes, size_t n_refused)
{
    char note[256], target[CODEOBJ_TARGET_MAX];
    snprintf(target, sizeof target, "%s:xnack-", isa_chip_name(job->target));
    snprintf(note, sizeof note,
             CODEOBJ_NOTE_REPAIR "1\nfrom %.60s\nto %.60s\nkernels %zu, left out %zu\n",
             job->object->target.text, target, job->object->n_kernels, n_refused);
    const struct codeobj_change change = {
        .text = job->r ? (const uint8_t *)job->text.words : NULL,
        .text_size = 4 * job->text.n_words,
        .moved = rewrite_moved,
        .moved_context = job->r,
        .kernels = changes,
        .n_kernels = n_changes,
        .target = target,
        .note = note,
        .note_size = strlen(note),
    };
    free(job->bytes);
    job->bytes = NULL;
    return codeobj_write(job->object, &change, &job->bytes, &job->size);
}

/* ---- what was written ---- */

struct checking {
    const struct job *job;
    uint64_t base; /* byte offset of the function at hand in the new text */
    bool is_kernel;
    enum isa_rule left; /* ISA_N_RULES: none */
    size_t n_unreached;
};

static void found(const struct isa_finding *finding, void *context)
{
    struct checking *c = context;
    /* Device functions have the mode of whoever calls them, which settle_lds has seen to. */
    if (finding->rule == ISA_RULE_LDS_MISALIGNED && !c->is_kernel) return;
    const uint32_t item = rewrite_item_at(c->job->r, c->base + finding->at);
    if (item != REWRITE_NONE && !rewrite_is_reached(c->job->r, item))
        c->n_unreached++;
    else
        c->left = finding->rule;
}

/* Reads the new object as an audit would; refuses functions in which a pattern is left. */
static rmcp_status check_patterns(struct job *job, const struct codeobj *new, bool *clean)
{
    struct audit_code *code = NULL;
    size_t n, n_unreached = 0;
    const struct rewrite_function *f = rewrite_functions(job->r, &n);
    rmcp_status status = audit_code_create(new, job->target, &code);
    enum isa_rule *left = status ? NULL : malloc((n + 1) * sizeof *left);
    if (!status && !left) status = rmcp_fail_memory("findings", n);
    for (size_t i = 0, at = 0; !status && i < n; i++) {
        uint64_t address, size;
        struct isa_rules_count count;
        left[i] = ISA_N_RULES;
        if (f[i].refused || !rewrite_place(job->r, &f[i], &address, &size) || !size) continue;
        while (at < new->n_functions &&new->functions[at].address < address) at++;
        if (at == new->n_functions || new->functions[at].address != address) {
            status =
                rmcp_fail(RMCP_E_INTERNAL, "%.200s is not where it was put", f[i].symbol->name);
            break;
        }
        struct checking c = { .job = job,
                              .base = address - job->room.new_address,
                              .is_kernel = f[i].is_kernel,
                              .left = ISA_N_RULES };
        if (!isa_calls_check(code->calls, at, found, &c, &count))
            status = rmcp_fail_memory("rules", (size_t)size);
        left[i] = c.left;
        n_unreached += c.n_unreached;
    }
    *clean = true;
    for (size_t i = 0; !status && i < n; i++)
        if (left[i] != ISA_N_RULES) {
            rewrite_refuse_function(job->r, i, isa_rule_table[left[i]].id);
            *clean = false;
        }
    job->report->n_unreached = n_unreached;
    free(left);
    audit_code_destroy(code);
    return status;
}

static rmcp_status check_written(struct job *job, bool *clean)
{
    struct codeobj *new = NULL;
    rmcp_status status = codeobj_open(job->bytes, job->size, &new);
    if (!status && (isa_chip_of_mach(new->target.mach) != (int)job->target ||
                    new->target.xnack != CODEOBJ_OFF || !codeobj_is_repaired(new)))
        status = rmcp_fail(RMCP_E_INTERNAL, "the repaired object is one for %s", new->target.text);
    *clean = true;
    if (!status && job->r) status = check_patterns(job, new, clean);
    codeobj_close(new);
    return status;
}

/* ---- all of it ---- */

static void count_cured(struct repair_report *report, const struct rewrite_cured *cured, bool first)
{
    for (size_t i = 0; i < ISA_N_RULES; i++) {
        if (first) report->n_found[i] += cured->n_found[i];
        report->n_cures[i] =
            i == ISA_RULE_BRANCH_3F ? cured->n_cures[i] : report->n_cures[i] + cured->n_cures[i];
    }
}

/* Cures, writes and checks, again with what the check refused. */
static rmcp_status make(struct job *job, size_t *n_refused)
{
    const size_t n_kernels = job->object->n_kernels;
    struct codeobj_kernel_change *changes = calloc(n_kernels + 1, sizeof *changes);
    rmcp_status status = changes ? RMCP_OK : rmcp_fail_memory("kernels", n_kernels);
    const struct rewrite_options layout = { .address = job->room.new_address,
                                            .drop_refused = true,
                                            .trap_refused = true };
    bool clean = false;
    for (unsigned attempt = 0; !status && !clean; attempt++) {
        struct rewrite_cured cured;
        size_t n_changes = 0;
        refuse_pointers(job);
        n_changes = collect_changes(job, changes, n_refused);
        if (attempt == MOST_ATTEMPTS || (n_kernels && *n_refused == n_kernels)) break;
        status = rewrite_cure(job->r, &layout, CURES, &job->text, &cured);
        if (!status) count_cured(job->report, &cured, !attempt);
        if (!status) status = write_object(job, changes, n_changes, *n_refused);
        if (!status) status = check_written(job, &clean);
    }
    if (!status && !clean) *n_refused = n_kernels;
    free(changes);
    return status;
}

static rmcp_status repair_code(struct job *job, size_t *n_refused)
{
    size_t n = 0;
    rmcp_status status = codeobj_write_room(job->object, &job->room);
    if (!status) status = rewrite_lift(job->object, &job->r);
    if (status) return status;
    rewrite_functions(job->r, &n);
    job->changes = calloc(job->object->n_kernels + 1, sizeof *job->changes);
    job->has = calloc(n + 1, sizeof *job->has);
    if (!job->changes || !job->has) return rmcp_fail_memory("functions", n);
    for (size_t k = 0; k < job->object->n_kernels; k++)
        codeobj_kernel_change_init(&job->changes[k], job->object, k);
    refuse_chosen_by_name(job);
    status = lower(job);
    if (!status) status = settle_lds(job);
    if (!status) status = make(job, n_refused);
    if (status) return status;
    job->report->old_bytes = job->room.old_size;
    job->report->new_bytes = 4 * (uint64_t)job->text.n_words;
    return RMCP_OK;
}

static rmcp_status list_refused(struct job *job)
{
    size_t n;
    const struct rewrite_function *f = rewrite_functions(job->r, &n);
    rmcp_status status = RMCP_OK;
    for (size_t i = 0; i < n; i++) job->report->n_functions += !f[i].is_kernel;
    for (size_t k = 0; !status && k < job->object->n_kernels; k++) {
        const struct codeobj_kernel *kernel = &job->object->kernels[k];
        const size_t i = function_of(job, kernel);
        if (i == n)
            status = repair_report_refuse(job->report, kernel->name, "has no code", true);
        else if (f[i].refused)
            status = repair_report_refuse(job->report, kernel->name, f[i].refused, true);
        else
            job->report->n_by_name += is_chosen_by_name(kernel->name);
    }
    return status;
}

static rmcp_status repair_opened(struct job *job)
{
    const size_t n_kernels = job->object->n_kernels;
    size_t n_refused = 0;
    bool clean;
    job->report->n_kernels = n_kernels;
    rmcp_status status = check_source(job->object);
    if (status) return status;
    if (job->object->n_functions) {
        status = repair_code(job, &n_refused);
        if (!status) status = list_refused(job);
    } else { /* data alone */
        status = write_object(job, NULL, 0, 0);
        if (!status) status = check_written(job, &clean);
    }
    if (status) return status;
    job->report->n_refused = n_refused;
    if (n_kernels && n_refused == n_kernels)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "every kernel is refused, the first for: %.200s",
                         job->report->n_refusals ? job->report->refusals[0].reason : "patterns");
    return RMCP_OK;
}

rmcp_status repair_object(const void *bytes, size_t size, const struct repair_code *code,
                          struct repair_report *report, uint8_t **out, size_t *out_size)
{
    struct codeobj *object = NULL;
    struct repair_report one = { .n_files = 0 };
    *out = NULL;
    *out_size = 0;
    rmcp_status status = codeobj_open(bytes, size, &object);
    if (status) return status;
    if (codeobj_is_repaired(object)) {
        report->n_already++;
        codeobj_close(object);
        return RMCP_OK;
    }
    /* Host code believes in gfx1030 alone: code for its siblings has other sizes. */
    struct job job = { .object = object,
                       .target = code->target,
                       .is_named = code->is_named && object->target.chip &&
                                   !strcmp(object->target.chip, "gfx1030"),
                       .report = &one };
    status = repair_opened(&job);
    rewrite_destroy(job.r);
    codeobj_close(object);
    free(job.changes);
    free(job.has);
    if (status) {
        one.n_refused = one.n_kernels;
        free(job.bytes);
        char why[512];
        snprintf(why, sizeof why, "%s", rmcp_last_error());
        const rmcp_status merged = repair_report_merge(report, &one);
        return merged ? merged : rmcp_fail(status, "%s", why);
    }
    one.n_repaired = 1;
    status = repair_report_merge(report, &one);
    if (status) {
        free(job.bytes);
        return status;
    }
    *out = job.bytes;
    *out_size = job.size;
    return RMCP_OK;
}
