/* formats.h: elements of typed buffers. */
#ifndef RMCP_SIM_MATH_FORMATS_H
#define RMCP_SIM_MATH_FORMATS_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of an element of a buffer format (gfx10 numbers); 0: not one that is modelled. */
unsigned format_bytes(unsigned format);
/* One element between memory and components of 32 bits (floats or integers, as the format is). */
void format_unpack(unsigned format, const uint8_t *from, uint32_t to[4]);
void format_pack(unsigned format, const uint32_t from[4], uint8_t *to);
/* Whether components are integers; else they are floats. */
bool format_is_integer(unsigned format);
/* A component of 16 bits to a float of 32, and back, rounded to nearest even. */
uint32_t format_of_half(uint32_t half);
uint32_t format_to_half(uint32_t bits);

#endif
