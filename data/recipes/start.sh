# shellcheck shell=sh disable=SC2154 # the variables at the top
#: step start 1 0 The command python in the folder, which sets what PyTorch needs
step_start() {
    {
        echo '#!/bin/sh'
        echo '# Python with PyTorch for the card and RMCP: python train.py, python -m rmcp train.py'
        echo 'unset HSA_OVERRIDE_GFX_VERSION LD_LIBRARY_PATH ROCM_PATH PYTHONPATH'
        [ -z "$override" ] || echo "export HSA_OVERRIDE_GFX_VERSION=$override"
        [ -z "$visible" ] || echo "export HIP_VISIBLE_DEVICES=$visible"
        printf '%s\n' "exec $(word "$folder/venv/bin/python") \"\$@\""
    } >"$folder/python"
    chmod 755 "$folder/python"
}

#: step check 5 0 Is it right? Convolutions and training steps, compared with the processor's
step_check() { "$folder/python" -m rmcp check; }
