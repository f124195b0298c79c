/* encode_code.c: every instruction of gfx10 code in libraries, code objects and folders, decoded
 * and encoded: the same words, or which bits differ.
 *
 * encode_code PATH...: a line for each instruction and set of bits that differ, how often, and
 * whether isa_encode refuses such code; a sum. Ends with 1 when code in its functions was refused
 * or came back with other words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/codeobj/walk.h"
#include "code/isa/encode.h"

enum { MOST_KINDS = 256 };

struct kind { /* of difference */
    unsigned id, form;
    uint32_t bits[2];
    const char *why;
    size_t n;
};

struct total {
    size_t n_objects, n_functions, n_instructions, n_undecodable, n_lost;
    struct kind kinds[MOST_KINDS];
    size_t n_kinds;
};

static void count_kind(struct total *t, const struct isa_inst *in, uint32_t low, uint32_t high,
                       const char *why)
{
    for (size_t i = 0; i < t->n_kinds; i++) {
        struct kind *k = &t->kinds[i];
        if (k->id != in->id || k->form != in->form || k->bits[0] != low || k->bits[1] != high ||
            k->why != why)
            continue;
        k->n++;
        return;
    }
    if (t->n_kinds == MOST_KINDS)
        t->n_lost++;
    else
        t->kinds[t->n_kinds++] = (struct kind){ in->id, in->form, { low, high }, why, 1 };
}

static void check_words(struct total *t, unsigned chip, const uint32_t *words, size_t n_words)
{
    for (size_t i = 0; i < n_words;) {
        struct isa_inst in;
        uint32_t back[ISA_MAX_WORDS];
        size_t n = isa_decode(chip, words + i, n_words - i, &in);
        if (!n) {
            t->n_undecodable++;
            i++;
            continue;
        }
        t->n_instructions++;
        const char *why = isa_refusal(&in);
        if (isa_encode_any(chip, &in, back, NULL, 0) != n)
            count_kind(t, &in, UINT32_MAX, UINT32_MAX, "not encoded");
        else if (why || memcmp(back, words + i, n * sizeof *back))
            count_kind(t, &in, back[0] ^ words[i], n > 1 ? back[1] ^ words[i + 1] : 0, why);
        i += n;
    }
}

/* Code of kernels in their own wave size; other functions are read as wave32. */
static bool is_wave64(const struct codeobj *object, const struct codeobj_function *f)
{
    for (size_t i = 0; i < object->n_kernels; i++)
        if (object->kernels[i].function == f)
            return !(object->kernels[i].descriptor.properties & CODEOBJ_PROPERTY_WAVE32);
    return false;
}

static rmcp_status visit(void *context, const struct codeobj_item *item)
{
    struct total *t = context;
    struct codeobj *object = NULL;
    int chip = item->kind == CODEOBJ_OBJECT ? isa_chip_of_mach(item->target.mach) : -1;
    if (chip < 0 || codeobj_open(item->bytes, item->size, &object)) return RMCP_OK;
    t->n_objects++;
    for (size_t i = 0; i < object->n_functions; i++) {
        const struct codeobj_function *f = &object->functions[i];
        uint32_t *words = malloc((size_t)f->size + 4);
        if (!words) abort();
        memcpy(words, f->code, (size_t)f->size);
        t->n_functions++;
        check_words(t, (unsigned)chip | (is_wave64(object, f) ? ISA_WAVE64 : 0), words,
                    (size_t)f->size / 4);
        free(words);
    }
    codeobj_close(object);
    return RMCP_OK;
}

int main(int argc, char **argv)
{
    static struct total t;
    for (int i = 1; i < argc; i++) {
        if (codeobj_walk_path(argv[i], NULL, visit, &t)) {
            fprintf(stderr, "%s: %s\n", argv[i], rmcp_last_error());
            return 2;
        }
    }
    for (size_t i = 0; i < t.n_kinds; i++)
        printf("%s, form %u: %zu with bits %08x %08x: %s\n", isa_row(t.kinds[i].id)->name,
               t.kinds[i].form, t.kinds[i].n, t.kinds[i].bits[0], t.kinds[i].bits[1],
               t.kinds[i].why ? t.kinds[i].why : "spare");
    printf("%zu objects, %zu functions, %zu instructions, %zu undecodable words, %zu kinds of "
           "difference\n",
           t.n_objects, t.n_functions, t.n_instructions, t.n_undecodable, t.n_kinds + t.n_lost);
    return t.n_kinds != 0 || !t.n_instructions;
}
