#!/bin/sh
# Runs the recipes as far as they go without a card and without AMD's, pytorch.org's and GitHub's servers: the system's
# PyTorch stands in for the wheels, a folder with a main.py for ComfyUI.
# usage: try.sh RMCP WHEEL [docker]      RMCP's command and wheel (./setup.sh package wheel); a minute
# docker: also builds the container, with Buildah on a Debian 13 from the archive; as root, with a mirror, 6 GB,
# minutes.
# By hand: needs a Python with PyTorch as /usr/bin/python3, git, and for the simulated card ROCm's runtime.
set -eu
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/debian.sh"
rmcp=$(readlink -f "$1") wheel=$(readlink -f "$2")
PATH=/usr/sbin:/usr/bin:/sbin:/bin
python3 -c 'import torch' 2>/dev/null || skip "/usr/bin/python3 has no PyTorch"
export HOME="$work/home" RECIPE_SYSTEM_TORCH=1 RECIPE_ANYWAY=1
mkdir -p "$HOME"
recipe() { "$rmcp" recipe "$@" --chip gfx1010 --wheel "$wheel" --run; }
on_card() { "$work/r/torch-therock/venv/bin/rmcp" sim -- "$work/r/torch-therock/venv/bin/rmcp" check --engine; }

say "== torch-therock"
recipe torch-therock --folder "$work/r/torch-therock"
cat "$work/r/torch-therock/.recipe/check.log"
say "== RMCP of that environment on the simulated card"
expect 0 on_card
cat "$work/out" "$work/err"

say "== rocm-5.2, in a folder with a quote and blanks"
recipe rocm-5.2 --folder "$work/r/owner's old one"
grep -q 'right$' "$work/r/owner's old one/.recipe/check.log" || die "not right"
grep -q 'HSA_OVERRIDE_GFX_VERSION=10.3.0' "$work/r/owner's old one/python" || die "no override"

say "== comfyui"
mkdir -p "$work/ComfyUI/custom_nodes"
: >"$work/ComfyUI/custom_nodes/.keep"
printf 'torch>=2\ntorchvision\ntorchaudio==2\n# nothing more\n' >"$work/ComfyUI/requirements.txt"
cat >"$work/ComfyUI/main.py" <<'PY'
import glob, importlib.util, logging, sys
logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
import torch
for file in glob.glob("custom_nodes/*/__init__.py"):
    spec = importlib.util.spec_from_file_location(file.split("/")[1], file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    print("nodes:", sorted(module.NODE_CLASS_MAPPINGS))
print("arguments:", sys.argv[1:])
PY
git -C "$work/ComfyUI" init -q
git -C "$work/ComfyUI" add .
git -C "$work/ComfyUI" -c user.name=x -c user.email=x@x commit -qm x
RECIPE_COMFYUI="file://$work/ComfyUI" recipe comfyui --folder "$work/r/comfyui"
"$work/r/comfyui/comfyui" --lowvram | tee "$work/comfyui.log"
grep -q "nodes: .*Rmcp" "$work/comfyui.log" || die "the node was not loaded"
grep -q "arguments: \['--force-fp32', '--lowvram'\]" "$work/comfyui.log" || die "other arguments"

if [ "${3-}" = docker ]; then
    say "== docker"
    need buildah debootstrap
    mirror=$(debian_mirror)
    debootstrap --variant=minbase trixie "$work/base" "$mirror" >"$work/debootstrap.log" 2>&1 || skip "no Debian 13"
    container=$(buildah from scratch)
    buildah copy -q "$container" "$work/base" / >/dev/null
    buildah commit -q "$container" localhost/debian-trixie >/dev/null
    buildah rm "$container" >/dev/null
    rm -rf "$work/base"
    RECIPE_BASE=localhost/debian-trixie RECIPE_ENGINE=buildah RECIPE_ENGINE_WORDS='--isolation chroot --layers=false' \
        recipe docker --folder "$work/r/docker"
    container=$(buildah from --pull-never rmcp-torch)
    buildah run --isolation chroot "$container" -- python -m rmcp check
    buildah run --isolation chroot "$container" -- sh -c 'apt-get -qq update &&
        apt-get -qqy install libamdhip64-5 >/dev/null && rmcp sim -- rmcp check --engine'
    buildah rm "$container" >/dev/null
    buildah rmi rmcp-torch localhost/debian-trixie >/dev/null
fi

say "== uninstall: what recipes made goes, what they did not make stays"
mkdir -p "$work/r/mine" "$HOME/.cache/rmcp"
echo mine >"$work/r/mine/file"
ln -s "$work/r/mine" "$work/r/link"
"$rmcp" recipe uninstall --folder "$work/r/uninstall" --plan | tee "$work/plan"
grep -q "removes $work/r/torch-therock" "$work/plan" || die "the plan does not name what goes"
"$rmcp" recipe uninstall --folder "$work/r/uninstall" --run
[ "$(ls "$work/r")" = "link
mine" ] || die "left: $(ls "$work/r")"
[ -s "$work/r/mine/file" ] || die "it removed what is not its own"
[ ! -e "$HOME/.cache/rmcp" ] || die "the cache is still there"
say "recipes: tried"
