/* test_isa_llvm.c: src/code/isa against LLVM 19's disassembler: the same words are accepted and
 * refused, with the same length and the same text.
 *
 * test_isa_llvm [--thorough] [--seed N] [--chip NAME] [--random N] [--show N]
 * LLVM is loaded at run time (the library behind llvm-mc-19 and llvm-objdump-19); without it the
 * test is skipped (77). For every opcode slot of every encoding: each field at its edges (with
 * --thorough at all its values), then random words, half of them sparse so that fields meet that
 * an instruction does have. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code/isa/isa.h"

typedef void *(*create_fn)(const char *, const char *, const char *, void *, int, void *, void *);
typedef size_t (*disasm_fn)(void *, uint8_t *, uint64_t, uint64_t, char *, size_t);
typedef void (*init_fn)(void);

static create_fn create_disasm;
static disasm_fn disasm;

struct field {
    uint8_t low, bits; /* low counts from bit 0 of the first word */
};

/* One encoding: its fixed bits, where its opcode sits, and its operand fields. */
struct encoding {
    const char *name;
    uint32_t base;
    uint8_t op_low, op_bits;
    uint8_t words; /* fixed length; what follows is random */
    struct field fields[24];
};

/* clang-format off */
#define SRC(low) { low, 9 }, { low, 9 }, { low, 9 } /* thrice: drawn more often */
#define FLAT_FIELDS { { 0, 12 }, { 12, 1 }, { 13, 1 }, { 16, 1 }, { 17, 1 }, { 25, 1 }, { 32, 8 }, \
                      { 40, 8 }, { 48, 7 }, { 55, 1 }, { 56, 8 } }
