#!/bin/sh
#: title The wheel of pytorch.org, its gfx1030 code repaired for the chip, RMCP for the convolutions: no override
# pytorch.org's wheels have code for gfx1030 and none for RDNA1. Under HSA_OVERRIDE_GFX_VERSION such a card runs that
# code without the workarounds for its silicon bugs; rmcp repair makes code for the chip of it, in PyTorch's own
# libraries, in rocBLAS's and in the others that the wheel brings. What was there before is kept: rmcp repair --restore
# brings it back.
#
# Tried:     PyTorch 2.12.1 and rocBLAS with code for gfx1030 alone, repaired: 34 networks and ways of training on the
#            simulated RX 5600 XT with the bugs acted out, all right (docs/rdna1.md); the steps of this script with
#            another PyTorch in the wheel's place.
# Not tried: the wheel itself (pytorch.org was out of reach), and any real card.
#: if guess
# No AMD GPU was found when this was made: it is for gfx1010 (RX 5600, 5700). rmcp recipe --chip makes another.
#: end
#: if served
# This chip is served by pytorch.org's wheel as it is; nothing is to be repaired:
#     pip install torch torchvision --index-url @wheels@@served@
#: end
# shellcheck disable=SC2034 # the steps are run at the end
set -eu

recipe=@recipe@           # made by RMCP @version@ on @system@
folder=@folder@
card=@card@               # what rmcp doctor found; empty: nothing
needs_memory=8            # GB
needs_root=yes
wheel=@wheel@             # RMCP's wheel; empty: none was found
package=@package@         # else RMCP's Python package, beside the command
command=@command@
#: begin
index=@wheels@rocm6.4
chip=@target@
override=@override@
foreign=@foreign@         # an override that is set now
manager=@manager@         # of packages
visible=@visible@         # the number of the card, where the processor's own graphics would come first
unset HSA_OVERRIDE_GFX_VERSION HIP_VISIBLE_DEVICES LD_PRELOAD LD_LIBRARY_PATH ROCM_PATH HIP_PATH PYTHONPATH

#: step chip 1 0 Is the chip one that code for gfx1030 can be repaired for?
step_chip() {
    case $chip in
    gfx1010 | gfx1011 | gfx1012) echo "$chip" ;;
    *)
        echo "$chip is none of RDNA1: code for gfx1030 cannot be repaired for it; rmcp doctor knows other ways"
        return 1
        ;;
    esac
}

#include "environment.sh"

#: step torch 15 20 PyTorch with ROCm 6.4, from pytorch.org
step_torch() {
    [ -n "${RECIPE_SYSTEM_TORCH-}" ] && echo "the system's PyTorch is taken" && return
    "$folder/venv/bin/pip" install --index-url "$index" torch torchvision
}

#include "rmcp.sh"

#: step repair 10c 10 Its libraries, repaired; what was there before is kept beside them
step_repair() {
    find_libraries='import os, torch; print(os.path.join(os.path.dirname(torch.__file__), "lib"))'
    libraries=${RECIPE_LIBRARIES:-$("$folder/venv/bin/python" -c "$find_libraries")}
    # Repaired before, and perhaps updated since: first what was there, but for files that are newer.
    [ ! -d "$libraries/rmcp-repair" ] || "$command" repair --restore "$libraries" --keep-changed
    status=0
    "$command" repair --target "$chip" --install-into "$libraries" || status=$?
    # 1 with a backup: some kernels were refused and are left out; their calls end with a message.
    [ $status = 0 ] || { [ $status = 1 ] && [ -d "$libraries/rmcp-repair" ]; } || return $status
    echo "undo: $command repair --restore $libraries"
}

#include "start.sh"

epilogue() {
    echo "Done. With RMCP for the convolutions:"
    echo "    $folder/python -m rmcp train.py"
    echo "PyTorch was updated, or installed again: the same command repairs the new one."
#: if locked
    echo "Log out and in again first: only then your user is in the group of /dev/kfd."
#: end
    [ -z "$foreign" ] || echo "$foreign is still set in your environment; take it out: it is for other chips."
    echo "A card that was never used with RMCP: rmcp verify --first-owner, and please tell us."
}

#include "steps.sh"
