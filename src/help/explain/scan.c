/* scan.c: finds all signatures in a text of any size in one pass with bounded memory.
 *
 * Colour sequences and zero bytes (UTF-16) are taken out while reading, and a line may be as long
 * as it likes: a pattern's later parts are looked for within REACH bytes. A message that a terminal
 * broke into two lines is found as well, where no star is at the break. */
#include "base/error.h"
#include "help/explain/automaton.h"
#include "help/explain/line.h"
#include "help/explain/order.h"
#include "help/explain/prefix.h"
#include "help/explain/stack.h"
#include "help/explain/unknown.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    REACH = 4096,
    CLUE_REACH = 128, /* as far as a clue about the card is read on, and half of it back */
    WRAP_LEAST = 40,  /* letters of a line that a terminal may have broken */
    BUFFER = 1 << 18
};

/* Where the rest of a pattern was looked for in vain, so that a line full of its first part is not
 * searched again and again. */
struct failure {
    uint64_t line, at; /* `at`: from the start of the text */
    bool whole;        /* the line was seen to its end: what follows in it fails as well */
};

struct scanner {
    const struct explain_automaton *machine;
    struct failure failures[EXPLAIN_PATTERNS];
    struct explain_evidence evidence;
    struct explain_words words;
    struct explain_unexplained unexplained;
    struct explain_stack stack;
    struct explain_prefix prefix;
    bool understood; /* a signature knows the line, and says more than that something ended */
    int known;       /* the weight of the heaviest that knows it */
    struct explain_result *result;
    explain_progress *progress;
    void *context;
    uint64_t dropped;    /* bytes that were in the buffer before */
    char buffer[BUFFER]; /* cleaned text */
    size_t filled, done; /* bytes in it; those already scanned */
    uint32_t state;
    uint32_t carried[2]; /* states as if the last line end were nothing, or a space; 0: none */
    size_t line_start;   /* in the buffer; 0 when the line began before it */
    size_t last_start;   /* of the line before */
    size_t indent;       /* blanks that the line starts with, after one that may be broken */
    int escape;          /* inside a colour sequence: 0 no, 1 after ESC, 2 in its body */
};

/* The rest of a pattern, after its first part, within the line. */
static bool rest_matches(const struct explain_pattern *p, const char *text, size_t size)
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
            while (i < length && explain_lower(text[at + i]) == explain_lower(p->text[part + i]))
                i++;
            if (i == length) break;
        }
        if (at + length > size) return false;
        text += at + length;
        size -= at + length;
        part += length;
    }
    return true;
}

static bool is_blank(const char *text, size_t size)
{
    while (size && isspace((unsigned char)*text)) text++, size--;
    return !size;
}

/* Length of the line from `text` on, at most REACH. */
static size_t line_length(const char *text, size_t size)
{
    if (size > REACH) size = REACH;
    const char *end = memchr(text, '\n', size);
    return end ? (size_t)(end - text) : size;
}

static void found_clue(struct scanner *s, const struct explain_pattern *p, size_t end)
{
    const size_t start = end - p->first, back = start - s->line_start;
    const size_t base = back > CLUE_REACH / 2 ? start - CLUE_REACH / 2 : s->line_start;
    const size_t left = s->filled - end;
    const char *stop = memchr(s->buffer + end, '\n', left < CLUE_REACH ? left : CLUE_REACH);
    const size_t ahead =
        stop ? (size_t)(stop - s->buffer) - end : (left < CLUE_REACH ? left : CLUE_REACH);
    s->evidence.line = s->result->lines + 1;
    explain_consider(&p->clue, s->buffer + base, start - base, end - base + ahead, &s->evidence,
                     &s->result->card);
}

static void found_word(struct scanner *s, const struct explain_pattern *p, size_t end)
{
    const size_t start = end - p->first;
    const char before = start > s->line_start ? s->buffer[start - 1] : '\0';
    explain_note_word(&s->words, &p->word, before, end < s->filled ? s->buffer[end] : '\0');
}

