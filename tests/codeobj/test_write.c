/* test_write.c: the writer of code objects and bundles: what it changes, what it refuses, damaged
 * input, failing allocations. usage: test_write SAMPLES
 * Made to run under AddressSanitizer: every copy is exactly as long as what it holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "allocations.h"
#include "code/codeobj/bytes.h"
#include "code/codeobj/containers.h"
#include "code/codeobj/md5.h"
#include "code/codeobj/tensile.h"
#include "rewriting.h"
#include "whole_file.h"

static const char *samples;

struct blob {
    uint8_t *bytes;
    size_t size;
};

static struct blob load(const char *name)
{
    char path[4096];
    struct blob blob;
    snprintf(path, sizeof path, "%s/%s", samples, name);
    blob.bytes = whole_file(path, &blob.size);
    return blob;
}

static struct codeobj *open_sample(const char *name, struct blob *blob)
{
    struct codeobj *object = NULL;
    *blob = load(name);
    assert_int_equal(codeobj_open(blob->bytes, blob->size, &object), RMCP_OK);
    return object;
}

static struct codeobj_change spread_change(struct spread *spread)
{
    return (struct codeobj_change){ .text = spread->text,
                                    .text_size = spread->text_size,
                                    .moved = spread_moved,
                                    .moved_context = spread };
}

static void test_kernels_change(void **state)
{
    (void)state;
    struct blob blob;
    struct codeobj *object = open_sample("gfx1010-v5.co", &blob), *again = NULL;
    struct codeobj_kernel_change changes[2];
    uint8_t *out;
    size_t size;
    codeobj_kernel_change_init(&changes[0], object, 1);
    codeobj_kernel_change_init(&changes[1], object, 4);
    assert_int_equal(codeobj_kernel_set_vgprs(object, &changes[0], 200), RMCP_OK);
    assert_int_equal(codeobj_kernel_set_wgp_mode(object, &changes[0], false), RMCP_OK);
    codeobj_kernel_set_private_bytes(&changes[1], 70000);
    changes[1].metadata.agpr_count = 7; /* a number that the note does not have */
    changes[1].descriptor.rsrc2 ^= 2;
    const struct codeobj_change change = { .kernels = changes, .n_kernels = 2 };
    assert_int_equal(codeobj_write(object, &change, &out, &size), RMCP_OK);
    assert_int_equal(codeobj_open(out, size, &again), RMCP_OK);
    const struct codeobj_kernel *k = &again->kernels[1];
    assert_int_equal(k->metadata.vgpr_count, 200);
    assert_int_equal(k->descriptor.rsrc1 & 0x3f, 24); /* 200 of them in eights, less one */
    assert_int_equal(k->descriptor.rsrc1 >> 29 & 1, 0);
    assert_int_equal(object->kernels[1].descriptor.rsrc1 >> 29 & 1, 1);
    assert_int_equal(k->metadata.workgroup_processor_mode, 0);
    assert_int_equal(object->kernels[1].metadata.workgroup_processor_mode, 1);
    assert_int_equal(again->kernels[4].descriptor.private_bytes, 70000);
    assert_int_equal(again->kernels[4].metadata.private_bytes, 70000);
    assert_int_equal(again->kernels[4].metadata.agpr_count, 7);
    assert_int_equal(again->kernels[4].descriptor.rsrc2, object->kernels[4].descriptor.rsrc2 ^ 2);
    assert_memory_equal(&again->kernels[0].metadata, &object->kernels[0].metadata,
                        sizeof again->kernels[0].metadata);
    for (size_t i = 0; i < object->n_kernels; i++)
        assert_int_equal(again->kernels[i].n_arguments, object->kernels[i].n_arguments);
    assert_int_equal(codeobj_kernel_set_vgprs(object, &changes[0], 257), RMCP_E_ARG);
    codeobj_close(again);
    codeobj_close(object);
    free(out);
    free(blob.bytes);
}

static void expect_failure(const struct codeobj *object, const struct codeobj_change *change,
                           rmcp_status wanted, const char *words)
{
    uint8_t *out = (uint8_t *)1;
    size_t size = 1;
    assert_int_equal(codeobj_write(object, change, &out, &size), wanted);
    assert_null(out);
    assert_int_equal(size, 0);
    if (!strstr(rmcp_last_error(), words)) fail_msg("no '%s' in '%s'", words, rmcp_last_error());
}

