/* shapes.c: draws small noisy images of ten shapes. */
#include "shapes.h"

#include <math.h>

uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

float uniform(uint64_t *state, float low, float high)
{
    return low + (high - low) * ((float)(next_random(state) >> 40) * 0x1p-24f);
}

static float box(float u, float v, float half_width, float half_height)
{
    return fmaxf(fabsf(u) - half_width, fabsf(v) - half_height);
}

/* How far (u, v) is outside the shape of radius 1; negative inside. */
static float distance(enum shape shape, float u, float v, float thickness)
{
    const float r = hypotf(u, v), turn = 0.70710678f;
    switch (shape) {
    case DISC: return r - 0.9f;
    case RING: return fabsf(r - 0.8f) - thickness;
    case SQUARE: return box(u, v, 0.8f, 0.8f);
    case FRAME: return fabsf(box(u, v, 0.75f, 0.75f)) - thickness;
    case TRIANGLE: return fmaxf(v - 0.6f, 0.866f * fabsf(u) - 0.5f * v - 0.5f);
    case PLUS: return fminf(box(u, v, thickness, 1), box(u, v, 1, thickness));
    case CROSS: return distance(PLUS, turn * (u + v), turn * (u - v), thickness);
    case BARS: return box(u, fabsf(v) - 0.6f, 1, thickness);
    case TEE: return fminf(box(u, v, thickness, 0.9f), box(u, v + 0.9f, 0.9f, thickness));
    case CRESCENT: return fmaxf(r - 0.95f, 0.75f - hypotf(u - 0.5f, v));
    }
    return 1;
}

static void draw(enum shape shape, uint64_t *random, float image[PIXELS])
{
    const float radius = uniform(random, 5, 9);
    const float x = uniform(random, radius, SIZE - radius);
    const float y = uniform(random, radius, SIZE - radius);
    const float angle = uniform(random, -0.25f, 0.25f);
    const float thickness = uniform(random, 0.12f, 0.25f);
    const float contrast = uniform(random, 0.6f, 1) * (next_random(random) & 1 ? 1.0f : -1.0f);
    const float brightness = uniform(random, -0.5f, 0.5f);
    const float noise = uniform(random, 0.1f, 0.3f);
    const float turn_u = cosf(angle) / radius, turn_v = sinf(angle) / radius;

    for (int h = 0; h < SIZE; h++)
        for (int w = 0; w < SIZE; w++) {
            const float across = (float)w + 0.5f - x, down = (float)h + 0.5f - y;
            const float u = turn_u * across + turn_v * down;
            const float v = turn_u * down - turn_v * across;
            const float outside = radius * distance(shape, u, v, thickness);
            const float coverage = fminf(fmaxf(0.5f - outside, 0), 1); /* of this pixel */
            image[h * SIZE + w] = brightness + contrast * coverage + uniform(random, -noise, noise);
        }
}

void draw_batch(struct batch *batch, uint64_t *random)
{
    for (int n = 0; n < BATCH; n++) {
        batch->labels[n] = (enum shape)(next_random(random) % N_SHAPES);
        draw(batch->labels[n], random, batch->images + n * PIXELS);
    }
}
