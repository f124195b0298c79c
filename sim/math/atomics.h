/* atomics.h: read-modify-write operations on values. */
#ifndef RMCP_SIM_MATH_ATOMICS_H
#define RMCP_SIM_MATH_ATOMICS_H

#include "code/isa/isa.h"

/* The value after the operation; `data` is the operand, `other` the comparand or second operand. */
uint64_t atomic_new(enum isa_does what, unsigned bytes, uint64_t old, uint64_t data,
                    uint64_t other);
/* On host memory that others may use at the same time; returns the old value. */
uint64_t atomic_apply(enum isa_does what, unsigned bytes, uint8_t *at, uint64_t data,
                      uint64_t other);

#endif
