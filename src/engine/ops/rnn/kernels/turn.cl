/* turn.cl: exchanges lines and columns of one matrix for each direction, 32 x 32 at a time. */
#include "engine/ops/rnn/kernels/cell.h"

#define TILE 32

__kernel WORKGROUP(256) void rnn_turn(INPUT(from), OUTPUT(to), struct rmcp_rnn_turn s)
{
    __local float room[TILE][TILE + 1];
    const uint x = LOCAL_ID % TILE, y = LOCAL_ID / TILE, d = GROUP_ID_Z;
    const uint across = (s.columns + TILE - 1) / TILE, down = GROUP_ID_X / across;
    const uint row = down * TILE, column = (GROUP_ID_X - down * across) * TILE;
    const ulong matrix = (ulong)d * s.rows * s.columns;
    UNROLL for (uint i = 0; i < TILE; i += 8)
        if (row + y + i < s.rows && column + x < s.columns)
            room[y + i][x] =
                CONST_FLOATS(from)[matrix + (ulong)(row + y + i) * s.columns + column + x];
    BARRIER();
    UNROLL for (uint i = 0; i < TILE; i += 8)
        if (column + y + i < s.columns && row + x < s.rows)
            FLOATS(to)[matrix + (ulong)(column + y + i) * s.rows + row + x] = room[x][y + i];
}
