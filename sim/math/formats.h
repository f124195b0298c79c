/* formats.h: elements of typed buffers and of images. */
#ifndef RMCP_SIM_MATH_FORMATS_H
#define RMCP_SIM_MATH_FORMATS_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of an element of a format (gfx10 numbers; those of buffers end at 127); 0: not one that is
 * modelled. */
unsigned format_bytes(unsigned format);
/* One element between memory and components of 32 bits (floats or integers, as the format is). */
void format_unpack(unsigned format, const uint8_t *from, uint32_t to[4]);
void format_pack(unsigned format, const uint32_t from[4], uint8_t *to);
unsigned format_components(unsigned format); /* that are stored */
/* Whether components are integers; else they are floats. */
bool format_is_integer(unsigned format);
/* A component of 16 bits to a float of 32, and back, rounded to nearest even. */
uint32_t format_of_half(uint32_t half);
uint32_t format_to_half(uint32_t bits);
/* What a descriptor makes of the components of an element: each becomes 0 (0), 1 (1) or one of them
 * (4 to 7); and the reverse, for stores, where the first that names a component counts. */
void format_select(const uint8_t select[4], bool integer, uint32_t components[4]);
void format_unselect(const uint8_t select[4], uint32_t components[4]);

#endif
