/* rows.c: runs instructions on the executor and compares all that they may change.
 *
 *   sim_rows list           rows that have semantics: name, encoding, forms, modifiers, chips
 *   sim_rows run FILE       run the cases of FILE; fails when one differs or a row has none
 *   sim_rows mutate FILE    spoil one instruction at a time: a case of it must fail
 *
 * FILE comes from rows/make.py, which has computed what must come out. A case is a few words
 * of code between a prologue, which loads registers and LDS from memory, and an epilogue, which
 * stores them. What a case does not speak of must stay as it was. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"
#include "sim/check/check.h"
#include "sim/exec/exec.h"
#include "sim/math/valu.h"

/* ---- spoiling ---- */

static unsigned level;      /* of the host's instructions that the lane functions use */
static unsigned spoiled_id; /* 0: none */
static unsigned sibling_id; /* its function instead; 0: the result with a bit flipped */
static valu_fn *spoiled_valu;
static salu_fn *spoiled_salu;

valu_fn *__wrap_valu_function(unsigned id);
salu_fn *__real_salu_function(unsigned id);
salu_fn *__wrap_salu_function(unsigned id);

static void flip_valu(struct valu_args *args)
{
    args->mask_out = 0;
    spoiled_valu(args);
    enum valu_kind kind = valu_result_of(spoiled_id);
    if (kind == VALU_MASK)
        args->mask_out = ~args->mask_out;
    else
        for (unsigned i = 0; i < args->n; i++) args->dst[0][i] ^= 0x40;
}

static uint64_t flip_salu(uint64_t a, uint64_t b, bool *scc)
{
    uint64_t r = spoiled_salu(a, b, scc);
    *scc = !*scc;
    return r ^ 1;
}

valu_fn *__wrap_valu_function(unsigned id)
{
    if (id != spoiled_id || !id) return valu_function_at(level, id);
    if (sibling_id) return valu_function_at(level, sibling_id);
    spoiled_valu = valu_function_at(level, id);
    return spoiled_valu ? flip_valu : NULL;
}

salu_fn *__wrap_salu_function(unsigned id)
{
    if (id != spoiled_id || !id) return __real_salu_function(id);
    if (sibling_id) return __real_salu_function(sibling_id);
    spoiled_salu = __real_salu_function(id);
    return spoiled_salu ? flip_salu : NULL;
}

/* ---- which rows have semantics ---- */

/* Does the instruction of these words, when it is one of the row, execute? */
static bool executes(unsigned chip, const struct isa_row *row, const uint32_t *words)
{
    struct op op;
    memset(&op, 0, sizeof op);
    if (!isa_decode(chip, words, ISA_MAX_WORDS, &op.inst) || op.inst.row != row) return false;
    bool ok = predecode(&op) && op.run != run_illegal;
    free(op.rows);
    return ok;
}

/* The first words of an instruction: its opcode in its place; `sources` fills the source fields. */
static void encode(const struct isa_row *row, uint32_t sources, uint32_t word[2])
{
    const uint32_t op = row->opcode, v = sources;
    word[0] = word[1] = 0;
    switch (row->encoding) {
    case ISA_SOP1: word[0] = 0xbe800000 | op << 8; break;
    case ISA_SOP2: word[0] = 0x80000000 | op << 23; break;
    case ISA_SOPC: word[0] = 0xbf000000 | op << 16; break;
    case ISA_SOPK: word[0] = 0xb0000000 | op << 23; break;
    case ISA_SOPP: word[0] = 0xbf800000 | op << 16; break;
    case ISA_SMEM:
        word[0] = 0xf4000000 | op << 18;
        word[1] = 0xfa000000;
        break;
    case ISA_VOP1: word[0] = 0x7e000000 | op << 9 | (v & 511); break;
    case ISA_VOP2: word[0] = op << 25 | (v & 511); break;
    case ISA_VOPC: word[0] = 0x7c000000 | op << 17 | (v & 511); break;
    case ISA_VOP3:
        word[0] = 0xd4000000 | op << 16;
        word[1] = v;
        break;
    case ISA_VOP3P:
        word[0] = 0xcc000000 | op << 16;
        word[1] = v;
        break;
    case ISA_DS: word[0] = 0xd8000000 | op << 18; break;
    case ISA_FLAT:
        word[0] = 0xdc000000 | op << 18;
        word[1] = 0x7d0000;
        break;
    case ISA_GLOBAL:
        word[0] = 0xdc008000 | op << 18;
        word[1] = 0x7d0000;
        break;
    case ISA_SCRATCH:
        word[0] = 0xdc004000 | op << 18;
        word[1] = 0x7d0000;
        break;
    case ISA_MUBUF:
        word[0] = 0xe0000000 | (op & 127) << 18;
        word[1] = 0x80000000 | (op >> 7 ? 1u << 21 : 0); /* soffset 0 */
        break;
    case ISA_MTBUF:
        word[0] = 0xe8000000 | (op & 7) << 16 | 22u << 19; /* format: 32 bits, float */
        word[1] = 0x80000000 | (op >> 3 ? 1u << 21 : 0);
        break;
    case ISA_MIMG: /* 2-D; all components, or those of the atomics that exist */
        word[0] = 0xf0000008 | (op & 127) << 18 | op >> 7 | (!v ? 15u : v >> 16 ? 3u : 1u) << 8;
        break;
    default: break; /* exports, interpolation: graphics */
    }
}

