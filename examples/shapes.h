/* shapes.h: random numbers, and batches of labelled images drawn with them. */
#ifndef SHAPES_H
#define SHAPES_H

#include <stdint.h>

enum shape { DISC, RING, SQUARE, FRAME, TRIANGLE, PLUS, CROSS, BARS, TEE, CRESCENT };
enum { N_SHAPES = CRESCENT + 1 };
enum { SIZE = 24, PIXELS = SIZE * SIZE, BATCH = 64 };

struct batch {
    float images[BATCH * PIXELS]; /* row after row, image after image */
    enum shape labels[BATCH];
};

/* The next number of splitmix64; any `*state` will do as a start. */
uint64_t next_random(uint64_t *state);

/* From low up to high. */
float uniform(uint64_t *state, float low, float high);

/* Place, size, angle, line width, contrast (either sign), brightness and noise are all random. */
void draw_batch(struct batch *batch, uint64_t *random);

#endif
