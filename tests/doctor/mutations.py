# Single changes of a recorded machine that is ready: those that break it, by layer, and those that do it no harm.
#
# Each row is (class, name, change, finding): the change gets a copy of the machine and returns it, or None where it
# does not apply; the finding is one that must then be there, "" when only the verdict counts.
import re

from recorded_machine import NODES

KFD, RENDER = "/dev/kfd", r"/dev/dri/renderD\d+"
BREAKS, HARMLESS = [], []


def breaks(group, name, finding=""):
    def add(change):
        BREAKS.append((group, name, change, finding))
        return change
    return add


def harmless(group, name):
    def add(change):
        HARMLESS.append((group, name, change, ""))
        return change
    return add


def on_host(change):
    return lambda m: None if m.is_container() else change(m)


def in_container(change):
    return lambda m: change(m) if m.is_container() else None


# ---- permissions ----

for error in "EACCES", "EPERM":
    breaks("permissions", f"kfd {error}", "kfd-no-access")(on_host(lambda m, e=error: m.device(KFD, e)))
    breaks("permissions", f"kfd {error} in the container", "container-no-groups")(
        in_container(lambda m, e=error: m.device(KFD, e)))
    breaks("permissions", f"render {error}", "render-missing")(on_host(lambda m, e=error: m.device(RENDER, e)))
    breaks("permissions", f"render {error} in the container", "container-no-render")(
        in_container(lambda m, e=error: m.device(RENDER, e)))
breaks("permissions", "kfd of root alone", "kfd-no-access")(on_host(lambda m: m.device(KFD, "EACCES", "600")))
breaks("permissions", "all closed")(lambda m: m.device("/dev/.*", "EACCES"))
breaks("permissions", "SELinux", "access-policy")(
    lambda m: m.device(KFD, "EACCES", "666").put("/sys/fs/selinux/enforce", "1"))
for error in "EINVAL", "ENODEV", "ENXIO", "EIO", "ENOMEM", "EBUSY":
    breaks("permissions", f"kfd {error}", "kfd-open-fails")(lambda m, e=error: m.device(KFD, e))
    breaks("permissions", f"render {error}", "render-missing")(on_host(lambda m, e=error: m.device(RENDER, e)))

# ---- device nodes ----

breaks("device nodes", "no kfd", "kfd-missing")(on_host(lambda m: m.device(KFD, None)))
breaks("device nodes", "no kfd in the container", "container-no-devices")(in_container(lambda m: m.device(KFD, None)))
breaks("device nodes", "no render node", "render-missing")(on_host(lambda m: m.device(RENDER, None)))
breaks("device nodes", "no render node in the container", "container-no-render")(
    in_container(lambda m: m.device(RENDER, None)))
breaks("device nodes", "none")(lambda m: m.put("/rmcp/devices", ""))
breaks("device nodes", "none is told")(lambda m: m.remove("/rmcp/devices"))


@breaks("device nodes", "the render node of another card alone")
def _(m):
    for number in m.nodes():
        m.replace(f"{NODES}/{number}/properties", r"\Z", f"drm_render_minor {180 + number}\n")
    return m


# ---- the driver ----

GPU_NODES = NODES + r"/[1-9]\d*/.*"


def unbound(m, driver=None):
    m.remove(r".*/driver").remove(NODES + ".*")
    m.device("/dev/.*", None)
    if driver:
        m.link(m.main + "/driver", "../../../../bus/pci/drivers/" + driver)
    return m


breaks("driver", "not bound", "gpu-no-driver")(lambda m: unbound(m))
breaks("driver", "not loaded", "gpu-no-driver")(lambda m: unbound(m).put("/proc/modules", ""))
breaks("driver", "radeon", "gpu-no-driver")(lambda m: unbound(m, "radeon"))
breaks("driver", "simpledrm", "gpu-no-driver")(lambda m: unbound(m, "simple-framebuffer"))
breaks("driver", "vfio-pci", "gpu-vfio")(lambda m: unbound(m, "vfio-pci"))
breaks("driver", "vfio-pci, the topology is stale")(lambda m: m.link(m.main + "/driver", "drivers/vfio-pci"))
breaks("driver", "its link alone is gone")(lambda m: m.remove(m.main + "/driver"))
breaks("driver", "pci-stub")(lambda m: m.link(m.main + "/driver", "drivers/pci-stub"))
breaks("driver", "blacklist", "gpu-blacklisted")(
    lambda m: unbound(m).put("/etc/modprobe.d/a.conf", "blacklist amdgpu\n"))
