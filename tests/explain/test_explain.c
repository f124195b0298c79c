/* test_explain.c: every signature finds its own texts, healthy logs stay healthy, and an override
 * changes the answer where it should. */
#include "help/explain/codes.h"
#include "help/explain/explain.h"
#include "help/explain/order.h"
#include "support.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct explain_result result;

#define FAULT                                                                                      \
    "Memory access fault by GPU node-1 on address 0x7f00. Reason: Page not present or supervisor " \
    "privilege.\n"

/* Read `size` bytes as a log. */
static void explain_bytes(const void *text, size_t size)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fflush(file), 0);
    assert_int_equal(lseek(fileno(file), 0, SEEK_SET), 0);
    assert_int_equal(explain_read(fileno(file), &result, NULL, NULL), RMCP_OK);
    fclose(file);
}

static void explain_text(const char *text)
{
    memset(&result, 0, sizeof result);
    explain_bytes(text, strlen(text));
}

/* The same with a card, which some signatures speak of only. */
static void explain_card_and(const char *text)
{
    memset(&result, 0, sizeof result);
    assert_int_equal(explain_set_chip(&result.card, "gfx1010"), RMCP_OK);
    explain_bytes(text, strlen(text));
}

static const struct explain_match *find(const char *id)
{
    for (size_t i = 0; i < result.n_matches; i++)
        if (!strcmp(result.matches[i].signature->id, id)) return &result.matches[i];
    return NULL;
}

/* Is the quoted error of that class? General classes are quoted, not answered. */
static bool is_quoted(const char *id)
{
    return result.unknown.about && !strcmp(result.unknown.about->id, id);
}

static bool is_told(const char *id)
{
    return find(id) || is_quoted(id);
}

/* Lines that are harmless: no finding is what is expected of them. */
static bool is_ignored(const char *id)
{
    for (const struct explain_relation *r = explain_relations; r->cause; r++)
        if (r->kind == EXPLAIN_IGNORE && !strcmp(r->cause, id)) return true;
    return false;
}

/* A signature that says little gives way where the form or the words of its line say more. */
static bool read_better(const struct explain_signature *s)
{
    return explain_is_vague(s) &&
           ((result.n_matches && result.matches[0].by_form) || result.unknown.about);
}

static void test_examples_are_found(void **state)
{
    (void)state;
    size_t n = 0;
    for (const struct explain_signature *s = explain_signatures; s->id; s++, n++) {
        if (!strcmp(s->id, "no-gpu-used")) {
            explain_text(s->example); /* harmless without a card */
            assert_null(find(s->id));
        }
        explain_card_and(s->example);
        if (is_ignored(s->id)) {
            if (result.n_matches)
                fail_msg("%s: %s is said", s->id, result.matches[0].signature->id);
            continue;
        }
        if (!is_told(s->id) && !read_better(s))
            fail_msg("%s does not find its example: %s", s->id, s->example);
        assert_true(*s->what && *s->why && *s->remedy);
        for (const struct explain_signature *other = explain_signatures; other != s; other++)
            assert_string_not_equal(s->id, other->id);
    }
    assert_true(n >= 100 && n == EXPLAIN_SIGNATURES);
}

/* Every alternative, with something in the place of each star, in other letters. */
static void test_patterns_are_found(void **state)
{
    (void)state;
    for (const struct explain_signature *s = explain_signatures; s->id; s++)
        for (const char *p = s->patterns; *p;) {
            char line[512] = "Nov 15 12:00:00 host: ";
            const bool alone = *p == '^'; /* the pattern is a whole line */
            size_t n = alone ? 0 : strlen(line), length = strcspn(p, "\n");
            for (size_t i = alone; i < length; i++)
                if (p[i] == '*')
                    n += (size_t)sprintf(line + n, " 0x12 ");
                else
                    line[n++] = (char)(p[i] >= 'a' && p[i] <= 'z' ? p[i] - 32 : p[i]);
            line[n] = '\0';
            explain_card_and(line);
            if (is_ignored(s->id) ? result.n_matches > 0 : !is_told(s->id) && !read_better(s))
                fail_msg("%s does not find %s", s->id, line);
            /* The parts in two lines are two other texts, unless one part alone is a pattern too.
             */
            char *gap = strstr(line, " 0x12 ");
            if (gap && !strcmp(s->id, "no-bundle-entry")) {
                *gap = '\n';
                explain_text(line);
                assert_null(find(s->id));
            }
            p += length;
            p += *p == '\n';
        }
}

