#!/bin/sh
#: title ComfyUI in the environment of torch-therock, with RMCP as a custom node
# ComfyUI beside a PyTorch for the chip: the one that the recipe torch-therock made, or that PYTORCH_VENV names. Its
# requirements are installed without their torch, which would replace yours by one for other cards.
#
# Tried:     the steps with a stand-in for ComfyUI that loads custom nodes as it does.
# Not tried: ComfyUI itself (GitHub was out of reach), and any real card.
# shellcheck disable=SC2034 # the steps are run at the end
set -eu

recipe=@recipe@           # made by RMCP @version@ on @system@
folder=@folder@
card=@card@               # what rmcp doctor found; empty: nothing
needs_memory=8            # GB
needs_root=''
venv=${PYTORCH_VENV:-$(dirname "$folder")/torch-therock/venv}
#: begin
source=${RECIPE_COMFYUI:-https://github.com/comfyanonymous/ComfyUI}
override=@override@
visible=@visible@

#: step torch 1 0 A PyTorch with RMCP is there
step_torch() {
    [ -x "$venv/bin/python" ] ||
        { echo "no PyTorch in $venv: rmcp recipe torch-therock --run first, or PYTORCH_VENV=…" && return 1; }
    "$venv/bin/python" -c 'import torch, rmcp; print("PyTorch", torch.__version__, "with HIP", torch.version.hip)'
}

#: step source 3 1 ComfyUI
step_source() {
    if [ -e "$folder/ComfyUI/main.py" ]; then
        git -C "$folder/ComfyUI" pull --ff-only
    else
        git clone --depth 1 "$source" "$folder/ComfyUI"
    fi
}

#: step requirements 10 3 What it needs, without another PyTorch
step_requirements() {
    grep -v -i -E '^(torch|torchvision|torchaudio)([^a-z]|$)' "$folder/ComfyUI/requirements.txt" \
        >"$folder/requirements.txt"
    [ ! -s "$folder/requirements.txt" ] || "$venv/bin/pip" install -r "$folder/requirements.txt"
    # Whatever was pulled in, PyTorch must still be the one for the card.
    "$venv/bin/python" -c 'import torch, rmcp; print("PyTorch", torch.__version__, "with HIP", torch.version.hip)'
}

#: step node 1 0 RMCP as a custom node
step_node() { "$venv/bin/python" -m rmcp --install-comfyui "$folder/ComfyUI"; }

#: step start 1 0 The command comfyui in the folder
step_start() {
    {
        echo '#!/bin/sh'
        echo '# ComfyUI with RMCP. RDNA1 has 6 or 8 GB: --lowvram for large models; float32 is the safe type.'
        echo 'unset HSA_OVERRIDE_GFX_VERSION LD_LIBRARY_PATH ROCM_PATH PYTHONPATH'
        [ -z "$override" ] || echo "export HSA_OVERRIDE_GFX_VERSION=$override"
        [ -z "$visible" ] || echo "export HIP_VISIBLE_DEVICES=$visible"
        printf '%s\n' "cd $(word "$folder/ComfyUI")"
        printf '%s\n' "exec $(word "$venv/bin/python") main.py --force-fp32 \"\$@\""
    } >"$folder/comfyui"
    chmod 755 "$folder/comfyui"
}

epilogue() {
    echo "Done. $folder/comfyui, then http://127.0.0.1:8188; its log says that RMCP is enabled."
}

#include "steps.sh"
