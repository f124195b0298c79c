/* test_codeobj.c: src/code/codeobj against damaged and crafted input. usage: test_codeobj SAMPLES
 * Made to run under AddressSanitizer: every copy is exactly as long as what it holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "allocations.h"
#include "code/codeobj/bytes.h"
#include "code/codeobj/msgpack.h"
#include "code/codeobj/walk.h"
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

/* What an item or object says must be within it; reads every byte that it points to. */
static unsigned touch(const struct codeobj *object)
{
    unsigned sum = 0;
    for (size_t i = 0; i < object->n_sections; i++)
        if (object->sections[i].bytes && object->sections[i].size)
            sum += object->sections[i].bytes[object->sections[i].size - 1] +
                   (unsigned)strlen(object->sections[i].name);
    for (size_t i = 0; i < object->n_symbols; i++) sum += (unsigned)strlen(object->symbols[i].name);
    uint64_t code = 0;
    for (size_t i = 0; i < object->n_functions; i++) {
        const struct codeobj_function *function = &object->functions[i];
        assert_true(function->size);
        sum += function->code[0] + function->code[function->size - 1];
        code += function->size;
    }
    assert_true(code <= object->size * 2);
    for (size_t i = 0; i < object->n_kernels; i++) {
        const struct codeobj_kernel *kernel = &object->kernels[i];
        sum += (unsigned)(strlen(kernel->name) + strlen(kernel->symbol));
        for (size_t j = 0; j < kernel->n_arguments; j++)
            sum +=
                (unsigned)(strlen(kernel->arguments[j].name) + strlen(kernel->arguments[j].kind) +
                           strlen(kernel->arguments[j].address_space));
    }
    return sum;
}

struct tally {
    size_t objects, others, troubles;
    unsigned sum;
    rmcp_status stop;
    char message[512];
};

static rmcp_status visit(void *context, const struct codeobj_item *item)
{
    struct tally *tally = context;
    struct codeobj *object = NULL;
    if (item->kind == CODEOBJ_TROUBLE) {
        tally->troubles++;
        snprintf(tally->message, sizeof tally->message, "%s", item->message);
        assert_true(*item->message);
    } else if (item->kind == CODEOBJ_OTHER) {
        tally->others++;
    } else {
        tally->objects++;
        if (!codeobj_open(item->bytes, item->size, &object)) tally->sum += touch(object);
        codeobj_close(object);
    }
    return tally->stop;
}

static struct tally walk_blob(const uint8_t *bytes, size_t size, rmcp_status wanted)
{
    struct tally tally = { 0 };
    uint8_t *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    struct codeobj_source source = { .name = "blob", .bytes = copy, .size = size };
    assert_int_equal(codeobj_walk(&source, visit, &tally), wanted);
    free(copy);
    return tally;
}

static void open_copy(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1), *out = NULL;
    size_t out_size;
    struct codeobj *object = NULL;
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    if (!codeobj_open(copy, size, &object)) touch(object);
    codeobj_close(object);
    if (!codeobj_retag(copy, size, "gfx1011:xnack+", &out, &out_size)) {
        object = NULL;
        if (!codeobj_open(out, out_size, &object)) touch(object);
        codeobj_close(object);
    }
    free(out);
    free(copy);
}

static void test_cut_objects(void **state)
{
    static const char *const names[] = { "gfx1010-v4.co", "no-sections-v5.co", "relocatable-v5.o" };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct blob blob = load(names[i]);
        for (size_t n = 0; n < blob.size; n++) open_copy(blob.bytes, n);
        free(blob.bytes);
    }
}

static void test_flipped_objects(void **state)
{
    static const char *const names[] = { "gfx1010-v5.co", "no-sections-v5.co",
                                         "gfx1010_xnack--v4.co", "relocatable-v5.o" };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct blob blob = load(names[i]);
        for (size_t at = 0; at < blob.size; at++) {
            static const uint8_t flips[] = { 0xff, 0x80, 0x01 };
            uint8_t old = blob.bytes[at];
            blob.bytes[at] ^= flips[at % 3];
            open_copy(blob.bytes, blob.size);
            blob.bytes[at] = old;
        }
        free(blob.bytes);
    }
}

