/* prove.c: proves, at build time, what we promise of our own code objects: prove TARGET FILE...
 *
 * Of every object: it is of version 4 and for TARGET, in its header and in its notes. Of every
 * function of gfx10 code, the only one that we can decode:
 *   - each word belongs to an instruction of the chip the object is for, with operands it takes;
 *   - for gfx101x, no pattern of its silicon bugs, along any path (src/code/isa/rules.h);
 *   - nothing that other agents have to see at once. gfx10 code for scopes beyond the workgroup
 *     is the same for the device and the system (LLVM, AMDGPUUsage, "Memory Model GFX10"), so
 *     none of it may occur: no atomic on global, flat, buffer or scalar memory, no load with both
 *     glc and dlc (atomic or volatile), no invalidation of the L1 (buffer_gl1_inv, s_gl1_inv) and
 *     no write-back of the scalar cache. buffer_gl0_inv is a barrier's and stays inside a WGP.
 * Of every kernel: metadata and a descriptor, no argument that only ROCm's runtime supplies
 * ("hidden_*"); a gemm kernel, where all the time goes, spills no register and uses no scratch (but
 * gfx8 and gfx9, where a mask takes two scalar registers, may keep some in a vector register).
 *
 * Prints one line a violation: file, kernel, reason. Exits with 1 when there was one, with 2 when
 * a file cannot be read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/codeobj/codeobj.h"
#include "code/isa/rules.h"

enum { RSRC1_WGP_MODE = 1 << 29 };
enum { MOST_IN_LANES = 64 }; /* scalar registers in the lanes of one vector register */

struct proof {
    const char *target;
    const char *file;
    const char *name; /* of the function or kernel at hand */
    const uint32_t *words;
    size_t n_words;
    unsigned chip_mode;
    size_t n_violations, n_instructions;
};

static void violated(struct proof *p, const char *reason)
{
    printf("%s: %s: %s\n", p->file, p->name, reason);
    p->n_violations++;
}

static void violated_at(struct proof *p, const char *reason, size_t word)
{
    struct isa_inst inst;
    char text[256] = "", line[512];
    if (isa_decode(p->chip_mode, p->words + word, p->n_words - word, &inst))
        isa_print(&inst, text, sizeof text);
    else
        snprintf(text, sizeof text, "0x%08x", (unsigned)p->words[word]);
    snprintf(line, sizeof line, "%s at 0x%zx: %s", reason, 4 * word, text);
    violated(p, line);
}

static void found(const struct isa_finding *finding, void *context)
{
    char reason[128];
    snprintf(reason, sizeof reason, "has the pattern %s", isa_rule_table[finding->rule].id);
    violated_at(context, reason, finding->at / 4);
}

static bool leaves_the_workgroup(const struct isa_inst *inst)
{
    uint64_t flags = inst->row->flags;
    if (flags & ISA_ATOMIC && flags & (ISA_VMEM | ISA_SCALAR_MEM)) return true;
    if (flags & ISA_LOAD && flags & (ISA_VMEM | ISA_SCALAR_MEM) && inst->glc && inst->dlc)
        return true;
    return inst->id == ISA_buffer_gl1_inv_MUBUF || inst->id == ISA_s_gl1_inv_SMEM ||
           inst->id == ISA_s_dcache_wb_SMEM;
}

static void prove_words(struct proof *p)
{
    for (size_t i = 0; i < p->n_words;) {
        struct isa_inst inst;
        size_t n = isa_decode(p->chip_mode, p->words + i, p->n_words - i, &inst);
        if (!n)
            violated_at(p, "no instruction of the chip", i);
        else if (!isa_is_legal(&inst))
            violated_at(p, "operand that cannot be", i);
        else if (leaves_the_workgroup(&inst))
            violated_at(p, "device or system scope", i);
        p->n_instructions += n != 0;
        i += n ? n : 1;
    }
}

static bool prove_function(struct proof *p, const struct codeobj_function *f, bool wave32, bool wgp)
{
    uint32_t *words = malloc((size_t)f->size + 4);
    if (!words) return false;
    memcpy(words, f->code, (size_t)f->size);
    p->words = words;
    p->n_words = (size_t)f->size / 4;
    unsigned chip = p->chip_mode;
    if (!wave32) p->chip_mode |= ISA_WAVE64;
    if (f->size % 4) violated(p, "code that is not whole words");
    if (!f->size_known) violated(p, "code without a size");
    prove_words(p);
    struct isa_rules_count count;
    bool ok = chip > ISA_GFX1013 ||
              isa_rules_check(p->chip_mode, words, p->n_words, wgp, found, p, &count);
    p->chip_mode = chip;
    free(words);
    return ok;
}

