/* rules_dump.c: prints how often the code in code objects of any gfx10 chip has each silicon-bug
 * pattern: rules_dump [-v] FILE... (-v: also every finding).
 * rules_dump -f FILE: a line "FUNCTION RULE" for each finding in any function of a gfx10 object,
 * read as wave32 and WGP mode.
 * rules_dump -c FILE: the same across calls, kernels in their own mode, the others as wave32. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/codeobj/codeobj.h"
#include "code/isa/rules.h"

struct code {
    const char *name;
    const uint32_t *words;
    size_t n_words;
    unsigned mode;
};

static void print_finding(const struct isa_finding *f, void *context)
{
    const struct code *code = context;
    const uint32_t offsets[] = { f->cause, f->at };
    printf("%s %s\n", code->name, isa_rule_table[f->rule].id);
    for (unsigned i = 0; i < 2; i++) {
        char text[256] = "?";
        struct isa_inst inst;
        size_t word = offsets[i] / 4;
        if (offsets[i] != ISA_NO_CAUSE &&
            isa_decode(code->mode, code->words + word, code->n_words - word, &inst))
            isa_print(&inst, text, sizeof text);
        printf("    %06x  %s\n", (unsigned)offsets[i], text);
    }
}

static void print_line(const struct isa_finding *f, void *context)
{
    printf("%s %s\n", (const char *)context, isa_rule_table[f->rule].id);
}

static int print_functions(const struct codeobj *object)
{
    int chip = isa_chip_of_mach(object->target.mach);
    for (size_t i = 0; i < object->n_functions; i++) {
        const struct codeobj_function *f = &object->functions[i];
        uint32_t *words = malloc((size_t)f->size + 4);
        struct isa_rules_count count;
        if (!words || chip < 0) return 2;
        memcpy(words, f->code, (size_t)f->size);
        bool ok = isa_rules_check((unsigned)chip, words, (size_t)f->size / 4, true, print_line,
                                  (void *)(uintptr_t)f->name, &count);
        free(words);
        if (!ok) return 2;
        if (count.n_undecodable) printf("%s undecodable\n", f->name);
    }
    return 0;
}

static int print_calls(const struct codeobj *object)
{
    int chip = isa_chip_of_mach(object->target.mach), status = 2;
    size_t n = object->n_functions;
    struct isa_code *codes = calloc(n + 1, sizeof *codes);
    struct isa_calls *calls = NULL;
    if (!codes || chip < 0) goto done;
    for (size_t i = 0; i < n; i++) {
        const struct codeobj_function *f = &object->functions[i];
        uint32_t *words = malloc((size_t)f->size + 4);
        if (!words) goto done;
        memcpy(words, f->code, (size_t)f->size);
        codes[i] = (struct isa_code){ words, (size_t)f->size / 4, f->address, (unsigned)chip, true,
                                      false };
    }
    for (size_t k = 0; k < object->n_kernels; k++) {
        const struct codeobj_kernel *kernel = &object->kernels[k];
        if (!kernel->function) continue;
        struct isa_code *code = &codes[kernel->function - object->functions];
        code->is_kernel = true;
        code->wgp_mode = kernel->descriptor.rsrc1 >> 29 & 1;
        if (!(kernel->descriptor.properties & CODEOBJ_PROPERTY_WAVE32))
            code->chip_mode |= ISA_WAVE64;
    }
    if (!isa_calls_create(codes, n, &calls)) goto done;
    status = 0;
    for (size_t i = 0; i < n && !status; i++) {
        struct isa_rules_count count;
        const char *name = object->functions[i].name;
        if (!isa_calls_check(calls, i, print_line, (void *)(uintptr_t)name, &count)) status = 2;
        if (count.n_undecodable) printf("%s undecodable\n", name);
        for (size_t k = 0; k < count.n_unknown_calls; k++) printf("%s unknown-call\n", name);
    }
done:
    isa_calls_destroy(calls);
    for (size_t i = 0; codes && i < n; i++) free((void *)(uintptr_t)codes[i].words);
    free(codes);
    return status;
}

int main(int argc, char **argv)
{
    bool across = argc > 1 && !strcmp(argv[1], "-c");
    bool functions = across || (argc > 1 && !strcmp(argv[1], "-f"));
    size_t n_findings[ISA_N_RULES] = { 0 }, n_undecodable = 0, n_instructions = 0;
    bool verbose = argc > 1 && !strcmp(argv[1], "-v");
    for (int i = 1 + (verbose || functions); i < argc; i++) {
        static uint8_t bytes[1 << 26];
        FILE *file = fopen(argv[i], "rb");
        struct codeobj *object = NULL;
        if (!file) return 2;
        size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        if (codeobj_open(bytes, size, &object)) {
            fprintf(stderr, "%s: %s\n", argv[i], rmcp_last_error());
            return 2;
        }
        if (functions) {
            int status = across ? print_calls(object) : print_functions(object);
            codeobj_close(object);
            return status;
        }
        int chip = isa_chip_of_mach(object->target.mach);
        for (size_t k = 0; k < object->n_kernels && chip >= 0; k++) {
            const struct codeobj_kernel *kernel = &object->kernels[k];
            if (!kernel->function) continue;
            bool wave32 = kernel->descriptor.properties & CODEOBJ_PROPERTY_WAVE32;
            struct code code = { kernel->name, malloc((size_t)kernel->function->size + 4),
                                 (size_t)kernel->function->size / 4,
                                 (unsigned)chip | (wave32 ? 0 : ISA_WAVE64) };
            if (!code.words) return 2;
            memcpy((void *)(uintptr_t)code.words, kernel->function->code, 4 * code.n_words);
            struct isa_rules_count count;
            if (!isa_rules_check(code.mode, code.words, code.n_words,
                                 kernel->descriptor.rsrc1 >> 29 & 1, verbose ? print_finding : NULL,
                                 &code, &count))
                return 2;
            for (unsigned r = 0; r < ISA_N_RULES; r++) n_findings[r] += count.n_findings[r];
            n_undecodable += count.n_undecodable;
            n_instructions += count.n_instructions;
            free((void *)(uintptr_t)code.words);
        }
        codeobj_close(object);
    }
    for (unsigned r = 0; r < ISA_N_RULES; r++)
        if (n_findings[r]) printf("%s %zu\n", isa_rule_table[r].id, n_findings[r]);
    if (n_undecodable) printf("undecodable %zu\n", n_undecodable);
    printf("instructions %zu\n", n_instructions);
    return 0;
}
