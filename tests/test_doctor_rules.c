/* test_doctor_rules.c: every rule and every option of rmcp doctor: facts that make it hold, and
 * facts that do not. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "doctor/doctor.h"

/* ---- machines made of facts ---- */

static struct doctor_gpu *add_gpu(struct doctor_machine *m, uint32_t vendor, uint32_t device,
                                  uint32_t revision, uint32_t version)
{
    struct doctor_gpu *gpu = &m->gpus[m->n_gpus++];
    *gpu = (struct doctor_gpu){ .vendor = vendor,
                                .device = device,
                                .revision = revision,
                                .version = version,
                                .compute_units = 36,
                                .vram = UINT64_C(6) << 30,
                                .in_kfd = version != 0,
                                .chip_from_kfd = version != 0,
                                .node = (uint32_t)m->n_gpus,
                                .atomics = DOCTOR_YES };
    snprintf(gpu->pci, sizeof gpu->pci, "0000:%02zx:00.0", m->n_gpus);
    snprintf(gpu->driver, sizeof gpu->driver, "%s", vendor == DOCTOR_AMD ? "amdgpu" : "nvidia");
    doctor_chip_from_pci(gpu);
    return gpu;
}

static void add_variable(struct doctor_machine *m, const char *name, const char *value)
{
    struct doctor_variable *one = &m->variables[m->n_variables++];
    snprintf(one->name, sizeof one->name, "%s", name);
    snprintf(one->value, sizeof one->value, "%s", value);
}

static struct doctor_library *add_torch(struct doctor_machine *m, const char *version,
                                        const char *hip, const char *targets)
{
    struct doctor_python *python = &m->pythons[m->n_pythons];
    struct doctor_library *library = &m->python_libraries[m->n_python_libraries];
    *python = (struct doctor_python){ .library = -1, .miopen = -1, .bundles_rocm = true };
    static const char site[] = "/home/user/env1/lib/python3.12/site-packages";
    snprintf(python->site, sizeof python->site, "%s", site);
    snprintf(python->version, sizeof python->version, "%s", version);
    if (hip) {
        snprintf(python->hip, sizeof python->hip, "%s", hip);
        *library = (struct doctor_library){ .kind = DOCTOR_LIB_TORCH,
                                            .has_targets = true,
                                            .owner = 100 + (int)m->n_pythons };
        snprintf(library->path, sizeof library->path, "%s/torch/lib/libtorch_hip.so", site);
        snprintf(library->targets, sizeof library->targets, "%s", targets);
        python->library = (int)m->n_python_libraries++;
    }
    m->n_pythons++;
    return library;
}

static struct doctor_rocm *add_rocm(struct doctor_machine *m, const char *version, uint32_t clang)
{
    struct doctor_rocm *rocm = &m->rocms[m->n_rocms++];
    snprintf(rocm->prefix, sizeof rocm->prefix, "/opt/rocm-%s", version);
    snprintf(rocm->version, sizeof rocm->version, "%s", version);
    rocm->clang = clang;
    return rocm;
}

/* Probes have run, Linux, access; nothing else. */
static void nothing(struct doctor_machine *m)
{
    for (int i = 0; i < DOCTOR_PROBES; i++) m->probes[i] = DOCTOR_DONE;
    snprintf(m->kernel, sizeof m->kernel, "6.8.0-45-generic");
    m->has_user = true;
    m->uid = 1000;
    m->log_read = DOCTOR_YES;
}

static void navi10(struct doctor_machine *m)
{
    nothing(m);
    m->has_kfd = m->has_amdgpu = true;
    m->kfd = (struct doctor_device){ .path = "/dev/kfd", .exists = true, .mode = 0660, .gid = 109 };
    m->render[m->n_render++] =
        (struct doctor_device){ .path = "/dev/dri/renderD128", .exists = true };
    add_gpu(m, DOCTOR_AMD, 0x731f, 0xca, 100100);
}