breaks("driver", "install /bin/false", "gpu-blacklisted")(
    lambda m: unbound(m).put("/etc/modprobe.d/a.conf", "install amdgpu /bin/false\n"))
breaks("driver", "rejected key", "driver-rejected")(
    lambda m: unbound(m).log("Loading of module with unavailable key is rejected"))
breaks("driver", "its start failed", "driver-failed")(
    lambda m: unbound(m).log("amdgpu: probe of 0000:03:00.0 failed with error -22"))
breaks("driver", "no memory for its BAR", "driver-failed")(
    lambda m: unbound(m).log("amdgpu 0000:03:00.0: amdgpu: Fatal error during GPU init"))

# ---- firmware ----

for file in "amdgpu/gc_11_0_0_pfp.bin", "amdgpu/navi21_sos.bin", "amdgpu/vega10_gpu_info.bin":
    breaks("firmware", file, "firmware-missing")(
        lambda m, f=file: unbound(m).log(f"amdgpu 0000:03:00.0: Direct firmware load for {f} failed with error -2"))



@breaks("firmware", "a scheduler's that hangs", "firmware-mes-bad")
def _(m):
    for number in m.nodes():
        m.replace(f"{NODES}/{number}/properties", r"^gfx_target_version.*", "gfx_target_version 110501")
    m.replace(m.library("libtorch_hip.so"), "^targets .*", "targets gfx1151")
    m.variable("HSA_OVERRIDE_GFX_VERSION", None).put(m.main + "/fw_version/mes_fw_version", "0x00000083\n")
    return m.put("/proc/sys/kernel/osrelease", "6.18.2\n") if m.library("librocblas.so") and \
        m.replace(m.library("librocblas.so"), "^targets .*", "targets gfx1151") else None


# ---- kernel ----


@breaks("kernel", "older than the chip", "kernel-old")
def _(m):
    m.remove("/sys/module/amdgpu/version")
    return m.put("/proc/sys/kernel/osrelease", "5.4.0-42-generic\n") if m.version() >= 100100 else None


breaks("kernel", "without CONFIG_HSA_AMD", "kfd-missing")(on_host(
    lambda m: m.remove(NODES + ".*").device(KFD, None).put("/proc/sys/kernel/osrelease", "6.12.0\n")
    .put("/boot/config-6.12.0", "# CONFIG_HSA_AMD is not set\n")))

# ---- topology ----

breaks("topology", "none")(lambda m: m.remove(NODES + ".*"))
breaks("topology", "no GPU in it")(lambda m: m.remove(GPU_NODES))


@breaks("topology", "the chip's version is 0")
def _(m):
    for number in m.nodes():
        m.replace(f"{NODES}/{number}/properties", r"^gfx_target_version.*", "gfx_target_version 0")
    return m


@breaks("topology", "another device")
def _(m):
    for number in m.nodes():
        m.replace(f"{NODES}/{number}/properties", r"^(device_id|location_id).*", r"\1 5")
    return m


@breaks("topology", "nodes that cannot be read")
def _(m):
    for number in m.nodes():
        m.put(f"{NODES}/{number}/properties", "")
    return m


# ---- variables that hide cards ----

for variable in "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL":
    for value in "-1", "", "99", "none", ",":
        if variable == "GPU_DEVICE_ORDINAL" and not value:
            continue  # then it is not read at all
        breaks("hidden cards", f"{variable}={value}", "visible-none")(
            lambda m, n=variable, v=value: m.variable("HIP_VISIBLE_DEVICES", None).variable(n, v))
breaks("hidden cards", "two lists that leave none", "visible-none")(
    lambda m: m.variable("ROCR_VISIBLE_DEVICES", "0").variable("HIP_VISIBLE_DEVICES", "1"))


