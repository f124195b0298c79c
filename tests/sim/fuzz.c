/* fuzz.c: libFuzzer target: any bytes as code and as the way it is dispatched.
 *
 * The first 16 bytes choose chip, wave size, checks, memory and sizes; the rest is the program,
 * behind a few instructions that give it valid pointers. Whatever it does, the executor must touch
 * no memory but that of the two buffers (the address sanitizer looks) and come to an end.
 *
 * A mutator of its own puts whole instructions into the program, beside libFuzzer's changes of
 * bytes. With FUZZ_SIM_ROWS in the environment the rows of the instruction table that were not
 * reached are printed at the end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_words.h"
#include "sim/sim.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most);

#define CODE UINT64_C(0x10000000)
#define DATA UINT64_C(0x20000000)
enum { HEADER = 16, N_CODE = 1024, N_DATA = 4096 };

static uint32_t *code, *data; /* on the heap, so that every byte past them is noticed */
static uint64_t n_code;

static bool find(void *context, uint64_t address, struct sim_mapping *out)
{
    (void)context;
    if (address - CODE < n_code * 4) {
        *out = (struct sim_mapping){ CODE, n_code * 4, (uint8_t *)code, SIM_READ | SIM_EXECUTE };
        return true;
    }
    if (address - DATA < N_DATA * 4) {
        *out = (struct sim_mapping){ DATA, N_DATA * 4, (uint8_t *)data, SIM_READ | SIM_WRITE };
        return true;
    }
    return false;
}

static void on_report(void *context, const struct sim_report *report)
{
    size_t *sum = context;
    *sum += strlen(report->reason) + strlen(report->instruction) + strlen(report->kernel);
}

/* ---- rows that were reached ---- */

static uint8_t reached[ISA_N_IDS];

static void on_trace(void *context, const struct sim_trace *trace)
{
    (void)context;
    reached[trace->inst->id] = 1;
}

static void print_rows(void)
{
    unsigned n = 0, n_all = 0;
    for (unsigned id = 1; id < ISA_N_IDS; id++) {
        const struct isa_row *row = isa_row(id);
        unsigned e = row->encoding;
        if (e == ISA_EXP || e == ISA_VINTRP) continue;
        n_all++;
        n += reached[id];
        if (!reached[id]) printf("not reached: %s\n", row->name);
    }
    printf("%u of %u rows reached (exports and interpolation left out)\n", n, n_all);
}

/* ---- running ---- */

/* One executor for each way to make one: making them takes longer than a run. */
static struct sim *executor(unsigned chip, unsigned checks, unsigned act_out, size_t *sum)
{
    static struct sim *made[ISA_N_CHIPS][4];
    static const uint32_t known[4] = { SIM_CHECK_ALL, SIM_CHECK_ALL | SIM_CHECK_UNALIGNED, 0,
                                       SIM_CHECK_ALL };
    struct sim **one = &made[chip % ISA_N_CHIPS][checks % 4];
    struct sim_options options = { .chip = (enum isa_chip)(chip % ISA_N_CHIPS),
                                   .threads = 1,
                                   .checks = known[checks % 4],
                                   .act_out = checks % 4 == 3 ? act_out : 0,
                                   .act_out_chance = chip & 1 ? UINT64_C(1) << 63 : 0,
                                   .max_instructions = 600,
                                   .report = on_report,
                                   .context = sum };
    static int counts_rows = -1;
    if (counts_rows < 0) {
        counts_rows = getenv("FUZZ_SIM_ROWS") != NULL;
        if (counts_rows) atexit(print_rows);
    }
    if (counts_rows) options.trace = on_trace;
    const struct sim_memory memory = { NULL, find, NULL };
    if (!*one && sim_create(&options, &memory, one)) abort();
    return *one;
}

/* s[4:5] points to data, s[8:15] is what stands there: a buffer descriptor and two pointers, and
 * s[16:27] what follows: an image descriptor and a sampler; v1 is a small multiple of 4, v[2:3] a
 * valid address. */