static void navi21(struct doctor_machine *m)
{
    navi10(m);
    m->n_gpus = 0;
    add_gpu(m, DOCTOR_AMD, 0x73bf, 0xc1, 100300);
}

static void nvidia(struct doctor_machine *m)
{
    nothing(m);
    add_gpu(m, DOCTOR_NVIDIA, 0x2206, 0xa1, 0);
}

static void navi21_ready(struct doctor_machine *m)
{
    navi21(m);
    add_torch(m, "2.4.0+rocm6.1", "6.1.40091", "gfx90a,gfx1030");
}

static void navi22(struct doctor_machine *m)
{
    navi10(m);
    m->n_gpus = 0;
    add_gpu(m, DOCTOR_AMD, 0x73df, 0xc1, 100301);
}

static void polaris(struct doctor_machine *m)
{
    navi10(m);
    m->n_gpus = 0;
    add_gpu(m, DOCTOR_AMD, 0x67df, 0xe7, 80003);
}

static void with_renoir(struct doctor_machine *m)
{
    navi10(m);
    add_gpu(m, DOCTOR_AMD, 0x1636, 0xc6, 90012);
}

static void no_driver(struct doctor_machine *m)
{
    nothing(m);
    struct doctor_gpu *gpu = add_gpu(m, DOCTOR_AMD, 0x686c, 0, 90000);
    gpu->in_kfd = false;
    gpu->driver[0] = '\0';
}

static void vfio(struct doctor_machine *m)
{
    no_driver(m);
    snprintf(m->gpus[0].driver, sizeof m->gpus[0].driver, "vfio-pci");
}

static void no_kfd(struct doctor_machine *m)
{
    navi10(m);
    m->has_kfd = m->kfd.exists = m->gpus[0].in_kfd = false;
}

static void kfd_without_gpu(struct doctor_machine *m)
{
    navi10(m);
    m->gpus[0].in_kfd = false;
}

static void rejected(struct doctor_machine *m)
{
    kfd_without_gpu(m);
    m->log[DOCTOR_LOG_ATOMICS].n = 1;
    snprintf(m->log[DOCTOR_LOG_ATOMICS].line, 200,
             "kfd kfd: skipped device 1002:731f, PCI rejects atomics");
}

static void no_atomics(struct doctor_machine *m)
{
    navi10(m);
    m->gpus[0].atomics = DOCTOR_NO;
}

static void old_firmware(struct doctor_machine *m)
{
    navi10(m);
    m->gpus[0].mec_firmware = 120;
}

static void old_kernel(struct doctor_machine *m)
{
    navi10(m);
    snprintf(m->kernel, sizeof m->kernel, "5.4.0-90-generic");
}

static void mtype(struct doctor_machine *m)
{
    navi10(m);
    snprintf(m->mtype, sizeof m->mtype,
             "/etc/modprobe.d/amdgpu-mtype.conf: options amdgpu mtype_local=1");
}

static void cwsr(struct doctor_machine *m)
{
    navi10(m);
    m->cwsr_off = true;
    snprintf(m->parameters, sizeof m->parameters, "cwsr_enable=0");
}

static void nomodeset(struct doctor_machine *m)
{
    no_driver(m);
    snprintf(m->command_line, sizeof m->command_line, "nomodeset");
}

static void denied(struct doctor_machine *m)
{
    navi10(m);
    m->kfd.open_error = EACCES;
}

static void denied_in_container(struct doctor_machine *m)
{
    denied(m);
    snprintf(m->container, sizeof m->container, "docker");
}

static void container_without_devices(struct doctor_machine *m)
{
    no_kfd(m);
    snprintf(m->container, sizeof m->container, "podman");
}

static void kfd_fails(struct doctor_machine *m)
{
    navi10(m);
    m->kfd.open_error = EINVAL;
}

static void render_denied(struct doctor_machine *m)
{
    navi10(m);
    m->render[0].open_error = EACCES;
}