def with_igpu(m):
    """A processor's graphics as another node behind the others."""
    number = max(m.nodes()) + 1
    at = "/sys/bus/pci/devices/0000:7c:00.0"
    m.put(at + "/vendor", "0x1002\n").put(at + "/device", "0x164e\n").put(at + "/class", "0x030000\n")
    m.put(at + "/revision", "0xc1\n").link(at + "/driver", "../drivers/amdgpu")
    m.put(at + "/mem_info_vram_total", "536870912\n")
    m.put(f"{NODES}/{number}/properties", "cpu_cores_count 0\nsimd_count 4\nsimd_per_cu 2\ngfx_target_version 100306\n"
          "vendor_id 4098\ndevice_id 5710\nlocation_id 31744\ndomain 0\n")
    return m.line("/rmcp/devices", "/dev/dri/renderD140 c 666 0 110 ok")


def shows_all(m):
    """Without a variable that hides cards: one that is set already decides, whatever another says."""
    for name in "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES":
        m.variable(name, None)
    return m


def is_card(m):
    return int(m.files[m.main + "/mem_info_vram_total"]) > 4 << 30 and "vega8" not in m.name and "vega11" not in m.name


for variable in "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES":
    breaks("hidden cards", f"{variable} leaves the processor's graphics", "visible-other")(
        lambda m, n=variable: shows_all(with_igpu(m)).variable("HSA_OVERRIDE_GFX_VERSION", None)
        .variable(n, str(len(m.nodes()) - 1)) if is_card(m) else None)

breaks("hidden cards", "the processor's graphics are visible, too", "igpu-visible")(
    lambda m: shows_all(with_igpu(m)) if is_card(m) else None)
breaks("hidden cards", "HIP_VISIBLE_DEVICES shows both", "igpu-visible")(
    lambda m: shows_all(with_igpu(m)).variable("HIP_VISIBLE_DEVICES", ",".join(str(i) for i in range(len(m.nodes()))))
    if is_card(m) else None)

# ---- overrides ----


def foreign(m):
    return "11.0.0" if m.version() // 10000 != 11 else "10.3.0"


breaks("override", "another family", "override-foreign")(lambda m: m.variable("HSA_OVERRIDE_GFX_VERSION", foreign(m)))
breaks("override", "another generation", "override-foreign")(lambda m: m.variable("HSA_OVERRIDE_GFX_VERSION", "8.0.3"))
breaks("override", "no chip", "override-foreign")(lambda m: m.variable("HSA_OVERRIDE_GFX_VERSION", "10.9.9"))


@breaks("override", "another family, for this device", "override-foreign")
def _(m):
    for number in m.nodes():
        m.variable(f"HSA_OVERRIDE_GFX_VERSION_{number}", foreign(m))
    return m


for value in "gfx1030", "10.3", "11", "", "10.3.0.0", "v11.0.0":
    breaks("override", f"'{value}'", "override-malformed")(lambda m, v=value: m.variable("HSA_OVERRIDE_GFX_VERSION", v))


def for_one_device(m, old):
    """The override for its device alone, with a ROCm before or after the release that reads it."""
    text = m.files[m.torch() + "/torch/version.py"]
    value = re.search(r"HSA_OVERRIDE_GFX_VERSION=(.*)", m.files.get("/rmcp/environment", ""))
    is_old = tuple(map(int, re.search(r"hip = '(\d+)\.(\d+)", text).groups())) < (6, 2)
    if not value or is_old != old:
        return None
    m.variable("HSA_OVERRIDE_GFX_VERSION", None)
    return m.variable(f"HSA_OVERRIDE_GFX_VERSION_{m.nodes()[0]}", value[1])


breaks("override", "for its device, with an old ROCm", "override-unread")(lambda m: for_one_device(m, True))
harmless("override", "for its device")(lambda m: for_one_device(m, False))


@breaks("override", "the chip needs one, and has none")
def _(m):
    if "override-family" not in " ".join(m.expected):
        return None
    return m.variable("HSA_OVERRIDE_GFX_VERSION", None)


# ---- the loader, and other variables ----


def other_rocm(m, version="5.4.3"):
    for name in "libamdhip64.so.5", "libhsa-runtime64.so.1", "libMIOpen.so.1", "librocblas.so.0":
        m.put(f"/srv/rocm-{version}/lib/{name}", f"rmcp-library 1\nsize 9000000\nsoname {name}\ntargets none\n")
    return m


breaks("loader", "LD_LIBRARY_PATH with another ROCm")(
    lambda m: other_rocm(m).variable("LD_LIBRARY_PATH", "/srv/rocm-5.4.3/lib"))
