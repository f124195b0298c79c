/* rewrite_scan.c: rewrites every code object below some paths and judges the result by itself.
 * usage: rewrite_scan [--target NAME] [--nops PERCENT] [--seed N] [--reach WORDS] [--avoid-3f]
 *                     [--list] [--wide] [--write] [--out FOLDER | --to FILE] [--lower CHIP]
 *                     [--cure RULE|all]… PATH…
 * PERCENT of the instructions get an s_nop before them (0: nothing changes; 100: each has one).
 * --wide: a line for each wide access of LDS or FLAT: function, offset in it, "proven" or "open".
 * --lower: what CHIP lacks is replaced.
 * --write: each object is written, read and lifted again; --out: and kept there, under its own
 * name; --to: the file at the one PATH (a library, bundle …) with the rewritten objects in it, or
 * no file where one of them cannot be rewritten. Prints one line for each reason of refusal with
 * its number of kernels, and the sums. Exit status: 0 when every rewritten function is right, 1
 * when one is not, 2 for other trouble. */
#include "code/rewrite/rewrite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "code/codeobj/containers.h"
#include "code/codeobj/write.h"
#include "code/rewrite/aligned.h"
#include "code/rewrite/cures.h"
#include "code/rewrite/lower.h"
#include "code/rewrite/program.h"
#include "judge.h"

struct reason {
    char text[96];
    size_t n;
};

struct scan {
    const char *target;
    unsigned percent, reach;
    bool avoid_3f, list, wide, writes;
    const char *out, *to;
    struct codeobj_made *made; /* of --to: where the object that is looked at goes */
    uint64_t seed;
    size_t n_objects, n_refused_objects, n_kernels, n_refused, n_functions, n_wrong;
    size_t n_islands, n_nops, n_inserted;
    unsigned cures;
    struct rewrite_cured cured; /* sums */
    int lower;                  /* enum isa_chip; -1: not */
    size_t n_lowered[ISA_N_IDS], n_lower_refused[ISA_N_IDS], n_raised;
    uint64_t old_bytes, new_bytes;
    double seconds;
    struct reason reasons[64];
    size_t n_reasons;
};

static void count_reason(struct scan *s, const char *text)
{
    size_t i = 0;
    while (i < s->n_reasons && strncmp(s->reasons[i].text, text, sizeof s->reasons[i].text - 1))
        i++;
    if (i == sizeof s->reasons / sizeof *s->reasons) return;
    if (i == s->n_reasons) snprintf(s->reasons[s->n_reasons++].text, 96, "%s", text);
    s->reasons[i].n++;
}

/* Returns how many functions are refused. */
static size_t count_functions(struct scan *s, const struct rewrite *r, const char *path)
{
    size_t n;
    const struct rewrite_function *f = rewrite_functions(r, &n);
    size_t n_refused = 0;
    for (size_t i = 0; i < n; i++) {
        n_refused += f[i].refused != NULL;
        if (f[i].is_kernel)
            s->n_kernels++;
        else
            s->n_functions++;
        if (!f[i].refused) continue;
        if (s->list)
            printf("%s: %.60s: %s at 0x%" PRIx64 "\n", path, f[i].symbol->name, f[i].refused,
                   f[i].refused_at);
        if (!f[i].is_kernel) continue;
        s->n_refused++;
        count_reason(s, f[i].refused);
    }
    return n_refused;
}

static rmcp_status list_wide(const struct rewrite *r)
{
    size_t n_functions, n;
    const struct rewrite_function *f = rewrite_functions(r, &n_functions);
    for (size_t i = 0; i < n_functions; i++) {
        struct rewrite_wide *wide;
        rmcp_status status = f[i].refused ? RMCP_OK : rewrite_find_wide(r, i, &wide, &n);
        if (status) return status;
        if (f[i].refused) continue;
        for (size_t k = 0; k < n; k++)
            printf("wide: %s 0x%x %s%s\n", f[i].symbol->name,
                   (unsigned)(r->items[wide[k].item].old + r->address - f[i].symbol->address),
                   wide[k].is_proven ? "proven" : "open", wide[k].is_flat ? " flat" : "");
        free(wide);
    }
    return RMCP_OK;
}

/* Keep a written object, under the last part of its path. */
static rmcp_status keep(const struct scan *s, const char *path, const uint8_t *bytes, size_t size)
{
    char name[4096];
    const char *last = strrchr(path, '/');
    snprintf(name, sizeof name, "%s/%s", s->out, last ? last + 1 : path);
    FILE *file = fopen(name, "wb");
    bool ok = file && fwrite(bytes, 1, size, file) == size;
    if (file && fclose(file)) ok = false;
    return ok ? RMCP_OK : rmcp_fail(RMCP_E_IO, "%s cannot be written", name);
}

