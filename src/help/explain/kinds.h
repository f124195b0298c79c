/* kinds.h: what kind of message a line is, by its words alone: a topic, and a word of trouble.
 * Internal to src/help/explain.
 *
 * For messages that no signature knows: a line that speaks of Vulkan and of something that was not
 * found tells that much, whatever its other words are. */
#ifndef RMCP_EXPLAIN_KINDS_H
#define RMCP_EXPLAIN_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct explain_word {
    const char *text;
    size_t size;
    bool plain;                /* counts outside of paths alone */
    bool open_start, open_end; /* may be a part of a longer word there */
    enum {
        WORD_TOPIC,     /* what the line is about; `bit` says which           */
        WORD_TROUBLE,   /* that something went wrong, and how; `bit` likewise */
        WORD_QUIET,     /* that nothing went wrong after all                  */
        WORD_TRACE,     /* a Python traceback is being printed                */
        WORD_EXCEPTION, /* the name of a Python exception ends here           */
        WORD_RAISED,    /* the same, with what it says behind it              */
        WORD_LEVEL,     /* the program itself calls the line an error         */
        WORD_WARNED,    /* or a warning                                       */
        WORD_WELL,      /* that the program runs, or did its work             */
        WORD_MAYBE,     /* that something may have gone wrong: its form tells */
    } role;
    uint64_t bit;
};

/* By number; false past the last one. */
bool explain_word_at(size_t index, struct explain_word *out);

/* The words met in a line, and in all lines before. */
struct explain_words {
    uint64_t topics;       /* of this line                     */
    uint64_t plain_topics; /* those that are no part of a path */
    uint64_t parts;        /* those that are a folder of one   */
    uint32_t troubles;
    bool quiet, exception, raised, level, called, warned, maybe, well;
    uint64_t all_topics;  /* of the text */
    uint64_t file_topics; /* of the last file of a traceback */
    bool traceback, file;
};

/* A word was met; `before` and `after` are the characters around it (0 at the line's ends). */
void explain_note_word(struct explain_words *words, const struct explain_word *word, char before,
                       char after);

/* What the words of a line make of it. */
struct explain_line {
    bool quiet;        /* some word says that nothing went wrong */
    bool well;         /* the program runs, or did its work */
    int kind;          /* the lower the more is said; -1: nothing */
    bool exception;    /* an exception was raised here */
    bool aside;        /* the line is indented, or a system log's */
    bool called;       /* it calls itself an error by its first word */
    bool warned;       /* it calls itself a warning, and has such a word */
    bool told;         /* some word says that something went wrong */
    bool plain;        /* its topic is named outside of paths */
    bool file;         /* a traceback names a file of that topic */
    uint32_t troubles; /* the words of trouble that it has */
};

/* The line is a service's in a system's log: it is heard where it speaks of AMD's GPU or of what
 * computes on it, names an exception, or calls itself an error. */
void explain_note_service(struct explain_words *words);

/* The line is over, and the next one starts. Lines `aside` name no error by themselves: indented
 * ones are the code of a traceback, and what the kernel says is about the GPU only where it says
 * so. */
struct explain_line explain_end_line(struct explain_words *words, bool aside);

/* The line of a traceback that breaks off before it names its exception. */
void explain_broken_trace(struct explain_line *line);

/* What such a line is about and what went wrong, in words for people; "" where it does not say. */
const char *explain_line_topic(const struct explain_line *line);
const char *explain_line_trouble(const struct explain_line *line);

/* The signature that answers a kind, whether it does so only in a text about AMD's GPUs, and
 * whether only where nothing else was found. NULL past the last one. */
const char *explain_kind_id(int kind, bool *needs_amd, bool *last);
/* Does the text speak of AMD's GPUs or software? */
bool explain_about_amd(const struct explain_words *words);

enum { EXPLAIN_MOST_KINDS = 128 };

#endif