static void in_wsl(struct doctor_machine *m)
{
    nothing(m);
    m->is_wsl = m->has_dxg = true;
}

static void one_rocm(struct doctor_machine *m)
{
    navi10(m);
    add_rocm(m, "6.2.0", 18);
}

static void two_rocms(struct doctor_machine *m)
{
    one_rocm(m);
    add_rocm(m, "7.0.2", 20);
    snprintf(m->loader_hip, sizeof m->loader_hip, "/opt/rocm-7.0.2/lib/libamdhip64.so.7");
}

static void mixed_path(struct doctor_machine *m)
{
    two_rocms(m);
    add_variable(m, "ROCM_PATH", "/opt/rocm-6.2.0");
}

static void newer_llvm(struct doctor_machine *m)
{
    one_rocm(m);
    m->system_clang = 14;
}

static void rocblas(struct doctor_machine *m)
{
    one_rocm(m);
    struct doctor_library *library = &m->system_libraries[m->n_system_libraries++];
    *library =
        (struct doctor_library){ .kind = DOCTOR_LIB_ROCBLAS, .has_targets = true, .owner = 0 };
    snprintf(library->path, sizeof library->path, "/opt/rocm-6.2.0/lib/librocblas.so.4");
    snprintf(library->targets, sizeof library->targets, "gfx900,gfx1030");
}

static void disguised(struct doctor_machine *m)
{
    rocblas(m);
    snprintf(m->system_libraries[0].disguised, 96, "TensileLibrary_lazy_gfx1010.dat");
}

static void broken(struct doctor_machine *m)
{
    navi21(m);
    struct doctor_library *library = add_torch(m, "2.1.2+rocm5.6", "5.6.31061", "");
    snprintf(library->trouble, sizeof library->trouble, "not an ELF file");
}

static void unread(struct doctor_machine *m)
{
    navi21(m);
    add_torch(m, "2.1.2+rocm5.6", "5.6.31061", "gfx1030")->is_late = true;
}

static void wheel(struct doctor_machine *m)
{
    navi10(m);
    add_torch(m, "2.5.1+rocm6.2", "6.2.41133", "gfx900,gfx90a,gfx1030");
}

static void native(struct doctor_machine *m)
{
    navi10(m);
    add_torch(m, "2.12.0+rocm7.14.0", "7.14.60850", "gfx1010,gfx1011");
}

static void sibling(struct doctor_machine *m) /* RX 5500 XT with code for gfx1010 */
{
    native(m);
    m->n_gpus = 0;
    add_gpu(m, DOCTOR_AMD, 0x7340, 0xc5, 100102);
}

static void sibling_told(struct doctor_machine *m)
{
    sibling(m);
    add_variable(m, "HSA_OVERRIDE_GFX_VERSION", "10.1.0");
}

static void generic(struct doctor_machine *m)
{
    navi10(m);
    add_torch(m, "2.12.0+rocm7.14.0", "7.14.60850", "gfx10-1-generic");
}

static void cpu_build(struct doctor_machine *m)
{
    navi10(m);
    add_torch(m, "2.5.1+cpu", NULL, "");
}

static void cuda_build(struct doctor_machine *m)
{
    cpu_build(m);
    snprintf(m->pythons[0].cuda, sizeof m->pythons[0].cuda, "12.4");
}

static void wrong_vendor(struct doctor_machine *m)
{
    nvidia(m);
    add_torch(m, "1.13.1+rocm5.2", "5.2.21151", "gfx1030");
}

static void release_mismatch(struct doctor_machine *m)
{
    navi21_ready(m);
    m->pythons[0].bundles_rocm = false;
    add_rocm(m, "7.0.2", 20);
}

