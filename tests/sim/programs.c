/* programs.c: runs generated programs on the executor and on the host, and compares all bits.
 * usage: sim_programs [--act-out] OBJECT LIBRARY CHIP [TEXT]
 * OBJECT and LIBRARY are the same source (tests/sim/generate.py), for the GPU and for the host.
 * --act-out: the chip's silicon bugs have their effect each time, and every pattern counts.
 * Exit status 1 when a program differs or is reported; each one prints a line with its name. TEXT
 * is appended to it: how to repeat it. */
#include "sim/runner/runner.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As in tests/sim/programs.h. */
enum { N_IN = 1024, N_SLOTS = 8, N_ATOMS = 16 };

struct args {
    uint32_t word;
    uint8_t byte;
    uint64_t wide;
    float real;
    uint16_t shorts[3];
};

struct program {
    const char *name;
    uint32_t block[3], groups[3];
    void (*run)(const uint32_t *in, uint32_t *out, uint32_t *atom, struct args args);
};

struct arguments {
    uint64_t in, out, atom;
    struct args by_value;
};

static const char *repeat = "";
static unsigned n_reports;
static bool acts_out;

/* ---- data ---- */

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) ^ (uint32_t)*state << 31;
}

/* Words of every kind: small, random, near the ends, and floats of moderate size. */
static uint32_t draw(uint64_t *state)
{
    const uint32_t r = next_random(state);
    union {
        float f;
        uint32_t u;
    } real = { (float)(int32_t)r * 0x1p-20f };
    switch (next_random(state) & 7) {
    case 0: return r & 255;
    case 1: return 0u - (r & 15);
    case 2: return 0x80000000u + (r & 3) - 1;
    case 3:
    case 4: return real.u;
    default: return r;
    }
}

static void fill(uint32_t *words, size_t n, uint64_t seed)
{
    uint64_t state = seed;
    for (size_t i = 0; i < n; i++) words[i] = draw(&state);
}

static struct args draw_args(uint64_t state)
{
    struct args a;
    memset(&a, 0, sizeof a); /* the padding too */
    a.word = draw(&state);
    a.byte = (uint8_t)draw(&state);
    a.wide = (uint64_t)draw(&state) << 32 | draw(&state);
    a.real = (float)(int32_t)draw(&state) * 0x1p-24f;
    for (int i = 0; i < 3; i++) a.shorts[i] = (uint16_t)draw(&state);
    return a;
}

/* ---- one program ---- */

/* LLVM 19 leaves one pattern in its own code for gfx1010: lds-branch-vmem, when the memory
 * instructions are in an s_clause and across calls. It says nothing about the executor. */
static void on_report(void *context, const struct sim_report *r)
{
    if (r->rule == ISA_RULE_LDS_BRANCH_VMEM && !acts_out) return;
    ++*(unsigned *)context;
    printf("%s: %s%s%s at +0x%" PRIx64 " '%s', wave %u, lanes %" PRIx64 ": %s\n", r->kernel,
           sim_kind_name(r->kind), r->rule >= 0 ? " " : "",
           r->rule >= 0 ? isa_rule_table[r->rule].id : "", r->offset, r->instruction, r->wave,
           r->lanes, r->reason);
}

static bool same(const char *name, const char *what, const uint32_t *host, const uint32_t *gpu,
                 size_t n)
{
    size_t differ = 0, first = 0;
    for (size_t i = n; i-- > 0;)
        if (host[i] != gpu[i]) {
            differ++;
            first = i;
        }
    if (differ)
        printf("%s: %zu of %zu words of %s differ; the first is %zu: 0x%08x, on the host 0x%08x\n",
               name, differ, n, what, first, (unsigned)gpu[first], (unsigned)host[first]);
    return !differ;
}