static void test_healthy_logs(void **state)
{
    (void)state;
    DIR *folder = opendir(HEALTHY_LOGS);
    assert_non_null(folder);
    size_t n = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') continue;
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", HEALTHY_LOGS, entry->d_name);
        int fd = open(path, O_RDONLY);
        assert_true(fd >= 0);
        memset(&result, 0, sizeof result);
        assert_int_equal(explain_read(fd, &result, NULL, NULL), RMCP_OK);
        close(fd);
        if (result.n_matches)
            fail_msg("%s: %s in '%s'", entry->d_name, result.matches[0].signature->id,
                     result.matches[0].excerpt);
        if (result.unknown.about)
            fail_msg("%s: unknown '%s'", entry->d_name, result.unknown.excerpt);
        n++;
    }
    closedir(folder);
    assert_true(n >= 130);
}

/* Every code, in every way in which programs print it, has its signature and its meaning. */
static void test_codes(void **state)
{
    (void)state;
    for (const struct explain_code *code = explain_codes; code->name; code++) {
        char pattern[160], lines[2048] = "", text[256];
        size_t n = 0, at = 0;
        for (; explain_code_pattern(code, n, pattern, sizeof pattern); n++)
            at += (size_t)snprintf(lines + at, sizeof lines - at, "x %s x\n", pattern);
        assert_true(*code->name && *code->meaning && at < sizeof lines);
        if (!n) continue;
        explain_card_and(lines);
        if (!is_told(code->id)) fail_msg("%s is not said of '%s'", code->id, lines);
        const struct explain_match *match = find(code->id);
        assert_int_equal(match ? match->count : result.unknown.count, n);
        assert_true(
            explain_code_text(match ? match->excerpt : result.unknown.excerpt, text, sizeof text));
    }
    char text[256];
    explain_text("Failed to launch ROCm kernel: Repeat: hipError_t(303)");
    assert_non_null(find("shared-object-init"));
    assert_true(explain_code_text(find("shared-object-init")->excerpt, text, sizeof text));
    assert_non_null(strstr(text, "hipErrorSharedObjectInitFailed"));
    explain_text("gpu_launch_config.h:174] Check failed: err == hipSuccess (98 vs. 0)");
    assert_non_null(find("no-device-function"));
    /* 2 is no part of 209, nor is a longer name's beginning meant. */
    explain_text("hipError_t(209)");
    assert_null(find("hip-memory"));
    explain_text("HSA_STATUS_ERROR_INVALID_ISA_NAME and HSA_STATUS_ERROR_INVALID_QUEUE_CREATION");
    assert_true(explain_code_text(result.matches[0].excerpt, text, sizeof text));
    assert_non_null(strstr(text, "HSA_STATUS_ERROR_INVALID_QUEUE_CREATION"));
    explain_text("hipEventQuery: Returned hipErrorNotReady");
    assert_int_equal(result.n_matches, 0);
    explain_text("INFO: task kworker:1 blocked for more than 120 seconds");
    assert_false(explain_code_text(result.matches[0].excerpt, text, sizeof text));
}

/* What is general stands back behind what is particular, but not behind what is harmless; and lines
 * that only look bad are taken from the findings that they look like. */
static void test_general_and_harmless(void **state)
{
    (void)state;
    explain_text("RuntimeError: HIP error: named symbol not found");
    assert_true(is_quoted("hip-error") && !result.n_matches);
    explain_text("HIP error: named symbol not found\nROCk module is NOT loaded");
    assert_null(find("hip-error"));
    explain_text("MIOpen(HIP): Warning [SQLiteBase] Missing system database file: gfx1030_36.kdb "
                 "Performance may degrade.\nHIP error: named symbol not found");
    assert_true(is_quoted("hip-error") && !result.n_matches);
    explain_text("main.cpp:3:1: error: expected ';'\nAborted (core dumped)");
    assert_true(is_quoted("build-error") && !result.n_matches);
    explain_text("NCCL INFO NET/Plugin : librccl-net.so: cannot open shared object file");
    assert_int_equal(result.n_matches, 0);
    explain_text("NCCL INFO NET/Plugin : librccl-net.so: cannot open shared object file\n"
                 "ImportError: libamdhip64.so.5: cannot open shared object file");
    assert_non_null(find("library-missing"));
}

