#!/bin/bash
# Runs the call sequences with the original MIOpen and with ours, on a simulated card under sid's ROCm 6.4, and
# compares them: statuses, workspaces, solutions, results.
#
# usage: judge.sh [--all] BUILD-FOLDER [RESULTS-FOLDER]
#   --all           a row for every sequence, not only for those that differ
#   RESULTS-FOLDER  keeps what was run (default: miopen-judge in the build folder): the original's records are not
#                   made again, so that a run that was ended goes on; ours are made anew
#
# Needs root, debootstrap, a Debian mirror (3 GB once), PyTorch for the comparison. Some ten minutes the first
# time. Exit status 1 after a difference without an explanation (judge.py), 77 where the chroot cannot be made.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../support/lib.sh"
. "$here/original.sh"
all=
[ "${1:-}" != --all ] || { all=--all && shift; }
[ $# -ge 1 ] || { sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
build=$(cd "$1" && pwd)
results=${2:-$build/miopen-judge}
mkdir -p "$results"
results=$(cd "$results" && pwd)

original_open "$build" gcc libc6-dev libmiopen-dev librocrand-dev
# Another release of the original, or other sequences: its records are made anew.
state=$(original_version; cat "$here"/sequence*.[ch] "$here"/sequence*.inc | sha256sum)
[ -f "$results/state" ] && [ "$(cat "$results/state")" = "$state" ] || rm -rf "$results/original"
echo "$state" >"$results/state"
rm -rf "$results/ours"

# The original's client is compiled with the original's header, without C++'s default arguments; ours with ours.
sed -E 's/ += +(-1|nullptr),/,/; s/ += +(false|0)\);/);/' "$root/usr/include/miopen/miopen.h" >"$inside/original.h"
cp "$here"/sequence*.[ch] "$here"/sequence*.inc "$inside/"
original_chroot 900 sh -c 'gcc -std=c11 -O1 -D_GNU_SOURCE -D__HIP_PLATFORM_AMD__ \
    -DRMCP_MIOPEN_HEADER="\"original.h\"" -o sequence-original sequence*.c' ||
    die "the sequences do not compile with the original's header"
cp "$build/tests/miopen/sequence" "$inside/"

# keep: what the run of $name has recorded, also when this script is ended.
name=''
keep() { [ -z "$name" ] || cp -r "$inside/$name/." "$results/$name/"; }
trap 'keep; rm -rf "$work" "$inside"' EXIT

# run NAME PROGRAM ARGUMENTS…: on the simulated card, with what it has recorded before.
run() {
    mkdir -p "$inside/$1" "$results/$1"
    cp -r "$results/$1/." "$inside/$1/"
    status=0
    name=$1
    shift
    original_chroot 14400 ./rmcp sim --allow-reports -- "$@" "$name" 2>"$results/$name.log" || status=$?
    keep
    tail -n 2 "$results/$name.log" >&2
    [ "$status" = 0 ] || die "$name ended with status $status: $(tail -n 5 "$results/$name.log")"
}
say "the original, MIOpen $(original_version) …" >&2
run original ./sequence-original libMIOpen.so.1
say "ours …" >&2
# In one process, as a client has it; the original might not survive its own.
run ours ./sequence --together "$dropin"
"$python" "$here/judge.py" $all "$results/original" "$results/ours"
