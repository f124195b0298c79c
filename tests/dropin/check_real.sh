#!/bin/sh
# RMCP's own MIOpen by every way in: it is reached, finds librmcp, and opens a device.
# usage: check_real.sh RMCP DROP-IN-FOLDER LIBRMCP
set -u
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/toys.sh"
rmcp=$(realpath "$1") dropin=$(realpath "$2") librmcp=$(realpath "$3")
package=$(cd "$(dirname "$0")/../../python" && pwd)
unset RMCP_MIOPEN_LIBRARY
RMCP_DEVICE=cpu
export RMCP_DEVICE

# A PyTorch that makes a handle; the toy in the place of AMD's library answers with 77.
cat >"$toys/create.c" <<'C'
extern int miopenCreate(void **handle);
extern int miopenDestroy(void *handle);
int convolve(void);
int convolve(void)
{
    void *handle = 0;
    const int status = miopenCreate(&handle);
    return status ? status : handle ? miopenDestroy(handle) : 99;
}
C
cat >"$toys/amd.c" <<'C'
int miopenCreate(void **handle);
int miopenDestroy(void *handle);
int miopenCreate(void **handle) { return handle ? 77 : 78; }
int miopenDestroy(void *handle) { return handle ? 79 : 80; }
C
# build SITE SONAME FOLDER
build() {
    mkdir -p "$1/torch/lib" "$3"
    cc -shared -fPIC -o "$3/$2" "-Wl,-soname,$2" "-Wl,--version-script,$toys/version" "$toys/amd.c" || die "no toy"
    cc -shared -fPIC -o "$1/torch/lib/libtorch_hip.so" "$toys/create.c" "$3/$2" \
        '-Wl,-rpath,$ORIGIN' -Wl,--disable-new-dtags || die "no libtorch_hip.so"
    printf "__version__ = '2.5.1'\nhip = '6.2.41133'\ncuda = None\n" >"$1/torch/version.py"
    cat >"$1/torch/__init__.py" <<'PY'
import ctypes, os
here = os.path.dirname(os.path.abspath(__file__))
if os.path.exists(here + "/_rocm_init.py"):
    from . import _rocm_init
print("status", ctypes.CDLL(here + "/lib/libtorch_hip.so").convolve(), flush=True)
PY
}
reach() { # reach STATUS: what the last command said
    has "^status $1\$"
}

venv "$work/wheel"
wheel=$site
build "$site" libMIOpen.so "$site/torch/lib"
venv "$work/therock"
rock=$site
build "$site" libMIOpen.so.1 "$site/_rocm_sdk_libraries/lib"
cat >"$site/torch/_rocm_init.py" <<'PY'
import ctypes, os
site = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ctypes.CDLL(site + "/_rocm_sdk_libraries/lib/libMIOpen.so.1", mode=ctypes.RTLD_GLOBAL)
PY
for kind in wheel therock; do
    py=$work/$kind/bin/python
    [ $kind = wheel ] && site=$wheel || site=$rock
    expect 0 "$py" -c 'import torch'
    reach 77
    # rmcp run; switched off; with the original behind it.
    for now in '' 1; do
        expect 0 env "LD_BIND_NOW=$now" "$rmcp" run -- "$py" -c 'import torch'
        reach 0
        says "^rmcp run: preloading $dropin/"
    done
    expect 0 env RMCP_DISABLE=1 "$rmcp" run -- "$py" -c 'import torch'
    reach 77
    expect 0 env RMCP_MIOPEN_CHAIN=1 "$rmcp" run -- "$py" -c 'import torch'
    # Preloaded by hand and disabled: the drop-in hands on to what rmcp run names.
    expect 0 "$rmcp" run -- env RMCP_DISABLE=1 "RMCP_MIOPEN_ORIGINAL=$(find "$site" -name 'libMIOpen.so*')" \
        "$py" -c 'import torch'
    reach 77
    # import rmcp.miopen
    expect 0 env "PYTHONPATH=$package" "RMCP_LIBRARY=$librmcp" "$py" -c \
        'import rmcp.miopen, torch; print(rmcp.miopen.status()["rmcp"])'
    reach 0
    has '^True$'
    # rmcp check --miopen: by the import, and by rmcp run; a toy sees no GPU.
    for way in '' "run --python $py --"; do
        # shellcheck disable=SC2086 # words
        expect 1 env "PYTHONPATH=$package" "RMCP_LIBRARY=$librmcp" \
            "$rmcp" $way ${way:+"$rmcp"} check --miopen --python "$py" --json
        has '"rmcp":[[:space:]]*true' "\"library\":[[:space:]]*\"$dropin/" \
            '"id":[[:space:]]*"no-gpu"|"id":[[:space:]]*"no-access"'
    done
    expect 1 env RMCP_DISABLE=1 "PYTHONPATH=$package" "RMCP_LIBRARY=$librmcp" \
        "$rmcp" check --miopen --python "$py" --json
    has '"id":[[:space:]]*"disabled"'
    # Installed: it has all that it needs with it, and disabled it finds what was there before.
    expect 0 "$rmcp" run --install-into "$work/$kind"
    expect 0 "$py" -c 'import torch'
    reach 0
    quiet
    expect 0 env RMCP_DISABLE=1 "$py" -c 'import torch'
    reach 77
    expect 0 "$rmcp" run -- "$py" -c 'import torch'
    reach 0
    says "is RMCP's already"
    expect 0 "$rmcp" run --restore "$work/$kind"
    expect 0 "$py" -c 'import torch'
    reach 77
done
finish real
