/* explain.h: what a log, a traceback or a kernel log says about a GPU, why, and what to do.
 *
 * The text is read once, in pieces of bounded size; what is looked for stands in tables: signatures
 * (signatures_*.inc), error codes (codes.inc), what follows from what (relations.inc), programs and
 * families of chips (advice.inc), forms of messages (forms_*.inc) and what they name (things.inc).
 * An error that no table knows is quoted, and called unknown. */
#ifndef RMCP_EXPLAIN_H
#define RMCP_EXPLAIN_H

#include "rmcp.h"

#include <stdbool.h>

/* How a signature's answer depends on the card, on the program and on HSA_OVERRIDE_GFX_VERSION. */
enum explain_depends {
    EXPLAIN_ANY,     /* it does not                                                       */
    EXPLAIN_FOREIGN, /* foreign code under an override explains it; without, it is a bug   */
    EXPLAIN_NO_CODE, /* no code for the chip: what helps is the program's and the family's */
};

/* One row of a table of signatures. */
struct explain_signature {
    const char *id;
    int weight; /* the heavier comes first */
    enum explain_depends depends;
    const char *patterns; /* alternatives, one per line; '*' separates parts of one line of text;
                             after '^' it is the whole line */
    const char *what, *why, *remedy;
    const char *source;  /* address of a public thread or file; "" when it is common knowledge */
    const char *example; /* a line that it must find */
};
extern const struct explain_signature explain_signatures[]; /* ends with a NULL id */
enum {
    EXPLAIN_SIGNATURES = 0
#define SIGNATURE(...) +1
#include "help/explain/signatures.inc"
#undef SIGNATURE
};

/* What one cause does to other findings of the same log. */
struct explain_relation {
    enum {
        EXPLAIN_CAUSES,   /* the others are its effects                                  */
        EXPLAIN_HIDES,    /* the others say nothing more, or something untrue            */
        EXPLAIN_REPLACES, /* it is the better name of the same lines: as long as no more of them
                             are the other's */
        EXPLAIN_FALLBACK, /* it says something only where nothing else went wrong */
        EXPLAIN_IGNORE,   /* its lines are harmless: it takes them from others, and says nothing */
        EXPLAIN_CARD,     /* it says something only where an AMD card is known, or one of the others
                             found */
        EXPLAIN_VAGUE,    /* it says so little that an unknown error is quoted beside it */
        EXPLAIN_NOTICE,   /* programs also print it and go on: firm in a line that is an error */
        EXPLAIN_ONLY      /* it speaks of chips whose names start with one of the others */
    } kind;
    const char *cause, *others; /* ids, but for EXPLAIN_ONLY; `others` are separated by spaces */
};
extern const struct explain_relation explain_relations[]; /* ends with a NULL cause */

/* A program that writes logs. */
struct explain_program {
    const char *name;
    const char *words;  /* as in a signature's patterns, without stars */
    const char *remedy; /* when it has no code for the chip; NULL: as the signature says */
    const char *next;   /* to try after an error that is not known; NULL: nothing of its own */
};
extern const struct explain_program explain_programs[]; /* ends with a NULL name */

/* Chips that are served alike. */
struct explain_family {
    const char *chips; /* starts of chip names, separated by spaces */
    const char *name;
    const char
        *advice; /* which software has code for it, which override is right and which wrong */
};
extern const struct explain_family explain_families[]; /* ends with NULL chips */

/* What is known of the card: from the options, or from the log itself. */
struct explain_card {
    char chip[16];      /* the silicon: "gfx1010"; "" when unknown                     */
    char chip_from[96]; /* "--gpu", or the words in the log                            */
    char pretends[16];  /* the chip that an override makes of it: "gfx1030"; "" unknown */
    char override_from[96];
    bool integrated; /* part of a processor */
};

