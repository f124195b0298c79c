/* operators.c: which operator a kernel belongs to, as far as its name tells.
 *
 * C++ names are read only for the identifiers in them (lengths and letters of the Itanium ABI's
 * mangling): the function's own, and where that is a frame for many operators, as PyTorch's
 * elementwise kernels are, the first functor or kernel among its template arguments. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "code/repair/repair.h"

struct word {
    const char *text;
    size_t length;
    const char *start; /* of its length */
};

/* Behind a substitution, template parameter or literal number that starts here, else `at`. */
static const char *skip_number(const char *at)
{
    const char *end = at + 1;
    if (*at == 'S' || *at == 'T') {
        while (isdigit((unsigned char)*end) || isupper((unsigned char)*end)) end++;
        return *end == '_' ? end + 1 : at;
    }
    if (*at == 'A' || (*at == 'D' && at[1] == 'v')) {
        end += *at == 'D';
        if (!isdigit((unsigned char)*end)) return at;
        while (isdigit((unsigned char)*end)) end++;
        return *end == '_' ? end + 1 : at;
    }
    if (*at != 'L' || !islower((unsigned char)*end)) return at;
    end++;
    if (*end == 'n') end++;
    if (!isdigit((unsigned char)*end)) return at;
    while (isdigit((unsigned char)*end)) end++;
    return *end == 'E' ? end + 1 : at;
}

/* The next identifier; `*at` moves behind it. False: none. */
static bool next_word(const char **at, const char *end, struct word *out)
{
    while (*at < end) {
        const char *skipped = isdigit((unsigned char)**at) ? *at : skip_number(*at);
        if (skipped > *at) {
            *at = skipped;
            continue;
        }
        if (!isdigit((unsigned char)**at)) {
            ++*at;
            continue;
        }
        size_t length = 0;
        const char *digit = *at;
        for (; isdigit((unsigned char)*digit) && length < 4096; digit++)
            length = 10 * length + (size_t)(*digit - '0');
        const char *start = *at;
        *at = digit;
        if (!length || length > (size_t)(end - digit) || isdigit((unsigned char)*digit)) continue;
        *out = (struct word){ digit, length, start };
        *at = digit + length;
        return true;
    }
    return false;
}

static bool has(const struct word *word, const char *part)
{
    const size_t n = strlen(part);
    for (size_t i = 0; i + n <= word->length; i++)
        if (!memcmp(word->text + i, part, n)) return true;
    return false;
}

static bool is_operator(const struct word *word)
{
    static const char *const parts[] = { "kernel", "Functor", "functor", "_cuda", "_hip", "Op" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (has(word, parts[i])) return true;
    return false;
}

static bool is_frame(const struct word *word)
{
    return has(word, "elementwise") || has(word, "reduce") || has(word, "apply") ||
           has(word, "loop") || has(word, "transform") || has(word, "kernel_impl");
}

/* ROCm's trampoline_kernel says by its first template argument what it is of. */
static bool is_namespace(const struct word *word)
{
    return has(word, "host") || has(word, "detail") || has(word, "system");
}

static void copy(char *out, size_t room, const struct word *word)
{
    snprintf(out, room, "%.*s", (int)word->length, word->text);
    for (char *c = out; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
}

void repair_operator(const char *kernel, char out[static REPAIR_OPERATOR])
{
    const char *at = kernel, *end = kernel + strlen(kernel);
    struct word name = { NULL, 0, NULL }, word;
    if (!strncmp(kernel, "Cij", 3)) { /* Tensile's: indices, factors, types; then its tiles */
        size_t n = 0, parts = 0;
        while (kernel[n] && (kernel[n] != '_' || ++parts < 4)) n++;
        copy(out, REPAIR_OPERATOR, &(struct word){ kernel, n, NULL });
        return;
    }
    if (strncmp(kernel, "_Z", 2)) {
        copy(out, REPAIR_OPERATOR, &(struct word){ kernel, strlen(kernel), NULL });
        return;
    }
    /* The function's own name is the last of those that follow each other, where it is in a
     * namespace; else the first, and others are its arguments. */
    const bool is_nested = kernel[2] == 'N';
    for (const char *behind = NULL; next_word(&at, end, &word);) {
        if (behind && word.start != behind) {
            at = word.start;
            break;
        }
        name = word;
        behind = at;
        if (!is_nested) break;
    }
    if (!name.text) {
        copy(out, REPAIR_OPERATOR, &(struct word){ kernel, strlen(kernel), NULL });
        return;
    }
    copy(out, REPAIR_OPERATOR, &name);
    const bool is_trampoline = has(&name, "trampoline");
    if (!is_frame(&name) && !is_trampoline) return;
    while (next_word(&at, end, &word))
        if (is_trampoline ? !is_namespace(&word) : is_operator(&word)) {
            char of[REPAIR_OPERATOR];
            copy(of, sizeof of, &word);
            const size_t n = strlen(out);
            snprintf(out + n, REPAIR_OPERATOR - n, ": %s", of);
            return;
        }
}
