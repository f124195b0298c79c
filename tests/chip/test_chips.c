/* test_chips.c: the table of chips agrees with itself and with everything else that names chips.
 * usage: test_chips FOLDER, that of the simulator's cards */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/chip/chips.h"
#include "code/isa/isa.h"

static const char *cards_folder;

static const struct rmcp_chip *named(const char *name)
{
    return rmcp_chip_by_name(name, strlen(name));
}

static bool is_generic(const struct rmcp_chip *chip)
{
    return strstr(chip->name, "-generic") != NULL;
}

/* ---- names, ELF numbers, versions ---- */

static void rows_agree(void **state)
{
    (void)state;
    const struct rmcp_chip *chip;
    uint32_t before = 0;
    size_t n = 0;
    for (; (chip = rmcp_chip_at(n)); n++) {
        char name[16];
        assert_ptr_equal(named(chip->name), chip); /* no name and no number twice */
        assert_ptr_equal(rmcp_chip_by_mach(chip->mach), chip);
        assert_in_range(chip->mach, 0x20, 0xff);
        if (is_generic(chip)) {
            assert_int_equal(chip->version, 0);
            assert_null(chip->generic);
            assert_null(chip->kernels);
            assert_null(chip->parts);
            assert_null(chip->words);
            continue;
        }
        assert_true(rmcp_chip_name(chip->version, name));
        assert_string_equal(name, chip->name);
        assert_ptr_equal(rmcp_chip_by_version(chip->version), chip);
        assert_true(chip->version > before);
        before = chip->version;
    }
    assert_true(n > 50);
    assert_null(rmcp_chip_at(SIZE_MAX));
}

static void families_agree(void **state)
{
    (void)state;
    const struct rmcp_chip *chip;
    for (size_t i = 0; (chip = rmcp_chip_at(i)); i++) {
        if (chip->generic) { /* of the same generation, and with no setting that the chip lacks */
            const struct rmcp_chip *generic = named(chip->generic);
            assert_non_null(generic);
            assert_true(is_generic(generic));
            assert_int_equal(strtoul(generic->name + 3, NULL, 10), chip->version / 10000);
            assert_int_equal(generic->flags & ~chip->flags, 0);
        }
        if (!chip->kernels) continue;
        const struct rmcp_chip *target = named(chip->kernels);
        assert_non_null(target);
        assert_string_equal(target->kernels, target->name); /* serves itself */
        assert_int_equal(target->version / 10000, chip->version / 10000);
        if (chip->generic)
            assert_string_equal(target->generic, chip->generic);
        else
            assert_ptr_equal(target, chip);
    }
}

static void versions_are_named(void **state)
{
    (void)state;
    static const struct {
        uint32_t version;
        const char *name;
    } good[] = { { 60000, "gfx600" },   { 80003, "gfx803" },   { 90010, "gfx90a" },
                 { 90012, "gfx90c" },   { 90402, "gfx942" },   { 100103, "gfx1013" },
                 { 100307, "gfx1037" }, { 151515, "gfx15ff" }, { 991515, "gfx99ff" } };
    static const uint32_t bad[] = { 0,      1,      59999,   90016,   100199,    101600,
                                    100116, 109900, 1000000, 9999999, UINT32_MAX };
    char name[16];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(rmcp_chip_name(good[i].version, name));
        assert_string_equal(name, good[i].name);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(rmcp_chip_name(bad[i], name));
        assert_null(rmcp_chip_by_version(bad[i]));
    }
    assert_null(rmcp_chip_by_version(100307));
    assert_null(rmcp_chip_by_mach(0));
    assert_null(rmcp_chip_by_mach(0x133)); /* e_flags with a setting: not a machine's number */
    static const char *const unknown[] = { "", "gfx", "gfx101", "gfx10100", "GFX1010", "gfx1010 " };
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) assert_null(named(unknown[i]));
    assert_ptr_equal(rmcp_chip_by_name("gfx1012:xnack-", 7), named("gfx1012"));
}

/* ---- PCI numbers ---- */