static int chip_of(const struct isa_row *row)
{
    for (int chip = 0; chip < ISA_N_CHIPS; chip++)
        if (row->chips >> chip & 1) return chip;
    return -1;
}

static bool has_semantics(const struct isa_row *row)
{
    /* No source, SGPRs, VGPRs, a VGPR and SGPRs. */
    static const uint32_t sources[] = { 0, 0x04040508, 0x04020100, 0x00000100, 256 };
    int chip = chip_of(row);
    for (size_t i = 0; chip >= 0 && i < sizeof sources / sizeof *sources; i++) {
        uint32_t words[ISA_MAX_WORDS] = { 0 };
        encode(row, sources[i], words);
        if (words[0] && executes((unsigned)chip, row, words)) return true;
    }
    return false;
}

static const char *const encodings[ISA_N_ENCODINGS] = {
    "SOP1",  "SOP2",   "SOPC", "SOPK",  "SOPP",  "SMEM", "VOP1", "VOP2",   "VOPC",    "VOP3",
    "VOP3P", "VINTRP", "DS",   "MUBUF", "MTBUF", "MIMG", "FLAT", "GLOBAL", "SCRATCH", "EXP"
};

static int list(void)
{
    for (unsigned id = 1; id < ISA_N_IDS; id++) {
        const struct isa_row *row = isa_row(id);
        if (has_semantics(row))
            printf("%s %s %u %u %u %u %u %u %u %" PRIu64 "\n", row->name, encodings[row->encoding],
                   row->forms, row->mods, row->chips, row->dst, row->src[0], row->src[1],
                   row->src[2], row->flags);
    }
    return 0;
}

/* ---- the machine ---- */

static bool find(void *context, uint64_t address, struct sim_mapping *out)
{
    struct machine *m = context;
    if (address - CODE < sizeof m->code) {
        *out = (struct sim_mapping){ CODE, sizeof m->code, (uint8_t *)m->code,
                                     SIM_READ | SIM_EXECUTE };
        return true;
    }
    if (address - STATE < sizeof m->memory) {
        *out = (struct sim_mapping){ STATE, sizeof m->memory, (uint8_t *)m->memory,
                                     SIM_READ | SIM_WRITE };
        return true;
    }
    return false;
}

static void on_report(void *context, const struct sim_report *r)
{
    struct machine *m = context;
    if (m->quiet || r->kind == SIM_TRAP) return;
    printf("  %s at +%" PRIu64 ": %s (%s)\n", sim_kind_name(r->kind), r->offset, r->reason,
           r->instruction);
}

static struct sim *machine_sim(struct machine *m, unsigned chip)
{
    if (m->sim[chip]) return m->sim[chip];
    struct sim_options options = { .chip = (enum isa_chip)chip,
                                   .threads = 1,
                                   .max_instructions = 100000,
                                   .report = on_report,
                                   .context = m };
    struct sim_memory memory = { .context = m, .find = find };
    if (sim_create(&options, &memory, &m->sim[chip]) != RMCP_OK) {
        fprintf(stderr, "sim_rows: no executor: out of memory\n");
        exit(2);
    }
    return m->sim[chip];
}

static void machine_forget(struct machine *m)
{
    for (unsigned chip = 0; chip < ISA_N_CHIPS; chip++) {
        sim_destroy(m->sim[chip]);
        m->sim[chip] = NULL;
    }
}

/* Run a case; false and a line of text when something differs. */
static bool run_case(struct machine *m, const struct cases *all, const struct one_case *c)
{
    const struct words *before = &all->prologue[c->wave64], *after = &all->epilogue[c->wave64];
    size_t n = before->n + c->words.n + after->n;
    if (n > sizeof m->code / sizeof *m->code) {
        printf("%s: too much code\n", c->text);
        return false;
    }
    memcpy(m->code, before->at, before->n * 4);
    memcpy(m->code + before->n, c->words.at, c->words.n * 4);
    memcpy(m->code + before->n + c->words.n, after->at, after->n * 4);
    case_begin(m, c);
    struct sim_dispatch dispatch = {
        .kernel = "case",
        .descriptor = { .properties = (uint16_t)(CODEOBJ_PROPERTY_KERNARG_SEGMENT_PTR |
                                                 CODEOBJ_PROPERTY_FLAT_SCRATCH_INIT |
                                                 (c->wave64 ? 0 : CODEOBJ_PROPERTY_WAVE32)),
                        .rsrc1 = 1u << 29 | 3u << 20 | 0xf0 << 12 | 15,
                        .rsrc2 = 4 << 1 | 1, /* user SGPRs; scratch */
                        .private_bytes = 256,
                        .group_bytes = LDS_SIZE },
        .entry = CODE,
        .grid = { c->wave64 ? 64 : 32, 1, 1 },
        .workgroup = { c->wave64 ? 64 : 32, 1, 1 },
        .group_bytes = LDS_SIZE,
        .private_bytes = 256,
        .kernarg_address = STATE,
        .n_vgprs = 64,
    };
    struct sim_result result;
    bool ran = sim_run(machine_sim(m, c->chip), &dispatch, &result) == RMCP_OK;
    if (ran && c->ends == 2) return !result.completed && result.fatal == SIM_TRAP;
    if (!ran || !result.completed) {
        if (!m->quiet) printf("%s: did not complete\n", c->text);
        return false;
    }
    return case_end(m, c);
}

