#!/bin/sh
# rmcp run: toy programs and toy PyTorches of every kind tell which MIOpen they reached.
# usage: check_run.sh RMCP
set -u
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/toys.sh"
rmcp=$(realpath "$1")

# ---- a wheel of pytorch.org ----
venv "$work/wheel"
wheel "$site"
py=$work/wheel/bin/python
echo 'import torch' >"$work/train.py"
expect 0 "$py" "$work/train.py"
has 'reached bundled'
expect 0 "$rmcp" run -- "$py" "$work/train.py"
has '^reached ours$'
bundled=$site/torch/lib/libMIOpen.so
says "^rmcp run: preloading $toys/ours/wheel/libMIOpen.so in place of $bundled \(pytorch.org wheel, ROCm 6.2\)$"
[ "$(wc -l <"$work/err")" -eq 1 ] || fail "more than one line"
# Without "--"; options of the command are its own; lazy binding and not.
expect 0 "$rmcp" run "$py" "$work/train.py" --print --json
has '^reached ours$'
expect 0 env LD_BIND_NOW=1 "$rmcp" run -- "$py" "$work/train.py"
has '^reached ours$'
# The bundled one is not even loaded, and the original is named.
cat >"$work/maps.py" <<'PY'
import os, torch
maps = {line.split()[-1] for line in open("/proc/self/maps") if "libMIOpen" in line}
print("maps", *sorted(maps))
print("original", os.environ["RMCP_MIOPEN_ORIGINAL"])
PY
expect 0 "$rmcp" run -- "$py" "$work/maps.py"
has "^maps $toys/ours/wheel/libMIOpen.so$" "^original $site/torch/lib/libMIOpen.so$"
# Found on PATH, with options of the interpreter, as a module, from standard input.
expect 0 env "PATH=$work/wheel/bin:$PATH" "$rmcp" run -- python3 -u -W ignore "$work/train.py"
has '^reached ours$'
expect 0 "$rmcp" run -- "$py" -c 'import torch'
has '^reached ours$'
expect 0 env -C "$work" "$rmcp" run -- "$py" -m train
has '^reached ours$'
# A folder torch where the command runs is nothing that a script elsewhere imports.
mkdir -p "$work/elsewhere/torch"
: >"$work/elsewhere/torch/__init__.py"
expect 0 env -C "$work/elsewhere" "$rmcp" run -- "$py" "$work/train.py"
has '^reached ours$'
# Isolated from PYTHONPATH, as the interpreter is told.
expect 0 env "PYTHONPATH=$work/elsewhere" "$rmcp" run --print -- "$py" "$work/train.py"
has 'no MIOpen would be loaded'
expect 0 env "PYTHONPATH=$work/elsewhere" "$rmcp" run -- "$py" -I "$work/train.py"
has '^reached ours$'
# Console scripts: a plain one, env, and pip's way around long paths.
printf '#!%s\nimport torch\n' "$py" >"$work/console"
printf '#!/usr/bin/env -S A=1 python3\nimport torch\n' >"$work/by-env"
printf '#!/bin/sh\n'"'''exec' \"%s\" \"\$0\" \"\$@\"\n' '''\n"'import torch\n' "$py" >"$work/long"
chmod +x "$work/console" "$work/by-env" "$work/long"
for script in console by-env long; do
    expect 0 env "PATH=$work/wheel/bin:$PATH" "$rmcp" run -- "$work/$script"
    has '^reached ours$'
    says 'pytorch.org wheel'
done
# Exit status and signals are the command's; so are its arguments.
expect 3 "$rmcp" run -- "$py" -c 'import sys; sys.exit(3)'
expect 143 sh -c '"$1" run -- "$2" -c "import os; os.kill(os.getpid(), 15)"; exit $?' sh "$rmcp" "$py"
expect 0 "$rmcp" run -- "$py" -c 'import sys; print(sys.argv[1:])' 'a b' --require '' '*'
has "^\['a b', '--require', '', '\*'\]$"
# What was preloaded before stays, behind ours; twice is once.
cc -shared -fPIC -o "$work/libother.so" -x c - </dev/null
expect 0 env "LD_PRELOAD=$work/libother.so" "$rmcp" run -- "$py" -c 'import os; print(os.environ["LD_PRELOAD"])'
has "^$toys/ours/wheel/libMIOpen.so:$work/libother.so$"
expect 0 "$rmcp" run -- "$rmcp" run -- "$py" "$work/maps.py"
has '^reached ours' "^original $site/torch/lib/libMIOpen.so$"
# Switched off; silent; only shown.
expect 0 env RMCP_DISABLE=1 "$rmcp" run -- "$py" "$work/train.py"
has '^reached bundled$'
says 'RMCP_DISABLE is set: nothing is preloaded'
expect 1 env RMCP_DISABLE=1 "$rmcp" run --require -- "$py" "$work/train.py"
expect 0 env RMCP_DISABLE=0 RMCP_LOG=0 "$rmcp" run -- "$py" "$work/train.py"
has '^reached ours$'
quiet
expect 0 "$rmcp" run --print -- "$py" "$work/train.py"
has '^preloading ' "^LD_PRELOAD=$toys/ours/wheel/libMIOpen.so$" "^RMCP_MIOPEN_ORIGINAL=$site/torch"
if grep -q reached "$work/out"; then fail "--print ran the command"; fi
expect 0 "$rmcp" run --json -- "$py" "$work/train.py"
quiet
"$python" - "$work/out" "$site" <<'PY' || fail "the JSON is wrong"
import json, sys
report = json.load(open(sys.argv[1]))
assert report["schema"] == "rmcp.run/1" and report["kind"] == "wheel" and report["replaced"], report
assert report["miopen"] == sys.argv[2] + "/torch/lib/libMIOpen.so" and report["rocm"] == "6.2", report
assert report["torch_version"] == "2.5.1+rocm6.2", report
assert report["environment"]["LD_PRELOAD"].endswith("/wheel/libMIOpen.so"), report
PY