static bool nowhere(void *context, uint64_t address, bool is_end, uint64_t *moved)
{
    (void)context, (void)address, (void)is_end, (void)moved;
    return false;
}

static bool one_word_later(void *context, uint64_t address, bool is_end, uint64_t *moved)
{
    if (!spread_moved(context, address, is_end, moved)) return false;
    *moved += is_end ? 0 : 4;
    return true;
}

static bool far_away(void *context, uint64_t address, bool is_end, uint64_t *moved)
{
    (void)context, (void)is_end;
    *moved = address + ((uint64_t)1 << 32);
    return true;
}

static void test_refusals(void **state)
{
    (void)state;
    struct blob blob, other;
    struct codeobj *object = open_sample("gfx1030-v5.co", &blob);
    struct spread spread;
    assert_int_equal(spread_init(&spread, object, 1), RMCP_OK);
    struct codeobj_change change = spread_change(&spread);
    change.moved = nowhere;
    expect_failure(object, &change, RMCP_E_UNSUPPORTED, "has no new place");
    change.moved = far_away;
    expect_failure(object, &change, RMCP_E_ARG, "outside of the new code");
    change.moved = one_word_later;
    expect_failure(object, &change, RMCP_E_ARG, "no multiple of 256");
    change.moved = NULL;
    expect_failure(object, &change, RMCP_E_ARG, "without a map");
    change = spread_change(&spread);
    change.text_size -= 2;
    expect_failure(object, &change, RMCP_E_ARG, "new code of");
    change = (struct codeobj_change){ .target = "gfx1100" };
    expect_failure(object, &change, RMCP_E_UNSUPPORTED, "one generation");
    change.target = "gfx1010:sramecc+";
    expect_failure(object, &change, RMCP_E_ARG, "not a target");
    struct codeobj_kernel_change kernels[2];
    codeobj_kernel_change_init(&kernels[0], object, 0);
    codeobj_kernel_change_init(&kernels[1], object, 0);
    change = (struct codeobj_change){ .kernels = kernels, .n_kernels = 2 };
    expect_failure(object, &change, RMCP_E_ARG, "changed twice");
    kernels[1].kernel = object->n_kernels;
    expect_failure(object, &change, RMCP_E_ARG, "kernel 6 of 6");
    spread_deinit(&spread);
    codeobj_close(object);
    free(blob.bytes);
    static const char *const names[][2] = { { "relocatable-v5.o", "relocatable" },
                                            { "no-sections-v5.co", "executable section" } };
    for (int i = 0; i < 2; i++) {
        struct codeobj_room room;
        object = open_sample(names[i][0], &other);
        assert_int_equal(codeobj_write_room(object, &room), RMCP_E_UNSUPPORTED);
        assert_non_null(strstr(rmcp_last_error(), names[i][1]));
        expect_failure(object, &(struct codeobj_change){ 0 }, RMCP_E_UNSUPPORTED, "");
        codeobj_close(object);
        free(other.bytes);
    }
}

