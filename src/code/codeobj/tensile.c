/* tensile.c: Tensile's index files: strings read, and the names of chips in them changed. */
#include "code/codeobj/tensile.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "code/codeobj/buffer.h"
#include "code/codeobj/msgpack.h"

enum { DEEPEST = 256 };

struct level {
    uint64_t left; /* values that follow, keys included */
    bool is_map;
    struct msgpack_value key;
};

struct tensile {
    struct msgpack in;
    struct level levels[DEEPEST]; /* the first holds the one value that the file is */
    size_t depth;
    /* Called for every value's head, keys included; `start` is where it begins. */
    rmcp_status (*visit)(struct tensile *t, const uint8_t *start, const struct msgpack_value *value,
                         bool is_key);
    codeobj_tensile_visit reader;
    void *context;
    const char *from, *to;
    struct buffer out;
    size_t n;
};

static rmcp_status malformed(const struct tensile *t)
{
    return rmcp_fail(RMCP_E_IO,
                     "Tensile's index: damaged or nested too deeply, %zu bytes before "
                     "its end",
                     (size_t)(t->in.end - t->in.at));
}

static rmcp_status walk_values(struct tensile *t)
{
    t->levels[0] = (struct level){ .left = 1 };
    t->depth = 1;
    while (t->depth) {
        struct level *level = &t->levels[t->depth - 1];
        if (!level->left) {
            t->depth--;
            continue;
        }
        const bool is_key = level->is_map && level->left % 2 == 0;
        const uint8_t *start = t->in.at;
        struct msgpack_value value;
        if (!msgpack_next(&t->in, &value)) return malformed(t);
        level->left--;
        if (is_key) level->key = value;
        rmcp_status status = t->visit(t, start, &value, is_key);
        if (status) return status;
        if (value.type != MSGPACK_ARRAY && value.type != MSGPACK_MAP) continue;
        if (is_key || t->depth == DEEPEST) return malformed(t);
        const bool is_map = value.type == MSGPACK_MAP;
        t->levels[t->depth++] =
            (struct level){ .left = value.number * (is_map ? 2 : 1), .is_map = is_map };
    }
    return t->in.at == t->in.end ? RMCP_OK : malformed(t);
}

static rmcp_status read_value(struct tensile *t, const uint8_t *start,
                              const struct msgpack_value *value, bool is_key)
{
    (void)start;
    if (is_key || value->type != MSGPACK_STRING) return RMCP_OK;
    const struct level *level = &t->levels[t->depth - 1];
    const bool has_key = level->is_map && level->key.type == MSGPACK_STRING;
    return t->reader(t->context, has_key ? (const char *)level->key.bytes : "",
                     has_key ? (size_t)level->key.number : 0, (const char *)value->bytes,
                     (size_t)value->number);
}

rmcp_status codeobj_tensile_read(const void *bytes, size_t size, codeobj_tensile_visit visit,
                                 void *context)
{
    if (!bytes || !visit) return rmcp_fail(RMCP_E_ARG, "bytes or visit is NULL");
    struct tensile t = { .in = { bytes, (const uint8_t *)bytes + size },
                         .visit = read_value,
                         .reader = visit,
                         .context = context };
    return walk_values(&t);
}

/* The next place from `at` on where the chip is named as a word; `length` when there is none. */
static size_t find_chip(const struct tensile *t, const uint8_t *text, size_t length, size_t at)
{
    const size_t n = strlen(t->from);
    for (; at + n <= length; at++) {
        if (memcmp(text + at, t->from, n)) continue;
        if ((!at || !isalnum(text[at - 1])) && (at + n == length || !isalnum(text[at + n])))
            return at;
    }
    return length;
}

static rmcp_status retarget_value(struct tensile *t, const uint8_t *start,
                                  const struct msgpack_value *value, bool is_key)
{
    const size_t length = (size_t)value->number, n = strlen(t->from);
    size_t found = 0;
    if (!is_key && value->type == MSGPACK_STRING) found = find_chip(t, value->bytes, length, 0);
    if (is_key || value->type != MSGPACK_STRING || found == length) {
        buffer_add(&t->out, start, (size_t)(t->in.at - start));
        return RMCP_OK;
    }
    struct buffer text = { 0 };
    size_t at = 0;
    for (; found < length; found = find_chip(t, value->bytes, length, at)) {
        buffer_add(&text, value->bytes + at, found - at);
        buffer_add(&text, t->to, strlen(t->to));
        at = found + n;
    }
    buffer_add(&text, value->bytes + at, length - at);
    rmcp_status status = buffer_status(&text);
    if (!status) buffer_add_msgpack_string(&t->out, (const char *)text.bytes, text.size);
    buffer_deinit(&text);
    t->n++;
    return status;
}

rmcp_status codeobj_tensile_retarget(const void *bytes, size_t size, const char *from,
                                     const char *to, uint8_t **out, size_t *out_size, size_t *n)
{
    if (!out || !out_size) return rmcp_fail(RMCP_E_ARG, "out is NULL");
    *out = NULL;
    *out_size = 0;
    if (!bytes || !from || !*from || !to) return rmcp_fail(RMCP_E_ARG, "bytes or a chip is NULL");
    struct tensile t = { .in = { bytes, (const uint8_t *)bytes + size },
                         .visit = retarget_value,
                         .from = from,
                         .to = to };
    rmcp_status status = walk_values(&t);
    if (!status) status = buffer_status(&t.out);
    if (status) {
        buffer_deinit(&t.out);
        return status;
    }
    *out = t.out.bytes;
    *out_size = t.out.size;
    if (n) *n = t.n;
    return RMCP_OK;
}
