#!/bin/bash
# An rmcp command beside the library that does not work: PyTorch's convolutions still run in RMCP, and the
# record of first use is what it is without any command. On a fake HIP library, and on AMD's own with a
# simulated card where that is installed. Exit status 77 (skip) without PyTorch.
# usage: check_command.sh RMCP LIBRMCP LIBFAKE_HIP TORCH_FIRST_USE.PY
set -eu
. "$(dirname "$0")/../support/lib.sh"
rmcp=$1 library=$2 fake=$3 program=$4
python=$("$tools/find_python.sh" numpy torch 2>"$work/err") || skip "$(cat "$work/err")"
unset RMCP_GUARD RMCP_COMMAND RMCP_DEVICE HIP_VISIBLE_DEVICES HSA_OVERRIDE_GFX_VERSION || true
export OMP_WAIT_POLICY=passive
node=$work/sys/class/kfd/kfd/topology/nodes/1
mkdir -p "$node"
printf 'simd_count 72\nsimd_per_cu 2\ngfx_target_version 100100\nlocation_id 768\ndomain 0\n' >"$node/properties"

# beside NAME: a folder with the library and, from stdin, its rmcp command
beside() {
    mkdir "$work/$1"
    cp -L "$library" "$work/$1/librmcp.so"
    cat >"$work/$1/rmcp"
    chmod +x "$work/$1/rmcp"
}
beside none </dev/null && rm "$work/none/rmcp"
printf '#!/bin/sh\nexit 127\n' | beside exit-127
printf '\177ELF and no more' | beside exec-format-error
printf '#!/bin/sh\necho "%s" >&2\nexit 127\n' \
    'rmcp: error while loading shared libraries: libdw.so.1: cannot open shared object file' |
    beside says-loader-error
printf '#!/bin/sh\necho rmcp-trial 1 0.0.1 begin\necho rmcp-trial 1 bad it is old\n' | beside another-version
printf '#!/bin/sh\necho "rmcp verify: no option --trial" >&2\nexit 2\n' | beside no-trial
# The command itself, in want of a library that there is not.
needed=$(readelf -d "$rmcp" | sed -n 's/.*NEEDED.*\[lib\(.*\)\]/\1/p' | grep -v '^[cm]\.' | head -n 1)
sed "s/lib${needed//./\\.}/bil$needed/" "$rmcp" | beside does-not-load
status=0
"$work/does-not-load/rmcp" version >/dev/null 2>&1 || status=$?
[ $status = 127 ] || die "a command without its library starts: $status"
kinds='none exit-127 exec-format-error says-loader-error another-version no-trial does-not-load'

# What the record says, without times and processes.
record() { cat "$work/cache/$1/rmcp/${2}first_use"/*.txt | cut -d ' ' -f 2-5,8-; }

# convolve KIND COMMAND…: Python with a library of that kind, run by a command
convolve() {
    kind=$1
    shift
    mkdir -p "$work/cache"
    status=0
    XDG_CACHE_HOME=$work/cache/$kind RMCP_LIBRARY=$work/$kind/librmcp.so "$@" "$python" "$program" \
        >"$work/out" 2>"$work/err" || status=$?
    [ $status != 77 ] || { cat "$work/out"; exit 77; }
    [ $status = 0 ] || die "$kind: status $status: $(cat "$work/out" "$work/err")"
    echo "$kind: $(cat "$work/out")"
}

# all WHERE COMMAND…: every kind leaves the same record there
all() {
    where=$1
    shift
    for kind in $kinds; do
        convolve "$kind" "$@"
        record "$kind" "$where" >"$work/record-$kind"
        cmp -s "$work/record-none" "$work/record-$kind" ||
            die "$kind changes the record: $(diff "$work/record-none" "$work/record-$kind")"
    done
    grep -q ' good' "$work/record-none" || die "nothing is known: $(cat "$work/record-none")"
}

echo "== a fake HIP library"
export RMCP_HIP_LIBRARY=$fake RMCP_SYSFS_ROOT=$work/sys FAKE_HIP_DEVICES="gfx1030 0000:03:00.0"
all '' env
unset RMCP_HIP_LIBRARY RMCP_SYSFS_ROOT FAKE_HIP_DEVICES
rm -rf "$work/cache"
if "$rmcp" devices | grep '^hip .*cannot be loaded'; then exit 0; fi
echo "== the simulated card"
all simulated/rmcp/ "$rmcp" sim --
! grep -v ' good\| trying' "$work/record-none" || die "not all is good on the simulated card"
echo "all well"