static rmcp_status write_one(const struct scan *s, struct rewrite *r, const struct codeobj *object,
                             const struct rewrite_text *text, const uint16_t *vgprs,
                             const char *path)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    rmcp_status status = judge_write(r, object, text, vgprs, &bytes, &size);
    if (!status && s->out) status = keep(s, path, bytes, size);
    if (!status && s->made) {
        *s->made = (struct codeobj_made){ .bytes = bytes, .size = size };
        return RMCP_OK;
    }
    free(bytes);
    return status;
}

static rmcp_status rewrite_one(struct scan *s, struct rewrite *r, const struct codeobj *object,
                               const char *path, const uint16_t *vgprs, size_t n_refused)
{
    struct rewrite_text text;
    struct codeobj_room room = { .new_address = 0x7fff00000 };
    rmcp_status status = s->writes ? codeobj_write_room(object, &room) : RMCP_OK;
    if (status) return status;
    struct rewrite_options options = { .address = room.new_address,
                                       .reach = s->reach,
                                       .avoid_3f = s->avoid_3f,
                                       .drop_refused = true };
    struct rewrite_cured cured = { .n_rounds = 0 };
    status = judge_insert(r, s->percent, s->seed, &s->n_inserted);
    if (!status && s->cures) status = rewrite_cure(r, &options, s->cures, &text, &cured);
    if (!status && !s->cures) status = rewrite_layout(r, &options, &text);
    for (unsigned i = 0; i < ISA_N_RULES; i++) {
        s->cured.n_found[i] += cured.n_found[i];
        s->cured.n_cures[i] += cured.n_cures[i];
        s->cured.n_left[i] += cured.n_left[i];
    }
    s->cured.n_unreached += cured.n_unreached;
    for (unsigned i = 0; i < ISA_N_RULES && s->list; i++)
        if (cured.n_left[i])
            printf("%s: %s: %zu left\n", path, isa_rule_table[i].id, cured.n_left[i]);
    if (cured.n_rounds > s->cured.n_rounds) s->cured.n_rounds = cured.n_rounds;
    if (status) return status;
    s->n_islands += text.n_islands;
    s->n_nops += text.n_nops;
    s->new_bytes += 4 * text.n_words;
    struct judge judge = { .rewrite = r, .text = &text, .options = &options };
    size_t wrong = s->cures || s->lower >= 0 ? 0 : judge_text(&judge);
    if (wrong) printf("WRONG %s: %zu places, first: %s\n", path, wrong, judge.first);
    s->n_wrong += wrong;
    return s->writes && !n_refused ? write_one(s, r, object, &text, vgprs, path) : RMCP_OK;
}

static rmcp_status lower_one(struct scan *s, struct rewrite *r, struct rewrite_lowered *lowered)
{
    rmcp_status status = rewrite_lower(r, (enum isa_chip)s->lower, lowered);
    for (size_t i = 0; i < ISA_N_IDS; i++) {
        s->n_lowered[i] += lowered->n_lowered[i];
        s->n_lower_refused[i] += lowered->n_refused[i];
    }
    return status;
}