static bool run(struct sim_runner *runner, const struct program *p)
{
    const uint32_t *b = p->block, *g = p->groups;
    const size_t items = (size_t)b[0] * b[1] * b[2] * g[0] * g[1] * g[2];
    const size_t n[3] = { N_IN, items * N_SLOTS, N_ATOMS + 2 * items };
    uint32_t *host[3] = { NULL };
    void *gpu[3] = { NULL };
    struct arguments arguments = { .by_value = draw_args(items) };
    sim_runner_clear(runner);
    bool ready = true;
    for (int i = 0; i < 3; i++) {
        const uint64_t address = sim_runner_buffer(runner, 4 * n[i], 0, &gpu[i]);
        host[i] = malloc(4 * n[i]);
        if (!address || !host[i]) ready = false;
        memcpy((unsigned char *)&arguments + 8 * i, &address, 8);
    }
    for (int i = 0; ready && i < 3; i++) {
        fill(host[i], n[i], (uint64_t)i + 1);
        memcpy(gpu[i], host[i], 4 * n[i]);
    }
    bool good = false;
    n_reports = 0;
    if (ready) {
        p->run(host[0], host[1], host[2], arguments.by_value);
        const struct sim_launch launch = {
            .grid = { b[0] * g[0], b[1] * g[1], b[2] * g[2] },
            .block = { b[0], b[1], b[2] },
            .arguments = &arguments,
            .n_argument_bytes = sizeof arguments,
        };
        struct sim_result result;
        const rmcp_status status = sim_runner_run(runner, p->name, &launch, &result);
        if (status) {
            printf("%s: %s\n", p->name, rmcp_last_error());
        } else if (!result.completed) {
            printf("%s: stopped by %s\n", p->name, sim_kind_name(result.fatal));
        } else {
            good = n_reports == 0;
            for (int i = 0; i < 3; i++)
                good &= same(p->name,
                             i == 0   ? "in"
                             : i == 1 ? "out"
                                      : "atom",
                             host[i], gpu[i], n[i]);
        }
    } else {
        printf("%s: out of memory\n", p->name);
    }
    for (int i = 0; i < 3; i++) free(host[i]);
    if (!good) printf("FAIL %s%s\n", p->name, repeat);
    return good;
}

/* ---- all of them ---- */

static void *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    rewind(file);
    void *data = size > 0 ? malloc((size_t)size) : NULL;
    *bytes = data ? fread(data, 1, (size_t)size, file) : 0;
    fclose(file);
    return data;
}

static int chip_of(const char *name)
{
    for (unsigned chip = 0; isa_chip_name(chip); chip++)
        if (!strcmp(isa_chip_name(chip), name)) return (int)chip;
    return -1;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--act-out")) {
        acts_out = true;
        argv[1] = argv[0];
        argv++;
        argc--;
    }
    if (argc < 4) {
        fprintf(stderr, "usage: %s [--act-out] OBJECT LIBRARY CHIP [TEXT]\n", argv[0]);
        return 2;
    }
    if (argc > 4) repeat = argv[4];
    setvbuf(stdout, NULL, _IOLBF, 0);
    const int chip = chip_of(argv[3]);
    void *library = dlopen(argv[2], RTLD_NOW);
    const struct program *const *programs = library ? dlsym(library, "programs") : NULL;
    size_t bytes = 0;
    void *object = read_file(argv[1], &bytes);
    if (chip < 0 || !programs || !object) {
        fprintf(stderr, "%s: cannot read %s\n", argv[0],
                chip < 0   ? argv[3]
                : programs ? argv[1]
                           : argv[2]);
        return 2;
    }
    const struct sim_options options = {
        .chip = (enum isa_chip)chip,
        .threads = 1,
        .checks = SIM_CHECK_ALL,
        .act_out = acts_out ? SIM_ACT_OUT : 0,
        .report = on_report,
        .context = &n_reports,
        .max_instructions = UINT64_C(1) << 26,
    };
    struct sim_runner *runner = NULL;
    if (sim_runner_create(object, bytes, &options, &runner)) {
        fprintf(stderr, "%s: %s\n", argv[1], rmcp_last_error());
        return 2;
    }
    int n = 0, failed = 0;
    for (; programs[n]; n++) failed += !run(runner, programs[n]);
    printf("%d programs, %d failed\n", n, failed);
    sim_runner_destroy(runner);
    free(object);
    dlclose(library);
    return failed ? 1 : 0;
}