/* Target, note and new code together, three times over; the note is replaced, not added to. */
static void test_again_and_again(void **state)
{
    (void)state;
    struct blob blob;
    struct codeobj *first = open_sample("linked-v5.co", &blob), *object = first;
    uint8_t *bytes[3] = { 0 };
    size_t size, note_size;
    static const char *const targets[] = { "gfx1030", "gfx1012:xnack+", "gfx1010:xnack-" };
    static const char *const notes[] = { "first", "the second note", "3" };
    for (int i = 0; i < 3; i++) {
        struct spread spread;
        assert_int_equal(spread_init(&spread, object, (unsigned)i), RMCP_OK);
        struct codeobj_change change = spread_change(&spread);
        change.target = targets[i];
        change.note = notes[i];
        change.note_size = strlen(notes[i]);
        assert_int_equal(codeobj_write(object, &change, &bytes[i], &size), RMCP_OK);
        spread_deinit(&spread);
        if (object != first) codeobj_close(object);
        assert_int_equal(codeobj_open(bytes[i], size, &object), RMCP_OK);
        assert_string_equal(object->target.text, targets[i]);
        assert_non_null(strstr(object->note_target, targets[i]));
        const uint8_t *note = codeobj_rmcp_note(object, &note_size);
        assert_non_null(note);
        assert_int_equal(note_size, strlen(notes[i]));
        assert_memory_equal(note, notes[i], note_size);
    }
    /* The same kernels, and one .note.rmcp; the code is where the writer said. */
    size_t n = 0;
    for (size_t i = 0; i < object->n_sections; i++)
        n += !strcmp(object->sections[i].name, ".note.rmcp");
    assert_int_equal(n, 1);
    assert_int_equal(object->n_kernels, first->n_kernels);
    for (size_t i = 0; i < object->n_kernels; i++) {
        assert_string_equal(object->kernels[i].name, first->kernels[i].name);
        assert_int_equal(object->kernels[i].function->size, first->kernels[i].function->size);
        assert_int_equal(object->kernels[i].function->address % 256, 0);
    }
    /* Written as it is, the note stays. */
    uint8_t *same = NULL;
    struct codeobj *last = NULL;
    assert_int_equal(codeobj_write(object, &(struct codeobj_change){ 0 }, &same, &size), RMCP_OK);
    assert_int_equal(codeobj_open(same, size, &last), RMCP_OK);
    assert_null(rewriting_difference(object, last, NULL));
    assert_non_null(codeobj_rmcp_note(last, NULL));
    assert_null(codeobj_rmcp_note(first, NULL));
    codeobj_close(last);
    codeobj_close(object);
    codeobj_close(first);
    free(same);
    for (int i = 0; i < 3; i++) free(bytes[i]);
    free(blob.bytes);
}

static void write_both_ways(struct codeobj *object)
{
    struct spread spread = { 0 };
    uint8_t *out = NULL;
    size_t size;
    struct codeobj *again = NULL;
    if (!codeobj_write(object, &(struct codeobj_change){ .note = "n", .note_size = 1 }, &out,
                       &size)) {
        assert_int_equal(codeobj_open(out, size, &again), RMCP_OK);
        const char *difference = rewriting_difference(object, again, NULL);
        if (difference) fail_msg("%s", difference);
    }
    codeobj_close(again);
    free(out);
    again = NULL;
    out = NULL;
    if (!spread_init(&spread, object, 1)) {
        const struct codeobj_change change = spread_change(&spread);
        if (!codeobj_write(object, &change, &out, &size))
            assert_int_equal(codeobj_open(out, size, &again), RMCP_OK);
    }
    codeobj_close(again);
    free(out);
    spread_deinit(&spread);
}

static void test_damage(void **state)
{
    (void)state;
    struct blob blob = load("linked-v5.co");
    size_t opened = 0;
    for (size_t i = 0; i < 40000; i++) {
        /* Headers, tables and notes byte by byte, then anything with a generator. */
        const uint64_t mixed = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        const size_t at = i < blob.size ? i : (size_t)(mixed >> 33) % blob.size;
        const uint8_t value[] = { 0, 0xff, 0x7f, 0x80, (uint8_t)(mixed >> 20) };
        if (i % 7 > 1 && i < blob.size) continue; /* a part is enough in every run */
        uint8_t *copy = malloc(blob.size);
        assert_non_null(copy);
        memcpy(copy, blob.bytes, blob.size);
        copy[at] ^= value[i % 5] ? value[i % 5] : 1;
        struct codeobj *object = NULL;
        if (!codeobj_open(copy, blob.size, &object)) {
            opened++;
            write_both_ways(object);
        }
        codeobj_close(object);
        free(copy);
        if (i > blob.size + 4000) break;
    }
    assert_true(opened > 1000);
    free(blob.bytes);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct blob blob;
    struct codeobj *object = open_sample("linked-v5.co", &blob);
    struct codeobj_kernel_change kernel;
    struct spread spread;
    codeobj_kernel_change_init(&kernel, object, 2);
    assert_int_equal(codeobj_kernel_set_vgprs(object, &kernel, 130), RMCP_OK);
    assert_int_equal(spread_init(&spread, object, 1), RMCP_OK);
    struct codeobj_change change = spread_change(&spread);
    change.kernels = &kernel;
    change.n_kernels = 1;
    change.target = "gfx1030";
    change.note = "x";
    change.note_size = 1;
    rmcp_status status = RMCP_E_NOMEM;
    long n = 1;
    for (; status && n < 10000; n++) {
        uint8_t *out;
        size_t size;
        allocations_arm(n, false);
        status = codeobj_write(object, &change, &out, &size);
        allocations_arm(0, false);
        assert_true(status == RMCP_OK || status == RMCP_E_NOMEM);
        if (status) assert_null(out);
        free(out);
    }
    assert_int_equal(status, RMCP_OK);
    assert_true(n > 5);
    spread_deinit(&spread);
    codeobj_close(object);
    free(blob.bytes);
}

