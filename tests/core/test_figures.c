/* test_figures.c: the tables of figures: complete, with sources, and the right one for each chip.
 */
#include "engine/figures/figures.h"
#include "support.h"

#include <math.h>
#include <string.h>

static const char *const names[] = {
#define FIGURE(name, unit, meaning) #name,
#include "engine/figures/names.inc"
#undef FIGURE
};

static const char *const units[] = {
#define FIGURE(name, unit, meaning) unit,
#include "engine/figures/names.inc"
#undef FIGURE
};

/* Each figure is known somewhere, and each row says where it comes from. */
static void rows_have_sources(void **state)
{
    (void)state;
    for (int figure = 0; figure < RMCP_N_FIGURES; figure++) {
        int known = 0;
        for (int family = 0; family < RMCP_N_FAMILIES; family++) {
            const struct rmcp_figure_row *row = &rmcp_figure_rows[family][figure];
            if (!row->source) continue;
            known++;
            if (!isfinite(row->value) || strlen(row->source) < 10)
                fail_msg("%s of family %d: a row without a number or a source", names[figure],
                         family);
        }
        if (!known) fail_msg("%s: no family has it", names[figure]);
        assert_true(*units[figure]);
    }
}

/* A family without a row has NVIDIA's; one that nobody has is not known. */
static void rows_that_lack_are_nvidias(void **state)
{
    (void)state;
    struct rmcp_caps caps = { .family = RMCP_FAMILY_GENERIC };
    int taken = 0;
    for (int figure = 0; figure < RMCP_N_FIGURES; figure++) {
        const struct rmcp_figure_row *own = &rmcp_figure_rows[RMCP_FAMILY_GENERIC][figure];
        const struct rmcp_figure_row *theirs = &rmcp_figure_rows[RMCP_FAMILY_NVIDIA][figure];
        const struct rmcp_figure_row *row = own->source ? own : theirs;
        taken += row == theirs;
        assert_int_equal(rmcp_figure_known(&caps, (enum rmcp_figure)figure), row->source != NULL);
        assert_true(rmcp_figure(&caps, (enum rmcp_figure)figure) == row->value);
    }
    assert_true(taken > 0);
}

static void chips_have_families(void **state)
{
    (void)state;
    static const struct {
        const char *chip;
        enum rmcp_family family;
    } rows[] = {
        { "gfx1010", RMCP_FAMILY_RDNA },   { "gfx1012", RMCP_FAMILY_RDNA },
        { "gfx1036", RMCP_FAMILY_RDNA },   { "gfx1102", RMCP_FAMILY_RDNA },
        { "gfx1201", RMCP_FAMILY_RDNA },   { "gfx10-3-generic", RMCP_FAMILY_RDNA },
        { "gfx803", RMCP_FAMILY_GENERIC }, { "gfx906", RMCP_FAMILY_GENERIC },
        { "gfx90c", RMCP_FAMILY_GENERIC }, { "sm_90", RMCP_FAMILY_NVIDIA },
        { "", RMCP_FAMILY_GENERIC },       { "gfx1", RMCP_FAMILY_GENERIC },
        { "x86_64", RMCP_FAMILY_GENERIC },
    };
    for (size_t i = 0; i < SUPPORT_LENGTH(rows); i++)
        if (rmcp_family_of(rows[i].chip) != rows[i].family) fail_msg("%s", rows[i].chip);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_sources),
        cmocka_unit_test(rows_that_lack_are_nvidias),
        cmocka_unit_test(chips_have_families),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
