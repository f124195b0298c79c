/* kinds.c: the table of kinds of messages, and which of them a line is. */
#include "help/explain/kinds.h"

#include <ctype.h>
#include <string.h>

/* One bit for each topic and for each trouble. */
enum {
#define TOPIC(name, title, words) TOPIC_NUMBER_##name,
#define TOPIC_AMD(name, title, words) TOPIC_NUMBER_##name,
#include "help/explain/kinds.inc"
    N_TOPICS
};
enum {
#define TROUBLE(name, title, words) TROUBLE_NUMBER_##name,
#include "help/explain/kinds.inc"
    N_TROUBLES
};
_Static_assert(N_TOPICS <= 64 && N_TROUBLES < 32, "the bits of a line's words");

/* The topics that are AMD's. */
static const uint64_t amd_topics = 0
#define TOPIC_AMD(name, title, words) | UINT64_C(1) << TOPIC_NUMBER_##name
#include "help/explain/kinds.inc"
    ;

/* What people call them. */
static const char *const topic_titles[] = {
#define TOPIC(name, title, words) title,
#define TOPIC_AMD(name, title, words) title,
#include "help/explain/kinds.inc"
};
static const char *const trouble_titles[] = {
#define TROUBLE(name, title, words) title,
#include "help/explain/kinds.inc"
};

struct words {
    const char *text; /* separated by line ends */
    int role;
    uint64_t bit;
};
static const struct words tables[] = {
#define TOPIC(name, title, words) { words, WORD_TOPIC, UINT64_C(1) << TOPIC_NUMBER_##name },
#define TOPIC_AMD(name, title, words) TOPIC(name, title, words)
#define TROUBLE(name, title, words) { words, WORD_TROUBLE, UINT32_C(1) << TROUBLE_NUMBER_##name },
#define QUIET(words) { words, WORD_QUIET, 0 },
#define RAISED(words) { words, WORD_RAISED, 0 },
#define TRACE(words) { words, WORD_TRACE, 0 },
#define EXCEPTION(words) { words, WORD_EXCEPTION, 0 },
#define LEVEL(words) { words, WORD_LEVEL, 0 },
#define WARNED(words) { words, WORD_WARNED, 0 },
#define MAYBE(words) { words, WORD_MAYBE, 0 },
#define WELL(words) { words, WORD_WELL, 0 },
#include "help/explain/kinds.inc"
};

struct kind {
    uint64_t topic;
    uint32_t troubles;
    const char *id;
    bool aside;
};
#define TROUBLE_BIT_MEMORY (UINT32_C(1) << TROUBLE_NUMBER_MEMORY)
#define TROUBLE_BIT_CRASH (UINT32_C(1) << TROUBLE_NUMBER_CRASH)
#define TROUBLE_BIT_DENIED (UINT32_C(1) << TROUBLE_NUMBER_DENIED)
#define TROUBLE_BIT_ABSENT (UINT32_C(1) << TROUBLE_NUMBER_ABSENT)
#define TROUBLE_BIT_MISSING (UINT32_C(1) << TROUBLE_NUMBER_MISSING)
#define TROUBLE_BIT_UNSUPPORTED (UINT32_C(1) << TROUBLE_NUMBER_UNSUPPORTED)
#define TROUBLE_BIT_HANG (UINT32_C(1) << TROUBLE_NUMBER_HANG)
#define TROUBLE_BIT_ERROR (UINT32_C(1) << TROUBLE_NUMBER_ERROR)
#define TROUBLE_BIT_ANY UINT32_MAX
static const struct kind kinds[] = {
#define KIND(topic, trouble, id)                                                                   \
    { UINT64_C(1) << TOPIC_NUMBER_##topic, TROUBLE_BIT_##trouble, id, false },
#define ASIDE(topic, trouble, id)                                                                  \
    { UINT64_C(1) << TOPIC_NUMBER_##topic, TROUBLE_BIT_##trouble, id, true },
#include "help/explain/kinds.inc"
    { 0, 0, "python-error", true },  /* an exception in whose line no topic is named */
    { 0, 0, "program-error", true }, /* an error, likewise */
};
enum { N_KINDS = sizeof kinds / sizeof *kinds, PYTHON = N_KINDS - 2, PROGRAM = N_KINDS - 1 };
_Static_assert((int)N_KINDS <= (int)EXPLAIN_MOST_KINDS, "room for every kind");

bool explain_word_at(size_t index, struct explain_word *out)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const char *at = tables[i].text; *at;) {
            size_t size = strcspn(at, "\n");
            const char *next = at + size + (at[size] == '\n');
            if (index--) {
                at = next;
                continue;
            }
            *out = (struct explain_word){ .role = tables[i].role, .bit = tables[i].bit };
            out->plain = *at == '!';
            at += out->plain;
            size -= out->plain;
            const bool start = *at == '~', end = at[size - 1] == '~';
            out->text = at + start;
            out->size = size - start - end;
            out->open_start = start || !isalnum((unsigned char)*out->text);
            out->open_end = end || !isalnum((unsigned char)out->text[out->size - 1]);
            return true;
        }
    return false;
}

