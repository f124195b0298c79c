/* test_doctor_rules.c: every rule and every option of rmcp doctor: facts that make it hold, and
 * facts that do not. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "help/doctor/doctor.h"
#include "help/doctor/tree.h"

#include "doctor_facts.inc"

/* ---- what must hold for which facts, and what must not ---- */

struct sample {
    const char *id;
    void (*yes)(struct doctor_machine *m), (*no)(struct doctor_machine *m);
};

static const struct sample rules[] = {
    { "gpu-none", nothing, navi10 },
    { "gpu-nvidia-only", nvidia, navi10 },
    { "gpu-supported", navi21, navi10 },
    { "gpu-family", navi22, navi21 },
    { "gpu-left-behind", navi10, navi21 },
    { "first-owner", navi10, denied },
    { "gpu-too-old", polaris, navi10 },
    { "gpu-no-driver", no_driver, navi10 },
    { "gpu-vfio", vfio, no_driver },
    { "kfd-missing", no_kfd, container_without_devices },
    { "kfd-gpu-missing", kfd_without_gpu, rejected },
    { "atomics-rejected", rejected, kfd_without_gpu },
    { "atomics-absent", no_atomics, navi10 },
    { "firmware-mec-old", old_firmware, navi10 },
    { "igpu-visible", with_renoir, visible },
    { "kernel-old", old_kernel, navi10 },
    { "module-mtype", mtype, navi10 },
    { "module-cwsr-off", cwsr, mtype },
    { "module-parameters", cwsr, navi10 },
    { "cmdline-nomodeset", nomodeset, no_driver },
    { "gpu-blacklisted", blacklisted, blacklisted_but_loaded },
    { "firmware-missing", without_firmware, without_optional_firmware },
    { "driver-rejected", key_rejected, another_key_rejected },
    { "apu-memory", small_apu, small_apu_new_kernel },
    { "kfd-no-access", denied, denied_in_container },
    { "container-no-groups", denied_in_container, denied },
    { "container-no-devices", container_without_devices, no_kfd },
    { "kfd-open-fails", kfd_fails, denied },
    { "render-no-access", render_denied, navi10 },
    { "access-ok", navi10, denied },
    { "wsl", in_wsl, nothing },
    { "rocm-none", navi10, one_rocm },
    { "rocm-one", one_rocm, two_rocms },
    { "rocm-several", two_rocms, one_rocm },
    { "rocm-path-mixed", mixed_path, two_rocms },
    { "rocm-llvm-clash", two_rocms, one_rocm },
    { "rocm-llvm-newer", newer_llvm, one_rocm },
    { "rocblas-no-arch", rocblas, wheel },
    { "rocblas-disguised", disguised, rocblas },
    { "library-broken", broken, navi21_ready },
    { "library-unread", unread, navi21_ready },
    { "torch-none", navi10, wheel },
    { "torch-ok", native, foreign_but_native },
    { "torch-ok", generic, wheel },
    { "torch-ok", sibling_told, sibling },
    { "override-family", sibling_told, sibling },
    { "torch-ok", family, foreign },
    { "torch-no-arch", wheel, native },
    { "torch-no-arch", foreign, family },
    { "torch-cpu-build", cpu_build, wheel },
    { "torch-cuda-build", cuda_build, cpu_build },
    { "torch-wrong-vendor", wrong_vendor, wheel },
    { "torch-rocm-mismatch", release_mismatch, navi21_ready },
    { "torch-two-miopens", two_miopens, navi21_ready },
    { "override-foreign", foreign, family },
    { "override-foreign", foreign_by_node, same },
    { "override-foreign", vega_as_other_vega, malformed },
    { "override-malformed", malformed, foreign },
    { "override-family", family, foreign },
    { "override-same", same, family },
    { "override-mixed", mixed, visible },
    { "visible-none", hidden, visible },
    { "visible-none", hidden_by_two, hidden_by_one },
    { "visible-none", hidden_by_two, chosen_by_id },
    { "preload-shim", shim, allocator },
    { "preload-other", allocator, shim },
    { "preload-file", preload_file, shim },
    { "dropin-installed", with_dropin, native },
    { "dropin-installed", with_dropin, stale_dropin },
    { "dropin-broken", broken_dropin, with_dropin },
    { "dropin-stale", stale_dropin, broken_dropin },
    { "dropin-preloaded", preloaded_dropin, allocator },
    { "preload-other", allocator, preloaded_dropin },
    { "dropin-everywhere", dropin_everywhere, preload_file },
    { "sdma-off", variables, navi10 },
    { "miopen-tuning", variables, navi10 },
    { "arch-variable", variables, navi10 },
    { "serialize", variables, navi10 },
    { "profile-sets", variables, foreign },
    { "log-page-fault", faults, rejected },
    { "log-reset", faults, rejected },
    { "log-preemption", faults, rejected },
    { "log-unsupported", unsupported, faults }, /* there of another card */
    { "log-unreadable", log_denied, navi10 },
    { "leftover-shim", leftovers, shim },
    { "leftover-rocr", leftovers, navi10 },
    { "leftover-conv", leftovers, navi10 },
    { "leftover-mtype", leftovers, mtype },
    { "build-memory", small, navi10 },
    { "build-disk", small, navi10 },
    { "opencl-none", navi10, drivers },
    { "opencl-broken", broken_icd, drivers },
    { "opencl-ok", drivers, broken_icd },
    { "vulkan-none", navi10, drivers },
    { "vulkan-ok", drivers, navi10 },
    { "probe-late", late, navi10 },
    { "torch-no-rocblas", radeon_vii, radeon_vii_ready },
    { "torch-ok", radeon_vii_ready, radeon_vii },
    { "registers-refused", navi33_refused, navi33_risky },
    { "registers-refused", phoenix, strix_halo },
    { "registers-risk", navi33_risky, navi33_refused },
    { "override-family", strix_halo, phoenix },
    { "override-family", raven, navi33_refused },
    { "override-foreign", raven_foreign, raven },
    { "override-foreign", navi48_forced, phoenix },
    { "torch-ok", raven, navi33_refused },
    { "torch-no-arch", raven_plain, raven },
    { "torch-no-arch", navi33_plain, navi21_ready },
    { "registers-refused", phoenix_as_1102, raven },
    { "kernel-old", new_card_old_kernel, old_kernel_with_dkms },
    { "container-no-render", container_without_render, denied_in_container },
    { "module-mtype", tinkered, mi300_mtype },
    { "torch-repaired", repaired, wheel },
    { "torch-repaired", repaired, therock_sdk },
    { "torch-ok", repaired, wheel },
    { "torch-repaired", repaired_in_place, wheel },
    { "repair-stale", repair_stale, repaired_in_place },
    { "adapter-installed", with_adapter, native },
    { "adapter-enabled", with_adapter, native },
    { "gpu-left-behind", native, raven },
    { "torch-known-bad", strix_halo_old, strix_halo_new },
    { "torch-known-bad", strix_halo_old, strix_halo_worked_around },
    { "torch-layernorm", torch_2_12, navi21_ready },
    { "torch-layernorm", torch_2_12, torch_2_12_vega20 },
    { "torch-layernorm", torch_2_12, torch_2_12_nightly },
    { "torch-layernorm", torch_2_12, torch_2_12_sdk },
    { "torch-cuda-build", cuda_build_in_use, ready_in_use },
    { "torch-cpu-build", cpu_build_in_use, cuda_build_in_use },
    { "access-policy", policy, group_missing },
    { "render-missing", without_render, denied },
    { "render-missing", render_denied, navi10 },
    { "render-missing", render_of_another, navi21_ready },
    { "driver-failed", start_failed, other_start_failed },
    { "driver-failed", bus_without_room, other_start_failed },
    { "override-unread", family_by_node, family_by_node_read },
    { "firmware-mes-bad", bad_mes, good_mes },
    { "torch-amdsmi", with_amdsmi, amdsmi_beside_wheel },
    { "path-blank", blank_in_path, navi21_ready },
    { "log-hardware", logged, rejected },
    { "log-crash", logged, navi21_ready },
    { "vram-small", hardly_any_room, navi21_ready },
    { "disk-full", hardly_any_room, small },
    { "other-cards", two_families, two_alike },
    { "torch-incomplete", without_torch_library, navi21_ready },
    { "torch-incomplete", part_of_wheel, therock_sdk },
    { "torch-overwritten", overwritten, navi21_ready },
    { "torch-mixed", with_cuda_vision, with_vision },
    { "torch-mixed", with_old_audio, navi21_ready },
    { "torch-shadowed", shadowed, cuda_build_in_use },
    { "python-gone", interpreter_gone, navi21_ready },
    { "torch-elsewhere", empty_in_use, ready_in_use },
    { "torch-elsewhere", empty_in_use, conda_base_in_use },
    { "visible-other", graphics_left, graphics_hidden },
    { "visible-other", graphics_left, second_card_left },
    { "igpu-visible", with_renoir, graphics_hidden },
    { "loader-mixed", hip_by_path, same_hip_by_path },
    { "loader-mixed", hip_preloaded, usual_variables },
    { "kernels-elsewhere", odd_variables, usual_variables },
    { "allocator-malformed", odd_variables, usual_variables },
};