/* The tables that speak of signatures know them. */
static void test_tables_agree(void **state)
{
    (void)state;
    const char *lists[1024];
    size_t n = 0;
    for (const struct explain_relation *r = explain_relations; r->cause; r++) {
        assert_true(n + 2 < sizeof lists / sizeof *lists);
        lists[n++] = r->cause;
        if (r->kind != EXPLAIN_ONLY) lists[n++] = r->others;
    }
    for (size_t i = 0; i < n; i++)
        for (const char *id = lists[i]; *id;) {
            const size_t length = strcspn(id, " ");
            bool known = false;
            for (const struct explain_signature *s = explain_signatures; s->id; s++)
                known |= strlen(s->id) == length && !strncmp(s->id, id, length);
            if (!known) fail_msg("no signature '%.*s'", (int)length, id);
            id += length;
            id += *id == ' ';
        }
}

/* What was missed once: a text of a public report, the cause, and what must not be said. */
static void test_reports_that_were_missed(void **state)
{
    (void)state;
    static const struct {
        const char *text, *cause, *never;
    } cases[] = {
        { "Call returned HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the "
          "necessary resources.",
          "hsa-out-of-resources", "hip-memory" },
        { "Callback: Queue 0x76f676200000 aborting with error : HSA_STATUS_ERROR_EXCEPTION: An "
          "HSAIL operation resulted in a hardware exception. code: 0x1016",
          "hsa-exception", "queue-error" },
        { "python3[15122]: segfault at 20 ip 00007f44 sp 00007f41 error 4 in "
          "libamdhip64.so[7f44bde00000+3f3000]",
          "rocm-segfault", "kernel-oops" },
        { "ImportError: libtorch_hip.so: undefined symbol: rsmi_init", "undefined-symbol",
          "library-missing" },
        { "ImportError: librocsolver.so.0: cannot open shared object file: No such file or "
          "directory",
          "library-missing", "cuda-library" },
        { "OSError: libcublas.so.10: cannot open shared object file: No such file or directory",
          "cuda-library", "library-missing" },
        { "amdgpu 0000:23:00.0: Direct firmware load for amdgpu/navi10_sos.bin failed with error "
          "-2",
          "firmware-missing", "firmware-optional" },
        { "amdgpu 0000:19:00.0: Direct firmware load for amdgpu/vega20_ta.bin failed with error -2",
          "firmware-optional", "firmware-missing" },
        { "BUG: kernel NULL pointer dereference, address: 0000000000000130", "kernel-oops", "" },
        { "Error! Bad return status for module build on kernel: 6.14.0-24-generic (x86_64)",
          "dkms-build", "" },
        { "ERROR: Could not find a version that satisfies the requirement torch (from versions: "
          "none)",
          "pip-no-wheel", "" },
        { "RuntimeError: Torch is not able to use GPU; add --skip-torch-cuda-test to "
          "COMMANDLINE_ARGS",
          "torch-no-gpu", "" },
        { "MIOpen Error: kern_db.hpp:180: Internal error while accessing SQLite database: locking "
          "protocol\nRuntimeError: miopenStatusInternalError",
          "miopen-database", "miopen-compile" },
        { "free(): invalid pointer\nAborted (core dumped)", "heap-corruption", "" },
        { "RuntimeError: HIP error: device kernel image is invalid", "invalid-kernel-image",
          "no-kernel-image" },
        { "clang-15: error: cannot find ROCm device library; provide its path via '--rocm-path'",
          "device-library-missing", "" },
        { ": CommandLine Error: Option 'help-list' registered more than once!\nLLVM ERROR: "
          "inconsistency in registered CommandLine options",
          "two-llvms", "compiler-crash" },
        { "MIOpen(HIP): Warning [ValidateGcnAssemblerImpl] Path to assembler is not provided. "
          "Expect performance degradation.",
          "miopen-assembler", "" },
        { "MIOpen(HIP): Warning [BuildHip] /usr/include/c++/13/cmath:47:15: fatal error: 'math.h' "
          "file not found",
          "miopen-headers", "build-header-missing" },
        { "MIOpen(HIP): Warning [IsEnoughWorkspace] Solver <GemmFwdRest>, workspace required: 576\n"
          "RuntimeError: miopenStatusUnknownError",
          "miopen-failed", "workspace-flood" },
        { "MIOpen(HIP): Warning [IsEnoughWorkspace] Solver <GemmFwdRest>, workspace required: 576\n"
          "MIOpen Error: No suitable algorithm was found to execute the required convolution",
          "miopen-no-solution", "workspace-flood" },
        { "rocBLAS error: Could not initialize Tensile host: No devices found", "no-hip-gpu",
          "tensile-missing" },
        { "RuntimeError: HIP error: something new in this release", "hip-error", "" },
        { "RuntimeError: HIP error: invalid device function", "no-device-function", "hip-error" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        explain_text(cases[i].text);
        if (!is_told(cases[i].cause))
            fail_msg("%s is not found in: %s", cases[i].cause, cases[i].text);
        if (*cases[i].never && is_told(cases[i].never))
            fail_msg("%s is found in: %s", cases[i].never, cases[i].text);
    }
}

/* Cards as people and programs write them, in a line of a log and as --gpu. */
static void test_cards(void **state)
{
    (void)state;
    static const struct {
        const char *words, *chip;
        bool integrated;
    } cards[] = {
        { "RX6600XT", "gfx1032", false },
        { "Radeon Pro W5700", "gfx1010", false },
        { "W5700", "gfx1010", false },
        { "NAVI10", "gfx1010", false },
        { "Navi 23", "gfx1032", false },
        { "1002:731f", "gfx1010", false },
        { "1002:67DF", "gfx803", false },
        { "Vega 64", "gfx900", false },
        { "Radeon RX Vega", "gfx900", false },
        { "5600xt", "gfx1010", false },
        { "6700 XT", "gfx1031", false },
        { "rx-580", "gfx803", false },
        { "AMD Radeon RX 6800M", "gfx1031", false },
        { "Radeon (TM) Pro WX 5100 Graphics", "gfx803", false },
        { "AMD Radeon 780M", "gfx1103", true },
        { "AMD 780M", "gfx1103", true },
        { "Radeon 8060S Graphics", "gfx1151", true },
        { "gfx90c", "gfx90c", true },
        { "Instinct MI50", "gfx906", false },
    };
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
        char text[256];
        snprintf(text, sizeof text, "step 1: device 0 is %s, ready\n" FAULT, cards[i].words);
        explain_text(text);
        if (strcmp(result.card.chip, cards[i].chip))
            fail_msg("%s is %s, not '%s'", cards[i].words, cards[i].chip, result.card.chip);
        assert_int_equal(result.card.integrated, cards[i].integrated);
        assert_non_null(result.family);
        struct explain_card card = { 0 };
        assert_int_equal(explain_set_chip(&card, cards[i].words), RMCP_OK);
        assert_string_equal(card.chip, cards[i].chip);
    }
    explain_text(
        "[drm] initializing kernel modesetting (NAVI10 0x1002:0x731F 0x1DA2:0xE411).\n" FAULT);
    assert_string_equal(result.card.chip, "gfx1010");
    explain_text("  Chip ID:                 29471(0x731f)\n" FAULT);
    assert_string_equal(result.card.chip, "gfx1010");
    /* A card counts, not the processor beside it; a list of targets is none; a size is none. */
    explain_text("AMD Ryzen 7 8700G w/ Radeon 780M Graphics\nRadeon RX 7900 XTX\n" FAULT);
    assert_string_equal(result.card.chip, "gfx1100");
    explain_text("--offload-arch=gfx900 --offload-arch=gfx906 --offload-arch=gfx1030\n" FAULT);
    assert_string_equal(result.card.chip, "");
    explain_text("780M of 8176M used, code 0x10ff, RX bytes 5700, address 0x731f0000\n");
    assert_string_equal(result.card.chip, "");
}