breaks("loader", "LD_LIBRARY_PATH with another HIP alone", "loader-mixed")(
    lambda m: m.put("/srv/hip/libamdhip64.so.5", "rmcp-library 1\nsize 9\nsoname libamdhip64.so.5\ntargets none\n")
    .variable("LD_LIBRARY_PATH", "/srv/hip"))
breaks("loader", "LD_LIBRARY_PATH with another HSA alone", "loader-mixed")(
    lambda m: m.put("/srv/hsa/libhsa-runtime64.so.1", "rmcp-library 1\nsize 9\nsoname libhsa-runtime64.so.1\n"
                    "targets none\n").variable("LD_LIBRARY_PATH", "/usr/lib:/srv/hsa"))
for library in "libamdhip64.so.5", "libhsa-runtime64.so.1", "librocblas.so.0":
    breaks("loader", f"LD_PRELOAD of {library}", "loader-mixed")(
        lambda m, l=library: other_rocm(m).variable("LD_PRELOAD", f"/srv/rocm-5.4.3/lib/{l}"))
breaks("loader", "LD_PRELOAD of a shim", "preload-shim")(lambda m: m.variable("LD_PRELOAD", "/opt/libhip_shim.so"))
breaks("loader", "LD_PRELOAD of something unknown")(lambda m: m.variable("LD_PRELOAD", "/opt/acme/libfoo.so"))
breaks("loader", "/etc/ld.so.preload", "preload-file")(
    lambda m: m.put("/etc/ld.so.preload", "/opt/libhip_intercept.so\n"))
breaks("variables", "ROCBLAS_TENSILE_LIBPATH", "kernels-elsewhere")(
    lambda m: m.variable("ROCBLAS_TENSILE_LIBPATH", "/opt/nowhere/library"))
breaks("variables", "HIPBLASLT_TENSILE_LIBPATH", "kernels-elsewhere")(
    lambda m: m.variable("HIPBLASLT_TENSILE_LIBPATH", "/opt/nowhere/library"))
for value in "garbage", "max_split_size:512", "max_split_size_mb=512":
    for variable in "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF":
        breaks("variables", f"{variable}={value}", "allocator-malformed")(
            lambda m, n=variable, v=value: m.variable(n, v))

# ---- Python ----


def version_py(m, version, hip, cuda):
    return m.put(m.torch() + "/torch/version.py", f"__version__ = '{version}'\ncuda = {cuda}\nhip = {hip}\n")


def release(m):
    text = m.files[m.torch() + "/torch/version.py"]
    return re.search(r"__version__ = '(\d+\.\d+)", text)[1]


breaks("Python", "CPU wheel", "torch-cpu-build")(
    lambda m: version_py(m, "2.5.1+cpu", None, None).remove(re.escape(m.torch()) + "/torch/lib/.*"))
breaks("Python", "CUDA wheel", "torch-cuda-build")(
    lambda m: version_py(m, "2.5.1+cu124", None, "'12.4'").remove(re.escape(m.torch()) + "/torch/lib/.*"))
breaks("Python", "CUDA wheel over it", "torch-overwritten")(lambda m: version_py(m, "2.5.1+cu124", None, "'12.4'"))
breaks("Python", "CPU wheel over it", "torch-overwritten")(lambda m: version_py(m, "2.5.1+cpu", None, None))
breaks("Python", "no PyTorch", "torch-none")(lambda m: m.remove(".*/site-packages/.*").remove(".*/dist-packages/.*"))
breaks("Python", "an empty version.py")(lambda m: m.put(m.torch() + "/torch/version.py", ""))


def is_wheel(m):
    return "+rocm" in m.files[m.torch() + "/torch/version.py"] and m.library("libamdhip64.so")


for library in "libtorch_hip.so", "libamdhip64.so", "libMIOpen.so", "librocblas.so":
    breaks("Python", f"without {library}", "torch-incomplete")(
        lambda m, l=library: m.remove(re.escape(m.library(l))) if is_wheel(m) else None)
    breaks("Python", f"{library} cut off", "library-broken")(
        lambda m, l=library: m.put(m.library(l), "rmcp-library 1\nsize 12\ntrouble file too short\n")
        if m.library(l) else None)
    breaks("Python", f"{library} empty", "library-broken")(
        lambda m, l=library: m.put(m.library(l), "") if m.library(l) else None)
    breaks("Python", f"{library} not read in time")(
        lambda m, l=library: m.put(m.library(l), "rmcp-library 1\nsize 12\nlate\n") if m.library(l) else None)