static void prove_kernel(struct proof *p, const struct codeobj_kernel *k)
{
    char reason[256];
    const struct codeobj_metadata *m = &k->metadata;
    if (!k->has_descriptor || !k->has_metadata || !k->function)
        violated(p, "kernel without code, descriptor or metadata");
    for (size_t i = 0; i < k->n_arguments; i++) {
        if (!k->arguments[i].hidden) continue;
        snprintf(reason, sizeof reason, "hidden argument %.100s", k->arguments[i].kind);
        violated(p, reason);
    }
    if (strncmp(k->name, "gemm", 4) && strncmp(k->name, "product", 7) &&
        strncmp(k->name, "winograd", 8))
        return;
    const bool wide_masks = !strncmp(p->target, "gfx8", 4) || !strncmp(p->target, "gfx9", 4);
    const unsigned most = wide_masks ? MOST_IN_LANES : 0;
    if (m->sgpr_spill_count > most || m->vgpr_spill_count || m->private_bytes ||
        k->descriptor.private_bytes) {
        snprintf(reason, sizeof reason, "spills %u SGPRs, %u VGPRs, %u bytes of scratch",
                 (unsigned)m->sgpr_spill_count, (unsigned)m->vgpr_spill_count,
                 (unsigned)(m->private_bytes ? m->private_bytes : k->descriptor.private_bytes));
        violated(p, reason);
    }
}

/* A function that is no kernel's entry is looked at as every kernel here could call it. */
static bool prove_code(struct proof *p, const struct codeobj *object)
{
    for (size_t f = 0; f < object->n_functions; f++) {
        const struct codeobj_function *function = &object->functions[f];
        bool modes[2][2] = { { false } }; /* by wave32 and WGP mode */
        bool is_entry = false;
        for (size_t i = 0; i < object->n_kernels; i++)
            is_entry |= object->kernels[i].function == function;
        for (size_t i = 0; i < object->n_kernels; i++) {
            const struct codeobj_kernel *k = &object->kernels[i];
            if (is_entry && k->function != function) continue;
            modes[(k->descriptor.properties & CODEOBJ_PROPERTY_WAVE32) != 0]
                 [(k->descriptor.rsrc1 & RSRC1_WGP_MODE) != 0] = true;
        }
        p->name = function->name;
        for (unsigned mode = 0; mode < 4; mode++)
            if (modes[mode >> 1][mode & 1] && !prove_function(p, function, mode >> 1, mode & 1))
                return false;
    }
    return true;
}

static bool prove_object(struct proof *p, const struct codeobj *object)
{
    char reason[160];
    p->name = "object";
    const char *dashes = strstr(object->note_target, "--");
    const size_t length = strlen(p->target);
    if (!object->target.chip || strcmp(object->target.chip, p->target)) {
        snprintf(reason, sizeof reason, "not for %.40s", p->target);
        violated(p, reason);
        return true;
    }
    if (!dashes || strncmp(dashes + 2, p->target, length) || strcspn(dashes + 2, ":") != length)
        violated(p, "note and ELF header name different chips");
    if (object->version != 4) {
        snprintf(reason, sizeof reason, "code object version %u", object->version);
        violated(p, reason);
    }
    if (!object->n_kernels) violated(p, "no kernel");
    const int chip = isa_chip_of_mach(object->target.mach);
    p->chip_mode = (unsigned)chip;
    if (chip >= 0 && !prove_code(p, object)) return false;
    for (size_t i = 0; i < object->n_kernels; i++) {
        p->name = object->kernels[i].name;
        prove_kernel(p, &object->kernels[i]);
    }
    return true;
}

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    long end = -1;
    if (file && !fseek(file, 0, SEEK_END)) end = ftell(file);
    if (end >= 0) bytes = malloc((size_t)end + 1);
    if (bytes) {
        rewind(file);
        *size = fread(bytes, 1, (size_t)end, file);
    }
    if (file) fclose(file);
    return bytes;
}

int main(int argc, char **argv)
{
    struct proof p = { 0 };
    size_t n_kernels = 0;
    if (argc < 3) {
        fprintf(stderr, "usage: prove TARGET FILE...\n");
        return 2;
    }
    p.target = argv[1];
    for (int i = 2; i < argc; i++) {
        size_t size = 0;
        struct codeobj *object = NULL;
        uint8_t *bytes = read_file(argv[i], &size);
        p.file = argv[i];
        bool ok = bytes && codeobj_open(bytes, size, &object) == RMCP_OK;
        if (ok) {
            n_kernels += object->n_kernels;
            ok = prove_object(&p, object);
        }
        codeobj_close(object);
        free(bytes);
        if (!ok) {
            fprintf(stderr, "%s: %s\n", argv[i], bytes ? rmcp_last_error() : "cannot be read");
            return 2;
        }
    }
    if (p.n_violations) {
        printf("%zu violations\n", p.n_violations);
        return 1;
    }
    printf("proved for %s: %zu kernels in %d objects, %zu instructions\n", p.target, n_kernels,
           argc - 2, p.n_instructions);
    return 0;
}