# ---- under the override: what remains unsafe is said, where it is ----
sysfs=$work/sysfs
mkdir -p "$sysfs/class/kfd/kfd/topology/nodes/1"
printf 'simd_count 72\nsimd_per_cu 2\ngfx_target_version 100102\nvendor_id 4098\ndevice_id 29471\n' \
    >"$sysfs/class/kfd/kfd/topology/nodes/1/properties"
expect 0 env "RMCP_SYSFS_ROOT=$sysfs" HSA_OVERRIDE_GFX_VERSION=10.3.0 "$rmcp" run -- "$py" "$work/train.py"
says 'the override makes gfx1012 10.3.0: convolutions and batch norm become safe, .*other kernels remain'
[ "$(wc -l <"$work/err")" -eq 1 ] || fail "more than one line"
expect 0 env "RMCP_SYSFS_ROOT=$sysfs" HSA_OVERRIDE_GFX_VERSION_1=10.3.0 "$rmcp" run -- "$py" "$work/train.py"
says 'the override makes gfx1012 10.3.0'
mkdir "$work/no-sysfs"
expect 0 env "RMCP_SYSFS_ROOT=$work/no-sysfs" HSA_OVERRIDE_GFX_VERSION=10.3.0 "$rmcp" run -- "$py" "$work/train.py"
says 'HSA_OVERRIDE_GFX_VERSION=10.3.0: unless the card is of that family, convolutions .* become safe'
expect 0 env "RMCP_SYSFS_ROOT=$sysfs" HSA_OVERRIDE_GFX_VERSION=10.1.0 "$rmcp" run -- "$py" "$work/train.py"
if grep -qi override "$work/err"; then fail "an override inside the family is called unsafe"; fi

# ---- TheRock: loaded by path, so its own is there, too, but not reached ----
venv "$work/therock"
therock "$site"
py=$work/therock/bin/python
expect 0 "$py" "$work/train.py"
has 'reached therock'
expect 0 "$rmcp" run -- "$py" "$work/train.py"
has '^reached ours.1$'
bundled=$site/_rocm_sdk_libraries_gfx101X_dgpu/lib/libMIOpen.so.1
says "preloading $toys/ours/libMIOpen.so.1 in place of $bundled \(TheRock's wheel, ROCm 7.10\)"
expect 0 env LD_BIND_NOW=1 "$rmcp" run -- "$py" "$work/train.py"
has '^reached ours.1$'

# ---- a distribution's: the dynamic linker finds MIOpen ----
system "$work/system"
expect 0 env "LD_LIBRARY_PATH=$work/system" "$work/system/program"
has 'reached system'
for now in '' 1; do
    expect 0 env "LD_BIND_NOW=$now" "LD_LIBRARY_PATH=$work/system" "$rmcp" run -- "$work/system/program"
    has '^reached ours.1$'
    theirs=$work/system/libMIOpen.so.1
    says "preloading $toys/ours/libMIOpen.so.1 in place of $theirs \(which the program is linked with\)"
done
venv "$work/distribution"
torch "$site" 2.6.0 "'5.7.31921'" None
cc -shared -fPIC -o "$site/torch/lib/libtorch_hip.so" "$toys/torch.c" "-L$work/system" -lMIOpen
expect 0 env "LD_LIBRARY_PATH=$work/system" "$rmcp" run -- "$work/distribution/bin/python" "$work/train.py"
has '^reached ours.1$'
says "in place of $work/system/libMIOpen.so.1 \(PyTorch with the system's MIOpen, ROCm 5.7\)"

# ---- none: it runs all the same, or not ----
venv "$work/cpu"
torch "$site" 2.6.0+cpu None None
py=$work/cpu/bin/python
expect 0 "$rmcp" run -- "$py" "$work/train.py"
has 'reached nothing'
says "no MIOpen would be loaded \(PyTorch 2.6.0\+cpu in $site/torch is built without ROCm\): nothing is replaced"
expect 1 "$rmcp" run --require -- "$py" "$work/train.py"
one_line
says 'not run'
torch "$site" 2.6.0+cu124 None "'12.4'"
expect 0 "$rmcp" run -- "$py" "$work/train.py"
says 'is built for CUDA'
rm -r "$site/torch"
expect 0 "$rmcp" run -- "$py" -c 'print("well")'
has '^well$'
says 'no PyTorch in'
# Something else in that Python may still load the system's.
expect 0 env "LD_LIBRARY_PATH=$work/system" "$rmcp" run --print -- "$py" -c ''
has "^LD_PRELOAD=$toys/ours/libMIOpen.so.1$"