static const struct sample options[] = {
    { "reinstall", broken, wheel },
    { "fix-driver", no_driver, navi10 },
    { "fix-kfd", no_kfd, navi10 },
    { "fix-slot", rejected, navi10 },
    { "fix-access", denied, navi10 },
    { "fix-access", render_denied, navi10 },
    { "fix-access", container_without_devices, no_kfd },
    { "wsl-guide", in_wsl, nothing },
    { "cuda-wheel", nvidia, navi10 },
    { "cpu", nothing, navi10 },
    { "keep-native", native, wheel },
    { "keep-native", foreign_but_native, foreign },
    { "keep-native", sibling, navi22 },
    { "match-rocm", two_miopens, navi21_ready },
    { "nothing", navi21_ready, navi21 },
    { "nothing", ready_in_use, cuda_build_in_use },
    { "fix-settings", cuda_build_in_use, ready_in_use },
    { "nothing", strix_halo_new, strix_halo_old },
    { "official-wheel", strix_halo_old, strix_halo_new },
    { "fix-driver", blacklisted, blacklisted_but_loaded },
    { "fix-driver", vfio, navi10 },
    { "official-wheel", navi21, navi21_ready },
    { "therock", wheel, native },
    { "distribution", arch, wheel },
    { "source-build", wheel, navi21 },
    { "docker", wheel, navi21 },
    { "community-gfx803", polaris, navi10 },
    { "opencl-cpu", polaris, navi21 },
    { "rocm52", wheel, navi21 },
    { "override-last-resort", wheel, native },
    { "repair-wheel", wheel, native },
    { "repair-wheel", wheel, repaired_in_place },
    { "repair-wheel", repair_stale, native },
    { "vulkan", polaris, navi21 },
    { "other-hardware", polaris, navi21_ready },
    { "rented-gpu", wheel, navi21_ready },
    { "rented-gpu", nothing, nvidia },
    { "nvidia-card", polaris, navi21 },
    { "fix-access", container_without_render, navi21_ready },
    { "cuda-wheel", both_vendors, wheel },
    { "fix-open", kfd_fails, denied },
    { "fix-open", einval_in_container, unsupported },
    { "fix-open", kfd_without_gpu, rejected },
    { "fix-slot", rejected, unsupported },
    { "unset-override", navi48_forced, navi21_ready },
    { "use-sibling", raven_plain, raven },
    { "use-sibling", raven_foreign, navi33_plain },
    { "use-sibling", odd_paths, foreign },
    { "official-wheel", navi33_refused, navi48_forced },
    { "official-wheel", navi33_risky, raven },
    { "official-wheel", phoenix, strix_halo },
    { "official-wheel", radeon_vii, unsupported },
    { "official-wheel", navi21_cuda, radeon_vii_ready },
    { "therock-family", navi22, navi21 },
    { "fix-settings", ready_but_hidden, navi21_ready },
    { "nothing", navi21_ready, ready_but_crashed },
    { "fix-settings", ready_but_crashed, navi21_ready },
    { "official-wheel", ready_but_crashed, navi21_ready },
    { "nothing", raven, raven_foreign },
    { "nothing", strix_halo, phoenix },
    { "nothing", radeon_vii_ready, radeon_vii },
    { "as-seen", unseen_log, navi21_ready },
    { "as-seen", unseen_user, denied },
    { "as-seen", unseen_error, ready_but_crashed },
    { "nothing", family_by_node_read, family_by_node },
    { "wsl-guide", in_wsl_without_dxg, navi10 },
    { "fix-settings", bad_mes, good_mes },
    { "nothing", amdsmi_beside_wheel, with_amdsmi },
    { "nothing", good_mes, blank_in_path },
    { "as-seen", unseen_probe, ready_but_crashed },
    { "nothing", navi21_ready, unseen_log },
    { "nothing", usual_variables, unseen_preload },
    { "nothing", graphics_hidden, graphics_left },
    { "nothing", second_card_left, hidden },
    { "nothing", with_vision, with_cuda_vision },
    { "fix-settings", graphics_left, graphics_hidden },
    { "fix-settings", with_old_audio, with_vision },
    { "reinstall", without_torch_library, navi21_ready },
    { "reinstall", part_of_wheel, navi21_ready },
    { "match-rocm", hip_by_path, same_hip_by_path },
    { "official-wheel", overwritten, navi21_ready },
    { "official-wheel", interpreter_gone, navi21_ready },
};