/* Is it known that the pattern's other parts do not follow? */
static bool known_to_fail(const struct scanner *s, const struct explain_pattern *p, size_t end)
{
    if (p->first == p->size) return false;
    const struct failure *f = &s->failures[p - s->machine->patterns];
    return f->line == s->result->lines + 1 && (f->whole || s->dropped + end - f->at < REACH / 4);
}

/* Look for the pattern's other parts. */
static bool rest_follows(struct scanner *s, const struct explain_pattern *p, size_t end,
                         size_t ahead)
{
    if (p->first == p->size) return true;
    if (ahead < p->rest) return false;
    if (rest_matches(p, s->buffer + end, ahead)) return true;
    s->failures[p - s->machine->patterns] = (struct failure){ .line = s->result->lines + 1,
                                                              .at = s->dropped + end,
                                                              .whole = ahead < REACH };
    return false;
}

/* General words of another service, which does not call them an error. */
static bool says_little(const struct explain_signature *signature, const char *line, size_t length)
{
    if (signature->weight < EXPLAIN_HARMLESS || !explain_is_general(signature)) return false;
    for (size_t at = 0; at + 5 < length; at++)
        if (!memcmp(line + at, "ERROR", 5)) return false;
    return true;
}

/* A signature's pattern has its first part before `end`, in a line that starts at `line`. */
static void found_signature(struct scanner *s, const struct explain_pattern *p, size_t line,
                            size_t end)
{
    struct explain_result *r = s->result;
    if (known_to_fail(s, p, end)) return;
    struct explain_match *match = r->matches;
    while (match < r->matches + r->n_matches && match->signature != p->signature) match++;
    const bool known = match < r->matches + r->n_matches;
    if (known && match->last == r->lines + 1) return; /* a line counts once */
    if (p->whole && end - p->first > line && isalnum((unsigned char)s->buffer[end - p->first - 1]))
        return; /* in the middle of a word */
    size_t ahead = line_length(s->buffer + end, s->filled - end);
    if (p->alone && (end - p->first != line || !is_blank(s->buffer + end, ahead))) return;
    if (!rest_follows(s, p, end, ahead)) return;
    if (explain_is_speech(s->buffer + line, end + ahead - line)) return;
    if (explain_is_service(s->buffer + line, end + ahead - line) &&
        (s->words.warned || says_little(p->signature, s->buffer + line, end + ahead - line)))
        return;
    const bool quiet = s->words.quiet;
    s->words.warned |= explain_has_warning_mark(s->buffer + line, end - line);
    s->words.quiet |= p->signature->weight < EXPLAIN_HARMLESS;
    s->understood |= !p->vague;
    if (p->signature->weight > s->known) s->known = p->signature->weight;
    if (!known) {
        r->n_matches++; /* there is room for every signature */
        *match = (struct explain_match){
            .signature = p->signature,
            .line = r->lines + 1,
            .warning = true,
            .plain = true,
            .quiet = true,
            .logged = explain_is_system_log(s->buffer + line, end - line + ahead),
            .error = explain_is_called_error(s->buffer + line, end - line + ahead)
        };
        explain_excerpt(match->excerpt, s->buffer + line, end - p->first - line,
                        end - line + ahead);
    }
    match->last = r->lines + 1;
    match->exception |= explain_is_exception(s->buffer + line, end - line + ahead);
    match->raised |=
        match->exception || explain_is_called_error(s->buffer + line, end - line + ahead);
    match->warning &= s->words.warned;
    match->plain &= p->plain;
    match->quiet &= quiet;
    match->count++;
}

/* What ends in this state; its first letter lies in the buffer: see compact(). */
static void found(struct scanner *s, uint32_t state, size_t end)
{
    const struct explain_automaton *m = s->machine;
    for (; state; state = m->shorter[state])
        for (int16_t i = m->ends[state]; i >= 0; i = m->patterns[i].next) {
            const struct explain_pattern *p = &m->patterns[i];
            if (p->role == PATTERN_SIGNATURE)
                found_signature(s, p, s->line_start, end);
            else if (p->role == PATTERN_CLUE)
                found_clue(s, p, end);
            else
                found_word(s, p, end);
        }
}

