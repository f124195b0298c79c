/* options.c: the table of ways to compute on a machine, best first, each for the machines it suits.
 */
#include <stdio.h>
#include <string.h>

#include "doctor/rules.h"

static bool rule_holds(const struct doctor_machine *m,
                       bool (*rule)(const struct doctor_machine *, struct doctor_words *))
{
    struct doctor_words words = { "", "" };
    return rule(m, &words);
}

static enum doctor_service service(const struct doctor_machine *m)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    return gpu ? doctor_chip_service(gpu->version) : DOCTOR_CHIP_UNKNOWN;
}

static bool is_left_behind(const struct doctor_machine *m)
{
    return service(m) == DOCTOR_CHIP_LEFT_BEHIND;
}

/* The card to compute with is NVIDIA's. */
static bool is_nvidia(const struct doctor_machine *m)
{
    return doctor_has_vendor(m, DOCTOR_NVIDIA, true) && !doctor_has_vendor(m, DOCTOR_AMD, true);
}

static bool if_reinstall(const struct doctor_machine *m, struct doctor_words *words)
{
    struct doctor_words found = { "", "" };
    if (!doctor_if_library_broken(m, &found)) return false;
    doctor_value(words, "%s", found.value);
    return true;
}

static bool if_fix_driver(const struct doctor_machine *m, struct doctor_words *words)
{
    (void)words;
    return rule_holds(m, doctor_if_gpu_no_driver) || rule_holds(m, doctor_if_cmdline_nomodeset);
}

static bool if_fix_kfd(const struct doctor_machine *m, struct doctor_words *words)
{
    struct doctor_words found = { "", "" };
    if (!doctor_if_kfd_missing(m, &found)) return false;
    doctor_value(words, "%s", found.value);
    return true;
}

static bool if_fix_slot(const struct doctor_machine *m, struct doctor_words *words)
{
    (void)words;
    return rule_holds(m, doctor_if_atomics_rejected) || rule_holds(m, doctor_if_kfd_gpu_missing);
}

static bool if_fix_access(const struct doctor_machine *m, struct doctor_words *words)
{
    if (rule_holds(m, doctor_if_container_no_groups) ||
        rule_holds(m, doctor_if_container_no_devices)) {
        if (m->kfd.exists)
            doctor_value(words, "docker run --device=/dev/kfd --device=/dev/dri --group-add %u …",
                         m->kfd.gid);
        else
            doctor_value(words, "docker run --device=/dev/kfd --device=/dev/dri --group-add "
                                "\"$(stat -c %%g /dev/kfd)\" …");
        return true;
    }
    doctor_value(words, "sudo usermod -aG render,video \"$USER\"   # then log out and in");
    return rule_holds(m, doctor_if_kfd_no_access);
}

static bool if_wsl(const struct doctor_machine *m, struct doctor_words *words)
{
    (void)words;
    return m->is_wsl;
}

static bool if_nvidia(const struct doctor_machine *m, struct doctor_words *words)
{
    (void)words;
    return is_nvidia(m);
}

static bool if_cpu(const struct doctor_machine *m, struct doctor_words *words)
{
    (void)words;
    return !doctor_has_vendor(m, DOCTOR_AMD, false) &&
           !doctor_has_vendor(m, DOCTOR_NVIDIA, false) && !m->is_wsl;
}

/* How a program is started with RMCP's MIOpen in this PyTorch. */
static const char *start_of(const struct doctor_machine *m, const struct doctor_python *python)
{
    return doctor_dropin_of(m, python) == DOCTOR_DROPIN_WHOLE
               ? "python train.py   # RMCP's MIOpen is installed there"
               : "rmcp run -- python train.py";
}

static bool if_keep_native(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    const struct doctor_python *python = is_left_behind(m) ? doctor_fit_python(m, gpu, true) : NULL;
    if (!python) return false;
    const bool own = doctor_targets_have(doctor_torch_library(m, python)->targets, gpu->chip);
    const char *first = !own ? "export HSA_OVERRIDE_GFX_VERSION=10.1.0; " /* gfx1010 for gfx1012 */
                        : doctor_is_foreign(m, gpu) ? "unset HSA_OVERRIDE_GFX_VERSION; "
                                                    : "";
    doctor_value(words, "%s%s", first, start_of(m, python));
    return true;
}

static bool if_match_rocm(const struct doctor_machine *m, struct doctor_words *words)
{
    struct doctor_words found = { "", "" };
    const bool differs = doctor_if_torch_rocm_mismatch(m, &found);
    doctor_value(words, "%s", differs ? found.value : "unset LD_LIBRARY_PATH");
    return differs || rule_holds(m, doctor_if_torch_two_miopens);
}

static bool is_served(const struct doctor_machine *m)
{
    return (service(m) == DOCTOR_CHIP_WHEEL || service(m) == DOCTOR_CHIP_FAMILY) && !is_nvidia(m);
}