breaks("Python", "code for other chips alone", "torch-no-arch")(
    lambda m: m.replace(m.library("libtorch_hip.so"), "^targets .*", "targets gfx803,gfx1010"))
breaks("Python", "no GPU code")(lambda m: m.replace(m.library("libtorch_hip.so"), "^targets .*", "targets none"))
breaks("Python", "rocBLAS for other chips", "torch-no-rocblas")(
    lambda m: m.replace(m.library("librocblas.so"), "^targets .*", "targets gfx803,gfx1010")
    if m.library("librocblas.so") else None)
breaks("Python", "rocBLAS without kernels", "torch-no-rocblas")(
    lambda m: m.replace(m.library("librocblas.so"), "^targets .*", "targets none")
    if m.library("librocblas.so") else None)


def other(version):
    major, minor = version.split(".")
    return f"0.{int(minor) + (15 if major == '2' else 1)}.0"


def beside(m, package, version):
    return m.put(f"{m.torch()}/{package}/version.py", f"__version__ = '{version}'\n") if is_wheel(m) else None


breaks("Python", "torchvision for CUDA", "torch-mixed")(
    lambda m: beside(m, "torchvision", other(release(m)) + "+cu121"))
breaks("Python", "torchvision for the CPU", "torch-mixed")(
    lambda m: beside(m, "torchvision", other(release(m)) + "+cpu"))
breaks("Python", "torchvision of PyPI", "torch-mixed")(lambda m: beside(m, "torchvision", other(release(m))))
breaks("Python", "torchvision of another release", "torch-mixed")(lambda m: beside(m, "torchvision", "0.3.0+rocm6.2"))


@breaks("Python", "amdsmi beside a PyTorch of AMD's", "torch-amdsmi")
def _(m):
    m.put(m.torch() + "/_rocm_sdk_core/lib/libamdhip64.so.7", "rmcp-library 1\nsize 9\ntargets none\n")
    return m.put(m.torch() + "/amdsmi/__init__.py", "")


breaks("Python", "torchaudio for CUDA", "torch-mixed")(lambda m: beside(m, "torchaudio", release(m) + ".0+cu121"))


def prefix(m):
    return m.torch().split("/lib/python")[0].split("/lib64/python")[0]


def second(m, at, version="2.5.1+cu124", cuda="'12.4'"):
    return m.put(at + "/torch/version.py", f"__version__ = '{version}'\ncuda = {cuda}\nhip = None\n")


for name, version, cuda in ("CUDA", "2.5.1+cu124", "'12.4'"), ("CPU", "2.5.1+cpu", None):
    breaks("environments", f"another in use, for {name}")(
        lambda m, v=version, c=cuda: second(m.variable("VIRTUAL_ENV", "/home/user/env7").variable("CONDA_PREFIX", None),
                                           "/home/user/env7/lib/python3.12/site-packages", v, c))
    breaks("environments", f"PYTHONPATH with one for {name}")(
        lambda m, v=version, c=cuda: second(m.variable("PYTHONPATH", "/srv/x:/srv/modules"), "/srv/modules", v, c))


@breaks("environments", "one without PyTorch in use")
def _(m):
    m.put("/home/user/env7/lib/python3.12/site-packages/pip/__init__.py", "")
    return m.variable("VIRTUAL_ENV", "/home/user/env7").variable("CONDA_PREFIX", None)


@breaks("environments", "~/.local hides that of the conda environment", "torch-shadowed")
def _(m):
    at = prefix(m)
    number = re.search(r"/(python3\.\d+)/", m.torch())
    if not number or not at.startswith("/home/"):
        return None
    m.variable("VIRTUAL_ENV", None).variable("CONDA_PREFIX", at)
    return second(m, f"/home/user/.local/lib/{number[1]}/site-packages")


@breaks("environments", "its Python is gone", "python-gone")
def _(m):
    at = prefix(m)
    return m.link(at + "/bin/python3", "/usr/bin/python3.66") if at.startswith("/home/") else None


# ---- containers ----


