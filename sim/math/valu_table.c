/* valu_table.c: the rows of valu_rows.inc as a table, for one level of the host's instructions. */
#include "sim/math/valu_impl.h"

const struct valu_row FN(table)[ISA_N_IDS] = {
#define VALU(name, encoding, function, result, src0, src1, src2)                                   \
    [ISA_##name##_##                                                                               \
        encoding] = { FN(function), VALU_##result, { VALU_##src0, VALU_##src1, VALU_##src2 } },
#include "sim/math/valu_rows.inc"
#undef VALU
};
