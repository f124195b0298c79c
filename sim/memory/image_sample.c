/* image_sample.c: image instructions with a sampler: coordinates to texels, and their mean. */
#include <math.h>
#include <string.h>

#include "sim/check/check.h"
#include "sim/math/formats.h"
#include "sim/memory/image.h"
#include "sim/memory/memory.h"
#include "sim/state/registers.h"

/* ---- samplers ---- */

enum clamp { WRAP, MIRROR, EDGE, MIRROR_EDGE, HALF, MIRROR_HALF, BORDER, MIRROR_BORDER };

struct sampler {
    uint8_t clamp[3]; /* enum clamp, of each axis */
    uint8_t compare, border;
    uint8_t magnify, minify, z, mip; /* filters */
    bool unnormalized, truncates;
    float min_lod, max_lod, bias;
};

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static bool sampler_read(struct wave *w, const struct op *op, struct sampler *out)
{
    const unsigned reg = op->sampler->reg, last = reg + 3;
    if (last >= ISA_VCC_LO && (reg < ISA_TTMP0 || last >= ISA_M0)) {
        run_illegal(w, op);
        return false;
    }
    const uint32_t *s = w->sgpr + reg;
    *out = (struct sampler){
        .clamp = { s[0] & 7, s[0] >> 3 & 7, s[0] >> 6 & 7 },
        .compare = s[0] >> 12 & 7,
        .unnormalized = s[0] >> 15 & 1 || op->inst.unorm,
        .truncates = s[0] >> 27 & 1,
        .min_lod = (float)(s[1] & 0xfff) / 256,
        .max_lod = (float)(s[1] >> 12 & 0xfff) / 256,
        .bias = (float)((int32_t)(s[2] << 18) >> 18) / 256,
        .magnify = s[2] >> 20 & 3,
        .minify = s[2] >> 22 & 3,
        .z = s[2] >> 24 & 3,
        .mip = s[2] >> 26 & 3,
        .border = (uint8_t)(s[3] >> 30),
    };
    if (out->border < 3) return true;
    struct finding f = { .kind = SIM_ILLEGAL, .rule = -1 };
    report(w, op, &f, "border colours in a table are not modelled");
    return false;
}

/* ---- what a lane asks for ---- */

struct lookup {
    float at[3], slope[2][3]; /* x, y, slice or layer; slope: from lane to lane */
    int offset[3];
    float reference, bias, level; /* level: given, or the least */
};

static float part_float(const struct wave *w, const struct op *op, unsigned word, unsigned k,
                        bool half, unsigned lane)
{
    const uint32_t bits = image_part(w, op, word, k, half, lane);
    return float_of(half ? format_of_half(bits) : bits);
}

/* The two directions of gradients; halves begin a new word with each. */
static unsigned take_slopes(const struct wave *w, const struct op *op, const struct image_form *f,
                            unsigned word, unsigned lane, struct lookup *l)
{
    const unsigned n = f->n_gradients / 2u, words = f->half_gradients ? (n + 1) / 2 : n;
    for (unsigned d = 0; d < 2; d++)
        for (unsigned k = 0; k < n; k++)
            l->slope[d][k] = part_float(w, op, word + d * words, k, f->half_gradients, lane);
    return word + 2 * words;
}

static void take_lookup(const struct wave *w, const struct op *op, const struct image_form *f,
                        unsigned lane, struct lookup *l)
{
    unsigned word = 0;
    *l = (struct lookup){ 0 };
    if (f->offset) {
        const uint32_t bits = image_word(w, op, word++, lane);
        for (unsigned k = 0; k < 3; k++) l->offset[k] = (int32_t)(bits << (26 - 8 * k)) >> 26;
    }
    if (f->bias) l->bias = part_float(w, op, word++, 0, op->inst.a16, lane);
    if (f->compare) l->reference = float_of(image_word(w, op, word++, lane));
    if (f->gradients) word = take_slopes(w, op, f, word, lane, l);
    uint32_t part[4] = { 0 }, at[3];
    for (unsigned k = 0; k < f->n_coordinates; k++)
        part[k] = bits_of(part_float(w, op, word, k, op->inst.a16, lane));
    image_order(op, part, at);
    for (unsigned k = 0; k < 3; k++) l->at[k] = float_of(at[k]);
    if (f->lod == LOD_GIVEN || f->lod == LOD_CLAMP)
        l->level = part_float(w, op, word, f->n_coordinates, op->inst.a16, lane);
}