/* Machines that cannot work as they are, whatever else is right about them. */
static void (*const not_ready[])(struct doctor_machine *m) = {
    tinkered,
    navi33_refused,
    navi33_risky,
    navi33_plain,
    phoenix,
    phoenix_as_1102,
    container_without_render,
    both_vendors,
    raven_plain,
    raven_foreign,
    navi48_forced,
    ready_but_einval,
    einval_in_container,
    ready_but_hidden,
    ready_but_unlisted,
    ready_but_denied,
    ready_but_render,
    ready_but_broken,
    ready_but_malformed,
    navi21_cuda,
    radeon_vii,
    unsupported,
    wheel,
    native,
    foreign,
    release_mismatch,
    two_miopens,
    cuda_build,
    without_render,
    render_of_another,
    logged,
    hardly_any_room,
    without_torch_library,
    part_of_wheel,
    overwritten,
    with_cuda_vision,
    with_old_audio,
    shadowed,
    interpreter_gone,
    empty_in_use,
    graphics_left,
    hip_by_path,
    hip_preloaded,
    odd_variables,
    unseen_log,
    unseen_user,
    unseen_probe,
    unseen_preload,
    unseen_memory,
    unseen_chip,
    unseen_library,
    unseen_error,
    bad_mes,
    with_amdsmi,
    blank_in_path,
};

