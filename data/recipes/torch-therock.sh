#!/bin/sh
#: title AMD's nightly wheel (TheRock) with code for the chip, RMCP for the convolutions: minutes, no override
# PyTorch from AMD's own nightly wheels, with machine code for your chip, in a Python environment of its own; RMCP does
# the convolutions, which MIOpen does slowly or not at all on RDNA1. Nothing of your system is changed but for packages.
#
# Tried:     every step but the download of AMD's wheels, with another PyTorch in their place; rmcp check on the
#            simulated RX 5600 XT; the names of packages in Debian 12, 13 and sid.
# Not tried: AMD's wheels themselves, and any real card. AMD builds them for gfx1010 to gfx1012 and does not test them.
#: if guess
# No AMD GPU was found when this was made: it is for gfx1010 (RX 5600, 5700). rmcp recipe --chip makes another.
#: end
#: if served
# This chip is also served by pytorch.org's wheel, which is released and tested:
#     pip install torch torchvision --index-url @wheels@@served@
#: end
# shellcheck disable=SC2034 # the steps are run at the end
set -eu

recipe=@recipe@           # made by RMCP @version@ on @system@
folder=@folder@
card=@card@               # what rmcp doctor found; empty: nothing
needs_memory=4            # GB
needs_root=yes
wheel=@wheel@             # RMCP's wheel; empty: none was found
package=@package@         # else RMCP's Python package, beside the command
index=@amd_index@
#: begin
chip=@target@             # AMD's wheels have gfx1010, gfx1011 and gfx1012
override=@override@
foreign=@foreign@         # an override that is set now
manager=@manager@         # of packages
visible=@visible@         # the number of the card, where the processor's own graphics would come first
packages="torch[device-$chip] torchvision[device-$chip]"

# An override left over from earlier attempts would make PyTorch run code for another chip.
unset HSA_OVERRIDE_GFX_VERSION HIP_VISIBLE_DEVICES LD_PRELOAD
#: if rocms
# Other ROCms on this machine, which must not get into the way: @rocms@
#: end
unset LD_LIBRARY_PATH ROCM_PATH HIP_PATH PYTHONPATH

#include "environment.sh"

#: step torch 15 12 PyTorch for the chip, from AMD's nightly index
step_torch() {
    [ -n "${RECIPE_SYSTEM_TORCH-}" ] && echo "the system's PyTorch is taken" && return
    # Several words are wanted.
    # shellcheck disable=SC2086
    "$folder/venv/bin/pip" install --index-url "$index" $packages
}

#include "rmcp.sh"

#include "start.sh"

epilogue() {
    echo "Done. With RMCP for the convolutions:"
    echo "    $folder/python -m rmcp train.py"
#: if locked
    echo "Log out and in again first: only then your user is in the group of /dev/kfd."
#: end
    [ -z "$foreign" ] || echo "$foreign is still set in your environment; take it out: it is for other chips."
    echo "A card that was never used with RMCP: rmcp verify --first-owner, and please tell us."
}

#include "steps.sh"
