/* record.c: a wheel's RECORD, lines of CSV: path, sha256=…, size. */
#include "code/repair/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first field of a line, without its quotes, as a string; false: a damaged line. `field` has
 * room for the line and a zero. */
static bool read_field(const char *line, size_t length, char *field)
{
    size_t n = 0, at = 0;
    if (!length || line[0] != '"') {
        while (at < length && line[at] != ',') field[n++] = line[at++];
        field[n] = 0;
        return at < length;
    }
    for (at = 1; at < length; at++) {
        if (line[at] != '"') {
            field[n++] = line[at];
        } else if (at + 1 < length && line[at + 1] == '"') {
            field[n++] = '"';
            at++;
        } else {
            field[n] = 0;
            return at + 1 < length && line[at + 1] == ',';
        }
    }
    return false;
}

/* Where the second field starts, its comma included. */
static const char *rest_of(const char *line, size_t length)
{
    size_t at = 0;
    for (bool quoted = false; at < length && (quoted || line[at] != ','); at++)
        if (line[at] == '"') quoted = !quoted;
    return line + at;
}

static void add_field(struct buffer *out, const char *text)
{
    if (!strpbrk(text, ",\"")) {
        buffer_add(out, text, strlen(text));
        return;
    }
    buffer_add(out, "\"", 1);
    for (; *text; text++) buffer_add(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    buffer_add(out, "\"", 1);
}

enum { DIGEST_TEXT = 64 };

/* ",sha256=" and the digest, as RECORD has it; its length. */
static size_t digest_text(const uint8_t digest[static SHA256_BYTES], char out[static DIGEST_TEXT])
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    static const char start[] = ",sha256=";
    size_t n = sizeof start - 1;
    memcpy(out, start, n);
    for (unsigned i = 0; i < SHA256_BYTES; i += 3) {
        uint32_t bits = (uint32_t)digest[i] << 16;
        const unsigned left = SHA256_BYTES - i < 3 ? SHA256_BYTES - i : 3;
        if (left > 1) bits |= (uint32_t)digest[i + 1] << 8;
        if (left > 2) bits |= digest[i + 2];
        for (unsigned k = 0; k <= left; k++) out[n++] = digits[bits >> (18 - 6 * k) & 63];
    }
    return n;
}

static void add_digest(struct buffer *out, const struct repair_row *row)
{
    char text[DIGEST_TEXT + 32];
    size_t n = digest_text(row->digest, text);
    n += (size_t)snprintf(text + n, sizeof text - n, ",%" PRIu64, row->size);
    buffer_add(out, text, n);
}

/* Whether a line has another hash of a file than the file that was repaired. */
static bool contradicts(const char *line, size_t length, const struct repair_row *row)
{
    char text[DIGEST_TEXT];
    const char *rest = rest_of(line, length);
    const size_t n = digest_text(row->before, text), left = (size_t)(line + length - rest);
    if (!row->is_changed || left < 8 || memcmp(rest, text, 8)) return false; /* another algorithm */
    return left < n || memcmp(rest, text, n) || (left > n && rest[n] != ',');
}

static int compare(const void *key, const void *row)
{
    return strcmp(key, ((const struct repair_row *)row)->name);
}

/* One line, without its end; false: it is gone. */
static bool add_line(struct buffer *out, const char *line, size_t length,
                     const struct repair_row *row)
{
    if (!row || (!row->is_changed && row->new_name && !strcmp(row->new_name, row->name))) {
        buffer_add(out, line, length);
        return true;
    }
    if (!row->new_name) return false;
    add_field(out, row->new_name);
    if (row->is_changed) {
        add_digest(out, row);
    } else {
        const char *rest = rest_of(line, length);
        buffer_add(out, rest, (size_t)(line + length - rest));
    }
    return true;
}

rmcp_status repair_record(const void *text, size_t size, const struct repair_row *rows, size_t n,
                          struct buffer *out)
{
    const char *at = text, *end = at + size;
    char *field = malloc(size + 1);
    bool *seen = calloc(n + 1, sizeof *seen);
    rmcp_status status = field && seen ? RMCP_OK : rmcp_fail_memory("RECORD", size);
    while (!status && at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((newline ? newline : end) - at), tail = newline != NULL;
        if (length && at[length - 1] == '\r') length--, tail++;
        const struct repair_row *row = NULL;
        if (length && !read_field(at, length, field))
            status = rmcp_fail(RMCP_E_UNSUPPORTED, "a line of its RECORD is no CSV: %.*s",
                               (int)(length < 80 ? length : 80), at);
        else if (length && n)
            row = bsearch(field, rows, n, sizeof *rows, compare);
        if (row) seen[row - rows] = true;
        if (!status && row && contradicts(at, length, row))
            status = rmcp_fail(RMCP_E_UNSUPPORTED,
                               "its RECORD has another hash of %.200s: the wheel was changed or is "
                               "damaged",
                               row->name);
        if (!status && add_line(out, at, length, row)) buffer_add(out, at + length, tail);
        at += length + tail;
    }
    /* Files that it did not name. */
    for (size_t i = 0; !status && i < n; i++)
        if (!seen[i] && rows[i].is_changed && rows[i].new_name) {
            if (out->size && out->bytes[out->size - 1] != '\n') buffer_add(out, "\n", 1);
            add_field(out, rows[i].new_name);
            add_digest(out, &rows[i]);
            buffer_add(out, "\n", 1);
        }
    free(field);
    free(seen);
    return status ? status : buffer_status(out);
}
