/* test_cards.c: descriptions of simulated cards: what is read, what is refused, what is written. */
#include "sim/cards/cards.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void reads_all_that_come_with_the_command(void **state)
{
    (void)state;
    const char *const names[] = { "rx5600xt", "rx5700xt", "rx5700", "rx5500xt", "rx6800" };
    const uint32_t versions[] = { 100100, 100100, 100100, 100102, 100300 };
    for (size_t i = 0; i < 5; i++) {
        struct sim_machine m;
        char error[SIM_ERROR_MAX] = "";
        assert_non_null(sim_card_builtin(names[i]));
        assert_true(sim_machine_parse(sim_card_builtin(names[i]), NULL, &m, error));
        assert_int_equal(m.n, 1);
        assert_string_equal(m.cards[0].card, names[i]);
        assert_int_equal(sim_card_target_version(&m.cards[0]), versions[i]);
        assert_non_null(strstr(sim_card_builtin_names(), names[i]));
    }
    assert_null(sim_card_builtin("rx"));
    assert_null(sim_card_builtin("rx5600xt.card"));
}

static void includes_cards_by_name(void **state)
{
    struct sim_machine m;
    char error[SIM_ERROR_MAX] = "";
    (void)state;
    assert_true(sim_machine_parse(sim_card_builtin("two"), sim_card_builtin, &m, error));
    assert_int_equal(m.n, 2);
    assert_string_equal(m.cards[0].chip, "gfx1010");
    assert_string_equal(m.cards[1].chip, "gfx1012");
    assert_true(sim_card_gpu_id(0) != sim_card_gpu_id(1));
}

/* The description with the line that begins with `key` replaced (or left out, NULL). */
static void changed(const char *key, const char *line, char text[static 4096])
{
    const char *from = sim_card_builtin("rx5600xt");
    size_t used = 0;
    while (*from) {
        const size_t n = strcspn(from, "\n") + 1;
        const bool hit = !strncmp(from, key, strlen(key)) && from[strlen(key)] == ' ';
        if (hit && line)
            used += (size_t)snprintf(text + used, 4096 - used, "%s\n", line);
        else if (!hit)
            used += (size_t)snprintf(text + used, 4096 - used, "%.*s", (int)n, from);
        from += n;
    }
}

static const char *loop(const char *name)
{
    (void)name;
    return "include x\n";
}

static void refuses_with_a_reason(void **state)
{
    static const struct {
        const char *key, *line, *reason;
    } cases[] = {
        { "compute_units", NULL, "no line 'compute_units'" },
        { "compute_units", "compute_units 0", "compute_units is '0', not a number from 1 to 256" },
        { "compute_units", "compute_units 36x", "'36x', not a number" },
        { "compute_units", "compute_units -1", "'-1', not a number" },
        { "compute_units", "compute_units", "no value after 'compute_units'" },
        { "compute_units", "compute_units 99999999999999999999", "not a number" },
        { "compute_units", "compute_unit 36", "no such key 'compute_unit'" },
        { "l2_kb", "l1_kb 1", "given twice: 'l1_kb'" },
        { "chip", "chip gfx10", "not a chip like gfx1010" },
        { "chip", "chip r600", "not a chip like gfx1010" },
        { "chip", "chip gfx10100000000000", "too long" },
        { "card", "card a/b", "not a short name" },
        { "card", NULL, "'card NAME' must come before" },
        { "card", "include nowhere", "no card 'nowhere'" },
    };
    char text[4096], error[SIM_ERROR_MAX];
    struct sim_machine m;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        changed(cases[i].key, cases[i].line, text);
        assert_false(sim_machine_parse(text, NULL, &m, error));
        if (!strstr(error, cases[i].reason)) fail_msg("'%s' is not '%s'", error, cases[i].reason);
    }
    assert_false(sim_machine_parse("", NULL, &m, error));
    assert_non_null(strstr(error, "no line 'card NAME'"));
    assert_false(sim_machine_parse("include x\n", loop, &m, error));
    assert_non_null(strstr(error, "include each other"));
}

static void read_file(const char *root, const char *name, char text[static 4096])
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, 4095, file)] = 0;
    fclose(file);
}

static void writes_a_machine(void **state)
{
    char root[] = "/tmp/rmcp-cards-XXXXXX", text[4096], error[SIM_ERROR_MAX], command[64];
    struct sim_machine m, again;
    (void)state;
    assert_true(sim_machine_parse(sim_card_builtin("two"), sim_card_builtin, &m, error));
    assert_non_null(mkdtemp(root));
    assert_true(sim_machine_write(&m, root, error));
    read_file(root, "sys/class/kfd/kfd/topology/nodes/2/properties", text);
    assert_non_null(strstr(text, "gfx_target_version 100102\n"));
    assert_non_null(strstr(text, "simd_count 44\n"));
    read_file(root, "sys/class/drm/renderD129/device/device", text);
    assert_string_equal(text, "0x7340\n");
    read_file(root, "machine.card", text);
    assert_true(sim_machine_parse(text, NULL, &again, error));
    assert_memory_equal(&m, &again, sizeof m);
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
    assert_false(sim_machine_write(&m, "/proc/no/such/folder", error));
    assert_non_null(strstr(error, "/proc/no/such/folder"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_all_that_come_with_the_command),
        cmocka_unit_test(includes_cards_by_name),
        cmocka_unit_test(refuses_with_a_reason),
        cmocka_unit_test(writes_a_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
