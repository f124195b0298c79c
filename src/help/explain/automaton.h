/* automaton.h: one automaton for the first parts of all patterns (Aho and Corasick), so that the
 * time of a reading does not grow with the tables. Internal to src/help/explain. */
#ifndef RMCP_EXPLAIN_AUTOMATON_H
#define RMCP_EXPLAIN_AUTOMATON_H

#include "help/explain/card.h"
#include "help/explain/kinds.h"

enum {
    EXPLAIN_STATES = 98304,
    EXPLAIN_CLASSES =
        80, /* of characters: those that patterns have, small and capital as one, and all others */
    EXPLAIN_PATTERNS = 8000,
    EXPLAIN_WRAPPED = 12,    /* letters of a first part that is looked for across a line's break */
    EXPLAIN_COMPOSED = 32768 /* bytes of patterns that are made from the table of codes */
};

/* One alternative of a signature, a clue about the card or the program, or a word of a kind. */
struct explain_pattern {
    const char *text; /* parts separated by '*', `size` bytes in all */
    size_t first;     /* length of its first part */
    size_t size;
    size_t rest; /* letters after the first part, at least that many must follow in the line */
    enum { PATTERN_SIGNATURE, PATTERN_CLUE, PATTERN_WORD } role;
    const struct explain_signature *signature;
    bool vague; /* the signature is (order.h) */
    bool plain; /* words that any program may print */
    bool alone; /* it is a whole line */
    bool whole; /* the first part is so short that it counts only at the beginning of a word */
    struct explain_clue clue;
    struct explain_word word;
    int16_t next; /* another pattern with the same first part, or -1 */
};

struct explain_automaton {
    uint8_t class_of[256];
    size_t n_classes;
    uint32_t go[EXPLAIN_STATES][EXPLAIN_CLASSES];
    uint32_t fail[EXPLAIN_STATES];
    uint32_t shorter[EXPLAIN_STATES]; /* the next on the way of fail that ends a pattern, or 0 */
    uint16_t depth[EXPLAIN_STATES];   /* letters from the root */
    int16_t ends[EXPLAIN_STATES];     /* the pattern that ends here, or -1 */
    bool hit[EXPLAIN_STATES];         /* some pattern ends here, this one's or a shorter one */
    size_t n_states;
    struct explain_pattern patterns[EXPLAIN_PATTERNS];
    size_t n_patterns;
    char composed[EXPLAIN_COMPOSED];
    size_t n_composed;
};

/* The automaton of all tables, made when it is first asked for and kept as long as the process
 * lives; threads may share it. */
rmcp_status explain_automaton(const struct explain_automaton **out);

/* The small letter of an ASCII capital; any other byte as it is. */
static inline unsigned char explain_lower(char c)
{
    const unsigned char u = (unsigned char)c;
    return u >= 'A' && u <= 'Z' ? (unsigned char)(u + 32) : u;
}

#endif
