/* automaton.c: makes the automaton that finds all patterns, once per process. */
#include "help/explain/automaton.h"

#include "base/error.h"
#include "help/explain/codes.h"
#include "help/explain/order.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Room for a pattern whose first part has `first` bytes; NULL when there is none left. */
static struct explain_pattern *add_pattern(struct explain_automaton *m, const char *text,
                                           size_t size, size_t first)
{
    if (m->n_patterns == EXPLAIN_PATTERNS || !first) return NULL;
    struct explain_pattern *p = &m->patterns[m->n_patterns];
    *p = (struct explain_pattern){ .text = text, .size = size, .first = first };
    for (size_t i = first; i < size; i++) p->rest += text[i] != '*';
    uint32_t state = 0;
    for (size_t i = 0; i < first; i++) {
        uint8_t *class = &m->class_of[explain_lower(text[i])];
        if (!*class && m->n_classes == EXPLAIN_CLASSES) return NULL;
        if (!*class) *class = (uint8_t)m->n_classes++;
        uint32_t *to = &m->go[state][*class];
        if (!*to) {
            if (m->n_states == EXPLAIN_STATES) return NULL;
            m->ends[m->n_states] = -1;
            m->depth[m->n_states] = (uint16_t)(i + 1);
            *to = (uint32_t)m->n_states++;
        }
        state = *to;
    }
    p->next = m->ends[state];
    m->ends[state] = (int16_t)m->n_patterns++;
    return p;
}

/* Is the pattern plain English, which any program may print: short, and neither a name (digits,
 * capitals within a word, punctuation of code) nor a word of this field? */
static bool is_plain(const char *text, size_t size)
{
    static const char *const names[] = { "amd",  "rocm",   "hip",    "hsa",    "kfd",  "gpu",
                                         "gfx",  "vram",   "ring",   "dkms",   "cuda", "opencl",
                                         "llvm", "vulkan", "triton", "kernel", "mes",  "firmware" };
    enum { SHORT = 24 };
    if (size >= SHORT) return false;
    for (size_t i = 0; i < size; i++) {
        const bool starts = !i || text[i - 1] == ' ' || text[i - 1] == '*';
        if (isupper((unsigned char)text[i]) && !starts) return false;
        if (!isalpha((unsigned char)text[i]) && !strchr(" *.,!", text[i])) return false;
        for (size_t k = 0; starts && k < sizeof names / sizeof *names; k++) {
            size_t n = 0;
            while (names[k][n] && i + n < size && explain_lower(text[i + n]) == names[k][n]) n++;
            if (!names[k][n]) return false;
        }
    }
    return true;
}

/* One alternative of a signature, which ends at the line's or the text's end. */
static bool add_alternative(struct explain_automaton *m, const char *text,
                            const struct explain_signature *signature)
{
    const bool alone = *text == '^';
    text += alone;
    struct explain_pattern *p = add_pattern(m, text, strcspn(text, "\n"), strcspn(text, "*\n"));
    if (!p) return false;
    p->alone = alone;
    p->signature = signature;
    p->vague = explain_is_vague(signature);
    p->plain = is_plain(text, p->size);
    p->whole = p->first < 6 && isalpha((unsigned char)*p->text);
    return true;
}

static const struct explain_signature *signature_of(const char *id)
{
    const struct explain_signature *s = explain_signatures;
    while (s->id && strcmp(s->id, id)) s++;
    return s->id ? s : NULL;
}

/* Every way in which a code is printed, as a pattern of its signature. */
static bool add_codes(struct explain_automaton *m)
{
    for (const struct explain_code *code = explain_codes; code->name; code++) {
        const struct explain_signature *signature = *code->id ? signature_of(code->id) : NULL;
        char text[160];
        for (size_t i = 0; explain_code_pattern(code, i, text, sizeof text); i++) {
            const size_t size = strlen(text) + 1;
            if (!signature || m->n_composed + size > EXPLAIN_COMPOSED) return false;
            char *copy = memcpy(m->composed + m->n_composed, text, size);
            m->n_composed += size;
            if (!add_alternative(m, copy, signature)) return false;
        }
    }
    return true;
}

static bool add_clues_and_words(struct explain_automaton *m)
{
    struct explain_clue clue;
    for (size_t i = 0; explain_clue_at(i, &clue); i++) {
        const size_t size = strcspn(clue.words, "\n");
        struct explain_pattern *p = add_pattern(m, clue.words, size, size);
        if (!p) return false;
        p->role = PATTERN_CLUE;
        p->clue = clue;
    }
    struct explain_word word;
    for (size_t i = 0; explain_word_at(i, &word); i++) {
        struct explain_pattern *p = add_pattern(m, word.text, word.size, word.size);
        if (!p) return false;
        p->role = PATTERN_WORD;
        p->word = word;
    }
    return true;
}

/* Breadth first: every state's failure link, and missing moves taken from there. */
static void link_states(struct explain_automaton *m, uint32_t *queue)
{
    size_t head = 0, tail = 0;
    for (size_t c = 0; c < m->n_classes; c++)
        if (m->go[0][c]) queue[tail++] = m->go[0][c];
    while (head < tail) {
        uint32_t state = queue[head++], fail = m->fail[state];
        m->shorter[state] = m->ends[fail] >= 0 ? fail : m->shorter[fail];
        m->hit[state] = m->ends[state] >= 0 || m->shorter[state];
        for (size_t c = 0; c < m->n_classes; c++) {
            uint32_t to = m->go[state][c];
            if (to) {
                m->fail[to] = m->go[fail][c];
                queue[tail++] = to;
            } else {
                m->go[state][c] = m->go[fail][c];
            }
        }
    }
}

static bool build(struct explain_automaton *m, uint32_t *queue)
{
    m->n_states = m->n_classes = 1; /* class 0: what no pattern has */
    m->ends[0] = -1;
    for (const struct explain_signature *s = explain_signatures; s->id; s++)
        for (const char *text = s->patterns; *text;) {
            if (!add_alternative(m, text, s)) return false;
            text += strcspn(text, "\n");
            text += *text == '\n';
        }
    if (!add_codes(m) || !add_clues_and_words(m)) return false;
    link_states(m, queue);
    memcpy(&m->class_of['A'], &m->class_of['a'], 26); /* capitals are of the class of small ones */
    return true;
}

rmcp_status explain_automaton(const struct explain_automaton **out)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct explain_automaton *kept;
    rmcp_status status = RMCP_OK;
    pthread_mutex_lock(&lock);
    if (!kept) {
        struct explain_automaton *m = calloc(1, sizeof *m);
        uint32_t *queue = calloc(EXPLAIN_STATES, sizeof *queue);
        if (!m || !queue)
            status = rmcp_fail(RMCP_E_NOMEM, "no memory for reading a log");
        else if (!build(m, queue))
            status =
                rmcp_fail(RMCP_E_INTERNAL, "the table of signatures has outgrown its automaton");
        free(queue);
        if (status)
            free(m);
        else
            kept = m;
    }
    *out = kept;
    pthread_mutex_unlock(&lock);
    return status;
}
