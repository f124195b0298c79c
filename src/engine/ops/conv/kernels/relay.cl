/* relay.cl: matrices turned: out[b][column][row] = in[b][row][column] (struct rmcp_relay). Channels last become
 * channels first, and back.
 *
 * A workgroup turns one tile in local memory. It reads and writes neighbours side by side, also where a matrix has
 * only a few rows or columns: tiles are as long as these are few. */
#include "engine/kernels/target.h"
#include "engine/kernels/common.h"
#include "engine/ops/conv/kernels/relay.h"

#define THREADS 256
#define EACH 8 /* elements of a work-item */

__kernel WORKGROUP(THREADS) void relay(INPUT(in), OUTPUT(out), struct rmcp_relay r)
{
    __local float tile[3 * THREADS * EACH / 2]; /* two columns take three */
    const uint thread = LOCAL_ID, index = r.first + GROUP_ID_X;
    const uint above = divide(index, r.column_tiles), matrix = divide(above, r.row_tiles);
    const uint first_row = (above - matrix * r.row_tiles.divisor) * r.tile_rows.divisor;
    const uint first_column = (index - above * r.column_tiles.divisor) * r.tile_columns.divisor;
    const uint rows = smaller(r.tile_rows.divisor, r.rows - first_row);
    const uint columns = smaller(r.tile_columns.divisor, r.columns - first_column);
    const uint pitch = r.tile_columns.divisor | 1;
    const uint from = (matrix * r.rows + first_row) * r.columns + first_column;
    const uint to = (matrix * r.columns + first_column) * r.rows + first_row;
    float value[EACH];
    UNROLL
    for (uint i = 0; i < EACH; i++) {
        const uint at = i * THREADS + thread;
        const uint row = divide(at, r.tile_columns), column = at - row * r.tile_columns.divisor;
        value[i] = row < rows && column < columns ? load(ADDRESS(in), from + row * r.columns + column) : 0;
    }
    UNROLL
    for (uint i = 0; i < EACH; i++) {
        const uint at = i * THREADS + thread;
        const uint row = divide(at, r.tile_columns), column = at - row * r.tile_columns.divisor;
        if (row < rows && column < columns) tile[row * pitch + column] = value[i];
    }
    BARRIER();
    UNROLL
    for (uint i = 0; i < EACH; i++) {
        const uint at = i * THREADS + thread;
        const uint column = divide(at, r.tile_rows), row = at - column * r.tile_rows.divisor;
        if (row < rows && column < columns) store(ADDRESS(out), to + column * r.rows + row, tile[row * pitch + column]);
    }
}
