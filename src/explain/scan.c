/* scan.c: finds all signatures in a text of any size in one pass with bounded memory.
 *
 * The first parts of all patterns form one automaton (Aho and Corasick), so that the time does not
 * grow with the table. Colour sequences and zero bytes (UTF-16) are taken out while reading, and a
 * line may be as long as it likes: a pattern's later parts are looked for within REACH bytes. */
#include "base/error.h"
#include "explain/card.h"
#include "explain/codes.h"
#include "explain/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_STATES = 65535, /* their numbers have 16 bits */
    MOST_CLASSES =
        80, /* of characters: those that patterns have, small and capital as one, and all others */
    MOST_PATTERNS = 4000,
    MOST_COMPOSED = 32768, /* bytes of patterns that are made from the table of codes */
    REACH = 4096,
    CLUE_REACH = 128, /* as far as a clue about the card is read on, and half of it back */
    BUFFER = 1 << 18
};

/* One alternative of a signature, or one clue about the card or the program. */
struct pattern {
    const char *text; /* parts separated by '*', ends at '\n' or 0 */
    size_t first;     /* length of its first part */
    size_t size;
    size_t rest; /* letters after the first part, at least that many must follow in the line */
    const struct explain_signature *signature; /* NULL: a clue */
    struct explain_clue clue;
    int16_t next; /* another pattern with the same first part, or -1 */
};

struct automaton {
    uint8_t class_of[256];
    size_t n_classes;
    uint16_t go[MOST_STATES][MOST_CLASSES];
    uint16_t fail[MOST_STATES];
    uint16_t shorter[MOST_STATES]; /* the next state on the way of fail that ends a pattern, or 0 */
    int16_t ends[MOST_STATES];     /* the pattern that ends here, or -1 */
    bool hit[MOST_STATES];         /* some pattern ends here, this one's or a shorter one */
    size_t n_states;
    struct pattern patterns[MOST_PATTERNS];
    size_t n_patterns;
    char composed[MOST_COMPOSED];
    size_t n_composed;
};

/* Where the rest of a pattern was looked for in vain, so that a line full of its first part is not
 * searched again and again. */
struct failure {
    uint64_t line, at; /* `at`: from the start of the text */
    bool whole;        /* the line was seen to its end: what follows in it fails as well */
};

struct scanner {
    struct automaton machine;
    struct failure failures[MOST_PATTERNS];
    struct explain_evidence evidence;
    struct explain_result *result;
    explain_progress *progress;
    void *context;
    uint64_t dropped;    /* bytes that were in the buffer before */
    char buffer[BUFFER]; /* cleaned text */
    size_t filled, done; /* bytes in it; those already scanned */
    uint16_t state;
    size_t line_start; /* in the buffer; 0 when the line began before it */
    int escape;        /* inside a colour sequence: 0 no, 1 after ESC, 2 in its body */
};

static unsigned char lower(char c)
{
    unsigned char u = (unsigned char)c;
    return u >= 'A' && u <= 'Z' ? (unsigned char)(u + 32) : u;
}

static bool add_pattern(struct automaton *m, const char *text,
                        const struct explain_signature *signature, const struct explain_clue *clue)
{
    if (m->n_patterns == MOST_PATTERNS) return false;
    struct pattern *p = &m->patterns[m->n_patterns];
    *p = (struct pattern){ .text = text, .signature = signature, .next = -1 };
    if (clue) p->clue = *clue;
    p->size = strcspn(text, "\n");
    p->first = clue ? p->size : strcspn(text, "*\n");
    if (!p->first) return false;
    for (size_t i = p->first; i < p->size; i++) p->rest += text[i] != '*';
    uint16_t state = 0;
    for (size_t i = 0; i < p->first; i++) {
        uint8_t *class = &m->class_of[lower(text[i])];
        if (!*class && m->n_classes == MOST_CLASSES) return false;
        if (!*class) *class = (uint8_t)m->n_classes++;
        uint16_t *to = &m->go[state][*class];
        if (!*to) {
            if (m->n_states == MOST_STATES) return false;
            m->ends[m->n_states] = -1;
            *to = (uint16_t)m->n_states++;
        }
        state = *to;
    }
    p->next = m->ends[state];
    m->ends[state] = (int16_t)m->n_patterns++;
    return true;
}

/* Breadth first: every state's failure link, and missing moves taken from there. */
static void link_states(struct automaton *m)
{
    uint16_t queue[MOST_STATES];
    size_t head = 0, tail = 0;
    for (size_t c = 0; c < m->n_classes; c++)
        if (m->go[0][c]) queue[tail++] = m->go[0][c];
    while (head < tail) {
        uint16_t state = queue[head++], fail = m->fail[state];
        m->shorter[state] = m->ends[fail] >= 0 ? fail : m->shorter[fail];
        m->hit[state] = m->ends[state] >= 0 || m->shorter[state];
        for (size_t c = 0; c < m->n_classes; c++) {
            uint16_t to = m->go[state][c];
            if (to) {
                m->fail[to] = m->go[fail][c];
                queue[tail++] = to;
            } else {
                m->go[state][c] = m->go[fail][c];
            }
        }
    }
}