def contained(m, kind):
    marks = {"docker": ("/.dockerenv", ""), "podman": ("/run/.containerenv", "engine=\"podman\"\n"),
             "lxc": ("/run/systemd/container", "lxc\n"), "kubernetes": ("/proc/1/cgroup", "0::/kubepods/x\n"),
             "pod of containerd": ("/var/run/secrets/kubernetes.io/serviceaccount/namespace", "default\n"),
             "apptainer": ("/.singularity.d/env/x", ""), "flatpak": ("/.flatpak-info", "[Application]\n")}
    return None if m.is_container() else m.put(*marks[kind])


for kind in "docker", "podman", "lxc", "kubernetes", "pod of containerd", "apptainer", "flatpak":
    breaks("containers", f"{kind} without devices", "container-no-devices")(
        lambda m, k=kind: (c := contained(m, k)) and c.put("/rmcp/devices", ""))
    breaks("containers", f"{kind} without the group", "container-no-groups")(
        lambda m, k=kind: (c := contained(m, k)) and c.device(KFD, "EACCES"))
    breaks("containers", f"{kind} without render node", "container-no-render")(
        lambda m, k=kind: (c := contained(m, k)) and c.device(RENDER, None))
    breaks("containers", f"{kind} with a rule in the way", "container-no-groups")(
        lambda m, k=kind: (c := contained(m, k)) and c.device(KFD, "EPERM"))

# ---- WSL ----


def wsl(m, devices):
    m.remove("/sys/bus/pci/.*").remove(NODES + ".*").remove("/proc/modules")
    return m.put("/rmcp/devices", devices).put("/proc/sys/kernel/osrelease", "5.15.167.4-microsoft-standard-WSL2\n")


breaks("WSL", "without /dev/dxg", "wsl")(lambda m: wsl(m, ""))
breaks("WSL", "with /dev/dxg", "wsl")(lambda m: wsl(m, "/dev/dxg c 666 0 0 ok\n"))

# ---- the kernel log ----

LOG = {
    "log-page-fault": [
        "amdgpu 0000:03:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:24 vmid:8 pasid:32773)",
        "amdgpu 0000:03:00.0: [mmhub0] no-retry page fault (src_id:0 ring:0 vmid:0 pasid:0)",
        "amdgpu 0000:03:00.0: VM_L2_PROTECTION_FAULT_STATUS:0x00801031",
        "amdgpu 0000:03:00.0: GPU fault detected: 147 0x0a188402 for process python pid 1 thread python pid 1",
        "amdgpu 0000:03:00.0:   VM_CONTEXT1_PROTECTION_FAULT_STATUS 0x0008402E",
    ],
    "log-reset": [
        "amdgpu 0000:03:00.0: amdgpu: GPU reset begin!",
        "amdgpu 0000:03:00.0: amdgpu: GPU reset(2) failed",
        "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring sdma0 timeout, signaled seq=7, emitted seq=9",
        "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx_0.0.0 timeout, but soft recovered",
        "amdgpu 0000:03:00.0: amdgpu: ring comp_1.0.0 timeout, signaled seq=3, emitted seq=5",
        "amdgpu 0000:03:00.0: amdgpu: device lost from bus!",
        "amdgpu 0000:03:00.0: amdgpu: GPU reset succeeded, trying to resume",
        "amdgpu 0000:03:00.0: amdgpu: IP block:gfx_v11_0 is hung!",
        "[drm] VRAM is lost due to GPU reset!",
        "amdgpu 0000:03:00.0: amdgpu: Illegal opcode in command stream",
        "amdgpu 0000:03:00.0: amdgpu: SMU: I'm not done with your previous command: SMN_C2PMSG_66:0x00000006",
    ],
    "log-preemption": [
        "amdgpu: qcm fence wait loop timeout expired",
        "amdgpu: The cp might be in an unrecoverable state due to an unsuccessful queues preemption",
        "amdgpu: cp queue preemption time out.",
        "amdgpu: failed to remove hardware queue from MES, doorbell=0x1002",
        "[drm:mes_v11_0_submit_pkt_and_poll_completion.constprop.0 [amdgpu]] *ERROR* MES failed to response msg=3",
        "amdgpu 0000:03:00.0: amdgpu: MES failed to respond to msg=REMOVE_QUEUE",
        "amdgpu 0000:03:00.0: amdgpu: MES ring buffer is full.",
        "amdgpu: Failed to evict process queues",
        "amdgpu: Failed to suspend process 0x8005",
        "amdgpu: HIQ MQD's queue_doorbell_id0 is not 0, Queue preemption time out",
    ],
    "log-hardware": [
        "amdgpu 0000:03:00.0: amdgpu: uncorrectable hardware error(ERREVENT_ATHUB_INTERRUPT) detected!",
        "amdgpu 0000:03:00.0: amdgpu: 2 uncorrectable hardware errors detected in umc block",
        "amdgpu 0000:03:00.0: AER: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer",
        "amdgpu 0000:03:00.0: amdgpu: GPU is in bad status, reserved threshold of bad pages reached",
        "mce: [Hardware Error]: CPU 9: Machine Check: 0 Bank 5: bea0000000000108",
    ],
    "log-crash": [
        "python3[4242]: segfault at 20 ip 00007f2c sp 00007ffd error 4 in libamdhip64.so.6[7f2c+1000]",
        "python[77]: segfault at 0 ip 00007f2c sp 00007ffd error 4 in libhsa-runtime64.so.1.14.0[7f2c+1000]",
        "traps: python3[4242] general protection fault ip:7f2c sp:7ffd error:0 in libtorch_hip.so[7f2c+1000]",
        "python3[4242]: segfault at 20 ip 00007f2c sp 00007ffd error 4 in libtorch_cpu.so[7f2c+1000]",
        "python3[4242]: segfault at 20 ip 00007f2c sp 00007ffd error 4 in libhipblaslt.so.0[7f2c+1000]",
    ],
}
for finding, lines in LOG.items():
    for line in lines:
        breaks("kernel log", line[:70], finding)(lambda m, l=line: m.log("[  512.100000] " + l))