static void two_miopens(struct doctor_machine *m)
{
    navi21_ready(m);
    struct doctor_library *library = &m->python_libraries[m->n_python_libraries];
    *library = (struct doctor_library){ .kind = DOCTOR_LIB_MIOPEN, .owner = 100 };
    snprintf(library->path, sizeof library->path, "/home/user/env1/torch/lib/libMIOpen.so");
    m->pythons[0].miopen = (int)m->n_python_libraries++;
    snprintf(m->variable_miopen, sizeof m->variable_miopen, "/opt/rocm-6.0.0/lib/libMIOpen.so.1");
}

static void foreign(struct doctor_machine *m)
{
    wheel(m);
    add_variable(m, "HSA_OVERRIDE_GFX_VERSION", "10.3.0");
}

static void foreign_by_node(struct doctor_machine *m)
{
    wheel(m);
    add_variable(m, "HSA_OVERRIDE_GFX_VERSION_1", "10.3.0");
}

static void foreign_but_native(struct doctor_machine *m)
{
    native(m);
    add_variable(m, "HSA_OVERRIDE_GFX_VERSION", "10.3.0");
}

static void vega_as_other_vega(struct doctor_machine *m)
{
    navi21(m);
    m->n_gpus = 0;
    add_gpu(m, DOCTOR_AMD, 0x687f, 0xc1, 90000);
    add_variable(m, "HSA_OVERRIDE_GFX_VERSION", "9.0.6"); /* same numbers, other instructions */
}

static void malformed(struct doctor_machine *m)
{
    wheel(m);
    add_variable(m, "HSA_OVERRIDE_GFX_VERSION", "gfx1030");
}

static void family(struct doctor_machine *m)
{
    navi22(m);
    add_torch(m, "2.4.0+rocm6.1", "6.1.40091", "gfx90a,gfx1030");
    add_variable(m, "HSA_OVERRIDE_GFX_VERSION", "10.3.0");
}

static void same(struct doctor_machine *m)
{
    native(m);
    add_variable(m, "HSA_OVERRIDE_GFX_VERSION", "10.1.0");
}

static void mixed(struct doctor_machine *m)
{
    with_renoir(m);
    add_variable(m, "HSA_OVERRIDE_GFX_VERSION", "10.1.0");
}

static void hidden(struct doctor_machine *m)
{
    native(m);
    add_variable(m, "HIP_VISIBLE_DEVICES", "-1");
}

static void visible(struct doctor_machine *m)
{
    mixed(m);
    add_variable(m, "HIP_VISIBLE_DEVICES", "0");
}

static void shim(struct doctor_machine *m)
{
    navi10(m);
    add_variable(m, "LD_PRELOAD", "/home/user/private/libhip_memory_intercept.so");
}

static void allocator(struct doctor_machine *m)
{
    navi10(m);
    add_variable(m, "LD_PRELOAD", "libtcmalloc.so.4");
}

static void preload_file(struct doctor_machine *m)
{
    navi10(m);
    snprintf(m->preload_file, sizeof m->preload_file, "/usr/local/lib/libhsa_shim.so");
}

static void variables(struct doctor_machine *m)
{
    navi10(m);
    add_variable(m, "HSA_ENABLE_SDMA", "0");
    add_variable(m, "MIOPEN_FIND_MODE", "2");
    add_variable(m, "PYTORCH_ROCM_ARCH", "gfx1010");
    add_variable(m, "AMD_SERIALIZE_KERNEL", "3");
    snprintf(m->profile, sizeof m->profile, "~/.bashrc: export HSA_OVERRIDE_GFX_VERSION=10.3.0");
}

static void faults(struct doctor_machine *m)
{
    navi10(m);
    for (int i = DOCTOR_LOG_UNSUPPORTED; i < DOCTOR_LOG_KINDS; i++) {
        m->log[i].n = 2;
        snprintf(m->log[i].line, 200, "amdgpu: line %d", i);
    }
}

static void log_denied(struct doctor_machine *m)
{
    navi10(m);
    m->log_read = DOCTOR_NO;
}