/* Go on in the states of the line before, as long as they know more than this line's letters; what
 * the line is indented by does not count. */
static void follow_break(struct scanner *s, size_t at)
{
    const struct explain_automaton *m = s->machine;
    if (at == s->line_start + s->indent && (s->buffer[at] == ' ' || s->buffer[at] == '\t')) {
        s->indent++;
        return;
    }
    const size_t here = at + 1 - s->line_start - s->indent; /* letters of this line so far */
    for (int i = 0; i < 2; i++) {
        if (!s->carried[i]) continue;
        uint32_t state = m->go[s->carried[i]][m->class_of[(unsigned char)s->buffer[at]]];
        s->carried[i] = m->depth[state] > here ? state : 0;
        if (!s->carried[i] || !m->hit[state]) continue;
        for (; m->depth[state] > here; state = m->shorter[state])
            for (int16_t p = m->ends[state]; p >= 0; p = m->patterns[p].next)
                if (m->patterns[p].role == PATTERN_SIGNATURE &&
                    m->patterns[p].first >= EXPLAIN_WRAPPED)
                    found_signature(s, &m->patterns[p], s->last_start, at + 1);
    }
}

/* "torch.cuda.is_available()" in one line and "False" in the next: as a line that says both. */
static void found_answer(struct scanner *s, const char *line, size_t length)
{
    if (!explain_is_refusal(line, length, s->buffer + s->last_start,
                            s->line_start > s->last_start ? s->line_start - s->last_start : 0))
        return;
    struct explain_result *r = s->result;
    const struct explain_signature *signature = explain_signatures;
    while (signature->id && strcmp(signature->id, "torch-no-gpu")) signature++;
    for (size_t i = 0; i < r->n_matches; i++)
        if (r->matches[i].signature == signature) return;
    if (!signature->id) return;
    struct explain_match *match = &r->matches[r->n_matches++];
    *match = (struct explain_match){
        .signature = signature, .line = r->lines, .last = r->lines + 1, .count = 1
    };
    explain_excerpt(match->excerpt, s->buffer + s->last_start, 0,
                    s->line_start - s->last_start + length);
}

/* Was a traceback's last file in one of the lines before, whose exception is not named yet? */
static bool in_trace(const struct explain_unexplained *lines, uint64_t number)
{
    enum { CODE = 4 }; /* lines between a file and what ends the traceback */
    return lines->traced.line > lines->raised && number <= lines->traced.line + CODE;
}

/* The line ends before buffer[at], or with the text. */
static void end_line(struct scanner *s, size_t at)
{
    const char *line = s->buffer + s->line_start;
    const size_t length = at - s->line_start;
    const bool aside =
        length && (*line == ' ' || *line == '\t' || explain_is_system_log(line, length));
    const uint64_t number = s->result->lines + 1;
    if (explain_is_exception(line, length) ||
        (in_trace(&s->unexplained, number) && explain_ends_trace(line, length))) {
        s->words.raised = true;
        s->words.quiet = false;
    }
    if (!aside && explain_is_called_error(line, length)) {
        s->words.level = s->words.called = true;
        s->words.quiet = false;
    }
    s->words.warned |= explain_has_warning_mark(line, length);
    const bool told =
        s->words.troubles || s->words.level || s->words.maybe || s->words.raised || s->words.warned;
    if (told)
        s->words.quiet |= (!s->words.called && explain_is_row(line, length)) ||
                          explain_is_speech(line, length) || explain_is_other_device(line, length);
    const bool service = told && explain_is_service(line, length);
    if (service) explain_note_service(&s->words);
    if (s->words.file) {
        explain_note_frame(&s->unexplained.frame, number, line, length);
        explain_note_trace(&s->unexplained, true, number, line, length);
    }
    found_answer(s, line, length);
    explain_note_stack(&s->stack, number, line, length);
    struct explain_line about = explain_end_line(&s->words, aside);
    if (about.well) s->unexplained.course.well = number;
    about.warned &= !service; /* another program's, and it goes on */
    if (about.exception) explain_note_trace(&s->unexplained, false, number, line, length);
    const bool harmless = s->known && s->known < EXPLAIN_HARMLESS;
    if ((about.kind >= 0 || about.told || about.warned || s->known) && !s->understood && !harmless)
        explain_note_unexplained(&s->unexplained, &about, s->known, number, line, length);
    if (!s->known && !about.told && !about.warned && about.kind < 0 && length > 1 &&
        (isalnum((unsigned char)*line) || *line == '[') && !explain_has_address(line, length))
        s->unexplained.course.calm++; /* no code of a traceback, and nothing of a crash's dump */
    for (size_t i = 0; s->known && i < s->result->n_matches; i++)
        if (s->result->matches[i].last == number) {
            s->result->matches[i].calm = s->unexplained.course.calm;
        }
    s->understood = false;
    s->known = 0;
}