static rmcp_status visit(void *context, const struct codeobj_item *item)
{
    struct scan *s = context;
    struct codeobj *object;
    struct rewrite *r = NULL;
    if (item->kind != CODEOBJ_OBJECT || !item->target.chip) return RMCP_OK;
    if (strcmp(item->target.chip, s->target)) return RMCP_OK;
    if (codeobj_open(item->bytes, item->size, &object)) {
        printf("%s: %s\n", item->path, rmcp_last_error());
        s->n_refused_objects++;
        return RMCP_OK;
    }
    struct timespec start, end;
    size_t before = s->n_kernels, refused_before = s->n_refused;
    clock_gettime(CLOCK_MONOTONIC, &start);
    rmcp_status status = object->n_functions ? rewrite_lift(object, &r) : RMCP_OK;
    if (r) {
        s->n_objects++;
        for (size_t i = 0; i < object->n_sections; i++)
            if (object->sections[i].flags & 4) s->old_bytes += object->sections[i].size;
        struct rewrite_lowered lowered = { .vgprs = NULL };
        if (s->lower >= 0) status = lower_one(s, r, &lowered);
        size_t refused = count_functions(s, r, item->path);
        if (!status && s->wide) status = list_wide(r);
        for (size_t i = 0; lowered.vgprs && i < object->n_kernels; i++)
            s->n_raised += lowered.vgprs[i] != 0;
        if (!status) status = rewrite_one(s, r, object, item->path, lowered.vgprs, refused);
        rewrite_lowered_deinit(&lowered);
    }
    if (status) {
        s->n_refused_objects++;
        if (!r) s->n_kernels += object->n_kernels;
        s->n_refused = refused_before + (s->n_kernels - before);
        printf("%s: %s\n", item->path, rmcp_last_error());
        count_reason(s, rmcp_last_error());
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    s->seconds +=
        (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    rewrite_destroy(r);
    codeobj_close(object);
    return RMCP_OK;
}

/* Of --to: all of an object is rewritten and right, or nothing is written. */
static rmcp_status put_back(void *context, const struct codeobj_item *item,
                            struct codeobj_made *made)
{
    struct scan *s = context;
    const size_t before = s->n_objects + s->n_refused_objects, wrong = s->n_wrong;
    s->made = made;
    rmcp_status status = visit(s, item);
    s->made = NULL;
    if (status || s->n_objects + s->n_refused_objects == before) return status;
    if (made->bytes && s->n_wrong == wrong) return RMCP_OK;
    return rmcp_fail(RMCP_E_UNSUPPORTED, "%s is not rewritten", item->path);
}

int main(int argc, char **argv)
{
    static struct scan s = { .target = "gfx1030", .seed = 1, .lower = -1 };
    int i = 1;
    for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--list")) {
            s.list = true;
            continue;
        }
        if (!strcmp(argv[i], "--wide")) {
            s.wide = true;
            continue;
        }
        if (!strcmp(argv[i], "--avoid-3f")) {
            s.avoid_3f = true;
            continue;
        }
        if (!strcmp(argv[i], "--write")) {
            s.writes = true;
            continue;
        }
        if (!strcmp(argv[i], "--cure")) {
            for (unsigned k = 0; k < ISA_N_RULES; k++)
                if (!strcmp(value, "all") || !strcmp(value, isa_rule_table[k].id))
                    s.cures |= 1u << k;
            if (!s.cures) return 2;
        } else if (!strcmp(argv[i], "--lower")) {
            for (unsigned k = 0; k < ISA_N_CHIPS; k++)
                if (!strcmp(value, isa_chip_name(k))) s.lower = (int)k;
            if (s.lower < 0) return 2;
        } else if (!strcmp(argv[i], "--out")) {
            s.out = value;
            s.writes = true;
        } else if (!strcmp(argv[i], "--to")) {
            s.to = value;
            s.writes = true;
        } else if (!strcmp(argv[i], "--target"))
            s.target = value;
        else if (!strcmp(argv[i], "--nops"))
            s.percent = (unsigned)strtoul(value, NULL, 10);
        else if (!strcmp(argv[i], "--seed"))
            s.seed = strtoull(value, NULL, 10);
        else if (!strcmp(argv[i], "--reach"))
            s.reach = (unsigned)strtoul(value, NULL, 10);
        else
            return 2;
        i++;
    }
    if (i == argc || (s.to && (i + 1 != argc || s.out))) return 2;
    for (; i < argc; i++)
        if (s.to ? codeobj_rewrite_file(argv[i], s.to, put_back, &s, NULL)
                 : codeobj_walk_path(argv[i], NULL, visit, &s)) {
            printf("%s: %s\n", argv[i], rmcp_last_error());
            return 2;
        }
    for (size_t k = 0; k < s.n_reasons; k++)
        printf("refused %zu: %s\n", s.reasons[k].n, s.reasons[k].text);
    printf("%zu objects, %zu refused; %zu kernels, %zu refused; %zu device functions; %zu places "
           "wrong\n",
           s.n_objects, s.n_refused_objects, s.n_kernels, s.n_refused, s.n_functions, s.n_wrong);
    printf("%.1f MB became %.1f MB; %zu s_nop inserted, %zu islands, %zu for 0x3f; %.1f s\n",
           1e-6 * (double)s.old_bytes, 1e-6 * (double)s.new_bytes, s.n_inserted, s.n_islands,
           s.n_nops, s.seconds);
    for (unsigned k = 0; k < ISA_N_IDS; k++)
        if (s.n_lowered[k] + s.n_lower_refused[k])
            printf("%s: %zu lowered, %zu functions refused\n", isa_row(k)->name, s.n_lowered[k],
                   s.n_lower_refused[k]);
    if (s.lower >= 0) printf("%zu kernels have more vector registers\n", s.n_raised);
    for (unsigned k = 0; s.cures && k < ISA_N_RULES; k++)
        if (s.cured.n_found[k] + s.cured.n_left[k])
            printf("%s: %zu found, %zu cures, %zu left\n", isa_rule_table[k].id, s.cured.n_found[k],
                   s.cured.n_cures[k], s.cured.n_left[k]);
    if (s.cures)
        printf("%u rounds at most, %zu left in words that no path reaches\n", s.cured.n_rounds,
               s.cured.n_unreached);
    return s.n_wrong || s.n_refused_objects ? 1 : 0;
}
