#!/bin/sh
#: title Takes back what the other recipes made, and RMCP's own traces; shows everything first (--plan)
# Only what a recipe made is removed: folders below the one of the recipes that have a recipe's marks (.recipe), the
# image of the recipe docker, and RMCP's cache. Your programs, models, packages of the system and files in other folders
# stay. A PyTorch that RMCP's MIOpen was installed into gets its own back.
#
# Tried: on folders that the other recipes made, and on folders that they did not make.
# Not tried: Docker's own daemon.
# shellcheck disable=SC2034 # the steps are run at the end
set -eu

recipe=@recipe@           # made by RMCP @version@ on @system@
folder=@folder@
card=''
needs_memory=0            # GB
needs_root=yes            # the root of torch-source belongs to root
rmcp=@command@
above=$(dirname "$folder")
#: begin

# made: the folders that recipes made.
made() {
    for one in "$above"/*; do
        [ "$one" = "$folder" ] || [ ! -d "$one/.recipe" ] || [ -L "$one" ] || printf '%s\n' "$one"
    done
}

more_plan() { made | sed 's/^/  removes /'; }

#: step restore 1 0 MIOpen given back to PyTorches that have RMCP's
step_restore() {
    made | while IFS= read -r one; do
        if [ ! -d "$one/venv" ]; then continue; fi
        if find "$one/venv" -name 'libMIOpen.so*.rmcp-original' | grep -q .; then "$rmcp" run --restore "$one/venv"; fi
    done
}

#: step folders 2 0 The folders that recipes made
step_folders() {
    made | while IFS= read -r one; do
        if grep -qs "$one" /proc/mounts; then echo "$one has something mounted in it: left" && continue; fi
        echo "removing $one"
        if [ -d "$one/root" ]; then as_root rm -rf --one-file-system "$one"; else rm -rf --one-file-system "$one"; fi
    done
}

#: step image 1 0 The image of the recipe docker
step_image() {
    for engine in podman docker buildah; do
        command -v "$engine" >/dev/null || continue
        case $engine in
        buildah) buildah rmi rmcp-torch || true ;;
        *) "$engine" image rm rmcp-torch || true ;;
        esac
    done
}

#: step cache 1 0 What RMCP measured and tried
step_cache() { rm -rf "${XDG_CACHE_HOME:-$HOME/.cache}/rmcp"; }

epilogue() {
    rm -rf "$folder/.recipe"
    rmdir "$folder" "$above" 2>/dev/null || true
    echo "Done. RMCP itself goes the way it came: pip uninstall rmcp, apt purge, or its folder (docs/install.md)."
}

#include "steps.sh"