static const struct encoding encodings[] = {
    { "SOP2", 0x80000000, 23, 7, 1, { { 0, 8 }, { 8, 8 }, { 16, 7 } } },
    { "SOPK", 0xb0000000, 23, 5, 1, { { 0, 16 }, { 16, 7 } } },
    { "SOP1", 0xbe800000, 8, 8, 1, { { 0, 8 }, { 16, 7 } } },
    { "SOPC", 0xbf000000, 16, 7, 1, { { 0, 8 }, { 8, 8 } } },
    { "SOPP", 0xbf800000, 16, 7, 1, { { 0, 16 } } },
    { "SMEM", 0xf4000000, 18, 8, 2,
      { { 0, 6 }, { 6, 7 }, { 13, 1 }, { 14, 1 }, { 15, 1 }, { 16, 1 }, { 17, 1 }, { 32, 21 },
        { 53, 4 }, { 57, 7 } } },
    { "VOP2", 0x00000000, 25, 6, 1, { SRC(0), { 9, 8 }, { 17, 8 } } },
    { "VOP1", 0x7e000000, 9, 8, 1, { SRC(0), { 17, 8 } } },
    { "VOPC", 0x7c000000, 17, 8, 1, { SRC(0), { 9, 8 } } },
    { "VOP2_SDWA", 0x000000f9, 25, 6, 2,
      { { 9, 8 }, { 17, 8 }, { 32, 8 }, { 40, 3 }, { 43, 2 }, { 45, 1 }, { 46, 2 }, { 48, 3 },
        { 51, 1 }, { 52, 1 }, { 53, 1 }, { 54, 1 }, { 55, 1 }, { 56, 3 }, { 59, 1 }, { 60, 1 },
        { 61, 1 }, { 62, 1 }, { 63, 1 } } },
    { "VOP1_SDWA", 0x7e0000f9, 9, 8, 2,
      { { 17, 8 }, { 32, 8 }, { 40, 3 }, { 43, 2 }, { 45, 1 }, { 46, 2 }, { 48, 3 }, { 51, 1 },
        { 52, 1 }, { 53, 1 }, { 54, 1 }, { 55, 1 }, { 56, 3 }, { 59, 5 } } },
    { "VOPC_SDWA", 0x7c0000f9, 17, 8, 2,
      { { 9, 8 }, { 32, 8 }, { 40, 7 }, { 47, 1 }, { 48, 3 }, { 51, 1 }, { 52, 1 }, { 53, 1 },
        { 54, 1 }, { 55, 1 }, { 56, 3 }, { 59, 1 }, { 60, 1 }, { 61, 1 }, { 62, 1 }, { 63, 1 } } },
    { "VOP2_DPP", 0x000000fa, 25, 6, 2,
      { { 9, 8 }, { 17, 8 }, { 32, 8 }, { 40, 9 }, { 49, 1 }, { 50, 1 }, { 51, 1 }, { 52, 1 },
        { 53, 1 }, { 54, 1 }, { 55, 1 }, { 56, 4 }, { 60, 4 } } },
    { "VOP1_DPP", 0x7e0000fa, 9, 8, 2,
      { { 17, 8 }, { 32, 8 }, { 40, 9 }, { 49, 1 }, { 50, 1 }, { 51, 1 }, { 52, 1 }, { 53, 1 },
        { 54, 1 }, { 55, 1 }, { 56, 4 }, { 60, 4 } } },
    { "VOPC_DPP", 0x7c0000fa, 17, 8, 2, { { 9, 8 }, { 32, 8 }, { 40, 9 } } },
    { "VOP2_DPP8", 0x000000e9, 25, 6, 2, { { 9, 8 }, { 17, 8 }, { 32, 8 }, { 40, 24 } } },
    { "VOP1_DPP8", 0x7e0000ea, 9, 8, 2, { { 17, 8 }, { 32, 8 }, { 40, 24 } } },
    { "VOP3", 0xd4000000, 16, 10, 2,
      { { 0, 8 }, { 8, 1 }, { 9, 1 }, { 10, 1 }, { 8, 7 }, { 11, 4 }, { 15, 1 }, SRC(32), SRC(41),
        SRC(50), { 59, 2 }, { 61, 1 }, { 62, 1 }, { 63, 1 } } },
    { "VOP3P", 0xcc000000, 16, 7, 2,
      { { 0, 8 }, { 8, 3 }, { 11, 3 }, { 14, 1 }, { 15, 1 }, SRC(32), SRC(41), SRC(50), { 59, 2 },
        { 61, 3 }, { 23, 3 } } },
    { "VINTRP", 0xc8000000, 16, 2, 1, { { 0, 8 }, { 8, 2 }, { 10, 6 }, { 18, 8 } } },
    { "DS", 0xd8000000, 18, 8, 2,
      { { 0, 8 }, { 8, 8 }, { 0, 16 }, { 16, 1 }, { 17, 1 }, { 32, 8 }, { 40, 8 }, { 48, 8 },
        { 56, 8 } } },
    { "MUBUF", 0xe0000000, 18, 8, 2,
      { { 0, 12 }, { 12, 1 }, { 13, 1 }, { 14, 1 }, { 15, 1 }, { 16, 1 }, { 17, 1 }, { 32, 8 },
        { 40, 8 }, { 48, 5 }, { 53, 1 }, { 54, 1 }, { 55, 1 }, { 56, 8 } } },
    { "MTBUF", 0xe8000000, 16, 3, 2,
      { { 0, 12 }, { 12, 1 }, { 13, 1 }, { 14, 1 }, { 15, 1 }, { 19, 7 }, { 32, 8 }, { 40, 8 },
        { 48, 5 }, { 53, 1 }, { 54, 1 }, { 55, 1 }, { 56, 8 } } },
    { "FLAT", 0xdc000000, 18, 7, 2, FLAT_FIELDS },
    { "SCRATCH", 0xdc004000, 18, 7, 2, FLAT_FIELDS },
    { "GLOBAL", 0xdc008000, 18, 7, 2, FLAT_FIELDS },
    { "FLAT_3", 0xdc00c000, 18, 7, 2, FLAT_FIELDS }, /* no such segment */
    { "MIMG", 0xf0000000, 18, 7, 2,
      { { 0, 1 }, { 1, 2 }, { 3, 3 }, { 6, 1 }, { 7, 1 }, { 8, 4 }, { 12, 1 }, { 13, 1 },
        { 14, 1 }, { 15, 1 }, { 16, 1 }, { 17, 1 }, { 25, 1 }, { 32, 8 }, { 40, 8 }, { 48, 5 },
        { 53, 5 }, { 58, 4 }, { 62, 1 }, { 63, 1 } } },
    { "EXP", 0xf8000000, 0, 4, 2,
      { { 4, 6 }, { 10, 1 }, { 11, 1 }, { 12, 1 }, { 13, 13 }, { 32, 8 }, { 40, 8 }, { 48, 8 },
        { 56, 8 } } },
    /* prefixes that no encoding has */
    { "none", 0xc0000000, 26, 5, 2, { { 0, 16 }, { 16, 10 } } },
};
/* clang-format on */
enum { N_ENCODINGS = sizeof encodings / sizeof *encodings };