/* Files of firmware are named after the chip, by its code name or its version. */
static void test_firmware_names(void **state)
{
    (void)state;
    static const struct {
        const char *file, *chip;
    } files[] = {
        { "navi14_pfp.bin", "gfx1012" },
        { "carrizo_pfp.bin", "gfx801" },
        { "polaris10_mc.bin", "gfx803" },
        { "vegam_smc.bin", "gfx803" },
        { "raven2_gpu_info.bin", "gfx902" },
        { "green_sardine_ta.bin", "gfx90c" },
        { "cyan_skillfish2_ce.bin", "gfx1013" },
        { "sienna_cichlid_dmcub.bin", "gfx1030" },
        { "dimgrey_cavefish_sos.bin", "gfx1032" },
        { "yellow_carp_toc.bin", "gfx1035" },
        { "gc_10_3_7_me.bin", "gfx1036" },
        { "gc_11_0_1_pfp.bin.zst", "gfx1103" },
        { "gc_11_0_3_mes_2.bin", "gfx1101" },
        { "gc_12_0_1_imu.bin", "gfx1201" },
        { "dcn_3_2_0_dmcub.bin", "" },
        { "amdgpu_device.c", "" },
        { "picasso", "" },
        { "_.bin", "" },
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "amdgpu 0000:03:00.0: Direct firmware load for amdgpu/%s failed with error -2\n",
                 files[i].file);
        explain_text(text);
        if (strcmp(result.card.chip, files[i].chip))
            fail_msg("%s is of '%s', not '%s'", files[i].file, files[i].chip, result.card.chip);
    }
}