static void pci_numbers_are_told_once(void **state)
{
    (void)state;
    enum { NUMBERS = 0x10000 };
    const struct rmcp_chip **owner = calloc(NUMBERS, sizeof *owner);
    const struct rmcp_chip *chip;
    assert_non_null(owner);
    for (size_t i = 0; (chip = rmcp_chip_at(i)); i++)
        for (const struct rmcp_chip_part *part = chip->parts; part && part->name; part++) {
            assert_in_range(strlen(part->name), 3, 63);
            assert_true(part->first && part->first <= part->last && part->last < NUMBERS);
            if (part->revision) continue;
            for (uint32_t device = part->first; device <= part->last; device++) {
                if (owner[device])
                    fail_msg("%04x is %s and %s", device, owner[device]->name, chip->name);
                owner[device] = chip;
            }
        }
    for (size_t i = 0; (chip = rmcp_chip_at(i)); i++)
        for (const struct rmcp_chip_part *part = chip->parts; part && part->name; part++) {
            const char *name = NULL;
            if (!part->revision) continue;
            assert_true(part->revision < 256);
            assert_int_equal(part->first, part->last);
            assert_ptr_equal(owner[part->first], chip);
            assert_ptr_equal(rmcp_chip_by_pci(part->first, part->revision, &name), chip);
            assert_ptr_equal(name, part->name); /* else a second row has the same revision */
        }
    for (uint32_t device = 0; device < NUMBERS; device++) {
        const char *name = "x";
        assert_ptr_equal(rmcp_chip_by_pci(device, 0xfe, &name), owner[device]);
        assert_true((name != NULL) == (owner[device] != NULL));
        assert_ptr_equal(rmcp_chip_by_pci(device, 0xfe, NULL), owner[device]);
    }
    assert_null(rmcp_chip_by_pci(0x1731f, 0xca, NULL));
    free(owner);
}

static void pci_numbers_are_right(void **state)
{
    (void)state;
    static const struct {
        uint32_t device, revision;
        const char *chip, *name;
    } known[] = {
        { 0x731f, 0xca, "gfx1010", "Radeon RX 5600 XT" },
        { 0x731f, 0xc1, "gfx1010", "Radeon RX 5700 XT" },
        { 0x731f, 0x00, "gfx1010", "Radeon RX 5600/5700 series" },
        { 0x7312, 0x00, "gfx1010", "Navi 10 (Radeon Pro W5700 and others)" },
        { 0x7362, 0x00, "gfx1011", "Navi 12 (Radeon Pro 5600M, V520)" },
        { 0x7340, 0xc5, "gfx1012", "Radeon RX 5500 XT" },
        { 0x734f, 0x00, "gfx1012", "Radeon RX 5300/5500 series" },
        { 0x13fe, 0x00, "gfx1013", "Cyan Skillfish graphics" }, /* BC-250 */
        { 0x143f, 0x00, "gfx1013", "Cyan Skillfish graphics" },
        { 0x73bf, 0xc3, "gfx1030", "Radeon RX 6800" },
        { 0x73ff, 0xc7, "gfx1032", "Radeon RX 6600 series" },
        { 0x73f0, 0x00, "gfx1102", "Radeon RX 7600 series" }, /* between those of gfx1032 */
        { 0x164e, 0xc1, "gfx1036", "Raphael graphics" },
        { 0x67df, 0xe7, "gfx803", "Polaris 10 (RX 470 to 590)" },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *name = NULL;
        const struct rmcp_chip *chip = rmcp_chip_by_pci(known[i].device, known[i].revision, &name);
        assert_non_null(chip);
        assert_string_equal(chip->name, known[i].chip);
        assert_string_equal(name, known[i].name);
    }
    assert_true(named("gfx1013")->flags & RMCP_CHIP_INTEGRATED);
    assert_false(named("gfx1010")->flags & RMCP_CHIP_INTEGRATED);
}

/* ---- products ---- */

static void words_lead_to_their_chip(void **state)
{
    (void)state;
    const struct rmcp_chip *chip;
    size_t n = 0;
    for (size_t i = 0; (chip = rmcp_chip_at(i)); i++)
        for (const char *const *words = chip->words; words && *words; words++, n++) {
            char text[64];
            assert_in_range(strlen(*words), 4, 31);
            assert_ptr_equal(rmcp_chip_by_product(*words), chip);
            snprintf(text, sizeof text, "AMD Radeon %s (XT)", *words);
            assert_ptr_equal(rmcp_chip_by_product(text), chip);
            const char *pci = strstr(*words, "1002:"); /* such words are numbers of the table */
            if (!pci) continue;
            const uint32_t device = (uint32_t)strtoul(pci + 5, NULL, 16);
            assert_ptr_equal(rmcp_chip_by_pci(device, 0, NULL), chip);
        }
    assert_true(n > 30);
}