static void leftovers(struct doctor_machine *m)
{
    static const char *const whats[] = { "shim", "rocr", "conv", "mtype" };
    navi10(m);
    for (size_t i = 0; i < 4; i++) {
        struct doctor_leftover *one = &m->leftovers[m->n_leftovers++];
        snprintf(one->path, sizeof one->path, "/opt/left/%s", whats[i]);
        snprintf(one->what, sizeof one->what, "%s", whats[i]);
    }
}

static void small(struct doctor_machine *m)
{
    navi10(m);
    m->has_memory = m->has_disk = true;
    m->ram = UINT64_C(8) << 30;
    m->disk = 10000000000;
}

static void add_icds(struct doctor_machine *m, bool missing)
{
    m->icds[0] = (struct doctor_icd){ .file = "/etc/OpenCL/vendors/mesa.icd",
                                      .library = "libMesaOpenCL.so.1",
                                      .is_amd = true,
                                      .library_missing = missing };
    m->icds[1] = (struct doctor_icd){ .file = "/usr/share/vulkan/icd.d/radeon_icd.x86_64.json",
                                      .is_vulkan = true,
                                      .is_amd = true };
    m->n_icds = 2;
}

static void drivers(struct doctor_machine *m)
{
    polaris(m);
    add_icds(m, false);
}

static void broken_icd(struct doctor_machine *m)
{
    polaris(m);
    add_icds(m, true);
}

static void late(struct doctor_machine *m)
{
    navi10(m);
    m->probes[DOCTOR_PROBE_LOG] = DOCTOR_LATE;
    m->probes[DOCTOR_PROBE_DRIVERS] = DOCTOR_CRASHED;
}

static void arch(struct doctor_machine *m)
{
    wheel(m);
    snprintf(m->os_id, sizeof m->os_id, "arch");
}

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
    { "preload-shim", shim, allocator },
    { "preload-other", allocator, shim },
    { "preload-file", preload_file, shim },
    { "sdma-off", variables, navi10 },
    { "miopen-tuning", variables, navi10 },
    { "arch-variable", variables, navi10 },
    { "serialize", variables, navi10 },
    { "profile-sets", variables, foreign },
    { "log-page-fault", faults, rejected },
    { "log-reset", faults, rejected },
    { "log-preemption", faults, rejected },
    { "log-unsupported", faults, rejected },
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
};

static const struct sample options[] = {
    { "reinstall", broken, wheel },
    { "fix-driver", no_driver, navi10 },
    { "fix-kfd", no_kfd, navi10 },
    { "fix-slot", rejected, navi10 },
    { "fix-access", denied, navi10 },
    { "fix-access", container_without_devices, no_kfd },
    { "wsl-guide", in_wsl, nothing },
    { "cuda-wheel", nvidia, navi10 },
    { "cpu", nothing, navi10 },
    { "keep-native", native, wheel },
    { "keep-native", foreign_but_native, foreign },
    { "keep-native", sibling, navi22 },
    { "match-rocm", two_miopens, navi21_ready },
    { "nothing", navi21_ready, navi21 },
    { "official-wheel", navi21, navi21_ready },
    { "therock", wheel, native },
    { "distribution", arch, wheel },
    { "source-build", wheel, navi21 },
    { "docker", wheel, navi21 },
    { "community-gfx803", polaris, navi10 },
    { "opencl-cpu", polaris, navi21 },
    { "rocm52", wheel, navi21 },
    { "override-last-resort", wheel, native },
    { "vulkan", polaris, navi21 },
    { "other-hardware", polaris, navi21_ready },
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

static bool is_name(const char *id)
{
    return *id && strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(id);
}

/* Whatever claims that RMCP runs on RDNA1 says what stands behind it. */
static void test_texts(void **state)
{
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
    for (size_t i = 0; i < doctor_n_options; i++) {
        const struct doctor_option *option = &doctor_options[i];
        assert_true(is_name(option->id) && *option->title && *option->effort && *option->result &&
                    *option->risk);
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
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