static uint64_t rng_state;
static uint64_t rng(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return rng_state * UINT64_C(0x2545f4914f6cdd1d);
}

struct run {
    unsigned chip; /* with ISA_WAVE64 */
    void *llvm;
    uint64_t tried, accepted, different, excluded;
    unsigned n_random, show;
    bool thorough;
    uint8_t seen[ISA_N_IDS]; /* rows that LLVM and we agreed on */
};

static uint32_t current[ISA_MAX_WORDS]; /* for the crash handler */
static const char *current_name;

static void on_crash(int number)
{
    char line[160];
    int n =
        snprintf(line, sizeof line, "signal %d inside LLVM or ours: %s %08x %08x %08x %08x %08x\n",
                 number, current_name, current[0], current[1], current[2], current[3], current[4]);
    if (n > 0 && write(2, line, (size_t)n) < 0) _exit(3);
    _exit(3);
}

/* Words that are not given to LLVM, with the reason. */
static bool excluded(const uint32_t *w)
{
    /* v_pk_fmac_f16 with DPP: AMD's own kernels hold it as plain words, LLVM has no such form. */
    if (w[0] >> 25 == 0x3c && (w[0] & 0x1ff) == 250) return true;
    bool vop = !(w[0] >> 31), vopc = w[0] >> 25 == 0x3e;
    /* Reserved SDWA selectors: LLVM's printer reads past its table and crashes. We refuse them. */
    if (vop && (w[0] & 0x1ff) == 249) {
        if ((w[1] >> 16 & 7) == 7 || (w[1] >> 24 & 7) == 7) return true;
        if (!vopc && ((w[1] >> 8 & 7) == 7 || (w[1] >> 11 & 3) == 3)) return true;
    }
    return false;
}

static void compare(struct run *r, const uint32_t *words)
{
    char theirs[1024], ours[512] = "";
    uint8_t bytes[4 * ISA_MAX_WORDS];
    if (excluded(words)) {
        r->excluded++;
        return;
    }
    /* Now and then the words end early. */
    uint64_t x = rng();
    size_t n_words = x & 15 ? ISA_MAX_WORDS : 1 + (x >> 8) % (ISA_MAX_WORDS - 1);
    memcpy(current, words, sizeof current);
    for (int i = 0; i < ISA_MAX_WORDS; i++)
        for (int k = 0; k < 4; k++) bytes[4 * i + k] = (uint8_t)(words[i] >> 8 * k);
    size_t length = disasm(r->llvm, bytes, 4 * n_words, 0, theirs, sizeof theirs);
    char *text = theirs;
    if (!length) theirs[0] = 0;
    while (*text == '\t' || *text == ' ') text++;
    char *comment = strstr(text, " ; ");
    if (comment) *comment = 0;

    struct isa_inst inst;
    size_t n = isa_decode(r->chip, words, n_words, &inst);
    if (n) isa_print(&inst, ours, sizeof ours);
    r->tried++;
    r->accepted += length != 0;
    if (4 * n == length && !strcmp(text, ours)) {
        if (n) r->seen[inst.id] = 1;
        return;
    }
    r->different++;
    if (r->different > r->show) return;
    printf("%s%s %-9s", isa_chip_name(r->chip), r->chip & ISA_WAVE64 ? " wave64" : "",
           current_name);
    for (size_t i = 0; i < n_words; i++) printf(" %08x", words[i]);
    printf("\n  llvm %2zu %s\n  ours %2zu %s\n", length, text, 4 * n, ours);
}

static void set_field(uint32_t *words, struct field f, uint32_t value)
{
    uint64_t both = words[0] | (uint64_t)words[1] << 32;
    uint64_t mask = ((UINT64_C(1) << f.bits) - 1) << f.low;
    both = (both & ~mask) | ((uint64_t)value << f.low & mask);
    words[0] = (uint32_t)both;
    words[1] = (uint32_t)(both >> 32);
}

/* Register and constant codes where something changes. */
static const uint16_t edges[] = { 0,   1,   2,   3,   4,   7,   8,   96,  100, 101, 102, 103,
                                  104, 105, 106, 107, 108, 109, 110, 112, 120, 121, 122, 123,
                                  124, 125, 126, 127, 128, 129, 192, 193, 208, 209, 230, 234,
                                  235, 236, 238, 239, 240, 241, 242, 247, 248, 249, 251, 252,
                                  253, 254, 255, 256, 257, 496, 508, 509, 510, 511 };
