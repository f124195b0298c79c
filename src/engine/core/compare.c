/* compare.c: compares outputs with an operation's reference. */
#include "engine/core/compare.h"

#include "base/convert.h"
#include "base/random.h"

#include <math.h>

static const double usual_effort = 8e6;

double rmcp_error_share(struct rmcp_expected expected, rmcp_type type, float got)
{
    union {
        float f32;
        uint16_t half;
        int64_t i64;
        int32_t i32;
        uint8_t u8;
    } rounded;
    rmcp_store_any(&rounded, type, 0, expected.value);
    const float value = (float)rmcp_load_any(&rounded, type, 0);
    if (got == value || (isnan(got) && isnan(value))) return 0;
    if (!(expected.allowed > 0) || !isfinite(got) || !isfinite(value)) return HUGE_VAL;
    return fabs((double)got - expected.value) / expected.allowed;
}

/* Which of `n` outputs the i-th of `checked` comparisons looks at: the ends, then anywhere. */
static int64_t sample(int64_t checked, int64_t n, int64_t i, uint64_t seed)
{
    if (checked == n) return i;
    if (i == 0) return 0;
    if (i == 1) return n - 1;
    struct rmcp_random r = { seed + (uint64_t)i };
    return rmcp_random_below(&r, n);
}

struct rmcp_expected rmcp_expect_near(const struct rmcp_operation *operation,
                                      const struct rmcp_reference *reference, unsigned slot,
                                      int64_t element)
{
    const bool near = operation->expect_near && reference->error_factor > 1;
    return (near ? operation->expect_near : operation->expect)(reference, slot, element);
}

void rmcp_compare(struct rmcp_comparison *c)
{
    const struct rmcp_slot slot = c->operation->slot(c->reference->problem, c->slot);
    const int64_t n = slot.elements;
    const double cost = c->operation->expect_cost(c->reference->problem, c->slot);
    const double affordable = (c->effort > 0 ? c->effort : usual_effort) / cost;
    int64_t checked = affordable < 64 ? 64 : affordable < 1e15 ? (int64_t)affordable : INT64_MAX;
    if (checked > n) checked = n;
    c->checked = checked;
    c->worst = 0;

/* Waking threads costs more than a small problem. */
#pragma omp parallel for schedule(dynamic, 16) if ((double)checked * cost > 1e6)
    for (int64_t i = 0; i < checked; i++) {
        const int64_t at = sample(checked, n, i, c->seed);
        struct rmcp_expected expected = c->operation->expect(c->reference, c->slot, at);
        const float got = (float)rmcp_load_any(c->values, slot.type, at);
        double share = c->share(expected, slot.type, got);
        if (share > 1 && c->near) {
            expected = rmcp_expect_near(c->operation, c->reference, c->slot, at);
            share = c->share(expected, slot.type, got);
        }
#pragma omp critical
        if (share > c->worst || (share > 0 && share == c->worst && at < c->element)) {
            c->worst = share;
            c->element = at;
            c->got = got;
            c->expected = expected;
        }
    }
}