/* Machines of other families, to which nothing about RDNA1 may be said. */
static void (*const not_rdna1[])(struct doctor_machine *m) = {
    navi33_refused, phoenix,          strix_halo,   raven,  raven_foreign, raven_plain,
    navi48_forced,  radeon_vii,       navi21_ready, navi22, polaris,       unsupported,
    navi21_cuda,    ready_but_einval, tinkered,
};

static bool finds(void (*facts)(struct doctor_machine *m), const char *id)
{
    struct doctor_machine *m = calloc(1, sizeof *m);
    struct doctor_finding *findings = calloc(doctor_n_rules, sizeof *findings);
    bool found = false;
    assert_non_null(m);
    assert_non_null(findings);
    facts(m);
    const size_t n = doctor_find(m, findings, doctor_n_rules);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(findings[i].rule->id, id)) continue;
        found = true;
        assert_true(*findings[i].seen);
        assert_null(strstr(findings[i].fix, "{}"));
    }
    free(findings);
    free(m);
    return found;
}

static bool offers(void (*facts)(struct doctor_machine *m), const char *id)
{
    struct doctor_machine *m = calloc(1, sizeof *m);
    struct doctor_advice *advice = calloc(doctor_n_options, sizeof *advice);
    bool found = false;
    assert_non_null(m);
    assert_non_null(advice);
    facts(m);
    const size_t n = doctor_advise(m, advice, doctor_n_options);
    assert_true(n > 0); /* nobody is left without an answer */
    for (size_t i = 0; i < n; i++) {
        assert_null(strstr(advice[i].command, "{}"));
        found |= !strcmp(advice[i].option->id, id);
    }
    free(advice);
    free(m);
    return found;
}

static void test_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (!finds(rules[i].yes, rules[i].id))
            fail_msg("%s: not found (sample %zu)", rules[i].id, i);
        if (finds(rules[i].no, rules[i].id))
            fail_msg("%s: found where it must not be (sample %zu)", rules[i].id, i);
    }
    for (size_t i = 0; i < doctor_n_rules; i++) {
        bool known = false;
        for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
            known |= !strcmp(rules[k].id, doctor_rules[i].id);
        if (!known) fail_msg("%s has no sample", doctor_rules[i].id);
    }
}