/* The same words help one family and harm another. */
static void test_families(void **state)
{
    (void)state;
    explain_text("RX 6700 XT\nRuntimeError: HIP error: invalid device function");
    assert_non_null(strstr(result.family->advice, "HSA_OVERRIDE_GFX_VERSION=10.3.0 is right"));
    explain_text("RX 5700 XT\nRuntimeError: HIP error: invalid device function");
    assert_non_null(strstr(result.family->advice, "no override is right"));
    assert_null(strstr(result.family->advice, "10.3.0 is right"));
    static const char *const vegas[] = { "gfx90c", "gfx902" };
    for (size_t i = 0; i < 2; i++) { /* of one family: no foreign code */
        memset(&result, 0, sizeof result);
        assert_int_equal(explain_set_chip(&result.card, vegas[i]), RMCP_OK);
        explain_bytes("HSA_OVERRIDE_GFX_VERSION=9.0.0\n" FAULT, 31 + strlen(FAULT));
        assert_string_equal(result.card.pretends, "gfx900");
        assert_false(result.foreign);
    }
    /* The program decides what to do about missing code. */
    explain_text("ggml_cuda_init: found 1 ROCm devices\nROCm error: invalid device function");
    assert_string_equal(result.program->name, "llama.cpp");
    assert_non_null(strstr(explain_remedy(&result, &result.matches[0]), "AMDGPU_TARGETS"));
}

static void test_convolutions_lead_to_rmcp(void **state)
{
    (void)state;
    explain_text("  File \"torch/nn/modules/conv.py\", line 543, in _conv_forward\n"
                 "    return F.conv2d(input, weight, bias, self.stride,\n" FAULT);
    assert_true(result.convolution);
    explain_text("    return F.linear(input, self.weight, self.bias)\n" FAULT);
    assert_false(result.convolution);
    explain_text("RuntimeError: miopenStatusInternalError");
    assert_non_null(strstr(explain_remedy(&result, &result.matches[0]), "rmcp.torch.enable"));
}