void explain_note_word(struct explain_words *words, const struct explain_word *word, char before,
                       char after)
{
    if (!word->open_start && isalnum((unsigned char)before)) return;
    if (!word->open_end && isalnum((unsigned char)after)) return;
    if (word->role == WORD_TROUBLE && (before == '-' || after == '-')) return; /* libgpg-error */
    const bool path = (before && strchr("/\\-.", before)) || (after && strchr("/\\-", after));
    if (word->plain && path) return;
    switch (word->role) {
    case WORD_TOPIC:
        words->topics |= word->bit;
        if (!path) words->plain_topics |= word->bit;
        if (before == '/' || before == '\\') words->parts |= word->bit;
        break;
    case WORD_TROUBLE: words->troubles |= (uint32_t)word->bit; break;
    case WORD_QUIET: words->quiet = true; break;
    case WORD_TRACE: words->traceback = words->file = true; break;
    case WORD_RAISED: words->raised |= isalnum((unsigned char)before) != 0; break;
    case WORD_EXCEPTION: words->exception = true; break;
    case WORD_LEVEL: words->level = true; break;
    case WORD_WARNED: words->warned = true; break;
    case WORD_MAYBE: words->maybe = true; break;
    case WORD_WELL: words->well = true; break;
    }
}

/* The first kind whose topic and trouble are among these; -1 when there is none. */
static int find_kind(uint64_t topics, uint32_t troubles)
{
    for (int i = 0; i < PYTHON; i++)
        if ((kinds[i].topic & topics) && (kinds[i].troubles & troubles))
            return *kinds[i].id ? i : -1;
    return -1;
}

void explain_note_service(struct explain_words *words)
{
    const uint64_t heard = amd_topics | UINT64_C(1) << TOPIC_NUMBER_VULKAN |
                           UINT64_C(1) << TOPIC_NUMBER_OPENCL | UINT64_C(1) << TOPIC_NUMBER_OPENGL |
                           UINT64_C(1) << TOPIC_NUMBER_VIDEO | UINT64_C(1) << TOPIC_NUMBER_ONNX |
                           UINT64_C(1) << TOPIC_NUMBER_COREDUMP;
    words->topics &= heard;
    words->plain_topics &= heard;
    words->quiet |= !words->topics && !words->raised && !words->called;
}

struct explain_line explain_end_line(struct explain_words *words, bool aside)
{
    const bool warned = words->warned && !words->quiet && (words->troubles || words->maybe);
    words->quiet |= words->warned; /* the program itself says that it goes on */
    const bool traced = words->exception && words->traceback && !aside && !words->file;
    const bool raised = words->raised && !words->quiet && !aside && !words->file;
    struct explain_line line = { .kind = -1,
                                 .exception = traced || raised,
                                 .aside = aside,
                                 .called = words->called,
                                 .warned = warned };
    line.quiet = words->quiet;
    line.well = words->well;
    line.told =
        line.exception || ((words->troubles || words->level || words->maybe) && !words->quiet);
    if (words->troubles && (traced || !words->quiet))
        line.kind = find_kind(words->topics, words->troubles);
    if (traced && line.kind < 0) {
        line.kind = find_kind(words->file_topics, words->troubles | TROUBLE_BIT_ERROR);
        line.plain = line.kind >= 0;
    }
    if (line.exception && line.kind < 0) line.kind = PYTHON;
    if (line.kind < 0 && words->level && !words->quiet && !words->topics && !aside)
        line.kind = PROGRAM;
    if (line.kind >= 0) line.troubles = words->troubles;
    line.plain |= line.kind >= 0 && (kinds[line.kind].topic & words->plain_topics);
    if (words->file) words->file_topics = words->parts;
    if (words->file && line.kind < 0) {
        line.kind = find_kind(words->parts, TROUBLE_BIT_ERROR);
        line.file = true;
    }
    words->all_topics |= words->topics;
    words->topics = words->plain_topics = words->parts = 0;
    words->troubles = 0;
    words->quiet = words->exception = words->raised = words->level = words->file = words->warned =
        words->maybe = words->called = words->well = false;
    return line;
}

void explain_broken_trace(struct explain_line *line)
{
    *line = (struct explain_line){ .kind = PYTHON, .exception = true };
}

/* The number of the lowest bit that is set. */
static int lowest(uint64_t bits)
{
    int n = 0;
    while (!(bits >> n & 1)) n++;
    return n;
}

const char *explain_line_topic(const struct explain_line *line)
{
    if (line->kind < 0 || line->kind >= PYTHON) return "";
    return topic_titles[lowest(kinds[line->kind].topic)];
}

const char *explain_line_trouble(const struct explain_line *line)
{
    return line->troubles ? trouble_titles[lowest(line->troubles)] : "";
}

const char *explain_kind_id(int kind, bool *needs_amd, bool *last)
{
    if (kind < 0 || kind >= N_KINDS) return NULL;
    *needs_amd = kinds[kind].aside;
    *last = kind >= PYTHON;
    return kinds[kind].id;
}

bool explain_about_amd(const struct explain_words *words)
{
    return (words->all_topics | words->topics) & amd_topics;
}