for line in ("amdgpu 0000:03:00.0: amdgpu: HW Exception by GPU node-1", "amdgpu: Fatal something new",
             "kfd kfd: amdgpu: Failed to do something new", "amdgpu 0000:03:00.0: something new timed out"):
    breaks("kernel log", line)(lambda m, l=line: m.log("[  512.100000] " + l))
breaks("kernel log", "not readable", "log-unreadable")(
    lambda m: m.remove("/rmcp/kernel.log").put("/rmcp/unread", "kernel log\n"))
breaks("kernel log", "not supported in kfd", "log-unsupported")(
    lambda m: m.remove(GPU_NODES).log("kfd kfd: amdgpu: CHIP not supported in kfd"))
breaks("kernel log", "no PCIe atomics", "atomics-rejected")(
    lambda m: m.remove(GPU_NODES).log("kfd kfd: amdgpu: skipped device 1002:744c, PCI rejects atomics 730<0"))

# ---- the kernel's command line ----

for option in "nomodeset", "amdgpu.modeset=0":
    breaks("command line", option, "cmdline-nomodeset")(
        lambda m, o=option: unbound(m).put("/proc/cmdline", f"ro {o} quiet\n"))
for option in "modprobe.blacklist=nouveau,amdgpu", "module_blacklist=amdgpu", "rd.driver.blacklist=amdgpu":
    breaks("command line", option, "gpu-blacklisted")(lambda m, o=option: unbound(m).put("/proc/cmdline", f"ro {o}\n"))
breaks("command line", "vfio-pci.ids", "gpu-vfio")(
    lambda m: unbound(m, "vfio-pci").put("/proc/cmdline", "vfio-pci.ids=1002:744c\n"))

# ---- sizes ----

breaks("sizes", "a full disk", "disk-full")(lambda m: m.put("/rmcp/disks", "/home 1000000\n"))
breaks("sizes", "no video memory is told")(
    lambda m: m.remove(".*/mem_info_vram_total").remove(NODES + "/.*/mem_banks/.*"))
breaks("sizes", "hardly any video memory", "vram-small")(
    lambda m: m.put(m.main + "/mem_info_vram_total", "268435456\n") if is_card(m) else None)

# ---- harmless ----