static void scan(struct scanner *s, size_t until)
{
    const struct explain_automaton *m = s->machine;
    uint32_t state = s->state;
    for (size_t at = s->done; at < until; at++) {
        const uint32_t before = state;
        state = m->go[state][m->class_of[(unsigned char)s->buffer[at]]];
        if (s->buffer[at] == '\n') {
            end_line(s, at);
            const bool full = at - s->line_start >= WRAP_LEAST;
            s->carried[0] = full ? before : 0;
            s->carried[1] = full ? m->go[before][m->class_of[' ']] : 0;
            s->result->lines++;
            s->last_start = s->line_start;
            s->line_start = at + 1;
            s->indent = 0;
        } else if (s->carried[0] || s->carried[1]) {
            follow_break(s, at);
        }
        if (m->hit[state]) found(s, state, at + 1);
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
    s->last_start = s->last_start > drop ? s->last_start - drop : 0;
}

/* Take zero bytes and colour sequences out of a piece; '\r' ends a line as '\n' does. */
static size_t clean(struct scanner *s, char *bytes, size_t n)
{
    if (!s->escape && !memchr(bytes, 27, n) && !memchr(bytes, 0, n) && !memchr(bytes, '\r', n))
        return n; /* plain text, nearly always */
    size_t kept = 0;
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
            bytes[kept++] = c == '\r' ? '\n' : c;
    }
    return kept;
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
        if (s->filled + (size_t)n + EXPLAIN_PREFIX_MOST > BUFFER) {
            scan(s, s->filled - REACH); /* the rest waits for its line's end */
            compact(s);
        }
        const size_t size = clean(s, piece, (size_t)n);
        if (size) s->filled += explain_strip(&s->prefix, piece, size, s->buffer + s->filled);
    }
    s->filled += explain_strip(&s->prefix, "", 0, s->buffer + s->filled);
    scan(s, s->filled);
    if (s->filled && s->buffer[s->filled - 1] != '\n') {
        end_line(s, s->filled);
        s->result->lines++;
    }
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
    rmcp_status status = explain_automaton(&s->machine);
    if (!status) status = read_all(s, fd);
    if (!status) {
        explain_conclude(&s->evidence, result);
        explain_leave_out_noticed(&s->unexplained.course, false, result);
        explain_order(result);
        explain_leave_out_noticed(&s->unexplained.course, true, result);
        if (explain_read_forms(&s->unexplained, &s->words, result)) explain_order(result);
        if (explain_read_stack(&s->stack, result)) explain_order(result);
        explain_refine(&s->unexplained, result);
        explain_find_unknown(&s->unexplained, &s->words, result);
        explain_quote_general(result);
        if (explain_read_facts(&s->evidence.facts, s->unexplained.course.well > 0, result))
            explain_order(result);
        explain_note_facts(&s->evidence.facts, result);
        result->card_matters = explain_card_matters(result);
    }
    free(s);
    return status;
}