/* Capital letters are of the class of small ones. */
static void ignore_case(struct automaton *m)
{
    memcpy(&m->class_of['A'], &m->class_of['a'], 26);
}

static const struct explain_signature *signature_of(const char *id)
{
    const struct explain_signature *s = explain_signatures;
    while (s->id && strcmp(s->id, id)) s++;
    return s->id ? s : NULL;
}

/* Every way in which a code is printed, as a pattern of its signature. */
static bool add_codes(struct automaton *m)
{
    for (const struct explain_code *code = explain_codes; code->name; code++) {
        const struct explain_signature *signature = *code->id ? signature_of(code->id) : NULL;
        char text[160];
        for (size_t i = 0; explain_code_pattern(code, i, text, sizeof text); i++) {
            const size_t size = strlen(text) + 1;
            if (!signature || m->n_composed + size > MOST_COMPOSED) return false;
            char *copy = memcpy(m->composed + m->n_composed, text, size);
            m->n_composed += size;
            if (!add_pattern(m, copy, signature, NULL)) return false;
        }
    }
    return true;
}

static rmcp_status build(struct automaton *m)
{
    m->n_states = m->n_classes = 1; /* class 0: what no pattern has */
    m->ends[0] = -1;
    bool fits = true;
    for (const struct explain_signature *s = explain_signatures; s->id; s++)
        for (const char *text = s->patterns; *text;) {
            fits = fits && add_pattern(m, text, s, NULL);
            text += strcspn(text, "\n");
            text += *text == '\n';
        }
    fits = fits && add_codes(m);
    struct explain_clue clue;
    for (size_t i = 0; explain_clue_at(i, &clue); i++)
        fits = fits && add_pattern(m, clue.words, NULL, &clue);
    if (!fits)
        return rmcp_fail(RMCP_E_INTERNAL, "the table of signatures has outgrown its scanner");
    link_states(m);
    ignore_case(m);
    return RMCP_OK;
}

/* The rest of a pattern, after its first part, within the line. */
static bool rest_matches(const struct pattern *p, const char *text, size_t size)
{
    size_t part = p->first;
    while (part < p->size) {
        part++; /* the star */
        size_t length = 0;
        while (part + length < p->size && p->text[part + length] != '*') length++;
        if (!length) continue;
        size_t at = 0;
        for (; at + length <= size; at++) {
            size_t i = 0;
            while (i < length && lower(text[at + i]) == lower(p->text[part + i])) i++;
            if (i == length) break;
        }
        if (at + length > size) return false;
        text += at + length;
        size -= at + length;
        part += length;
    }
    return true;
}

/* Length of the line from `text` on, at most REACH. */
static size_t line_length(const char *text, size_t size)
{
    if (size > REACH) size = REACH;
    const char *end = memchr(text, '\n', size);
    return end ? (size_t)(end - text) : size;
}

static void keep_excerpt(struct explain_match *match, const char *line, size_t hit, size_t length)
{
    enum { BEFORE = 80 };
    size_t from = hit > BEFORE ? hit - BEFORE : 0, n = 0;
    while (from < hit && line[from] == ' ') from++;
    for (; from < length && n + 1 < sizeof match->excerpt; from++) {
        unsigned char c = (unsigned char)line[from];
        match->excerpt[n++] = c < 32 || c == 127 ? ' ' : line[from];
    }
    while (n && ((unsigned char)match->excerpt[n - 1] & 0xc0) == 0x80 &&
           n + 1 == sizeof match->excerpt)
        n--;
    while (n && match->excerpt[n - 1] == ' ') n--;
    match->excerpt[n] = '\0';
}

static void found_clue(struct scanner *s, const struct pattern *p, size_t end)
{
    const size_t start = end - p->first, back = start - s->line_start;
    const size_t base = back > CLUE_REACH / 2 ? start - CLUE_REACH / 2 : s->line_start;
    const size_t left = s->filled - end;
    const char *stop = memchr(s->buffer + end, '\n', left < CLUE_REACH ? left : CLUE_REACH);
    const size_t ahead =
        stop ? (size_t)(stop - s->buffer) - end : (left < CLUE_REACH ? left : CLUE_REACH);
    explain_consider(&p->clue, s->buffer + base, start - base, end - base + ahead, &s->evidence,
                     &s->result->card);
}

/* Look for the pattern's other parts, unless it is known that they do not follow. */
static bool rest_follows(struct scanner *s, const struct pattern *p, size_t end, size_t ahead)
{
    if (p->first == p->size) return true;
    if (ahead < p->rest) return false;
    struct failure *f = &s->failures[p - s->machine.patterns];
    const uint64_t line = s->result->lines + 1, at = s->dropped + end;
    if (f->line == line && (f->whole || at - f->at < REACH / 4)) return false;
    if (rest_matches(p, s->buffer + end, ahead)) return true;
    *f = (struct failure){ .line = line, .at = at, .whole = ahead < REACH };
    return false;
}