static void test_override_changes_the_answer(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool foreign;
        const char *chip, *pretends;
    } cases[] = {
        { FAULT, false, "", "" },
        { "export HSA_OVERRIDE_GFX_VERSION=10.3.0\n" FAULT, false, "", "gfx1030" },
        { "AMD Radeon RX 5600 XT, HSA_OVERRIDE_GFX_VERSION=10.3.0\n" FAULT, true, "gfx1010",
          "gfx1030" },
        { "AMD Radeon RX 5600 XT\nHSA_OVERRIDE_GFX_VERSION_0: '10.3.0'\n" FAULT, true, "gfx1010",
          "gfx1030" },
        { "AMD Radeon RX 5500 XT HSA_OVERRIDE_GFX_VERSION=10.1.0\n" FAULT, false, "gfx1012",
          "gfx1010" },
        { "AMD Radeon RX 6700 XT HSA_OVERRIDE_GFX_VERSION=10.3.0\n" FAULT, false, "gfx1031",
          "gfx1030" },
        { "AMD Radeon RX 580 HSA_OVERRIDE_GFX_VERSION=10.3.0\n" FAULT, true, "gfx803", "gfx1030" },
        { "Device 0: AMD Radeon RX 5700 XT, Name: gfx1030\n" FAULT, true, "gfx1010", "gfx1030" },
        { "unset HSA_OVERRIDE_GFX_VERSION\nRX 5700\n" FAULT, false, "gfx1010", "" },
        { "HSA_OVERRIDE_GFX_VERSION=banana RX 5700\n" FAULT, false, "gfx1010", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        explain_text(cases[i].text);
        assert_non_null(find("memory-fault"));
        assert_string_equal(result.card.chip, cases[i].chip);
        assert_string_equal(result.card.pretends, cases[i].pretends);
        assert_int_equal(result.foreign, cases[i].foreign);
        assert_int_equal(explain_by_override(&result, find("memory-fault")), cases[i].foreign);
    }
    /* Options win over the text. */
    memset(&result, 0, sizeof result);
    assert_int_equal(explain_set_chip(&result.card, "rx 6800 xt"), RMCP_OK);
    assert_int_equal(explain_set_override(&result.card, "10.3.0"), RMCP_OK);
    explain_bytes("RX 5600 HSA_OVERRIDE_GFX_VERSION=9.0.0\n" FAULT, 39 + strlen(FAULT));
    assert_string_equal(result.card.chip, "gfx1030");
    assert_false(result.foreign);
    /* What is not a question of chips is not blamed on the override. */
    explain_text("RX 5600 HSA_OVERRIDE_GFX_VERSION=10.3.0\nUnable to open /dev/kfd read-write: "
                 "Permission denied\n");
    assert_true(result.foreign);
    assert_false(explain_by_override(&result, find("kfd-permission")));
}

static void test_wrong_options(void **state)
{
    (void)state;
    struct explain_card card = { 0 };
    assert_int_equal(explain_set_chip(&card, "gtx 1080"), RMCP_E_ARG);
    assert_int_equal(explain_set_chip(&card, "gfx"), RMCP_E_ARG);
    assert_int_equal(explain_set_override(&card, "10.3"), RMCP_E_ARG);
    assert_int_equal(explain_set_override(&card, "10.3.0.0"), RMCP_E_ARG);
    assert_string_equal(card.chip, "");
    assert_int_equal(explain_set_chip(&card, "RX5600XT"), RMCP_OK);
    assert_string_equal(card.chip, "gfx1010");
    assert_int_equal(explain_set_chip(&card, "gfx90c"), RMCP_OK);
    assert_int_equal(explain_set_override(&card, "9.0.12"), RMCP_OK);
    assert_string_equal(card.pretends, "gfx90c");
}

static void test_order_count_and_place(void **state)
{
    (void)state;
    explain_text(FAULT "x\n" FAULT); /* two patterns in a line are one line */
    assert_int_equal(find("memory-fault")->count, 2);
    explain_text("Memory access fault by GPU node-1 on address (nil). Reason: Unknown.");
    assert_int_equal(result.n_matches, 1);
    assert_string_equal(result.matches[0].signature->id, "fault-address-nil");
    /* Causes first, however the log has them. */
    explain_text("Call returned HSA_STATUS_ERROR_OUT_OF_RESOURCES\n"
                 "kfd kfd: amdgpu: skipped device 1002:67df, PCI rejects atomics\n");
    assert_int_equal(result.n_matches, 2);
    assert_string_equal(result.matches[0].signature->id, "pci-atomics");
    assert_int_equal(result.matches[0].follows, 0);
    assert_int_equal(result.matches[1].follows, 1);
    assert_string_equal(result.card.chip, "gfx803");
    explain_text("one\nMissing system database file: gfx1030_36.kdb Performance may degrade\n"
                 "amdgpu: GPU reset begin!\nx\namdgpu: GPU reset begin!");
    assert_int_equal(result.n_matches, 2);
    assert_string_equal(result.matches[0].signature->id, "gpu-reset");
    assert_int_equal(result.matches[0].count, 2);
    assert_int_equal(result.matches[0].line, 3);
    assert_string_equal(result.matches[0].excerpt, "amdgpu: GPU reset begin!");
    assert_int_equal(result.matches[1].line, 2);
    assert_int_equal(result.lines, 5);
}