static void test_bundles(void **state)
{
    (void)state;
    static const char *const names[] = { "plain.bundle",        "ccob-v1-zlib.bundle",
                                         "ccob-v1-zstd.bundle", "ccob-v2-zlib.bundle",
                                         "ccob-v2-zstd.bundle", "ccob-v3-zlib.bundle",
                                         "ccob-v3-zstd.bundle" };
    struct blob extra = load("gfx906-v4.co");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct blob blob = load(names[i]);
        struct codeobj_bundle *bundle = NULL, *again = NULL;
        uint8_t *out;
        size_t size;
        assert_int_equal(codeobj_bundle_open(blob.bytes, blob.size, &bundle), RMCP_OK);
        assert_int_equal(bundle->n, 3);
        assert_int_equal(bundle->compressed, i ? (i + 1) / 2 : 0);
        assert_int_equal(bundle->align, 4096);
        assert_int_equal(codeobj_bundle_write(bundle, &out, &size), RMCP_OK);
        if (!i) { /* the sample is padded at its end */
            assert_true(size <= blob.size);
            assert_memory_equal(out, blob.bytes, size);
        } else { /* magic, version, method; the MD5 that clang writes */
            const size_t header = i < 3 ? 20 : i < 5 ? 24 : 32;
            assert_memory_equal(out, blob.bytes, 8);
            assert_int_equal(size <= header, 0);
        }
        free(out);
        const char *id = "hipv4-amdgcn-amd-amdhsa--gfx906", *old = bundle->entries[1].id;
        assert_int_equal(codeobj_bundle_set(bundle, id, extra.bytes, extra.size), RMCP_OK);
        assert_int_equal(codeobj_bundle_set(bundle, old, "short", 5), RMCP_OK);
        assert_int_equal(bundle->n, 4);
        assert_int_equal(codeobj_bundle_write(bundle, &out, &size), RMCP_OK);
        assert_int_equal(codeobj_bundle_open(out, size, &again), RMCP_OK);
        assert_int_equal(again->n, 4);
        assert_int_equal(again->extent, size);
        for (size_t j = 0; j < 4; j++) {
            assert_string_equal(again->entries[j].id, bundle->entries[j].id);
            assert_int_equal(again->entries[j].size, bundle->entries[j].size);
            if (again->entries[j].size)
                assert_memory_equal(again->entries[j].bytes, bundle->entries[j].bytes,
                                    again->entries[j].size);
        }
        assert_int_equal(again->entries[1].size, 5);
        codeobj_bundle_close(again);
        codeobj_bundle_close(bundle);
        free(out);
        free(blob.bytes);
    }
    free(extra.bytes);
}

/* What clang-offload-bundler made comes out the same: byte by byte where it is plain, and with the
 * same digest of its contents where it is compressed. */
static void test_clang_bundles(void **state)
{
    (void)state;
    static const char *const names[] = { "clang.bundle", "clang-compressed.bundle" };
    for (int i = 0; i < 2; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", samples, names[i]);
        FILE *file = fopen(path, "rb");
        if (!file) skip(); /* no clang-offload-bundler here */
        fclose(file);
        struct blob blob = load(names[i]);
        struct codeobj_bundle *bundle = NULL;
        uint8_t *out;
        size_t size;
        assert_int_equal(codeobj_bundle_open(blob.bytes, blob.size, &bundle), RMCP_OK);
        assert_int_equal(bundle->extent, blob.size);
        assert_int_equal(bundle->compressed != 0, i);
        assert_int_equal(codeobj_bundle_write(bundle, &out, &size), RMCP_OK);
        if (i) {
            const size_t header = bundle->compressed == 1 ? 20 : bundle->compressed == 2 ? 24 : 32;
            assert_memory_equal(out, blob.bytes, 8);
            assert_memory_equal(out + header - 8, blob.bytes + header - 8, 8);
        } else {
            assert_int_equal(size, blob.size);
            assert_memory_equal(out, blob.bytes, size);
        }
        codeobj_bundle_close(bundle);
        free(out);
        free(blob.bytes);
    }
}

