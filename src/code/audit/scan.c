/* scan.c: one function, judged for a chip: what the chip lacks, and the patterns of its bugs. */
#include <stdlib.h>
#include <string.h>

#include "code/audit/scan.h"

static const uint32_t *aligned_words(const struct codeobj_function *function, uint32_t **copy)
{
    *copy = NULL;
    if (!((uintptr_t)function->code % sizeof(uint32_t)))
        return (const uint32_t *)(const void *)function->code;
    *copy = malloc(function->size + 1);
    if (*copy) memcpy(*copy, function->code, function->size);
    return *copy;
}

static const struct codeobj_kernel *kernel_of(const struct codeobj *object, size_t *kernels,
                                              size_t index)
{
    return kernels[index] ? &object->kernels[kernels[index] - 1] : NULL;
}

rmcp_status audit_code_create(const struct codeobj *object, unsigned built, struct audit_code **out)
{
    static const size_t most_words = ((size_t)1 << 30) - 1; /* of isa_rules_check */
    const size_t n = object->n_functions;
    struct audit_code *code = calloc(1, sizeof *code);
    size_t *kernels = calloc(n + 1, sizeof *kernels); /* of a function, and 1 */
    bool ok = code && kernels;
    *out = NULL;
    if (ok) {
        code->n = n;
        code->codes = calloc(n + 1, sizeof *code->codes);
        code->copies = calloc(n + 1, sizeof *code->copies);
        ok = code->codes && code->copies;
    }
    for (size_t i = 0; ok && i < object->n_kernels; i++)
        if (object->kernels[i].function)
            kernels[object->kernels[i].function - object->functions] = i + 1;
    for (size_t i = 0; ok && i < n; i++) {
        const struct codeobj_function *f = &object->functions[i];
        const struct codeobj_kernel *kernel = kernel_of(object, kernels, i);
        const struct audit_mode mode = audit_mode_of(object, kernel);
        const size_t n_words = f->size / sizeof(uint32_t);
        code->codes[i] = (struct isa_code){ .words = aligned_words(f, &code->copies[i]),
                                            .n_words = n_words > most_words ? most_words : n_words,
                                            .address = f->address,
                                            .chip_mode = built | (mode.wave64 ? ISA_WAVE64 : 0),
                                            .wgp_mode = mode.wgp,
                                            .is_kernel = kernel };
        ok = code->codes[i].words;
    }
    ok = ok && isa_calls_create(code->codes, n, &code->calls);
    free(kernels);
    if (ok)
        *out = code;
    else
        audit_code_destroy(code);
    return ok ? RMCP_OK : rmcp_fail_memory("functions", n * sizeof(struct isa_code));
}

void audit_code_destroy(struct audit_code *code)
{
    if (!code) return;
    isa_calls_destroy(code->calls);
    for (size_t i = 0; code->copies && i < code->n; i++) free(code->copies[i]);
    free(code->copies);
    free(code->codes);
    free(code);
}

/* gfx103x has a register that others do not, behind an instruction that all have. */
static bool reads_shader_cycles(const struct isa_inst *inst)
{
    enum { HWREG_NUMBER = 63, SHADER_CYCLES = 29 };
    return inst->id == ISA_s_getreg_b32_SOPK && (inst->imm & HWREG_NUMBER) == SHADER_CYCLES;
}

bool audit_lacks(unsigned chip, const struct isa_inst *inst, const char **means)
{
    struct isa_inst here;
    *means = NULL;
    const unsigned mode = chip | (inst->wave64 ? ISA_WAVE64 : 0);
    if (!isa_decode(mode, inst->word, inst->n_words, &here) || !isa_is_legal(&here)) return true;
    if (chip != ISA_GFX1030 && inst->chip == ISA_GFX1030 && reads_shader_cycles(inst)) return true;
    if (here.id == inst->id) return false;
    *means = here.row->name;
    return true;
}

/* The instructions of another chip that `chip` lacks. */
static void count_lacking(unsigned chip, unsigned built, const uint32_t *words, size_t n_words,
                          uint32_t n_kernels, struct scan_opcodes *opcodes,
                          struct scan_function *out)
{
    struct isa_inst inst;
    const char *means;
    opcodes->functions++;
    for (size_t at = 0, length; at < n_words; at += length ? length : 1) {
        length = isa_decode(built, words + at, n_words - at, &inst);
        /* What the built-for chip cannot run either is data, not a difference. */
        if (!length || !isa_is_legal(&inst) || !audit_lacks(chip, &inst, &means)) continue;
        out->lacking++;
        opcodes->instructions[inst.id]++;
        opcodes->means[inst.id] = means;
        if (opcodes->seen[inst.id] == opcodes->functions) continue;
        opcodes->seen[inst.id] = opcodes->functions;
        opcodes->kernels[inst.id] += n_kernels;
    }
}

rmcp_status scan_function(unsigned chip, const struct scan_job *job, size_t index,
                          struct scan_opcodes *opcodes, struct scan_function *out)
{
    const struct isa_code *code = &job->code->codes[index];
    struct isa_rules_count count;
    memset(out, 0, sizeof *out);
    if (!isa_calls_check(job->code->calls, index, NULL, NULL, &count))
        return rmcp_fail_memory("rules", code->n_words * sizeof *code->words);
    out->instructions = count.n_instructions;
    out->unknown_words = count.n_undecodable;
    out->unknown_calls = count.n_unknown_calls;
    if (chip != ISA_GFX1030) out->across = count.n_across;
    for (size_t i = 0; i < ISA_N_RULES && chip != ISA_GFX1030; i++) { /* which has no such bug */
        out->rule[i] = count.n_findings[i];
        out->patterns += count.n_findings[i];
    }
    for (size_t i = 0; i < ISA_N_DETAILS && chip != ISA_GFX1030; i++)
        out->detail[i] = count.n_details[i];
    if (chip != job->built)
        count_lacking(chip, code->chip_mode, code->words, code->n_words,
                      job->modes[index].n_kernels, opcodes, out);
    return RMCP_OK;
}