static const struct {
    const char *name;
    size_t objects, step; /* step: the larger ones are not damaged at every byte */
} containers[] = {
    { "plain.bundle", 2, 7 },        { "ccob-v1-zlib.bundle", 2, 1 },
    { "ccob-v2-zlib.bundle", 2, 1 }, { "ccob-v3-zstd.bundle", 2, 13 },
    { "other.bundle", 0, 5 },        { "concatenated.co", 3, 17 },
    { "libhost.so", 8, 53 },         { "wheel.whl", 9, 11 },
    { "zip64.zip", 9, 11 },          { "gfx1030_36.kdb", 4, 13 },
};
enum { N_CONTAINERS = sizeof containers / sizeof *containers };

static void test_cut_containers(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CONTAINERS; i++) {
        struct blob blob = load(containers[i].name);
        assert_int_equal(walk_blob(blob.bytes, blob.size, RMCP_OK).objects, containers[i].objects);
        for (size_t n = 0; n < blob.size; n += n < 256 ? 1 : containers[i].step)
            walk_blob(blob.bytes, n, RMCP_OK);
        free(blob.bytes);
    }
}

static void test_flipped_containers(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CONTAINERS; i++) {
        struct blob blob = load(containers[i].name);
        for (size_t at = 0; at < blob.size; at += at < 512 ? 1 : containers[i].step) {
            uint8_t old = blob.bytes[at];
            blob.bytes[at] ^= (uint8_t)(at % 2 ? 0xff : 1 << at / 2 % 8);
            walk_blob(blob.bytes, blob.size, RMCP_OK);
            blob.bytes[at] = old;
        }
        free(blob.bytes);
    }
}

static void test_targets(void **state)
{
    static const struct {
        uint32_t flags;
        unsigned version;
        const char *text;
    } known[] = {
        { 0x133, 5, "gfx1010" },
        { 0x233, 4, "gfx1010:xnack-" },
        { 0x36, 5, "gfx1030" },
        { 0xf2f, 4, "gfx906:sramecc+:xnack+" },
        { 0x2f, 3, "gfx906:sramecc-:xnack-" },
        { 0x1000052, 6, "gfx10-1-generic" },
        { 0xfe, 5, "unknown-0xfe" },
    };
    struct codeobj_target target;
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        codeobj_target_read(known[i].flags, known[i].version, &target);
        assert_string_equal(target.text, known[i].text);
    }
    assert_true(codeobj_target_parse("hipv4-amdgcn-amd-amdhsa--gfx10-1-generic:xnack+", &target));
    assert_string_equal(target.text, "gfx10-1-generic:xnack+");
    assert_int_equal(target.mach, 0x52);
    assert_true(codeobj_target_parse("amdgcn-amd-amdhsa-unknown-gfx906:sramecc-:xnack+", &target));
    assert_string_equal(target.text, "gfx906:sramecc-:xnack+");
    assert_false(codeobj_target_parse("gfx1030:xnack+", &target)); /* it has none */
    assert_false(codeobj_target_parse("gfx10", &target));
    assert_false(codeobj_target_parse("", &target));
    assert_false(codeobj_target_parse("gfx1010:", &target));
}

static void test_msgpack(void **state)
{
    /* {"a": [1, -2, nil, true], "bc": 0x123456, 2: bin} and every cut of it */
    static const uint8_t text[] = { 0x83, 0xa1, 'a', 0x94, 1,    0xfe, 0xc0, 0xc3, 0xd9, 2, 'b',
                                    'c',  0xce, 0,   0x12, 0x34, 0x56, 2,    0xc4, 1,    9 };
    (void)state;
    for (size_t n = 0; n <= sizeof text; n++) {
        struct msgpack in = { text, text + n };
        assert_int_equal(msgpack_skip(&in), n == sizeof text);
    }
    struct msgpack_value value;
    static const uint8_t minus[] = { 0xd1, 0xff, 0xfe };
    struct msgpack in = { minus, minus + 3 };
    assert_true(msgpack_next(&in, &value));
    assert_int_equal(value.type, MSGPACK_INT);
    assert_true((int64_t)value.number == -2);
    /* Nested far deeper than any stack: a million arrays of one element. */
    size_t depth = 1000000;
    uint8_t *deep = malloc(depth);
    assert_non_null(deep);
    memset(deep, 0x91, depth);
    in = (struct msgpack){ deep, deep + depth };
    assert_false(msgpack_skip(&in));
    deep[depth - 1] = 0xc0;
    in = (struct msgpack){ deep, deep + depth };
    assert_true(msgpack_skip(&in));
    free(deep);
}

