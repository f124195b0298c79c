#!/bin/bash
# Programs in HIP on the simulated card, under the ROCm that is installed: rocminfo, what hipcc makes of
# tests/hip, kernels that a card ends. Exit status 77 (skip) without ROCm.
# usage: check_hip.sh RMCP SOURCE-FOLDER [PREBUILT-PROGRAMS]
set -eu
. "$(dirname "$0")/../support/lib.sh"
rmcp=$1 source=$2/tests/hip programs=${3-}
need rocminfo
[ -n "$programs" ] || need hipcc
export XDG_CACHE_HOME=$work/cache
mkdir "$work/tmp"
unset HSA_OVERRIDE_GFX_VERSION HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES || true

# sim EXPECTED-STATUS OPTIONS… -- COMMAND…: output in $work/out, messages in $work/err
sim() {
    expected=$1
    shift
    status=0
    TMPDIR=$work/tmp timeout 120 "$rmcp" sim "$@" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" = "$expected" ] || die "rmcp sim $*: status $status: $(tail -n 20 "$work/out" "$work/err")"
}
out() { grep -q -- "$1" "$work/out" || die "no '$1' in: $(cat "$work/out")"; }
err() { grep -q -- "$1" "$work/err" || die "no '$1' in: $(cat "$work/err")"; }

echo "== rocminfo"
sim 0 -- rocminfo
out 'AMD Radeon RX 5600 XT'
out 'amdhsa--gfx1010'
err '^rmcp sim: simulated rx5600xt: 0 kernels, 0 instructions, 0 reports$'
sim 0 --override 10.3.0 -- rocminfo
out 'AMD Radeon RX 5600 XT'
out 'amdhsa--gfx1030'
sim 0 --gpu rx5700xt -- rocminfo
out 'AMD Radeon RX 5700 XT'
sim 0 --gpu rx6800 -- rocminfo
out 'amdhsa--gfx1030'
sim 0 --gpu two -- rocminfo
out 'amdhsa--gfx1010'
out 'amdhsa--gfx1012'
sim 7 -- sh -c 'test -c /dev/kfd && test -c /dev/dri/renderD128 && ls /sys/class/kfd/kfd/topology/nodes && exit 7'

