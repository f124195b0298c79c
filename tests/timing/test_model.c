/* test_model.c: parts of the model of time: its parameters, caches, paths with so many bytes a
 * clock. */
#include "sim/timing/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The text of the command, with one line changed or left out (NULL). */
static char *with(const char *name, const char *line)
{
    const char *text = sim_timing_builtin("rdna1"), *at = strstr(text, name);
    assert_non_null(at);
    const char *end = at + strcspn(at, "\n");
    const size_t before = (size_t)(at - text), room = strlen(text) + 256;
    char *changed = malloc(room);
    assert_non_null(changed);
    snprintf(changed, room, "%.*s%s%s", (int)before, text, line ? line : "", end);
    return changed;
}

static void refuse(const char *name, const char *line, const char *why)
{
    struct timing_parameters p;
    char error[SIM_ERROR_MAX] = "", *text = with(name, line);
    assert_false(timing_parse(text, &p, error));
    if (!strstr(error, why)) fail_msg("'%s', not '%s'", error, why);
    free(text);
}

static void reads_parameters(void **state)
{
    (void)state;
    struct timing_parameters p;
    char error[SIM_ERROR_MAX] = "";
    assert_true(timing_parse(sim_timing_builtin("rdna1"), &p, error));
    assert_true(p.reading[TIMING_USED].valu_latency_clk == 5);
    assert_true(p.reading[TIMING_FAST].lds_latency_clk < p.reading[TIMING_SLOW].lds_latency_clk);
    assert_true(p.reading[TIMING_FAST].dram_efficiency > p.reading[TIMING_SLOW].dram_efficiency);
    assert_null(sim_timing_builtin("rdna9"));
    assert_null(sim_card_builtin("rdna1"));
}

static void refuses_parameters(void **state)
{
    (void)state;
    refuse("valu_latency_clk", NULL, "no line 'valu_latency_clk'");
    refuse("valu_latency_clk", "trans_clk 4 4 4", "given twice");
    refuse("valu_latency_clk", "nonsense 1 1 1", "no such parameter 'nonsense'");
    refuse("valu_latency_clk", "valu_latency_clk 5 5", "three numbers");
    refuse("valu_latency_clk", "valu_latency_clk 5 x 5", "three numbers");
    refuse("valu_latency_clk", "valu_latency_clk 5 -1 5", "three numbers");
    refuse("valu_latency_clk", "valu_latency_clk 5 nan 5", "three numbers");
    refuse("valu_latency_clk", "valu_latency_clk 5 5 5 5", "too much");
    refuse("f64_clk", "f64_clk 16 16 256", "at most 255");
    refuse("l0_B_clk", "l0_B_clk 0 0 0", "too small");
    refuse("dram_efficiency", "dram_efficiency 2 2 2", "too small");
}

static void makes_cards(void **state)
{
    (void)state;
    struct sim_machine m;
    struct timing_card card;
    char error[SIM_ERROR_MAX] = "";
    assert_true(sim_machine_parse(sim_card_builtin("rx5600xt"), NULL, &m, error));
    assert_true(timing_card_of(&m.cards[0], 0, &card, error));
    assert_int_equal(card.wgps, 18);
    assert_int_equal(card.slices, 12);
    assert_true(card.mhz == 1560 && card.dram_B_s == 288e9);
    assert_true(timing_card_of(&m.cards[0], 1375, &card, error));
    assert_true(card.mhz == 1375);
    assert_true(sim_machine_parse(sim_card_builtin("rx6800"), NULL, &m, error));
    assert_false(timing_card_of(&m.cards[0], 0, &card, error));
}

static void caches_keep_the_recent(void **state)
{
    (void)state;
    struct cache c;
    uint32_t dirty;
    assert_true(cache_init(&c, 1024, 128, 2)); /* four sets of two lines */
    assert_null(cache_find(&c, 0));
    cache_put(&c, 0, &dirty)->dirty = 7;
    cache_put(&c, 4, &dirty);
    assert_non_null(cache_find(&c, 0));
    cache_put(&c, 8, &dirty); /* the same set: 4 was used least recently */
    assert_int_equal(dirty, 0);
    assert_null(cache_find(&c, 4));
    assert_non_null(cache_find(&c, 0));
    assert_non_null(cache_find(&c, 8));
    cache_put(&c, 12, &dirty);
    assert_int_equal(dirty, 7);
    assert_null(cache_find(&c, 0));
    cache_deinit(&c);
}

/* 64 bytes a clock, in pieces of 32 clocks: 2048 bytes each. */
static void paths_have_their_rate(void **state)
{
    (void)state;
    struct ledger l;
    assert_true(ledger_init(&l, 64));
    for (unsigned i = 0; i < 16; i++) assert_int_equal(ledger_take(&l, 0, 128), 0);
    for (unsigned i = 0; i < 16; i++) assert_int_equal(ledger_take(&l, 0, 128), 32);
    assert_int_equal(ledger_take(&l, 5, 128), 64);
    assert_int_equal(ledger_take(&l, 640, 128), 0);    /* later, and free          */
    assert_int_equal(ledger_take(&l, 70, 128), 0);     /* what came late fits before */
    assert_int_equal(ledger_take(&l, 3200, 4096), 32); /* longer than a piece      */
    uint32_t last = 0;
    for (unsigned i = 0; i < 10000; i++) last = ledger_take(&l, 100000, 128);
    assert_in_range(last, 19900, 20000); /* 1.28 MB at 64 bytes a clock */
    ledger_deinit(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_parameters),      cmocka_unit_test(refuses_parameters),
        cmocka_unit_test(makes_cards),           cmocka_unit_test(caches_keep_the_recent),
        cmocka_unit_test(paths_have_their_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