static const uint32_t prologue[] = {
    0xbe8403ff, (uint32_t)DATA, /* s_mov_b32 s4, DATA                */
    0xbe850380,                 /* s_mov_b32 s5, 0                   */
    0xf40c0202, 0xfa000000,     /* s_load_dwordx8 s[8:15], s[4:5], 0 */
    0xf40c0402, 0xfa000020,     /* s_load_dwordx8 s[16:23], s[4:5], 0x20 */
    0xf4080602, 0xfa000040,     /* s_load_dwordx4 s[24:27], s[4:5], 0x40 */
    0x34020082,                 /* v_lshlrev_b32_e32 v1, 2, v0       */
    0xd70f6a02, 0x00020204,     /* v_add_co_u32 v2, vcc, s4, v1      */
    0x7e060280,                 /* v_mov_b32_e32 v3, 0               */
    0xbf8c0000,                 /* s_waitcnt 0                       */
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static size_t sum;
    const size_t n_prologue = sizeof prologue / sizeof *prologue;
    if (size < HEADER + 4) return 0;
    size_t n_words = (size - HEADER) / 4;
    if (n_words > N_CODE) n_words = N_CODE;
    free(code);
    code = malloc((n_prologue + n_words) * 4);
    if (!data) data = malloc(N_DATA * 4);
    if (!code || !data) abort();
    n_code = n_prologue + n_words;
    memcpy(code, prologue, sizeof prologue);
    memcpy(code + n_prologue, bytes + HEADER, n_words * 4);
    memset(data, 0, N_DATA * 4);
    const uint32_t shape = bytes[9] * 0x9e3779b1u ^ bytes[8] * 0x85ebca77u, format = shape >> 24;
    const uint32_t start[] = { (uint32_t)DATA, 0x80000000u & (uint32_t)bytes[9] << 24, 4 * N_DATA,
                               0x31014fac | (uint32_t)(bytes[9] & 127) << 12, (uint32_t)DATA, 0,
                               (uint32_t)DATA + 256, 0,
                               /* an image of up to 16 x 8 x 4 texels */
                               (uint32_t)(DATA >> 8), format << 20 | shape << 30,
                               (shape >> 2 & 3) | (shape >> 4 & 7) << 14,
                               0xfac | (shape >> 7 & 3) << 16 | (shape >> 9 & 31) << 20 |
                                   (8 + (shape >> 14 & 7)) << 28,
                               shape >> 17 & 3, (shape >> 19 & 3) << 4, 0, 0,
                               /* a sampler */
                               shape & 0x0800ffff, 0xfff000, (shape & 0xff) << 20, shape << 30 };
    memcpy(data, start, sizeof start);

    const uint32_t block = 1u + bytes[5] % 70;
    struct sim_dispatch d = {
        .kernel = "fuzz",
        .entry = CODE,
        .grid = { block + bytes[3] % block, 1u + (bytes[4] & 1), 1 }, /* the last may be partial */
        .workgroup = { block, 1, 1 },
        .group_bytes = bytes[6] * 16u,
        .private_bytes = bytes[7] & 60u,
        .kernarg_address = DATA,
        .packet_address = DATA,
        .queue_address = DATA,
    };
    d.descriptor.rsrc1 = (bytes[8] & 63u) | (uint32_t)bytes[10] << 12 | 1u << 29;
    d.descriptor.rsrc2 = 1 | 16u << 1 | 0x380 | 2u << 11;
    d.descriptor.properties = (uint16_t)(bytes[11] | (bytes[1] & 1 ? CODEOBJ_PROPERTY_WAVE32 : 0));
    struct sim_result result;
    if (sim_run(executor(bytes[0], bytes[2], SIM_ACT_OUT, &sum), &d, &result)) abort();
    return 0;
}

/* ---- mutations ---- */

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed)
{
    uint64_t random = seed;
    if (size < HEADER + 4 || most < HEADER + 4 || !random_below(&random, 3))
        return LLVMFuzzerMutate(bytes, size, most);
    if (!random_below(&random, 4))
        bytes[random_below(&random, HEADER)] = (uint8_t)random_below(&random, 256);
    for (unsigned left = 1 + random_below(&random, 4); left; left--) {
        uint32_t words[ISA_MAX_WORDS];
        const size_t n = 4 * (size_t)random_instruction(&random, words);
        const size_t at = HEADER + 4 * random_below(&random, (uint32_t)(size - HEADER) / 4 + 1);
        if (!random_below(&random, 8) && at + 4 < size) { /* one word less */
            memmove(bytes + at, bytes + at + 4, size - at - 4);
            size -= 4;
        } else if (random_below(&random, 2) && size + n <= most) {
            memmove(bytes + at + n, bytes + at, size - at);
            memcpy(bytes + at, words, n);
            size += n;
        } else if (at + n <= size) {
            memcpy(bytes + at, words, n);
        }
    }
    return size;
}