static void test_md5(void **state)
{
    (void)state;
    /* RFC 1321, appendix A.5 */
    static const struct {
        const char *text, *digest;
    } known[] = {
        { "", "d41d8cd98f00b204e9800998ecf8427e" },
        { "abc", "900150983cd24fb0d6963f7d28e17f72" },
        { "1234567890123456789012345678901234567890123456789012345678901234567890"
          "1234567890",
          "57edf4a22be3c955ac49da2e2107b67a" },
    };
    for (size_t i = 0; i < 3; i++) {
        uint8_t digest[16];
        char text[33];
        md5(known[i].text, strlen(known[i].text), digest);
        for (int j = 0; j < 16; j++) snprintf(text + 2 * j, 3, "%02x", digest[j]);
        assert_string_equal(text, known[i].digest);
    }
}

static rmcp_status collect(void *context, const char *key, size_t key_length, const char *text,
                           size_t length)
{
    char *out = context;
    const size_t used = strlen(out);
    snprintf(out + used, 512 - used, "%.*s=%.*s;", (int)key_length, key, (int)length, text);
    return RMCP_OK;
}

static void test_index(void **state)
{
    (void)state;
    /* {"solutions": [], "library": {"value": "gfx1030", "rows": [{"codeObjectFile":
       "Tensile_gfx1030", "n": 5}], "gfx1030": "xgfx1030", "other": "gfx1030x"}} */
    static const char index[] = "\x82\xa9solutions\x90\xa7library\x84\xa5value\xa7gfx1030\xa4rows"
                                "\x91\x82\xaeodeObjectFile\xafTensile_gfx1030\xa1n\x05\xa7gfx1030"
                                "\xa8xgfx1030\xa5other\xa8gfx1030x";
    char before[512] = "", after[512] = "";
    uint8_t *out;
    size_t size, n;
    char fixed[sizeof index];
    memcpy(fixed, index, sizeof index);
    char *name = strstr(fixed, "odeObjectFile");
    name[-1] = (char)0xad; /* 13 letters */
    const size_t length = sizeof index - 1;
    assert_int_equal(codeobj_tensile_read(fixed, length, collect, before), RMCP_OK);
    assert_string_equal(before, "value=gfx1030;odeObjectFile=Tensile_gfx1030;gfx1030=xgfx1030;"
                                "other=gfx1030x;");
    assert_int_equal(codeobj_tensile_retarget(fixed, length, "gfx1030", "gfx1010", &out, &size, &n),
                     RMCP_OK);
    assert_int_equal(n, 2);
    assert_int_equal(size, length);
    assert_int_equal(codeobj_tensile_read(out, size, collect, after), RMCP_OK);
    assert_string_equal(after, "value=gfx1010;odeObjectFile=Tensile_gfx1010;gfx1030=xgfx1030;"
                               "other=gfx1030x;");
    free(out);
    assert_int_equal(
        codeobj_tensile_retarget(fixed, length, "gfx1030", "gfx10-1-generic", &out, &size, NULL),
        RMCP_OK);
    assert_int_equal(size, length + 16);
    free(out);
    for (size_t cut = 0; cut < length; cut++) {
        uint8_t *copy = malloc(cut ? cut : 1);
        assert_non_null(copy);
        memcpy(copy, fixed, cut);
        assert_int_equal(
            codeobj_tensile_retarget(copy, cut, "gfx1030", "gfx1010", &out, &size, NULL),
            RMCP_E_IO);
        assert_null(out);
        free(copy);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    samples = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels_change),  cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_again_and_again), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_no_memory),       cmocka_unit_test(test_bundles),
        cmocka_unit_test(test_clang_bundles),   cmocka_unit_test(test_md5),
        cmocka_unit_test(test_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