/* ---- the level ---- */

/* Lanes are pixels in fours: a lane's neighbours are to its right and below. */
static void find_slopes(const struct wave *w, const struct op *op, const struct image_form *f,
                        unsigned lane, struct lookup *l)
{
    static const unsigned bit[2] = { 1, 2 };
    for (unsigned d = 0; d < 2; d++) {
        struct lookup from, to;
        take_lookup(w, op, f, lane & ~bit[d], &from);
        take_lookup(w, op, f, lane | bit[d], &to);
        for (unsigned k = 0; k < 3; k++) l->slope[d][k] = to.at[k] - from.at[k];
    }
}

/* Logarithm of the texels from lane to lane. */
static float slope_level(const struct image *image, const struct sampler *s, const struct lookup *l)
{
    uint32_t size[3];
    float longest = 0;
    image_size(image, 0, size);
    if (!image->surface.volume) size[2] = 0; /* layers have no distance */
    if (image->surface.height == 1) size[1] = 0;
    for (unsigned d = 0; d < 2; d++) {
        float sum = 0;
        for (unsigned k = 0; k < 3; k++) {
            const float texels = !size[k] ? 0 : s->unnormalized ? 1 : (float)size[k];
            sum += l->slope[d][k] * texels * (l->slope[d][k] * texels);
        }
        if (sum > longest) longest = sum;
    }
    return longest > 0 ? 0.5f * log2f(longest) : -128;
}

static float clamp_level(const struct image *image, const struct sampler *s, float least,
                         float level)
{
    if (!(level <= s->max_lod)) level = s->max_lod; /* what is no number, too */
    if (level < s->min_lod) level = s->min_lod;
    if (level < least) level = least;
    return level < image->min_lod ? image->min_lod : level;
}

static float find_level(struct wave *w, const struct op *op, const struct image *image,
                        const struct sampler *s, const struct image_form *f, unsigned lane,
                        struct lookup *l, float *raw)
{
    float level = 0, least = f->lod == LOD_CLAMP ? l->level : 0;
    if (f->lod == LOD_GIVEN) {
        level = l->level;
    } else if (f->lod != LOD_ZERO) {
        if (!f->gradients) find_slopes(w, op, f, lane, l);
        level = slope_level(image, s, l) + s->bias + l->bias;
    }
    *raw = level;
    return clamp_level(image, s, least, level);
}

/* ---- an axis ---- */

enum { OUTSIDE = INT32_MIN };

/* Two neighbours on an axis, and the weight of the second. */
struct axis {
    int32_t at[2];
    float weight;
};

static int32_t bring_inside(int32_t i, int32_t n, enum clamp clamp, bool linear)
{
    const int32_t mirrored = i < 0 ? -1 - i : i;
    int32_t m;
    switch (clamp) {
    case WRAP: m = i % n; return m < 0 ? m + n : m;
    case MIRROR:
        m = i % (2 * n);
        if (m < 0) m += 2 * n;
        return m < n ? m : 2 * n - 1 - m;
    case EDGE: return i < 0 ? 0 : i < n ? i : n - 1;
    case MIRROR_EDGE: return mirrored < n ? mirrored : n - 1;
    case HALF:
        if (!linear) return bring_inside(i, n, EDGE, false);
        break;
    case MIRROR_HALF:
        if (!linear) return bring_inside(i, n, MIRROR_EDGE, false);
        return mirrored < n ? mirrored : OUTSIDE;
    case BORDER: break;
    case MIRROR_BORDER: return mirrored < n ? mirrored : OUTSIDE;
    }
    return i >= 0 && i < n ? i : OUTSIDE;
}

/* Coordinates have 8 bits behind the point, to which they are rounded: ROCm's library counts on it
 * for the nearest texel, whose left edge it gives. */