enum { N_EDGES = sizeof edges / sizeof *edges };

static uint32_t random_value(unsigned bits)
{
    uint32_t value = (uint32_t)rng();
    if (bits >= 7 && bits <= 9 && value >> 31) value = edges[rng() % N_EDGES];
    return value & (uint32_t)((UINT64_C(1) << bits) - 1);
}

/* The words after the fixed ones: literals that have a name, small numbers, anything. */
static void random_tail(uint32_t *words, unsigned from)
{
    static const uint32_t special[] = {
        0,      1,          64,     65,     0xfffffff0, 0xffffffff, 0x3f800000, 0x3ff00000,
        0x3c00, 0x3e22f983, 0x3118, 0xffff, 0x80000000, 0x3c003c00, 0x3fc45f30
    };
    for (unsigned i = from; i < ISA_MAX_WORDS; i++) {
        uint64_t x = rng();
        words[i] = x >> 62 ? (uint32_t)x : special[(x >> 8) % (sizeof special / sizeof *special)];
    }
}

static void start(uint32_t *words, const struct encoding *e, unsigned op)
{
    memset(words, 0, ISA_MAX_WORDS * sizeof *words);
    words[0] = e->base | (uint32_t)op << e->op_low;
    random_tail(words, e->words);
}

/* A plain operand field value to begin with: VGPRs for 9-bit sources, small numbers elsewhere. */
static void plain_fields(uint32_t *words, const struct encoding *e)
{
    for (unsigned i = 0; i < 24 && e->fields[i].bits; i++) {
        struct field f = e->fields[i];
        uint64_t x = rng();
        if (f.bits == 9) set_field(words, f, x & 1 ? 256 + (uint32_t)(x >> 8 & 127) : 0);
        if (f.bits == 8 || f.bits == 7) set_field(words, f, (uint32_t)(x >> 8 & 28) * (x & 1));
    }
    if (e->base >> 26 == 0x37 && rng() & 3) set_field(words, (struct field){ 48, 7 }, ISA_NULL);
    if (!strcmp(e->name, "MIMG")) set_field(words, (struct field){ 8, 4 }, 15);
    if (!strcmp(e->name, "MIMG") && (words[0] >> 19 & 63) == 0x33)
        words[0] |= 0x9f01; /* ray tracing: all else is fixed */
    if (!strcmp(e->name, "DS")) set_field(words, (struct field){ 17, 1 }, !(rng() & 3));
}

static void try_slot(struct run *r, const struct encoding *e, unsigned op)
{
    uint32_t words[ISA_MAX_WORDS];
    current_name = e->name;
    for (unsigned gds = 0; gds < 2; gds++) {
        start(words, e, op); /* all fields 0 */
        if (gds && !strcmp(e->name, "DS")) set_field(words, (struct field){ 17, 1 }, 1);
        compare(r, words);
    }
    for (unsigned i = 0; i < 24 && e->fields[i].bits; i++) {
        struct field f = e->fields[i];
        if (i && e->fields[i - 1].low == f.low && e->fields[i - 1].bits == f.bits) continue;
        bool code = f.bits >= 7 && f.bits <= 9;
        unsigned n = code && !r->thorough ? N_EDGES
                     : f.bits <= 9        ? 1u << f.bits
                                          : (r->thorough ? 400 : 20);
        for (unsigned k = 0; k < n; k++) {
            start(words, e, op);
            if (rng() & 3) plain_fields(words, e);
            uint32_t value = code && !r->thorough ? edges[k] : f.bits <= 9 ? k : (uint32_t)rng();
            if (code && !r->thorough && value >> f.bits) continue;
            set_field(words, f, value);
            compare(r, words);
        }
    }
    for (unsigned k = 0; k < r->n_random; k++) {
        start(words, e, op);
        if (k & 1) plain_fields(words, e);
        uint64_t x = rng();
        unsigned density = x & 3; /* 3: every field, 0: few */
        for (unsigned i = 0; i < 24 && e->fields[i].bits; i++) {
            bool take = density == 3 || (x >> (8 + 2 * i) & 3) < 1 + density;
            if (take) set_field(words, e->fields[i], random_value(e->fields[i].bits));
        }
        compare(r, words);
    }
}

