/* scan.c: bundles and code objects anywhere in a stretch of bytes, in one pass. */
#define _GNU_SOURCE /* memmem */
#include <string.h>

#include "code/codeobj/elf.h"
#include "code/codeobj/walker.h"

enum { BUNDLE, COMPRESSED, OBJECT, N_KINDS };
enum { MOST_FALSE = 1 << 16 }; /* magic strings without a valid header behind them */

static const struct {
    const char *magic;
    size_t length;
} kinds[N_KINDS] = {
    [BUNDLE] = { BUNDLE_MAGIC, BUNDLE_MAGIC_BYTES },
    [COMPRESSED] = { "CCOB", 4 },
    [OBJECT] = { "\177ELF\2\1\1", 7 },
};

struct scan {
    struct walk *walk;
    const uint8_t *bytes;
    size_t end;           /* where the scan stops                               */
    size_t next[N_KINDS]; /* where the next of each kind is, `end` for none     */
    unsigned count;       /* bundles found                                      */
    unsigned n_false;
    const char *label;
    bool quiet;
};

static size_t find(const struct scan *scan, int kind, size_t from)
{
    if (from >= scan->end) return scan->end;
    const uint8_t *at =
        memmem(scan->bytes + from, scan->end - from, kinds[kind].magic, kinds[kind].length);
    return at ? (size_t)(at - scan->bytes) : scan->end;
}

static bool is_code_object(const struct scan *scan, size_t at)
{
    uint16_t machine = 0;
    return elf_is(scan->bytes + at, scan->end - at, &machine) && machine == EM_AMDGPU;
}

static rmcp_status visit_bundle(struct scan *scan, size_t at, size_t *next)
{
    struct bundle bundle;
    const uint8_t *bytes = scan->bytes + at;
    rmcp_status status = bundle_check(bytes, scan->end - at, &bundle);
    *next = at + BUNDLE_MAGIC_BYTES;
    if (status && scan->quiet) {
        scan->n_false++;
        return RMCP_OK;
    }
    size_t before = walk_enter(scan->walk, "%sbundle %u", scan->label, ++scan->count);
    if (status) {
        status = walk_trouble(scan->walk, status);
    } else {
        *next = at + bundle.extent;
        status = walk_bundle(scan->walk, bytes, &bundle, at);
    }
    walk_leave(scan->walk, before);
    return status;
}

static rmcp_status visit_compressed(struct scan *scan, size_t at, size_t *next)
{
    size_t used = 4;
    rmcp_status status = RMCP_OK;
    if (compressed_bundle_is(scan->bytes + at, scan->end - at)) {
        size_t before = walk_enter(scan->walk, "%sbundle %u", scan->label, ++scan->count);
        status = walk_compressed_bundle(scan->walk, scan->bytes + at, scan->end - at, &used);
        walk_leave(scan->walk, before);
    }
    *next = at + (used > 4 ? used : 4);
    return status;
}

static rmcp_status visit_object(struct scan *scan, size_t at, size_t *next)
{
    *next = at + 4;
    if (!is_code_object(scan, at)) return RMCP_OK;
    size_t extent = elf_extent(scan->bytes + at, scan->end - at);
    /* A file that is one object needs no offset in its path. */
    bool whole = !at && (!extent || extent == scan->end);
    size_t before = whole ? walk_enter(scan->walk, "%s", "")
                          : walk_enter(scan->walk, "%soffset 0x%zx", scan->label, at);
    rmcp_status status;
    if (extent) {
        *next = at + extent;
        status = walk_object(scan->walk, scan->bytes + at, extent, at);
    } else {
        status = walk_trouble(scan->walk, rmcp_fail(RMCP_E_IO, "code object that is cut off"));
    }
    walk_leave(scan->walk, before);
    return status;
}

rmcp_status walk_scan(struct walk *walk, const uint8_t *bytes, size_t start, size_t end,
                      const char *label, bool quiet)
{
    struct scan scan = { .walk = walk, .bytes = bytes, .end = end, .label = label, .quiet = quiet };
    for (int kind = 0; kind < N_KINDS; kind++) scan.next[kind] = find(&scan, kind, start);
    rmcp_status status = RMCP_OK;
    while (!status) {
        int first = 0;
        for (int kind = 1; kind < N_KINDS; kind++)
            if (scan.next[kind] < scan.next[first]) first = kind;
        size_t at = scan.next[first], next = scan.end;
        if (at >= scan.end) break;
        if (first == BUNDLE)
            status = visit_bundle(&scan, at, &next);
        else if (first == COMPRESSED)
            status = visit_compressed(&scan, at, &next);
        else
            status = visit_object(&scan, at, &next);
        for (int kind = 0; kind < N_KINDS; kind++)
            if (scan.next[kind] < next) scan.next[kind] = find(&scan, kind, next);
        if (!status && scan.n_false > MOST_FALSE) {
            status = walk_trouble(
                walk, rmcp_fail(RMCP_E_IO, "given up after %d invalid bundles", MOST_FALSE));
            break;
        }
    }
    return status;
}