/* Compressed bundles that announce what they are not. */
static void test_bombs(void **state)
{
    struct blob blob = load("ccob-v2-zlib.bundle");
    (void)state;
    store_u32(blob.bytes + 12, 100); /* more than announced */
    struct tally tally = walk_blob(blob.bytes, blob.size, RMCP_OK);
    assert_int_equal(tally.objects, 0);
    assert_non_null(strstr(tally.message, "more than the 100 bytes announced"));
    store_u32(blob.bytes + 12, 0xffffffff);
    tally = walk_blob(blob.bytes, blob.size, RMCP_OK);
    assert_int_equal(tally.troubles, 1);
    free(blob.bytes);

    blob = load("wheel.whl");
    struct codeobj_source source = { .name = "w", .bytes = blob.bytes, .size = blob.size };
    source.limits.blob_bytes = 1000;
    tally = (struct tally){ 0 };
    assert_int_equal(codeobj_walk(&source, visit, &tally), RMCP_OK);
    assert_int_equal(tally.troubles, 1);
    assert_int_equal(tally.objects, 1); /* the stored member */
    source.limits.blob_bytes = 0;
    source.limits.total_bytes = 1000;
    assert_int_equal(codeobj_walk(&source, visit, &tally), RMCP_E_NOMEM);
    /* Pieces beyond the heap limit go to a file, and all is as before. */
    source.limits.total_bytes = 0;
    source.limits.heap_bytes = 5000;
    tally = (struct tally){ 0 };
    assert_int_equal(codeobj_walk(&source, visit, &tally), RMCP_OK);
    assert_int_equal(tally.objects, 9);
    assert_int_equal(tally.troubles, 0);
    source.limits.depth = 3;
    tally = (struct tally){ 0 };
    assert_int_equal(codeobj_walk(&source, visit, &tally), RMCP_OK);
    assert_true(tally.objects < 9 || !tally.troubles);
    tally = (struct tally){ .stop = RMCP_E_LOST };
    assert_int_equal(codeobj_walk(&source, visit, &tally), RMCP_E_LOST);
    assert_int_equal(tally.objects + tally.troubles, 1);
    free(blob.bytes);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Input that costs a naive reader quadratic time. The walk may end well or give up. */
static void walk_crafted(const char *what, const uint8_t *bytes, size_t size)
{
    struct tally tally = { 0 };
    struct codeobj_source source = { .name = what, .bytes = bytes, .size = size };
    double start = seconds();
    rmcp_status status = codeobj_walk(&source, visit, &tally);
    double took = seconds() - start;
    print_message("%s: %zu objects, %zu troubles, %.2f s\n", what, tally.objects, tally.troubles,
                  took);
    assert_true(status == RMCP_OK || status == RMCP_E_IO);
    assert_true(took < 20);
}

static void test_crafted_time(void **state)
{
    const size_t size = 8 << 20;
    uint8_t *bytes = malloc(size);
    (void)state;
    assert_non_null(bytes);

    /* Every magic string starts a table of entries that runs on over the next ones. */
    memset(bytes, 0, size);
    for (size_t at = 0; at + 56 <= size; at += 56) {
        memcpy(bytes + at, "__CLANG_OFFLOAD_BUNDLE__", 24);
        store_u64(bytes + at + 24, 4096);
        store_u64(bytes + at + 48, 32);
    }
    walk_crafted("bundles within tables, reported", bytes, size);
    walk_crafted("bundles within tables, passed over", bytes + 1, size - 1);

    memset(bytes, 0, size);
    for (size_t at = 0; at + 64 <= size; at += 64) {
        memcpy(bytes + at, "\177ELF\2\1\1\100\3", 9);
        bytes[at + 16] = 3;
        bytes[at + 18] = 224;
        store_u64(bytes + at + 32, 64);
        store_u64(bytes + at + 40, 64);
        memcpy(bytes + at + 52, "\100\0\070\0\0\2\100\0\1\0\0\0", 12);
    }
    walk_crafted("ELF headers all along", bytes, size);

    memset(bytes, 0, size);
    for (size_t at = 0; at + 32 <= size; at += 32) {
        memcpy(bytes + at, "CCOB\1\0\0\0", 8);
        store_u32(bytes + at + 8, 1 << 20);
        memcpy(bytes + at + 20, "\x78\x9c\0\0\0\xff\xff", 7);
    }
    walk_crafted("compressed bundles without output", bytes, size);

    /* One string of letters, and a hundred thousand symbols that are its tails. */
    memset(bytes, 'a', size);
    memcpy(bytes, "\177ELF\2\1\1\100\3\0\0\0\0\0\0\0\3\0\340\0\1\0\0\0", 24);
    memset(bytes + 24, 0, 4096 - 24);
    store_u64(bytes + 40, 128);
    memcpy(bytes + 52, "\100\0\070\0\0\0\100\0\3\0\0\0", 12);
    uint8_t *symbols = bytes + 128 + 64, *strings = symbols + 64;
    const size_t n = 100000;
    store_u32(symbols + 4, 2);
    store_u64(symbols + 24, 4096);
    store_u64(symbols + 32, n * 24);
    store_u32(symbols + 40, 2);
    store_u32(strings + 4, 3);
    store_u64(strings + 24, 4096 + n * 24);
    store_u64(strings + 32, size - 4096 - n * 24);
    for (size_t i = 0; i < n; i++) {
        memset(bytes + 4096 + i * 24, 0, 24);
        store_u32(bytes + 4096 + i * 24, (uint32_t)(size - 4096 - n * 24 - 60000 + i % 50000));
        store_u32(bytes + 4096 + i * 24 + 4, 0x00010001); /* an object in section 1 */
    }
    memcpy(bytes + size - 4, ".kd", 4);
    walk_crafted("names that are tails of one string", bytes, size);
    free(bytes);
}

static void test_arguments(void **state)
{
    struct codeobj *object = (struct codeobj *)samples;
    uint8_t *out = NULL;
    size_t size;
    (void)state;
    assert_int_equal(codeobj_open(NULL, 0, &object), RMCP_E_ARG);
    assert_null(object);
    assert_int_equal(codeobj_open("x", 1, NULL), RMCP_E_ARG);
    assert_int_equal(codeobj_open("x", 1, &object), RMCP_E_IO);
    assert_int_equal(codeobj_retag("x", 1, "gfx1030", &out, &size), RMCP_E_IO);
    assert_int_equal(codeobj_walk(NULL, visit, NULL), RMCP_E_ARG);
    assert_int_equal(codeobj_walk_path("/dev/null", NULL, visit, NULL), RMCP_E_IO);
    assert_int_equal(codeobj_walk_path("/nonexistent", NULL, visit, NULL), RMCP_E_IO);
    codeobj_close(NULL);

    struct blob blob = load("gfx1010-v5.co");
    assert_int_equal(codeobj_open(blob.bytes, blob.size, &object), RMCP_OK);
    const struct codeobj_kernel *kernel = codeobj_find_kernel(object, "shared");
    assert_non_null(kernel);
    assert_int_equal(kernel->metadata.required_workgroup_size[0], 64);
    assert_int_equal(kernel->metadata.required_workgroup_size[1], 2);
    assert_int_equal(kernel->descriptor.group_bytes, 1024);
    assert_true(kernel->descriptor.properties & CODEOBJ_PROPERTY_WAVE32);
    assert_ptr_equal(codeobj_at(object, kernel->function->address, kernel->function->size),
                     kernel->function->code);
    assert_null(codeobj_at(object, UINT64_MAX - 2, 8));
    assert_null(codeobj_find_kernel(object, "nothing"));
    codeobj_close(object);
    free(blob.bytes);
}

/* Each allocation of a walk and of a retagging fails in turn: an error, no leak, no crash. */
static void test_no_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CONTAINERS; i++) {
        struct blob blob = load(containers[i].name);
        struct codeobj_source source = { .name = "m", .bytes = blob.bytes, .size = blob.size };
        for (long n = 1;; n++) {
            struct tally tally = { 0 };
            allocations_arm(n, false);
            rmcp_status status = codeobj_walk(&source, visit, &tally);
            bool done = allocations_calls() < n;
            allocations_arm(0, false);
            if (done) break;
            assert_true(status == RMCP_E_NOMEM || status == RMCP_OK); /* or the visitor's */
        }
        free(blob.bytes);
    }
    struct blob blob = load("gfx1010-v5.co");
    for (long n = 1;; n++) {
        uint8_t *out = NULL;
        size_t size = 0;
        allocations_arm(n, false);
        rmcp_status status = codeobj_retag(blob.bytes, blob.size, "gfx1011:xnack+", &out, &size);
        bool done = allocations_calls() < n;
        allocations_arm(0, false);
        free(out);
        assert_int_equal(status, done ? RMCP_OK : RMCP_E_NOMEM);
        if (done) break;
    }
    free(blob.bytes);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_msgpack),
        cmocka_unit_test(test_cut_objects),
        cmocka_unit_test(test_flipped_objects),
        cmocka_unit_test(test_cut_containers),
        cmocka_unit_test(test_flipped_containers),
        cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_crafted_time),
        cmocka_unit_test(test_no_memory),
    };
    if (argc != 2) return 2;
    samples = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