echo "== programs"
if [ -z "$programs" ]; then
    programs=$work
    printf '%s\n' "$source"/*.cpp | xargs -P 2 -I{} sh -c 'name=$(basename "$1" .cpp)
        [ "$name" = two_cards ] && more=--offload-arch=gfx1012
        hipcc -std=c++14 -O2 --offload-arch=gfx1010 ${more-} -o "$2/$name" "$1" >"$2/$name.log" 2>&1 ||
        { cat "$2/$name.log"; exit 255; }' sh {} "$work" || die "hipcc"
fi
for name in vector_add reduction matrix_multiply histogram half memory streams scratch processes graphs \
    language waiting primitives reduce_kernel textures; do
    sim 0 -- "$programs/$name"
    out ': right$'
    tail -n 1 "$work/err"
done
# Events tell modelled time, whatever the host takes.
sim 0 --timing -- "$programs/times"
out ': right$'
err 'modelled'
err '_Z5chainPfi$'
sim 0 --timing --sample-only -- "$programs/times" # too short for a sample: whole
out ': right$'
# A dispatch of which a sample was executed is not executed again.
sim 1 --timing --sample-only --sample 100000 -- "$programs/times"
err 'simulated rx5600xt: 8 kernels, [0-9]\{1,6\} instructions'
sim 2 --sample-only -- true
err 'give that too'
sim 2 --timing --gpu rx6800 -- true
err 'gfx101x only'
sim 2 --mhz 1000 -- true
err 'give that too'
sim 0 -- "$programs/print"
for i in 0 16 32 48; do out "^thread $i has $((1000 + i)) and $((i / 2)).00 text$"; done
sim 0 --gpu two -- "$programs/two_cards"
out ': right$'
# Unoptimised code keeps registers elsewhere, none of which is a finding.
if command -v hipcc >/dev/null; then
    hipcc -std=c++14 -O0 --offload-arch=gfx1010 -o "$work/slow" "$source/waiting.cpp" >"$work/slow.log" 2>&1 ||
        die "hipcc -O0: $(cat "$work/slow.log")"
    sim 0 -- "$work/slow"
    out ': right$'
fi
# Two processes at once.
sim 0 -- sh -c '"$1" & "$1" && wait $!' sh "$programs/vector_add"
[ "$(grep -c right "$work/out")" = 2 ] || die "two processes: $(cat "$work/out")"

echo "== kernels that a card ends"
sim 134 -- "$programs/faults" fault
err 'Memory access fault by GPU node-1'
err '^rmcp sim: memory-fault: kernel _Z8store_toPi on rx5600xt, .*store of 4 bytes'
sim 134 -- "$programs/faults" null
err 'Memory access fault by GPU node-1.* on address (nil)'
sim 134 -- "$programs/faults" gone
err 'memory that the program registered and has given back'
sim 134 -- "$programs/faults" illegal
err 'HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION'
err '^rmcp sim: illegal-instruction: kernel _Z7illegalv'
sim 134 -- "$programs/faults" trap
err 'HSA_STATUS_ERROR_EXCEPTION'
sim 134 -- "$programs/faults" assert
err 'Device-side assertion'
err 'HSA_STATUS_ERROR_EXCEPTION'
TMPDIR=$work/tmp "$rmcp" sim --limit 100000 -- "$programs/faults" hang >"$work/out" 2>"$work/err" &
hung=$!
for _ in $(seq 600); do
    grep -q 'kernel _Z4spinPVi hangs the simulated card' "$work/err" && break
    sleep 0.1
done
status=0
kill "$hung" || die "a kernel that hangs: the program ended"
wait "$hung" || status=$?
[ "$status" = 143 ] || die "a kernel that hangs: status $status"
err 'kernel _Z4spinPVi hangs the simulated card'
err '^rmcp sim: runaway: kernel _Z4spinPVi'

echo "== reports"
sim 1 -- "$programs/reports" outside
out ': right$'
err '^rmcp sim: lds-fault: kernel _Z7outsidePii .* lanes 0xffffffff: 4 bytes at 512 of an LDS of 512 bytes$'
# What ended a kernel comes before the many others.
sim 134 -- "$programs/reports" many
grep '^rmcp sim: [a-z-]*: kernel' "$work/err" | head -n 1 | grep -q '^rmcp sim: memory-fault: kernel _Z4manyPi' ||
    die "the fault is not first: $(cat "$work/err")"
err '^rmcp sim: and 11 more$'

echo "== acting out"
# wrong NAME: the sum of wrong results of the two launches of a pattern.
wrong() { awk -v name="$1:" '$1 == name { n += $2 } END { print n }' "$work/out"; }
sim 1 -- "$programs/patterns"
[ "$(grep -c ': 0 wrong$' "$work/out")" = 8 ] || die "wrong without acting out: $(cat "$work/out")"
sim 1 --act-out -- "$programs/patterns"
for rule in vcmpx-exec-war flat-offset vmem-scalar-write; do
    [ "$(wrong $rule)" = 4096 ] || die "$rule has no effect: $(cat "$work/out")"
    err "^rmcp sim: acted out $rule 128 times$"
done
err '^rmcp sim: acted out smem-vector-write 0 times$'
[ "$(wrong plain)" = 0 ] || die "an effect without a pattern: $(cat "$work/out")"
for rule in vcmpx-exec-war flat-offset vmem-scalar-write; do # each by itself
    sim 0 --checks=-patterns --act-out=$rule -- "$programs/patterns"
    for other in vcmpx-exec-war flat-offset vmem-scalar-write plain; do
        [ "$(wrong $other)" = "$([ $other = $rule ] && echo 4096 || echo 0)" ] ||
            die "--act-out=$rule: $(cat "$work/out")"
    done
done
sim 1 --act-out=vmem-scalar-write,flat-offset:p=0.25:seed=7 -- "$programs/patterns"
cp "$work/out" "$work/seed7"
for rule in flat-offset vmem-scalar-write; do
    n=$(wrong $rule)
    { [ "$n" -ge 400 ] && [ "$n" -le 1700 ]; } || die "$rule: $n of 4096 by a chance of a quarter"
done
sim 1 --threads 1 --act-out=vmem-scalar-write,flat-offset:p=0.25:seed=7 -- "$programs/patterns"
cmp -s "$work/out" "$work/seed7" || die "the same seed draws something else: $(cat "$work/out" "$work/seed7")"
sim 1 --act-out=vmem-scalar-write,flat-offset:p=0.25:seed=8 -- "$programs/patterns"
! cmp -s "$work/out" "$work/seed7" || die "another seed draws the same"
sim 0 --act-out=all -- "$programs/patterns" plain
sim 0 --act-out -- "$programs/reduction"
out ': right$'
for wrong in flat data:p=0 data:p=1.5 data:seed=x data:often; do
    sim 2 --act-out=$wrong -- true
    err '^rmcp sim: --act-out is '
done

echo "== options"
sim 1 --checks registers -- "$programs/reports" undefined
err '^rmcp sim: undefined-register: kernel _Z9undefinedPi .* was never written and reaches memory$'
sim 0 --checks registers --allow-reports -- "$programs/reports" undefined
sim 0 --checks=-registers -- "$programs/reports" undefined
sim 0 --stats --trace _Z3addPfPKfS1_j -- "$programs/vector_add"
err 'global_load_dword'
err '_Z3addPfPKfS1_j$'
# Each launch with its code: the same again, and another digest for the code of another kernel.
sim 0 --launches "$work/launches" -- "$programs/vector_add"
grep -Eq '^gfx1010 [0-9a-f]{16} _Z3addPfPKfS1_j$' "$work/launches" || die "launches: $(cat "$work/launches")"
cp "$work/launches" "$work/launches.before"
# shellcheck disable=SC2016 # the inner shell's own
sim 0 --launches "$work/launches" -- sh -c 'cd / && exec "$1"' sh "$programs/vector_add"
[ "$(sort -u "$work/launches")" = "$(sort -u "$work/launches.before")" ] || die "other digests: $(cat "$work/launches")"
[ "$(wc -l <"$work/launches")" = "$((2 * $(wc -l <"$work/launches.before")))" ] || die "launches were not appended"
for wrong in "--gpu rx9999" "--checks nonsense" "--gpu $source/check.h"; do
    # Word splitting is wanted: an option and its value.
    # shellcheck disable=SC2086
    sim 2 $wrong -- true
    err '^rmcp sim: '
done
sim 2
sim 127 -- "$work/no-such-program"
[ -z "$(ls "$work/tmp")" ] || die "left behind: $(ls "$work/tmp")"
echo "all right"