static void products_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *text, *chip;
    } known[] = {
        { "rx5600xt", "gfx1010" },
        { "AMD Radeon RX 5700 XT", "gfx1010" },
        { "RX 570", "gfx803" },
        { "rx 570 4gb", "gfx803" },
        { "radeon pro w5700", "gfx1010" },
        { "Rx-6700-XT", "gfx1031" },
        { "1002:731f", "gfx1010" },
        { "RADEON VII", "gfx906" },
        { "RX6600XT", "gfx1032" },
        { "W5700", "gfx1010" },
        { "NAVI10", "gfx1010" },
        { "Vega 64", "gfx900" },
        { "Radeon RX Vega", "gfx900" },
        { "Radeon RX Vega 11 Graphics", "gfx902" },
        { "Vega 10 XL/XT [Radeon RX Vega 56/64]", "gfx900" },
        { "780M", "gfx1103" },
        { "780 memory", NULL },
        { "5600xt", "gfx1010" },
        { "Radeon Pro 5600M", "gfx1011" },
        { "AMD6500XT", "gfx1034" },
        { "6800m", "gfx1031" },
        { "6800 MB", "gfx1030" },
        { "Ryzen 5 5600G", "gfx90c" },
        { "16600", NULL },
        { "MI250X", "gfx90a" },
        { "RX 57000", NULL },
        { "RX 5", NULL },
        { "", NULL },
        { "GeForce GTX 1080", NULL },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct rmcp_chip *chip = rmcp_chip_by_product(known[i].text);
        if (known[i].chip)
            assert_string_equal(chip ? chip->name : "none", known[i].chip);
        else
            assert_null(chip);
    }
    char endless[4096];
    memset(endless, 'x', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    assert_null(rmcp_chip_by_product(endless));
}

/* ---- what else names chips ---- */

static void instruction_table_agrees(void **state)
{
    (void)state;
    const struct rmcp_chip *chip;
    for (unsigned i = 0; i < ISA_N_CHIPS; i++) {
        chip = named(isa_chip_name(i));
        assert_non_null(chip);
        assert_int_equal(isa_chip_of_mach(chip->mach), i);
    }
    for (size_t i = 0; (chip = rmcp_chip_at(i)); i++) {
        const char *family = chip->generic ? chip->generic : chip->name;
        const int decoded = isa_chip_of_mach(chip->mach);
        if (!strcmp(family, "gfx10-3-generic"))
            assert_int_equal(decoded, ISA_GFX1030);
        else if (!strcmp(family, "gfx10-1-generic"))
            assert_true(decoded >= 0 && decoded != ISA_GFX1030);
        else
            assert_int_equal(decoded, -1);
    }
}

/* The value of a line "KEY VALUE" of a card, without the line's end; false: there is none. */
static bool card_value(const char *path, const char *key, char value[static 128])
{
    char line[256];
    const size_t length = strlen(key);
    bool found = false;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (!found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        found = !strncmp(line, key, length) && line[length] == ' ';
        if (found) snprintf(value, 128, "%.127s", line + length + 1);
    }
    fclose(file);
    return found;
}

static void simulated_cards_agree(void **state)
{
    (void)state;
    DIR *folder = opendir(cards_folder);
    assert_non_null(folder);
    size_t n = 0;
    for (struct dirent *item; (item = readdir(folder));) {
        char path[1024], chip[128], device[128], revision[128], name[128];
        const char *part = NULL;
        snprintf(path, sizeof path, "%s/%s", cards_folder, item->d_name);
        if (!strstr(item->d_name, ".card") || !card_value(path, "chip", chip)) continue;
        assert_true(card_value(path, "pci_device", device));
        assert_true(card_value(path, "pci_revision", revision));
        assert_true(card_value(path, "name", name));
        const struct rmcp_chip *known = rmcp_chip_by_pci(
            (uint32_t)strtoul(device, NULL, 0), (uint32_t)strtoul(revision, NULL, 0), &part);
        assert_non_null(known);
        assert_string_equal(known->name, chip);
        assert_string_equal(name + strlen("AMD "), part);
        n++;
    }
    closedir(folder);
    assert_true(n >= 4);
}

/* What a chip runs the code of is in the table, and runs its own. */
static void siblings_agree(void **state)
{
    (void)state;
    const struct rmcp_chip *chip;
    for (size_t i = 0; (chip = rmcp_chip_at(i)); i++) {
        if (!chip->sibling) continue;
        const struct rmcp_chip *sibling = named(chip->sibling);
        assert_non_null(sibling->sibling);
        assert_string_equal(sibling->sibling, sibling->name);
        assert_int_equal(chip->version / 10000, sibling->version / 10000);
    }
}

int main(int argc, char **argv)
{
    cards_folder = argc > 1 ? argv[1] : "data/cards";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(siblings_agree),
        cmocka_unit_test(rows_agree),
        cmocka_unit_test(families_agree),
        cmocka_unit_test(versions_are_named),
        cmocka_unit_test(pci_numbers_are_told_once),
        cmocka_unit_test(pci_numbers_are_right),
        cmocka_unit_test(words_lead_to_their_chip),
        cmocka_unit_test(products_are_found),
        cmocka_unit_test(instruction_table_agrees),
        cmocka_unit_test(simulated_cards_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