static struct axis axis_of(float c, uint32_t size, const struct sampler *s, unsigned k, bool linear,
                           int offset)
{
    const enum clamp clamp = s->clamp[k];
    const float n = (float)size, far = 0x1p20f;
    if (!s->unnormalized) {
        if (clamp == WRAP) c -= floorf(c);
        if (clamp == MIRROR) c -= 2 * floorf(c / 2);
        c *= n;
    }
    if (isnan(c)) c = 0;
    if (clamp == HALF) c = c < 0 ? 0 : c > n ? n : c;
    if (clamp == MIRROR_HALF) c = c < -n ? -n : c > n ? n : c;
    c = c < -far ? -far : c > far ? far : c;
    struct axis a = { .weight = 0 };
    c = s->truncates && !linear ? floorf(c * 256) : rintf(c * 256);
    c = c / 256 - (linear ? 0.5f : 0);
    const float whole = floorf(c);
    if (linear) a.weight = c - whole;
    for (int i = 0; i < 2; i++)
        a.at[i] = bring_inside((int32_t)whole + i + offset, (int32_t)size, clamp, linear);
    return a;
}

/* ---- texels ---- */

struct sampling {
    struct wave *w;
    const struct op *op;
    const struct image *image;
    const struct sampler *sampler;
    bool compare, failed;
    unsigned lane;
    float reference;
};

static bool compares(unsigned how, float reference, float texel)
{
    return (how & 1 && reference < texel) || (how & 2 && reference == texel) ||
           (how & 4 && reference > texel);
}

/* Alpha is where the descriptor shows it, whatever is stored there. */
static void border_colour(const struct sampling *s, uint32_t c[4])
{
    const uint32_t one = s->image->integer ? 1 : 0x3f800000;
    for (unsigned k = 0; k < 4; k++) {
        const unsigned select = s->image->select[k];
        const bool white = s->sampler->border == 2 || (s->sampler->border == 1 && k == 3);
        c[k] = (select >= 4 ? white : select == 1) ? one : 0;
    }
}

static void fetch(struct sampling *s, const int32_t at[3], unsigned level, uint32_t c[4])
{
    const struct image *image = s->image;
    const uint32_t place[3] = { (uint32_t)at[0], (uint32_t)at[1], (uint32_t)at[2] };
    const unsigned bytes = image->surface.bytes;
    uint64_t address;
    uint8_t memory[16];
    memset(c, 0, 4 * sizeof *c);
    const bool inside = at[0] != OUTSIDE && at[1] != OUTSIDE && at[2] != OUTSIDE;
    if (!inside || !image_place(image, place, level, &address)) {
        border_colour(s, c);
        if (s->compare) c[0] = bits_of(compares(s->sampler->compare, s->reference, float_of(c[0])));
        return;
    }
    if (!memory_read(s->w->core, address, memory, bytes, SIM_READ)) {
        memory_fault(s->w, s->op, UINT64_C(1) << s->lane, address, bytes, "sample");
        s->failed = true;
        return;
    }
    format_unpack(image->format, memory, c);
    if (s->compare) c[0] = bits_of(compares(s->sampler->compare, s->reference, float_of(c[0])));
    format_select(image->select, image->integer, c);
}

static void find_axes(const struct sampling *s, const struct lookup *l, unsigned level, bool linear,
                      bool linear_z, struct axis axis[3])
{
    const struct image *image = s->image;
    uint32_t size[3];
    image_size(image, level, size);
    const bool line = image->type == IMAGE_1D || image->type == IMAGE_1D_ARRAY;
    axis[0] = axis_of(l->at[0], size[0], s->sampler, 0, linear, l->offset[0]);
    axis[1] = axis[2] = (struct axis){ 0 };
    if (!line) axis[1] = axis_of(l->at[1], size[1], s->sampler, 1, linear, l->offset[1]);
    if (image->surface.volume) {
        axis[2] = axis_of(l->at[2], size[2], s->sampler, 2, linear_z, l->offset[2]);
    } else if (size[2] > 1) {
        const float layer = rintf(l->at[2]), last = (float)(size[2] - 1);
        axis[2].at[0] = !(layer > 0) ? 0 : (int32_t)(layer < last ? layer : last);
    }
}

