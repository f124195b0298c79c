/* atomics.h: read-modify-write operations on values. */
#ifndef RMCP_SIM_MATH_ATOMICS_H
#define RMCP_SIM_MATH_ATOMICS_H

#include "isa/isa.h"

enum atomic {
    ATOMIC_NONE,
    ATOMIC_SWAP,
    ATOMIC_CMPSWAP,
    ATOMIC_ADD,
    ATOMIC_SUB,
    ATOMIC_RSUB,
    ATOMIC_CSUB,
    ATOMIC_SMIN,
    ATOMIC_UMIN,
    ATOMIC_SMAX,
    ATOMIC_UMAX,
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR,
    ATOMIC_INC,
    ATOMIC_DEC,
    ATOMIC_FCMPSWAP,
    ATOMIC_FMIN,
    ATOMIC_FMAX,
    ATOMIC_FADD,
    ATOMIC_MSKOR,
    ATOMIC_WRAP,
    ATOMIC_CONDXCHG
};
enum atomic atomic_of(const struct isa_row *row);
/* The value after the operation; `data` is the operand, `other` the comparand or second operand. */
uint64_t atomic_new(enum atomic what, unsigned bytes, uint64_t old, uint64_t data, uint64_t other);
/* On host memory that others may use at the same time; returns the old value. */
uint64_t atomic_apply(enum atomic what, unsigned bytes, uint8_t *at, uint64_t data, uint64_t other);

#endif