static void test_options(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (!offers(options[i].yes, options[i].id))
            fail_msg("%s: not offered (sample %zu)", options[i].id, i);
        if (offers(options[i].no, options[i].id))
            fail_msg("%s: offered where it must not be (sample %zu)", options[i].id, i);
    }
    for (size_t i = 0; i < doctor_n_options; i++) {
        bool known = false;
        for (size_t k = 0; k < sizeof options / sizeof *options; k++)
            known |= !strcmp(options[k].id, doctor_options[i].id);
        if (!known) fail_msg("%s has no sample", doctor_options[i].id);
    }
}

typedef void text_check(const char *id, const char *text);

/* All texts that a machine gets, one by one. */
static void each_text(void (*facts)(struct doctor_machine *m), text_check *check)
{
    struct doctor_machine *m = calloc(1, sizeof *m);
    struct doctor_finding *findings = calloc(doctor_n_rules, sizeof *findings);
    struct doctor_advice *advice = calloc(doctor_n_options, sizeof *advice);
    assert_true(m && findings && advice);
    facts(m);
    const size_t n = doctor_find(m, findings, doctor_n_rules);
    for (size_t i = 0; i < n; i++) {
        check(findings[i].rule->id, findings[i].rule->title);
        check(findings[i].rule->id, findings[i].why);
        check(findings[i].rule->id, findings[i].fix);
    }
    const size_t n_options = doctor_advise(m, advice, doctor_n_options);
    for (size_t i = 0; i < n_options; i++) {
        check(advice[i].option->id, advice[i].option->title);
        check(advice[i].option->id, advice[i].option->result);
        check(advice[i].option->id, advice[i].option->risk);
        check(advice[i].option->id, advice[i].option->evidence);
        check(advice[i].option->id, advice[i].command);
    }
    free(advice);
    free(findings);
    free(m);
}

static void test_never_ready(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof not_ready / sizeof *not_ready; i++)
        if (offers(not_ready[i], "nothing")) fail_msg("machine %zu is called ready", i);
}

static void check_family(const char *id, const char *text)
{
    if (strstr(text, "RDNA1") || strstr(text, "gfx1010") || strstr(text, "gfx101x"))
        fail_msg("%s: '%s' for a chip of another family", id, text);
}

static void test_family(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof not_rdna1 / sizeof *not_rdna1; i++)
        each_text(not_rdna1[i], check_family);
}

/* Nothing that a user made is deleted, and what is installed is led to its end. */
static void check_commands(const char *id, const char *text)
{
    static const char *const never[] = {
        "rm -", "sudo rm ", "uninstall", "purge", "unlink", "shred"
    };
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (strstr(text, never[i]) || !strncmp(text, "rm ", 3)) fail_msg("%s: '%s'", id, text);
    if (!strstr(text, "pip install") || !strstr(text, "torchvision")) return;
    if (!strstr(text, "python3 -m venv") && !strstr(text, "docker run") &&
        !strstr(text, "/bin/activate\n") && !strstr(text, "conda activate "))
        fail_msg("%s: no environment in '%s'", id, text);
    if (!strstr(text, "\npip install rmcp-*.whl") || !strstr(text, "\nrmcp check") ||
        !strstr(text, "\npython -m rmcp "))
        fail_msg("%s ends before RMCP runs: '%s'", id, text);
}

static void test_commands(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        each_text(rules[i].yes, check_commands);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        each_text(options[i].yes, check_commands);
}

static void check_quoted(const char *id, const char *text)
{
    (void)id;
    assert_null(strstr(text, "it's; reboot"));
    if (strstr(text, "my $(env)")) assert_non_null(strstr(text, "'/home/user/my $(env)'"));
}

static void test_quoting(void **state)
{
    (void)state;
    each_text(odd_paths, check_quoted);
}

static void check_fresh(const char *id, const char *text)
{
    (void)id;
    assert_null(strstr(text, "venv ~/torch "));
}

/* An environment that is there is not given out as a new one. */
static void test_fresh(void **state)
{
    (void)state;
    each_text(named_torch, check_fresh);
}