static bool if_nothing(const struct doctor_machine *m, struct doctor_words *words)
{
    (void)words;
    return is_served(m) && rule_holds(m, doctor_if_torch_ok) &&
           rule_holds(m, doctor_if_access_ok) &&
           !if_match_rocm(m, &(struct doctor_words){ "", "" });
}

static bool if_official(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    if (!is_served(m) || doctor_fit_python(m, gpu, false)) return false;
    const uint32_t sibling = doctor_chip_sibling(gpu->version);
    if (service(m) == DOCTOR_CHIP_FAMILY)
        doctor_value(words, "; export HSA_OVERRIDE_GFX_VERSION=%u.%u.%u", sibling / 10000,
                     sibling / 100 % 100, sibling % 100);
    return true;
}

static bool if_therock(const struct doctor_machine *m, struct doctor_words *words)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    if (!is_left_behind(m) || doctor_fit_python(m, gpu, true)) return false;
    doctor_value(words, "%s", gpu->chip);
    return true;
}

static bool if_distribution(const struct doctor_machine *m, struct doctor_words *words)
{
    (void)words;
    return is_left_behind(m) && (!strcmp(m->os_id, "arch") || strstr(m->os_like, "arch")) &&
           !doctor_fit_python(m, doctor_main_gpu(m), true);
}

static bool if_left_behind(const struct doctor_machine *m, struct doctor_words *words)
{
    if (!is_left_behind(m)) return false;
    doctor_value(words, "%s", doctor_main_gpu(m)->chip);
    return true;
}

static bool if_gfx803(const struct doctor_machine *m, struct doctor_words *words)
{
    (void)words;
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    return gpu && gpu->version == 80003;
}

static bool if_not_served(const struct doctor_machine *m, struct doctor_words *words)
{
    (void)words;
    return doctor_main_gpu(m) && !is_served(m) && !is_nvidia(m);
}

static bool if_vulkan(const struct doctor_machine *m, struct doctor_words *words)
{
    doctor_install_command(m, "mesa-vulkan-drivers", "vulkan-radeon", "mesa-vulkan-drivers",
                           words->value, sizeof words->value);
    return if_not_served(m, &(struct doctor_words){ "", "" });
}

static bool if_opencl_cpu(const struct doctor_machine *m, struct doctor_words *words)
{
    bool opencl = false;
    for (size_t i = 0; i < m->n_icds; i++)
        opencl |= !m->icds[i].is_vulkan && m->icds[i].is_amd && !m->icds[i].library_missing;
    doctor_value(words, "%s", opencl ? "opencl" : "cpu");
    return if_not_served(m, &(struct doctor_words){ "", "" });
}

static bool if_rocm52(const struct doctor_machine *m, struct doctor_words *words)
{
    doctor_value(
        words,
        "pip install torch==1.13.1+rocm5.2 --index-url https://download.pytorch.org/whl/rocm5.2; "
        "export HSA_OVERRIDE_GFX_VERSION=10.3.0");
    for (size_t i = 0; i < m->n_pythons; i++)
        if (!strncmp(m->pythons[i].hip, "5.2.", 4))
            doctor_value(words, "export HSA_OVERRIDE_GFX_VERSION=10.3.0   # it is installed; fp32 "
                                "only (--no-half)");
    return is_left_behind(m);
}

static bool if_last_resort(const struct doctor_machine *m, struct doctor_words *words)
{
    if (!is_left_behind(m) || doctor_fit_python(m, doctor_main_gpu(m), true)) return false;
    for (size_t i = 0; i < m->n_pythons; i++) {
        const struct doctor_library *library = doctor_torch_library(m, &m->pythons[i]);
        if (!library || !doctor_targets_have(library->targets, "gfx1030")) continue;
        doctor_value(words, "%s", start_of(m, &m->pythons[i]));
        return true;
    }
    return false;
}