static int run(struct machine *m, const struct cases *all)
{
    static bool tested[ISA_N_IDS];
    unsigned n_bad = 0, n_missing = 0, n_tested = 0;
    for (level = 0; level < valu_levels(); level++) {
        machine_forget(m); /* decoded code has the functions */
        for (size_t i = 0; i < all->n && n_bad < 60; i++) {
            bool again = level && !(isa_row(all->at[i].id)->flags & ISA_VALU);
            tested[all->at[i].id] = true;
            if (!again) n_bad += !run_case(m, all, &all->at[i]);
        }
    }
    level--;
    for (unsigned id = 1; id < ISA_N_IDS; id++) {
        n_tested += tested[id];
        if (tested[id] || !has_semantics(isa_row(id))) continue;
        printf("without a test: %s %s\n", isa_row(id)->name, encodings[isa_row(id)->encoding]);
        n_missing++;
    }
    printf("%zu cases of %u instructions, %u levels of the host: %u differ; "
           "%u rows without a test\n",
           all->n, n_tested, valu_levels(), n_bad, n_missing);
    return n_bad || n_missing;
}

/* ---- mutation ---- */

/* The next row with another function that takes and gives the same; 0: there is none. */
static unsigned sibling_of(unsigned id)
{
    const struct isa_row *row = isa_row(id);
    for (unsigned k = 1; k < ISA_N_IDS; k++) {
        unsigned other = (id + k) % ISA_N_IDS;
        const struct isa_row *r = isa_row(other);
        if (!r || r->encoding != row->encoding || r->dst != row->dst ||
            memcmp(r->src, row->src, sizeof r->src))
            continue;
        if (row->flags & ISA_VALU) {
            valu_fn *f = valu_function_at(0, other), *g = valu_function_at(0, id);
            bool alike = valu_result_of(id) == valu_result_of(other);
            for (unsigned i = 0; i < 3; i++)
                alike = alike && valu_source_of(id, i) == valu_source_of(other, i);
            if (f && f != g && alike && !((r->flags ^ row->flags) & ISA_ACC)) return other;
        } else {
            salu_fn *f = __real_salu_function(other);
            if (f && f != __real_salu_function(id)) return other;
        }
    }
    return 0;
}

static bool is_noticed(struct machine *m, const struct cases *all, unsigned id)
{
    bool noticed = false;
    machine_forget(m); /* decoded code has the function */
    for (size_t i = 0; i < all->n && !noticed; i++)
        if (all->at[i].id == id) noticed = !run_case(m, all, &all->at[i]);
    return noticed;
}

static int mutate(struct machine *m, const struct cases *all)
{
    unsigned n = 0, n_missed = 0, n_rows = 0;
    m->quiet = true;
    for (unsigned id = 1; id < ISA_N_IDS; id++) {
        const struct isa_row *row = isa_row(id);
        bool is_valu = row->flags & ISA_VALU && valu_function_at(0, id);
        bool is_salu = row->flags & ISA_SALU && __real_salu_function(id);
        if (!is_valu && !is_salu) continue;
        n_rows++;
        for (unsigned how = 0; how < 2; how++) {
            unsigned sibling = how ? sibling_of(id) : 0;
            if (how && !sibling) continue;
            spoiled_id = id;
            sibling_id = sibling;
            n++;
            if (is_noticed(m, all, id)) continue;
            n_missed++;
            printf("not noticed: %s %s\n", row->name,
                   sibling ? isa_row(sibling)->name : "with a bit flipped");
        }
    }
    spoiled_id = 0;
    printf("%u changes of %u instructions: %u not noticed\n", n, n_rows, n_missed);
    return n_missed || n_rows < 100;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "list")) return list();
    if (argc != 3) {
        fprintf(stderr, "usage: sim_rows list | run FILE | mutate FILE\n");
        return 2;
    }
    static struct machine machine;
    static struct cases all;
    if (!cases_read(&all, argv[2])) return 2;
    int status = !strcmp(argv[1], "mutate") ? mutate(&machine, &all) : run(&machine, &all);
    machine_forget(&machine);
    cases_free(&all);
    return status;
}
