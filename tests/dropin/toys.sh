# toys.sh: to be sourced after lib.sh: toy MIOpens and PyTorches that tell which library they reached.
# shellcheck shell=sh disable=SC2154
#
# $toys/ours has two libraries in the place of RMCP's; wheel, therock, system, cpu and cuda make what
# programs of that kind have.
need cc readelf
toys=$work/toys
mkdir -p "$toys"

cat >"$toys/miopen.c" <<'C'
/* A MIOpen that says who it is. */
const char *miopenCreate(void);
const char *miopenCreate(void) { return WHO; }
const char words[] = WORDS;
C
cat >"$toys/torch.c" <<'C'
/* A PyTorch, as far as it calls MIOpen. */
extern const char *miopenCreate(void);
const char *convolve(void);
const char *convolve(void) { return miopenCreate(); }
C
cat >"$toys/main.c" <<'C'
#include <stdio.h>
extern const char *miopenCreate(void);
int main(void) { return printf("reached %s\n", miopenCreate()) < 0; }
C
echo 'MIOPEN_HIP_1 { global: miopen*; local: *; };' >"$toys/version"

# miopen FILE SONAME WHO [WORDS]
miopen() {
    mkdir -p "$(dirname "$1")"
    cc -shared -fPIC -o "$1" "-Wl,-soname,$2" "-Wl,--version-script,$toys/version" -DWHO="\"$3\"" \
        -DWORDS="\"${4:-of AMD}\"" "$toys/miopen.c" || die "cc does not make $1"
}
miopen "$toys/ours/libMIOpen.so.1" libMIOpen.so.1 ours.1 RMCP_MIOPEN_ORIGINAL
miopen "$toys/ours/wheel/libMIOpen.so" libMIOpen.so ours RMCP_MIOPEN_ORIGINAL
RMCP_MIOPEN_LIBRARY=$toys/ours
export RMCP_MIOPEN_LIBRARY
# A sanitized rmcp is started with our toys preloaded, too.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0"
unset LD_PRELOAD LD_LIBRARY_PATH VIRTUAL_ENV CONDA_PREFIX PYTHONPATH HSA_OVERRIDE_GFX_VERSION \
    RMCP_DISABLE RMCP_LOG RMCP_MIOPEN_ORIGINAL RMCP_LIBRARY

# venv FOLDER: a virtual environment; $site is its site-packages.
venv() {
    "$python" -m venv --without-pip "$1" >"$work/venv.log" 2>&1 || skip "this Python makes no venv"
    site=$(echo "$1"/lib/python3*/site-packages)
}

# torch SITE VERSION HIP CUDA: a PyTorch that loads lib/libtorch_hip.so, where there is one.
torch() {
    mkdir -p "$1/torch/lib"
    printf "__version__ = '%s'\ncuda = %s\nhip = %s\n" "$2" "$4" "$3" >"$1/torch/version.py"
    cat >"$1/torch/__init__.py" <<'PY'
import ctypes, os
here = os.path.dirname(os.path.abspath(__file__))
if os.path.exists(here + "/_rocm_init.py"):
    from . import _rocm_init
if os.path.exists(here + "/lib/libtorch_hip.so"):
    _hip = ctypes.CDLL(here + "/lib/libtorch_hip.so")
    _hip.convolve.restype = ctypes.c_char_p
    print("reached", _hip.convolve().decode(), flush=True)
else:
    print("reached nothing", flush=True)
PY
}
# wheel SITE: a wheel of pytorch.org.
wheel() {
    torch "$1" 2.5.1+rocm6.2 "'6.2.41133-dd7f95766'" None
    miopen "$1/torch/lib/libMIOpen.so" libMIOpen.so bundled
    cc -shared -fPIC -o "$1/torch/lib/libtorch_hip.so" "$toys/torch.c" "-L$1/torch/lib" -lMIOpen \
        '-Wl,-rpath,$ORIGIN' -Wl,--disable-new-dtags || die "no libtorch_hip.so"
}
# therock SITE: PyTorch whose ROCm is a Python package, loaded by path.
therock() {
    torch "$1" 2.9.0+rocm7.10 "'7.10.60850'" None
    sdk=$1/_rocm_sdk_libraries_gfx101X_dgpu/lib
    miopen "$sdk/libMIOpen.so.1.0.71000" libMIOpen.so.1 therock
    ln -s libMIOpen.so.1.0.71000 "$sdk/libMIOpen.so.1"
    ln -s libMIOpen.so.1 "$sdk/libMIOpen.so"
    cat >"$1/torch/_rocm_init.py" <<'PY'
import ctypes, glob, os
site = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
for path in glob.glob(glob.escape(site) + "/_rocm_sdk_libraries*/lib/libMIOpen.so.1"):
    ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
PY
    cc -shared -fPIC -o "$1/torch/lib/libtorch_hip.so" "$toys/torch.c" "-L$sdk" -lMIOpen ||
        die "no libtorch_hip.so"
}
# system FOLDER: a MIOpen for LD_LIBRARY_PATH, and FOLDER/program, linked with it.
system() {
    miopen "$1/libMIOpen.so.1" libMIOpen.so.1 system
    ln -s libMIOpen.so.1 "$1/libMIOpen.so"
    cc -o "$1/program" "$toys/main.c" "-L$1" -lMIOpen || die "no program"
}
