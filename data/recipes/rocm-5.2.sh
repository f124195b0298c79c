#!/bin/sh
#: title The old pairing: PyTorch 1.13.1 of ROCm 5.2 under the override, RMCP for the convolutions; a last resort
# pytorch.org's wheel of PyTorch 1.13.1 with ROCm 5.2 has no code for RDNA1 and runs under
# HSA_OVERRIDE_GFX_VERSION=10.3.0: code for gfx1030 on another chip. Owners report that this old pairing works for them
# in float32; its compiler wrote fewer of the patterns that RDNA1's silicon bugs need. RMCP's convolutions are native
# code also here, everything else of PyTorch is not. Take torch-therock first.
#
# Tried:     the steps with Debian 12's PyTorch 1.13 for the CPU in the place of the wheel, rmcp check included.
# Not tried: the wheel itself (pytorch.org was out of reach), uv's Python 3.10, and any real card.
# shellcheck disable=SC2034 # the steps are run at the end
set -eu

recipe=@recipe@           # made by RMCP @version@ on @system@
folder=@folder@
card=@card@               # what rmcp doctor found; empty: nothing
needs_memory=4            # GB
needs_root=''
wheel=@wheel@             # RMCP's wheel; empty: none was found
package=@package@         # else RMCP's Python package, beside the command
#: begin
index=@wheels@rocm5.2
visible=@visible@
override=10.3.0          # for its own programs only
# Versions that go together: this PyTorch knows Python up to 3.10 and NumPy 1.
torch='torch==1.13.1+rocm5.2 torchvision==0.14.1+rocm5.2'
unset HSA_OVERRIDE_GFX_VERSION HIP_VISIBLE_DEVICES LD_PRELOAD LD_LIBRARY_PATH ROCM_PATH HIP_PATH PYTHONPATH

#: step python 3 1 Python 3.10: the system's, else one that uv brings
step_python() {
    rm -rf "$folder/venv"
    if [ -n "${RECIPE_SYSTEM_TORCH-}" ]; then
        python3 -m venv --system-site-packages "$folder/venv"
    elif command -v python3.10 >/dev/null; then
        python3.10 -m venv "$folder/venv"
    else
        python3 -m venv --clear "$folder/uv"
        "$folder/uv/bin/pip" install uv
        "$folder/uv/bin/uv" venv --seed --python 3.10 "$folder/venv"
    fi
}

#: step torch 10 8 PyTorch 1.13.1 with ROCm 5.2, from pytorch.org
step_torch() {
    [ -n "${RECIPE_SYSTEM_TORCH-}" ] && echo "the system's PyTorch is taken" && return
    # Several words are wanted.
    # shellcheck disable=SC2086
    "$folder/venv/bin/pip" install --index-url "$index" --extra-index-url https://pypi.org/simple $torch 'numpy<2'
}

#include "rmcp.sh"

#include "start.sh"

epilogue() {
    echo "Done. In float32, with RMCP for the convolutions:"
    echo "    $folder/python -m rmcp train.py"
}

#include "steps.sh"