struct explain_match {
    const struct explain_signature *signature;
    uint64_t count, line, last; /* in how many lines; the first and the last of them */
    uint64_t calm;              /* lines without trouble up to the last of them      */
    char excerpt[240];          /* printable, shortened                              */
    bool warning;               /* all of these lines call themselves warnings       */
    bool plain;                 /* known by words that any program may print, alone  */
    bool quiet;                 /* its lines start with words of what goes well, all  */
    bool error;                 /* the line calls itself one */
    bool logged;                /* the first line is the kernel's, or a system log's */
    bool exception;             /* one of its lines is an exception */
    bool raised;                /* one of its lines is an exception, or calls itself an error */
    bool by_form;               /* read by the form of its line alone                */
    bool by_stack;              /* and that is a crash's stack, whose library tells         */
    bool by_facts;              /* no error was recognised: from what the log says of the machine */
    char where[320];            /* as in explain_unknown                             */
    size_t follows;             /* number of the match, from 1, that it is an effect of; 0: none */
};

/* A signature whose words were filled from a line, by its form (form.h). */
struct explain_reading {
    struct explain_signature signature;
    char what[400], why[600], remedy[1000];
};

/* An error that no signature knows: quoted, with what its words are about, and no cause. */
struct explain_unknown {
    const struct explain_signature *about; /* what to do next is its advice; NULL: no such line */
    const char *topic, *trouble;           /* "Vulkan", "something that is not there"; "": unsaid */
    uint64_t line, count;
    bool exception;
    bool behind;     /* behind all findings: they may be about something else */
    bool thin;       /* a finding that stands on little: `about`, or `reading`, says it */
    bool broken;     /* a traceback that breaks off before it names its exception */
    char where[320]; /* "raised in diffusers (loader.py, load)"; "" when unknown */
    const struct explain_signature *reading; /* what its form says; NULL: nothing */
    char excerpt[sizeof((struct explain_match *)0)->excerpt];
};

enum {
    EXPLAIN_READINGS = 8,
    EXPLAIN_MOST = EXPLAIN_SIGNATURES + EXPLAIN_READINGS,
    EXPLAIN_NOTES = 3
};

struct explain_result {
    struct explain_card card;
    bool foreign;     /* the card is known to run code of another chip's kind */
    bool convolution; /* a convolution is near what went wrong */
    bool
        card_matters; /* no particular cause was found: what is known of the card is worth saying */
    const struct explain_program *program; /* NULL when unknown */
    const struct explain_family *family;   /* NULL when unknown */
    uint64_t bytes, lines;
    size_t n_matches;
    struct explain_match
        matches[EXPLAIN_MOST]; /* causes before effects, the most important first */
    struct explain_unknown unknown;
    size_t n_notes;
    char notes[EXPLAIN_NOTES][240]; /* what the software around it changes */
    size_t n_readings;
    struct explain_reading readings[EXPLAIN_READINGS]; /* what matches may point to */
};

/* Take the card from a name: "gfx1010", "rx5600xt", "RX 5600 XT", "1002:731f". RMCP_E_ARG when it
 * is none that is known. */
rmcp_status explain_set_chip(struct explain_card *card, const char *name);
/* And the override as the variable has it: "10.3.0". */
rmcp_status explain_set_override(struct explain_card *card, const char *value);

/* Called between pieces of the text; false ends the reading as if the text ended there. */
typedef bool explain_progress(void *context, const struct explain_result *so_far);

/* Read everything from `fd` into `*result`, whose card may be set already; the rest of it is
 * overwritten. Memory does not grow with the text. `progress` may be NULL. */
rmcp_status explain_read(int fd, struct explain_result *result, explain_progress *progress,
                         void *context);

/* What to do about this match, for the program and the card of the log. */
const char *explain_remedy(const struct explain_result *result, const struct explain_match *match);
/* And about the error that is quoted. */
const char *explain_next(const struct explain_result *result);

/* What the error code in a finding's line means: "hipErrorNotFound: …"; false when it has none that
 * is known. */
bool explain_code_text(const char *line, char *text, size_t size);

/* True when foreign code under the override is the first suspect for this match: then the texts of
 * explain_foreign stand before the signature's own. */
bool explain_by_override(const struct explain_result *result, const struct explain_match *match);
void explain_foreign(const struct explain_result *result, const char **why, const char **remedy);

#endif
