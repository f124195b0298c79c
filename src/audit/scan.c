/* scan.c: one function, judged for a chip: what the chip lacks, and the patterns of its bugs. */
#include <stdlib.h>
#include <string.h>

#include "audit/scan.h"

const uint32_t *audit_words(const struct codeobj_function *function, uint32_t **copy)
{
    *copy = NULL;
    if (!((uintptr_t)function->code % sizeof(uint32_t)))
        return (const uint32_t *)(const void *)function->code;
    *copy = malloc(function->size + 1);
    if (!*copy) {
        rmcp_fail_memory("code", function->size);
        return NULL;
    }
    memcpy(*copy, function->code, function->size);
    return *copy;
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

rmcp_status scan_function(unsigned chip, unsigned built, const struct codeobj_function *function,
                          const struct scan_mode *mode, struct scan_opcodes *opcodes,
                          struct scan_function *out)
{
    static const size_t most_words = ((size_t)1 << 30) - 1; /* of isa_rules_check */
    memset(out, 0, sizeof *out);
    uint32_t *copy;
    const uint32_t *words = audit_words(function, &copy);
    if (!words) return RMCP_E_NOMEM;
    size_t n_words = function->size / sizeof *words;
    if (n_words > most_words) n_words = most_words;
    struct isa_rules_count count;
    const unsigned built_mode = built | (mode->mode.wave64 ? ISA_WAVE64 : 0);
    bool checked = isa_rules_check(built_mode, words, n_words, mode->mode.wgp, NULL, NULL, &count);
    if (checked) {
        out->instructions = count.n_instructions;
        out->unknown_words = count.n_undecodable;
        for (size_t i = 0; i < ISA_N_RULES && chip != ISA_GFX1030;
             i++) { /* which has no such bug */
            out->rule[i] = count.n_findings[i];
            out->patterns += count.n_findings[i];
        }
        for (size_t i = 0; i < ISA_N_DETAILS && chip != ISA_GFX1030; i++)
            out->detail[i] = count.n_details[i];
        if (chip != built)
            count_lacking(chip, built_mode, words, n_words, mode->n_kernels, opcodes, out);
    }
    free(copy);
    return checked ? RMCP_OK : rmcp_fail_memory("rules", n_words * sizeof *words);
}
