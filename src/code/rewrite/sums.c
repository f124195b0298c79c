/* sums.c: the constants of pc-relative sums in the new text, and the proof that they are right. */
#include "code/rewrite/layout.h"

enum { INLINE_0 = 128, INLINE_64 = 192, INLINE_MINUS_16 = 208 };

static rmcp_status fail(const struct rewrite *r, const struct sum *sum, const char *why)
{
    return rmcp_fail(RMCP_E_UNSUPPORTED, "the pc-relative sum at 0x%llx %s",
                     (unsigned long long)(r->address + r->items[sum->anchor].old), why);
}

static uint64_t base_of(const struct rewrite *r, const struct sum *sum)
{
    const struct item *anchor = &r->items[sum->anchor];
    if (sum->base != NONE) return r->sums[sum->base].value;
    return r->new_address + anchor->at + 4 * (uint64_t)anchor->n_words;
}

static uint64_t target_of(const struct rewrite *r, const struct sum *sum)
{
    const struct item *anchor = &r->items[sum->anchor];
    uint64_t pc = r->new_address + anchor->at + 4 * (uint64_t)anchor->n_words;
    if (sum->is_fixed) return pc + sum->address;
    return sum->target == NONE ? sum->address : r->new_address + r->items[sum->target].at;
}

static uint32_t *literal_of(struct rewrite *r, uint32_t item)
{
    return r->out + r->items[item].at / 4 + r->items[item].n_words - 1;
}

/* Put the upper half into s_addc or s_subb, which has it as a literal or as an inline constant. */
static bool put_high(struct rewrite *r, const struct sum *sum, uint32_t high)
{
    const struct item *item = &r->items[sum->high];
    uint32_t *word = r->out + item->at / 4;
    if (item->n_words == 2) {
        word[1] = high;
        return true;
    }
    unsigned shift = (*word & 255) < INLINE_0 ? 8 : 0; /* the other source is a register */
    uint32_t code;
    if (high <= 64)
        code = INLINE_0 + high;
    else if (-high <= 16)
        code = INLINE_64 - high;
    else
        return false;
    *word = (*word & ~(UINT32_C(255) << shift)) | code << shift;
    return true;
}

/* The lower half of the distance as the code computes it from its literal. */
static uint32_t low_of(struct rewrite *r, const struct sum *sum)
{
    uint32_t literal = *literal_of(r, sum->low);
    return (sum->sign < 0 ? -literal : literal) + sum->offset;
}

static bool high_of(const struct rewrite *r, const struct sum *sum, uint32_t *out)
{
    const struct item *item = &r->items[sum->high];
    const uint32_t *word = r->out + item->at / 4;
    unsigned code = (*word & 255) < INLINE_0 ? *word >> 8 & 255 : *word & 255;
    if (item->n_words == 2)
        *out = word[1];
    else if (code > INLINE_MINUS_16)
        return false;
    else
        *out = code <= INLINE_64 ? code - INLINE_0 : INLINE_64 - code;
    return true;
}

rmcp_status layout_fill_sums(struct layout *l)
{
    struct rewrite *r = l->r;
    for (size_t i = 0; i < r->n_sums; i++) {
        struct sum *sum = &r->sums[i];
        if (r->items[sum->anchor].is_gone) continue;
        sum->value = target_of(r, sum);
        uint64_t distance = sum->value - base_of(r, sum);
        if (sum->subtracts) distance = -distance;
        uint32_t low = (uint32_t)distance - sum->offset;
        uint32_t before = low_of(r, sum);
        *literal_of(r, sum->low) = sum->sign < 0 ? -low : low;
        if (sum->keeps_sign && (low_of(r, sum) ^ before) >> 31)
            return fail(r, sum, "would change its sign");
        if (!put_high(r, sum, (uint32_t)(distance >> 32)))
            return fail(r, sum, "goes too far for its constant");
    }
    /* Two sums may have shared a constant: look at what was written. */
    for (size_t i = 0; i < r->n_sums; i++) {
        const struct sum *sum = &r->sums[i];
        uint32_t high;
        if (r->items[sum->anchor].is_gone) continue;
        if (!high_of(r, sum, &high)) return fail(r, sum, "has an upper half that is no integer");
        uint64_t distance = (uint64_t)high << 32 | low_of(r, sum);
        uint64_t value = base_of(r, sum) + (sum->subtracts ? -distance : distance);
        if (value != sum->value) return fail(r, sum, "shares its constant with another one");
    }
    return RMCP_OK;
}