harmless("variables", "HSA_ENABLE_SDMA=0")(lambda m: m.variable("HSA_ENABLE_SDMA", "0"))
harmless("variables", "PYTORCH_ROCM_ARCH")(lambda m: m.variable("PYTORCH_ROCM_ARCH", "gfx1030"))
harmless("variables", "MIOPEN_FIND_MODE")(lambda m: m.variable("MIOPEN_FIND_MODE", "FAST"))
harmless("variables", "AMD_LOG_LEVEL")(lambda m: m.variable("AMD_LOG_LEVEL", "3"))
harmless("variables", "GPU_MAX_HW_QUEUES")(lambda m: m.variable("GPU_MAX_HW_QUEUES", "2"))
for value in "expandable_segments:True", "garbage_collection_threshold:0.6,max_split_size_mb:128", "":
    harmless("variables", f"PYTORCH_HIP_ALLOC_CONF={value}")(lambda m, v=value: m.variable("PYTORCH_HIP_ALLOC_CONF", v))
harmless("loader", "tcmalloc")(lambda m: m.variable("LD_PRELOAD", "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4"))
harmless("loader", "jemalloc")(lambda m: m.variable("LD_PRELOAD", "libjemalloc.so.2:libstdc++.so.6"))
harmless("loader", "LD_LIBRARY_PATH without ROCm")(lambda m: m.variable("LD_LIBRARY_PATH", "/usr/local/lib:/opt/x/lib"))
harmless("cards", "HIP_VISIBLE_DEVICES=0")(lambda m: m.variable("HIP_VISIBLE_DEVICES", "0"))
harmless("cards", "ROCR_VISIBLE_DEVICES=0")(lambda m: m.variable("ROCR_VISIBLE_DEVICES", "0"))
harmless("cards", "the processor's graphics hidden")(
    lambda m: with_igpu(m).variable("HIP_VISIBLE_DEVICES", "0") if is_card(m) else None)


def override(m):
    return "HSA_OVERRIDE_GFX_VERSION" in m.files.get("/rmcp/environment", "")


@harmless("override", "the chip's own")
def _(m):
    v = m.version()
    return None if override(m) else m.variable("HSA_OVERRIDE_GFX_VERSION", f"{v // 10000}.{v // 100 % 100}.{v % 100}")


harmless("override", "of a device that is not there")(
    lambda m: m.variable("HSA_OVERRIDE_GFX_VERSION_77", "8.0.3"))
harmless("kernel log", "nothing of GPUs")(
    lambda m: m.log("usb 1-1: new high-speed USB device").log("amdgpu: ring gfx uses VM"))
harmless("kernel log", "displays")(
    lambda m: m.log("amdgpu 0000:03:00.0: [drm] REG_WAIT timeout 1us * 100 tries - dcn32_program_compbuf_size line:138")
    .log("amdgpu 0000:03:00.0: [drm] *ERROR* flip_done timed out"))
harmless("kernel log", "optional firmware")(
    lambda m: m.log("amdgpu 0000:03:00.0: Direct firmware load for amdgpu/navi21_cap.bin failed with error -2"))
harmless("kernel log", "a crash of another program")(
    lambda m: m.log("firefox[99]: segfault at 20 ip 00007f2c sp 00007ffd error 4 in libxul.so[7f2c+1000]"))
harmless("kernel log", "an old card beside it is refused")(
    lambda m: m.log("kfd kfd: amdgpu: CAICOS not supported in kfd"))
harmless("driver", "a blacklist that does not hold")(
    lambda m: m.put("/etc/modprobe.d/a.conf", "# blacklist amdgpu\nblacklist nouveau\n"))
harmless("command line", "iommu=pt")(lambda m: m.put("/proc/cmdline", "ro iommu=pt amd_iommu=on quiet\n"))
harmless("Python", "torchvision of the same ROCm")(
    lambda m: beside(m, "torchvision", other(release(m)) + "+" + re.search(
        r"\+(\w+[\d.]+)", m.files[m.torch() + "/torch/version.py"])[1]) if is_wheel(m) else None)
harmless("environments", "another one for CUDA, not in use")(
    lambda m: second(m, "/home/user/env7/lib/python3.12/site-packages"))
harmless("environments", "its Python is there")(
    lambda m: m.link(prefix(m) + "/bin/python3", "/usr/bin/python3.12").put("/usr/bin/python3.12", "")
    if prefix(m).startswith("/home/") else None)
harmless("sizes", "a large disk")(lambda m: m.put("/rmcp/disks", "/home 500000000000\n"))
harmless("SELinux", "it enforces, and lets through")(lambda m: m.put("/sys/fs/selinux/enforce", "1"))
