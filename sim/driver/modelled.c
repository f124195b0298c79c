/* modelled.c: the time that a kernel would take on the card, by sim/timing; one line for each
 * dispatch. */
#include "base/hash.h"
#include "sim/driver/driver.h"
#include "sim/timing/timing.h"

#include <stdlib.h>
#include <string.h>

enum { REMEMBERED = 1024, MOST_ARGUMENTS = 4096 };

/* One queue's model. */
struct model {
    struct timing_card card;
    struct sim_recorder recorder;
    struct timing_sampler sampler;
    /* Dispatches that were modelled: the same kernel, grid and arguments take the same time. */
    struct {
        uint64_t key;
        struct timing_result result;
    } known[REMEMBERED];
};

struct model *model_create(const struct gpu *gpu)
{
    char error[SIM_ERROR_MAX];
    struct model *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    if (!timing_card_of(gpu->card, (double)driver.options.timing_mhz, &m->card, error)) {
        summary_finding("the time of kernels is not modelled: %s", error);
        free(m);
        return NULL;
    }
    timing_sampler_init(&m->sampler, &m->recorder, &m->card, driver.options.timing,
                        driver.options.timing_only);
    return m;
}

void model_destroy(struct model *m)
{
    if (!m) return;
    sim_recorder_clear(&m->recorder);
    free(m);
}

struct sim_recorder *model_recorder(struct model *m)
{
    return &m->recorder;
}

/* 0: arguments that cannot be read; such a dispatch is not remembered. */
static uint64_t key_of(struct gpu *gpu, const struct sim_dispatch *d)
{
    const uint32_t n = d->descriptor.kernarg_bytes;
    uint64_t key = rmcp_hash(RMCP_HASH_START, &d->entry, sizeof d->entry);
    key = rmcp_hash(key, d->grid, sizeof d->grid);
    key = rmcp_hash(key, d->workgroup, sizeof d->workgroup);
    key = rmcp_hash(key, &d->group_bytes, sizeof d->group_bytes);
    if (!n) return key | 1;
    const void *arguments =
        n <= MOST_ARGUMENTS ? vm_at(gpu, d->kernarg_address, n, SIM_READ) : NULL;
    return arguments ? rmcp_hash(key, arguments, n) | 1 : 0;
}

bool model_knows(struct model *m, struct gpu *gpu, const struct sim_dispatch *d, uint64_t *key)
{
    *key = key_of(gpu, d);
    return *key && m->known[*key % REMEMBERED].key == *key;
}

bool model_skips(const struct model *m, uint64_t key)
{
    return driver.options.timing_only && m->known[key % REMEMBERED].result.sampled;
}

static void write_line(const char *kernel, const struct gpu *gpu, const struct timing_result *r)
{
    char line[1024];
    double all = 0;
    int n = snprintf(line, sizeof line, "%s %s %.9g %.6g %.6g %.6g %.6g %.6g %.6g %.6g %.6g",
                     kernel, gpu->card->card, r->seconds, r->spread, r->peak_fma, r->peak_valu,
                     r->peak_lds, r->peak_l0, r->peak_l2, r->peak_dram, r->waves_per_simd);
    for (unsigned i = 0; i < TIMING_N_REASONS; i++) all += r->counts.wave_clocks[i];
    for (unsigned i = 0; i < TIMING_N_REASONS && n < (int)sizeof line - 32; i++)
        n += snprintf(line + n, sizeof line - (size_t)n, " %.6g",
                      all > 0 ? r->counts.wave_clocks[i] / all : 0);
    line[n++] = '\n';
    summary_append(SIM_FILE_TIMING, line, (size_t)n);
}

uint64_t model_time(struct model *m, struct gpu *gpu, const char *kernel, uint64_t key, bool known)
{
    const size_t at = key % REMEMBERED;
    struct timing_result result;
    if (known) {
        result = m->known[at].result;
    } else if (timing_estimate(&m->sampler, false, NULL, &result)) {
        summary_finding("the time of %.200s is not modelled: its record is not whole", kernel);
        return 0;
    }
    if (key) m->known[at].key = key, m->known[at].result = result;
    write_line(kernel, gpu, &result);
    return (uint64_t)(result.seconds * 1e9);
}
