/* line_args.h: how kernels that go along lines of tensors find their elements, the same text for C
 * and OpenCL C.
 *
 * A line is what becomes one result, or is normalised by itself: all turns of the loops along it.
 * Loops across lead from line to line. All offsets of one launch fit in 32 bits, in bytes. */
#ifndef RMCP_KERNEL_LINE_ARGS_H
#define RMCP_KERNEL_LINE_ARGS_H

#include "engine/kernels/args.h"

/* One loop: how often it turns, and what lies between two turns in each of four tensors, in
 * elements. */
struct rmcp_line_turn {
    struct rmcp_divider size;
    unsigned a, b, c, d;
};

/* The loop whose neighbours are loaded together, as chunks of 16 bytes, is `vector`: one along
 * (rows: a chunk is part of one line) or one across (columns: a chunk has one element of each of
 * its lines). */
struct rmcp_lines {
    struct rmcp_line_turn vector;
    struct rmcp_line_turn
        turn[4]; /* the others: first those along, fastest first; then those across */
    unsigned n_along, n_turns;
    struct rmcp_divider chunks; /* of one turn of `vector` */
    unsigned count;       /* items of a line: chunks in rows, elements in columns             */
    unsigned lines;       /* or, in columns, chunks of lines                                  */
    unsigned lanes, outs; /* work-items that share a line, lines of a workgroup               */
    unsigned share;       /* items of each part, of which there are grid[1]                   */
    unsigned align;       /* rows: 1: chunks begin where a is aligned, the first one before it */
};

#endif