const struct doctor_option doctor_options[] = {
    { "reinstall", "Repair the damaged installation first", "minutes", "the library loads again",
      "none", "{}", "", if_reinstall },
    { "fix-driver", "Get the amdgpu driver onto the card first", "minutes to an hour",
      "the card appears in /dev/dri and /dev/kfd", "a reboot",
      "sudo modprobe amdgpu; sudo dmesg | grep -i amdgpu", "", if_fix_driver },
    { "fix-kfd", "Get the compute driver running first",
      "minutes; an hour for a kernel of your own",
      "/dev/kfd appears, and everything below becomes possible", "a reboot into another kernel",
      "{}", "", if_fix_kfd },
    { "fix-slot", "Give the card a slot with PCIe atomics first", "an hour, with a screwdriver",
      "KFD accepts the card; boards before PCIe 3.0 never will", "none",
      "sudo lspci -vv | grep -i -E 'display|vga|AtomicOps'; then move the card to the slot at the "
      "CPU",
      "", if_fix_slot },
    { "fix-access", "Get access to /dev/kfd first", "a minute", "programs see the GPU", "none",
      "{}", "", if_fix_access },
    { "wsl-guide", "Follow AMD's guide for WSL, or boot Linux itself", "an hour",
      "gfx1100 and newer work in WSL; RDNA1 works in Linux only", "none",
      "rocminfo   # the chip is listed when WSL serves it", "reported by users", if_wsl },
    { "cuda-wheel", "PyTorch for CUDA", "minutes", "everything works, convolutions by cuDNN",
      "none", "pip install torch", "", if_nvidia },
    { "cpu", "Compute on the CPU", "none", "correct everywhere, slow for training", "none",
      "rmcp verify --device cpu", "tested by us", if_cpu },
    { "keep-native", "Keep this native PyTorch and put RMCP in the place of its MIOpen", "minutes",
      "all of PyTorch is code for the chip; convolutions and batch norm, MIOpen's weak spot here, "
      "are RMCP's",
      "a young build, not tested by AMD on RDNA1", "{}",
      "RMCP on RDNA1 is only simulated and proved so far: no card has run it", if_keep_native },
    { "match-rocm", "Let PyTorch have the ROCm that it was built with", "minutes",
      "what is installed works as it was meant to", "none", "{}", "", if_match_rocm },
    { "nothing", "Nothing: this machine is ready", "none", "PyTorch computes on the GPU", "none",
      "python -c 'import torch; print(torch.cuda.get_device_name())'", "reported by users",
      if_nothing },
    { "official-wheel", "pytorch.org's wheel for ROCm", "minutes", "everything works", "none",
      "pip install torch --index-url https://download.pytorch.org/whl/rocm6.4{}",
      "reported by users", if_official },
    { "therock", "AMD's TheRock wheel for this chip, with RMCP for the convolutions",
      "minutes, 2 GB",
      "native code for all of PyTorch, no override; convolutions from RMCP instead of MIOpen's "
      "slow ones",
      "AMD builds it, but does not test it on RDNA1",
      "unset HSA_OVERRIDE_GFX_VERSION; pip install --index-url "
      "https://repo.amd.com/rocm/whl-multi-arch/ "
      "\"torch[device-{}]\"",
      "wheel: reported by users; RMCP on RDNA1: only simulated, no card has run it", if_therock },
    { "distribution", "The distribution's PyTorch, with RMCP for the convolutions", "minutes",
      "native code; an RX 5700 trains MNIST with it", "updates of the distribution may break it",
      "sudo pacman -S python-pytorch-rocm", "reported by users; RMCP on RDNA1: only simulated",
      if_distribution },
    { "source-build", "PyTorch built from source for this chip, with RMCP",
      "hours; 16 GB of memory, 40 GB of disk", "native code of exactly the version you need",
      "fails easily where two ROCms are installed",
      "PYTORCH_ROCM_ARCH={} python tools/amd_build/build_amd.py && PYTORCH_ROCM_ARCH={} pip "
      "install -v .",
      "reported by users; RMCP on RDNA1: only simulated", if_left_behind },
    { "docker", "The same in a container", "an hour",
      "keeps the system as it is; no more code for the chip than what is installed in it",
      "official rocm/pytorch images have no code for RDNA1",
      "docker run -it --device=/dev/kfd --device=/dev/dri --group-add \"$(stat -c %g /dev/kfd)\" "
      "python:3.12 bash",
      "not tested by us", if_left_behind },
    { "community-gfx803", "A container that others built for gfx803", "an hour, 30 GB",
      "PyTorch of ROCm 6 runs for many", "made by one person; every update may break it",
      "git clone https://github.com/robertrosenbusch/gfx803_rocm",
      "reported by users; not tested by us", if_gfx803 },
    { "opencl-cpu", "Convolutions by RMCP through OpenCL or on the CPU", "minutes",
      "correct on every machine with a driver; PyTorch's other operations stay on the CPU",
      "slower than native code", "rmcp verify --device {} --suite quick",
      "tested by us on PoCL, NVIDIA and CPUs; not on this card", if_opencl_cpu },
    { "rocm52", "The old pairing: PyTorch 1.13.1 of ROCm 5.2 under the override",
      "an hour; Python 3.10", "works for several owners, fp32 only",
      "foreign code with silicon-bug patterns: random resets; no updates", "{}",
      "reported by users", if_rocm52 },
    { "override-last-resort", "The installed wheel under the override, with RMCP: the last resort",
      "minutes",
      "convolutions and batch norm become RMCP's native code; every other operation stays foreign "
      "code",
      "hangs, resets, wrong fp16 results", "export HSA_OVERRIDE_GFX_VERSION=10.3.0; {}",
      "only simulated, no card has run it", if_last_resort },
    { "vulkan", "Programs that compute through Vulkan (llama.cpp and others)", "minutes",
      "works well, without PyTorch", "none", "{}", "reported by users", if_vulkan },
    { "other-hardware", "Another card or a rented one", "money",
      "RX 6800 and newer (gfx1030, gfx1100, gfx1200) run the official wheels", "none", "",
      "reported by users", if_not_served },
};
const size_t doctor_n_options = sizeof doctor_options / sizeof *doctor_options;