static void found(struct scanner *s, const struct pattern *p, size_t end)
{
    if (!p->signature) {
        found_clue(s, p, end);
        return;
    }
    struct explain_result *r = s->result;
    struct explain_match *match = r->matches;
    while (match < r->matches + r->n_matches && match->signature != p->signature) match++;
    const bool known = match < r->matches + r->n_matches;
    if (known && match->last == r->lines + 1) return; /* a line counts once */
    size_t start = end - p->first; /* the first part lies in the buffer: see compact() */
    size_t ahead = line_length(s->buffer + end, s->filled - end);
    if (!rest_follows(s, p, end, ahead)) return;
    if (!known) {
        if (r->n_matches == EXPLAIN_MOST) return;
        r->n_matches++;
        *match = (struct explain_match){ .signature = p->signature, .line = r->lines + 1 };
        keep_excerpt(match, s->buffer + s->line_start, start - s->line_start,
                     end - s->line_start + ahead);
    }
    match->last = r->lines + 1;
    match->count++;
}

static void scan(struct scanner *s, size_t until)
{
    const struct automaton *m = &s->machine;
    uint16_t state = s->state;
    for (size_t at = s->done; at < until; at++) {
        state = m->go[state][m->class_of[(unsigned char)s->buffer[at]]];
        if (s->buffer[at] == '\n') {
            s->result->lines++;
            s->line_start = at + 1;
        }
        if (!m->hit[state]) continue;
        for (uint16_t end = state; end; end = m->shorter[end])
            for (int16_t p = m->ends[end]; p >= 0; p = m->patterns[p].next)
                found(s, &m->patterns[p], at + 1);
    }
    s->state = state;
    s->done = until;
}

/* Forget what is scanned, but for the REACH bytes that an excerpt or a first part may need. */
static void compact(struct scanner *s)
{
    size_t keep = s->done < REACH ? s->done : REACH;
    size_t drop = s->done - keep;
    if (!drop) return;
    memmove(s->buffer, s->buffer + drop, s->filled - drop);
    s->filled -= drop;
    s->done -= drop;
    s->dropped += drop;
    s->line_start = s->line_start > drop ? s->line_start - drop : 0;
}

/* Append bytes without zero bytes and colour sequences; '\r' ends a line as '\n' does. */
static void append(struct scanner *s, const char *bytes, size_t n)
{
    if (!s->escape && !memchr(bytes, 27, n) && !memchr(bytes, 0, n) && !memchr(bytes, '\r', n)) {
        memcpy(s->buffer + s->filled, bytes, n); /* plain text, nearly always */
        s->filled += n;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        char c = bytes[i];
        if (s->escape == 1) {
            s->escape = c == '[' ? 2 : 0;
            if (s->escape) continue;
        } else if (s->escape == 2) {
            if (c >= '@' && c <= '~') s->escape = 0;
            if (c != '\n') continue;
            s->escape = 0;
        }
        if (c == 27) {
            s->escape = 1;
            continue;
        }
        if (c && (c != '\r' || (i + 1 < n && bytes[i + 1] != '\n')))
            s->buffer[s->filled++] = c == '\r' ? '\n' : c;
    }
}

static rmcp_status read_all(struct scanner *s, int fd)
{
    char piece[16384];
    for (;;) {
        if (s->progress && !s->progress(s->context, s->result)) break;
        ssize_t n = read(fd, piece, sizeof piece);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return rmcp_fail(RMCP_E_IO, "cannot read: %s", strerror(errno));
        if (!n) break;
        s->result->bytes += (uint64_t)n;
        if (s->filled + (size_t)n > BUFFER) {
            scan(s, s->filled - REACH); /* the rest waits for its line's end */
            compact(s);
        }
        append(s, piece, (size_t)n);
    }
    scan(s, s->filled);
    if (s->filled && s->buffer[s->filled - 1] != '\n') s->result->lines++;
    return RMCP_OK;
}

rmcp_status explain_read(int fd, struct explain_result *result, explain_progress *progress,
                         void *context)
{
    struct explain_card card = result->card;
    *result = (struct explain_result){ .card = card };
    struct scanner *s = calloc(1, sizeof *s);
    if (!s) return rmcp_fail(RMCP_E_NOMEM, "no memory for reading a log");
    s->result = result;
    s->progress = progress;
    s->context = context;
    s->evidence.chip_given = *card.chip;
    s->evidence.override_given = *card.pretends;
    rmcp_status status = build(&s->machine);
    if (!status) status = read_all(s, fd);
    if (!status) {
        explain_conclude(&s->evidence, result);
        explain_order(result);
    }
    free(s);
    return status;
}