static bool load_llvm(void)
{
    void *lib = dlopen("libLLVM.so.19.1", RTLD_NOW);
    if (!lib) lib = dlopen("libLLVM-19.so.1", RTLD_NOW);
    if (!lib) return false;
    static const char *const inits[] = { "LLVMInitializeAMDGPUTargetInfo",
                                         "LLVMInitializeAMDGPUTarget",
                                         "LLVMInitializeAMDGPUTargetMC",
                                         "LLVMInitializeAMDGPUDisassembler" };
    for (unsigned i = 0; i < 4; i++) {
        init_fn init;
        *(void **)&init = dlsym(lib, inits[i]);
        if (!init) return false;
        init();
    }
    *(void **)&create_disasm = dlsym(lib, "LLVMCreateDisasmCPUFeatures");
    *(void **)&disasm = dlsym(lib, "LLVMDisasmInstruction");
    return create_disasm && disasm;
}

/* Rows of the chip that no agreed word reached: the test would be blind to them. */
static unsigned count_unseen(const struct run *r)
{
    unsigned unseen = 0;
    for (unsigned id = 1; id < ISA_N_IDS; id++) {
        const struct isa_row *row = isa_row(id);
        if (!(row->chips >> (r->chip & 15) & 1) || r->seen[id]) continue;
        unseen++;
        printf("never decoded: %s of %s\n", row->name, isa_chip_name(r->chip));
    }
    return unseen;
}

static bool run_chip(struct run *r, const char *only)
{
    current_name = isa_chip_name(r->chip);
    bool wave64 = r->chip & ISA_WAVE64;
    r->llvm = create_disasm("amdgcn-amd-amdhsa", current_name,
                            wave64 ? "+wavefrontsize64,-wavefrontsize32" : "", NULL, 0, NULL, NULL);
    if (!r->llvm) {
        printf("LLVM has no %s\n", current_name);
        return false;
    }
    for (unsigned i = 0; i < N_ENCODINGS; i++) {
        if (only && strcmp(only, encodings[i].name)) continue;
        for (unsigned op = 0; op < 1u << encodings[i].op_bits; op++) try_slot(r, &encodings[i], op);
    }
    unsigned unseen = only ? 0 : count_unseen(r);
    printf("%s%s: %llu words tried, %llu accepted by LLVM, %llu differences, %u rows unreached, "
           "%llu not asked (reserved SDWA selectors, v_pk_fmac_f16 with DPP)\n",
           isa_chip_name(r->chip), wave64 ? " wave64" : "", (unsigned long long)r->tried,
           (unsigned long long)r->accepted, (unsigned long long)r->different, unseen,
           (unsigned long long)r->excluded);
    fflush(stdout);
    return !r->different && !unseen;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1;
    const char *chip = NULL, *only = NULL;
    unsigned n_random = 40, show = 20;
    bool thorough = false;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--thorough")) {
            thorough = true;
            n_random = 1000;
            continue;
        }
        i++;
        if (!strcmp(argv[i - 1], "--seed"))
            seed = strtoull(value, NULL, 0);
        else if (!strcmp(argv[i - 1], "--chip"))
            chip = value;
        else if (!strcmp(argv[i - 1], "--encoding"))
            only = value;
        else if (!strcmp(argv[i - 1], "--random"))
            n_random = (unsigned)strtoul(value, NULL, 0);
        else if (!strcmp(argv[i - 1], "--show"))
            show = (unsigned)strtoul(value, NULL, 0);
        else
            return fprintf(stderr, "unknown option %s\n", argv[i - 1]), 2;
    }
    if (!load_llvm()) {
        puts("skipped: LLVM 19 (libLLVM.so.19.1) is not installed");
        return 77;
    }
    signal(SIGSEGV, on_crash);
    signal(SIGABRT, on_crash);
    printf("seed %llu\n", (unsigned long long)seed);
    bool ok = true;
    for (unsigned i = 0; i < 2 * ISA_N_CHIPS; i++) {
        unsigned number = i % ISA_N_CHIPS;
        bool wave64 = i >= ISA_N_CHIPS;
        if (wave64 && number != ISA_GFX1010 && number != ISA_GFX1030) continue;
        if (chip && strcmp(chip, isa_chip_name(number))) continue;
        static struct run r;
        r = (struct run){ .chip = number | (wave64 ? ISA_WAVE64 : 0),
                          .n_random = n_random,
                          .show = show,
                          .thorough = thorough };
        rng_state = seed * UINT64_C(0x9e3779b97f4a7c15) + i + 1;
        ok &= run_chip(&r, only);
    }
    return !ok;
}