/* A PyTorch that cannot use the card is a problem: the exit status tells. */
static void test_verdicts(void **state)
{
    static const char *const problems[] = { "torch-cuda-build", "torch-wrong-vendor",
                                            "torch-no-rocblas", "registers-refused",
                                            "kfd-open-fails" };
    (void)state;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
        for (size_t k = 0; k < doctor_n_rules; k++)
            if (!strcmp(doctor_rules[k].id, problems[i]))
                assert_int_equal(doctor_rules[k].verdict, DOCTOR_PROBLEM);
}

/* Every option is in a leaf of the tree, every leaf has one, and its path leads to the root. */
static void test_tree(void **state)
{
    bool on_path[DOCTOR_PLACES], has_option[DOCTOR_PLACES] = { false };
    (void)state;
    assert_true(doctor_tree[0].parent < 0);
    for (size_t i = 0; i < doctor_n_options; i++) {
        const struct doctor_advice advice = { .option = &doctor_options[i] };
        size_t marked = 0;
        has_option[doctor_options[i].leaf] = true;
        doctor_tree_path(&advice, 1, on_path);
        for (size_t k = 0; k < DOCTOR_PLACES; k++) marked += on_path[k];
        assert_true(on_path[0] && marked >= 2);
    }
    for (size_t i = 0; i < DOCTOR_PLACES; i++) {
        assert_true(*doctor_tree[i].text);
        assert_int_equal(has_option[i], *doctor_tree[i].cost != '\0');
        if (!i) continue;
        assert_in_range(doctor_tree[i].parent, 0, i - 1);
        assert_true(*doctor_tree[i].answer && !*doctor_tree[doctor_tree[i].parent].cost);
    }
    doctor_tree_path(NULL, 0, on_path);
    assert_false(on_path[0]);
}

static bool is_name(const char *id)
{
    return *id && strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(id);
}

/* Ids are names with hyphens; whatever claims that RMCP runs on RDNA1 says what stands behind it.
 */
static void test_texts(void **state)
{
    static const char *const names[] = {
#define RULE(name, ...) #name,
#include "help/doctor/rules.inc"
#undef RULE
#define OPTION(name, ...) #name,
#include "help/doctor/options.inc"
#undef OPTION
    };
    (void)state;
    for (size_t i = 0; i < doctor_n_rules; i++) {
        const struct doctor_rule *rule = &doctor_rules[i];
        const char *line = strchr(rule->why, '\n');
        assert_true(is_name(rule->id) && *rule->title && strlen(rule->title) < 80);
        assert_true(!line || !strchr(line + 1, '\n'));
        assert_true(strlen(rule->why) < 300);
        assert_true(rule->verdict != DOCTOR_PROBLEM || *rule->why);
        for (size_t k = 0; k < i; k++) assert_string_not_equal(rule->id, doctor_rules[k].id);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *id =
            i < doctor_n_rules ? doctor_rules[i].id : doctor_options[i - doctor_n_rules].id;
        assert_int_equal(strlen(id), strlen(names[i]));
        for (size_t k = 0; id[k]; k++)
            assert_int_equal(id[k], names[i][k] == '_' ? '-' : names[i][k]);
    }
    for (size_t i = 0; i < doctor_n_options; i++) {
        const struct doctor_option *option = &doctor_options[i];
        assert_true(is_name(option->id) && *option->title && *option->effort && *option->result &&
                    *option->risk && *option->cost);
        if (strstr(option->title, "RMCP") && strcmp(option->id, "opencl-cpu"))
            assert_non_null(strstr(option->evidence, "only simulated"));
    }
}

static void test_order(void **state)
{
    struct doctor_machine *m = calloc(1, sizeof *m);
    struct doctor_finding findings[3];
    (void)state;
    assert_non_null(m);
    foreign(m);
    assert_int_equal(doctor_find(m, findings, 3), 3); /* no more than there is room for */
    assert_int_equal(findings[0].rule->verdict, DOCTOR_PROBLEM);
    assert_true(findings[2].rule->verdict <= findings[1].rule->verdict);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),       cmocka_unit_test(test_options),
        cmocka_unit_test(test_texts),       cmocka_unit_test(test_order),
        cmocka_unit_test(test_never_ready), cmocka_unit_test(test_family),
        cmocka_unit_test(test_commands),    cmocka_unit_test(test_quoting),
        cmocka_unit_test(test_fresh),       cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