/* A signature anywhere, also across the pieces in which the text is read, and in a line without
 * end. */
static void test_long_lines_and_pieces(void **state)
{
    (void)state;
    enum { SIZE = 3 << 18 };
    char *text = malloc(SIZE);
    assert_non_null(text);
    static const char words[] =
        "Memory access fault by GPU node-1 on address (nil). Reason: Unknown.";
    for (size_t at = (1 << 18) - 5000; at < (1 << 18) + 6000; at += 37) {
        memset(text, 'x', SIZE);
        memcpy(text + at, words, sizeof words - 1);
        memset(&result, 0, sizeof result);
        explain_bytes(text, SIZE);
        assert_non_null(find("fault-address-nil"));
        assert_int_equal(find("fault-address-nil")->count, 1);
        assert_non_null(strstr(find("fault-address-nil")->excerpt, "(nil)"));
    }
    free(text);
}

static void test_colours_and_wide_characters(void **state)
{
    (void)state;
    explain_text("\033[31mHIP error: invalid\033[0m device function\033[1");
    assert_non_null(find("no-device-function"));
    const char *words = "HIP error: invalid device function\r\n";
    char wide[128] = "\xff\xfe";
    size_t n = 2;
    for (const char *c = words; *c; c++) {
        wide[n++] = *c;
        wide[n++] = '\0';
    }
    memset(&result, 0, sizeof result);
    explain_bytes(wide, n);
    assert_non_null(find("no-device-function"));
    explain_text("progress 10%\rprogress 20%\rHIP error: invalid device function\r\n");
    assert_non_null(find("no-device-function"));
    assert_int_equal(find("no-device-function")->line, 3);
}

static bool stop_soon(void *context, const struct explain_result *so_far)
{
    assert_ptr_equal(so_far, &result);
    return --*(int *)context > 0;
}

/* Input without end can be stopped, and what was read counts. */
static void test_stopping(void **state)
{
    (void)state;
    int pieces = 3;
    FILE *zeros = fopen("/dev/zero", "r");
    assert_non_null(zeros);
    memset(&result, 0, sizeof result);
    assert_int_equal(explain_read(fileno(zeros), &result, stop_soon, &pieces), RMCP_OK);
    fclose(zeros);
    assert_int_equal(pieces, 0);
    assert_true(result.bytes > 0 && result.bytes < 1 << 20);
}

static void test_unreadable(void **state)
{
    (void)state;
    assert_int_equal(explain_read(-1, &result, NULL, NULL), RMCP_E_IO);
    explain_text("");
    assert_int_equal(result.n_matches, 0);
    assert_int_equal(result.lines, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples_are_found),
        cmocka_unit_test(test_patterns_are_found),
        cmocka_unit_test(test_healthy_logs),
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_general_and_harmless),
        cmocka_unit_test(test_tables_agree),
        cmocka_unit_test(test_reports_that_were_missed),
        cmocka_unit_test(test_cards),
        cmocka_unit_test(test_firmware_names),
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_convolutions_lead_to_rmcp),
        cmocka_unit_test(test_override_changes_the_answer),
        cmocka_unit_test(test_wrong_options),
        cmocka_unit_test(test_order_count_and_place),
        cmocka_unit_test(test_long_lines_and_pieces),
        cmocka_unit_test(test_colours_and_wide_characters),
        cmocka_unit_test(test_stopping),
        cmocka_unit_test(test_unreadable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