# ---- scripts and launchers: both copies, whatever they start ----
printf '#!/bin/sh\nexec "%s/bin/python" "%s"\n' "$work/wheel" "$work/train.py" >"$work/start.sh"
chmod +x "$work/start.sh"
expect 0 "$rmcp" run -- "$work/start.sh"
has '^reached ours'
says "into whatever $work/start.sh starts \(a script"
expect 0 "$rmcp" run -- env A=1 "$work/therock/bin/python" "$work/train.py"
has '^reached ours'
expect 0 env "VIRTUAL_ENV=$work/wheel" "$rmcp" run --json -- "$work/start.sh"
has '"miopen":.*/wheel/lib/python3[^/]*/site-packages/torch/lib/libMIOpen.so"' '"kind":.*"unseen"'
expect 0 "$rmcp" run --python "$work/wheel/bin/python" -- "$work/start.sh"
has '^reached ours$'
says 'pytorch.org wheel'
printf 'exec "%s/bin/python" "%s"\n' "$work/wheel" "$work/train.py" >"$work/bare" # no "#!" at all
chmod +x "$work/bare"
expect 0 "$rmcp" run -- "$work/bare"
has '^reached ours'
if echo 'int main(void) { return 0; }' | cc -static -o "$work/static" -x c - 2>/dev/null; then
    expect 0 "$rmcp" run -- "$work/static"
    says 'a static program, which itself stays as it is'
fi
cp "$work/system/program" "$work/setuid"
chmod 4755 "$work/setuid"
if [ "$(id -u)" -eq 0 ] && chown 65534 "$work/setuid" && chmod 4755 "$work/setuid"; then
    expect 0 env "LD_LIBRARY_PATH=$work/system" "$rmcp" run --print -- "$work/setuid"
    has 'set-uid.* ignores LD_PRELOAD there: nothing is replaced'
    expect 1 env "LD_LIBRARY_PATH=$work/system" "$rmcp" run --require --print -- "$work/setuid"
fi

# ---- paths that LD_PRELOAD cannot hold ----
for name in 'a folder' 'a:colon' "a\$dollar"; do
    rm -rf "${work:?}/$name"
    cp -r "$toys/ours" "$work/$name"
    for turn in first second; do
        expect 0 env "RMCP_MIOPEN_LIBRARY=$work/$name" "XDG_CACHE_HOME=$work/cache-$turn" \
            "$rmcp" run -- "$work/wheel/bin/python" "$work/train.py"
        has '^reached ours$'
    done
    expect 0 env "RMCP_MIOPEN_LIBRARY=$work/$name" "XDG_CACHE_HOME=$work/cache-first" \
        "$rmcp" run -- "$work/wheel/bin/python" "$work/train.py"
    has '^reached ours$'
done
expect 1 env "RMCP_MIOPEN_LIBRARY=$work/a folder" "XDG_CACHE_HOME=$work/a folder" \
    "$rmcp" run -- "$work/wheel/bin/python" "$work/train.py"
one_line
says 'no program can preload .*XDG_CACHE_HOME'
# A Python environment may lie anywhere.
venv "$work/my [new] venv"
wheel "$site"
expect 0 "$rmcp" run -- "$work/my [new] venv/bin/python" "$work/train.py"
has '^reached ours$'

# ---- a Python that does not answer, that talks, that is odd ----
venv "$work/odd"
wheel "$site"
echo 'print("rmcp: hello"); print("rmcp:torch")' >"$site/usercustomize.py"
echo 'import sys; print("talk", "x" * 200)' >"$site/talk.pth"
expect 0 "$rmcp" run -- "$work/odd/bin/python" "$work/train.py"
has '^reached ours$'
mkdir "$work/bad"
printf '#!/bin/sh\nexit 1\n' >"$work/bad/python3"
chmod +x "$work/bad/python3"
expect 1 "$rmcp" run -- "$work/bad/python3"
says 'its Python does not tell'

# ---- wrong uses ----
for wrong in '' '--' '--python' '--nothing -- true' '--install-into' '--restore / -- true' \
    '--install-into / --restore /' '--python /nowhere -- true'; do
    # shellcheck disable=SC2086 # words are wanted
    expect 2 "$rmcp" run $wrong
    one_line
done
expect 127 "$rmcp" run -- /nowhere/program
one_line
expect 127 "$rmcp" run -- no-such-program-anywhere
expect 126 "$rmcp" run -- "$work/train.py"
expect 1 env RMCP_MIOPEN_LIBRARY=/nowhere "$rmcp" run -- "$work/wheel/bin/python" "$work/train.py"
one_line
says 'RMCP_MIOPEN_LIBRARY is /nowhere'
expect 0 "$rmcp" run --help
has 'usage: rmcp run' '--install-into' '--restore' 'example:'
quiet

finish run