/* The mean of up to eight texels of a level. */
static void sample_level(struct sampling *s, const struct lookup *l, unsigned level,
                         unsigned filter, uint32_t c[4])
{
    const bool linear = filter & 1 && !s->image->integer;
    const bool linear_z = s->image->integer ? false : s->sampler->z ? s->sampler->z == 2 : linear;
    struct axis axis[3];
    find_axes(s, l, level, linear, linear_z, axis);
    if (!linear && !linear_z) {
        fetch(s, (int32_t[]){ axis[0].at[0], axis[1].at[0], axis[2].at[0] }, level, c);
        return;
    }
    float sum[4] = { 0 };
    for (unsigned i = 0; i < 8 && !s->failed; i++) {
        int32_t at[3];
        float weight = 1;
        for (unsigned k = 0; k < 3; k++) {
            const unsigned second = i >> k & 1;
            at[k] = axis[k].at[second];
            weight *= second ? axis[k].weight : 1 - axis[k].weight;
        }
        if (weight == 0) continue;
        fetch(s, at, level, c);
        for (unsigned k = 0; k < 4; k++) sum[k] += weight * float_of(c[k]);
    }
    for (unsigned k = 0; k < 4; k++) c[k] = bits_of(sum[k]);
}

static void sample(struct sampling *s, const struct lookup *l, float level, uint32_t c[4])
{
    const unsigned filter = level > 0 ? s->sampler->minify : s->sampler->magnify;
    const float last = (float)(s->image->levels - 1);
    if (level < 0 || !s->sampler->mip) level = 0;
    if (level > last) level = last;
    if (s->sampler->mip != 2 || s->image->integer) {
        sample_level(s, l, (unsigned)(level + 0.5f), filter, c);
        return;
    }
    const unsigned lower = (unsigned)level;
    const float weight = rintf((level - (float)lower) * 256) / 256;
    sample_level(s, l, lower, filter, c);
    if (weight == 0 || s->failed) return;
    uint32_t other[4];
    sample_level(s, l, lower + 1, filter, other);
    for (unsigned k = 0; k < 4; k++)
        c[k] = bits_of((1 - weight) * float_of(c[k]) + weight * float_of(other[k]));
}

/* One component of the four texels that a linear filter would take, counter-clockwise from the
 * lower left. */
static void gather(struct sampling *s, const struct lookup *l, float level, uint32_t c[4])
{
    static const uint8_t x[] = { 0, 1, 1, 0 }, y[] = { 1, 1, 0, 0 };
    const float last = (float)(s->image->levels - 1);
    const unsigned mask = s->op->inst.dmask, which = mask ? (unsigned)__builtin_ctz(mask) : 0;
    struct axis axis[3];
    level = level < 0 || !s->sampler->mip ? 0 : level > last ? last : level;
    find_axes(s, l, (unsigned)(level + 0.5f), true, false, axis);
    for (unsigned i = 0; i < 4 && !s->failed; i++) {
        uint32_t texel[4];
        fetch(s, (int32_t[]){ axis[0].at[x[i]], axis[1].at[y[i]], axis[2].at[0] },
              (unsigned)(level + 0.5f), texel);
        c[i] = texel[which];
    }
}

void run_image_sample(struct wave *w, const struct op *op)
{
    struct image image;
    struct image_form form;
    struct sampler sampler;
    image_form(op, &form);
    if (!image_read(w, op, &image) || !sampler_read(w, op, &sampler)) return;
    const bool gathers = op->inst.row->flags & ISA_GATHER;
    const bool asks = op->inst.id == ISA_image_get_lod_MIMG;
    if (!image.levels) image.bound = false;
    struct sampling s = {
        .w = w, .op = op, .image = &image, .sampler = &sampler, .compare = form.compare
    };
    uint32_t result[MAX_LANES][4];
    for (uint64_t rest = w->exec; rest && !s.failed; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(rest);
        struct lookup l;
        float raw = 0, level = 0;
        uint32_t *c = result[lane];
        memset(c, 0, sizeof result[lane]);
        if (!image.bound) continue;
        take_lookup(w, op, &form, lane, &l);
        level = find_level(w, op, &image, &sampler, &form, lane, &l, &raw);
        s.lane = lane;
        s.reference = l.reference;
        if (asks) {
            c[0] = bits_of(level);
            c[1] = bits_of(raw);
        } else if (gathers) {
            gather(&s, &l, level, c);
        } else {
            sample(&s, &l, level, c);
        }
    }
    if (s.failed) return;
    /* Not before: lanes look at the coordinates of others. */
    for (uint64_t rest = w->exec; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(rest);
        image_put(w, op, lane, image.integer, gathers, result[lane]);
    }
    w->core->stats.bytes_loaded += (uint64_t)image.surface.bytes * w->n_active;
    wave_load_begins(w, op, ISA_VMCNT, false);
}
