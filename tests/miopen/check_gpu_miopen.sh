#!/bin/sh
# The MIOpen drop-in on a real GPU, in one call; needs no compiler.
# usage: check_gpu_miopen.sh FOLDER [cuda|hip [STEP…]]
# FOLDER is a build folder, or holds libMIOpen.so.1, librmcp.so.0, rmcp, libamdhip64.so.6 (the HIP on NVIDIA's
# driver, built as tests/miopen/libamdhip64.so.6; cuda only), test_hostile, test_hostile_shapes, test_endurance,
# test_streams, miopen_host, sequence, functions.txt and libcmocka.so.0. With hip the machine's own HIP is taken.
# STEPs are hostile shapes endurance streams sequence host check; all of them when none is named; a step whose
# program is not there is skipped. Prints one line for each, the end of the output of those that failed, and a
# summary; exit status 1 when one failed. RMCP_CHECK_LOGS keeps the outputs, and those of sequence for its judge.
set -u
folder=$(cd "$1" && pwd) kind=${2:-cuda}
[ $# -lt 2 ] || shift
shift
[ $# -gt 0 ] || set -- hostile shapes endurance streams sequence host check
logs=${RMCP_CHECK_LOGS:-$(mktemp -d)}
mkdir -p "$logs"

# place NAME: where it is; empty when it is nowhere.
place() {
    for where in "$folder/$1" "$folder/src/dropin/miopen/$1" "$folder/tests/miopen/$1" "$folder/bench/$1" \
        "$folder/../src/dropin/miopen/$1"; do
        [ ! -e "$where" ] || { echo "$where"; return; }
    done
}
miopen=$(place libMIOpen.so.1) engine=$(place librmcp.so.0) functions=$(place functions.txt)
[ -n "$miopen" ] && [ -n "$engine" ] ||
    { echo "check_gpu_miopen.sh: no libMIOpen.so.1 and librmcp.so.0 in $folder" >&2; exit 2; }
case $kind in
cuda)
    export RMCP_DEVICE="${RMCP_DEVICE:-cuda:0}"
    hip=$(place libamdhip64.so.6)
    [ -n "$hip" ] || { echo "check_gpu_miopen.sh: no libamdhip64.so.6 in $folder" >&2; exit 2; }
    ;;
hip)
    unset RMCP_DEVICE
    for hip in libamdhip64.so.7 libamdhip64.so.6 libamdhip64.so.5 libamdhip64.so; do
        found=$(ldconfig -p 2>/dev/null | sed -n "s|.*$hip .*=> ||p" | head -n 1)
        [ -z "$found" ] || { hip=$found; break; }
    done
    ;;
*) echo "check_gpu_miopen.sh: cuda or hip, not '$kind'" >&2; exit 2 ;;
esac
LD_LIBRARY_PATH="$(dirname "$miopen"):$(dirname "$engine"):$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export LD_LIBRARY_PATH

passed=0 failed=0 skipped=0
say() { printf '%-12s %-5s %5ss  %s\n' "$@"; }

step() { # NAME PROGRAM ARGUMENTS…
    name=$1
    program=$(place "$2")
    if [ -z "$program" ]; then
        skipped=$((skipped + 1))
        say "$name" skip 0 "there is no $2"
        return
    fi
    shift 2
    begin=$(date +%s) status=0
    "$program" "$@" >"$logs/$name.log" 2>&1 || status=$?
    seconds=$(($(date +%s) - begin))
    if [ $status = 0 ]; then
        passed=$((passed + 1))
        say "$name" ok $seconds "$(grep -v '^ *$' "$logs/$name.log" | tail -n 1)"
    else
        failed=$((failed + 1))
        say "$name" FAIL $seconds "status $status; the end of $logs/$name.log:"
        tail -n 25 "$logs/$name.log" | sed 's/^/    /'
    fi
}

for what; do
    case $what in
    hostile) step hostile test_hostile "$hip" "$functions" ;;
    shapes) step shapes test_hostile_shapes "$hip" ;;
    endurance) step endurance test_endurance "$hip" ;;
    streams) step streams test_streams "$hip" ;;
    sequence)
        mkdir -p "$logs/sequence"
        RMCP_HIP_LIBRARY="$hip" step sequence sequence --together "$miopen" "$logs/sequence" '!hostile/*'
        # Their judge, where there is a PyTorch.
        judge=$(place sequence_check.py)
        [ -n "$judge" ] || judge=$(dirname "$0")/sequence_check.py
        if python3 "$judge" --quiet "$logs/sequence" >"$logs/judge.log" 2>&1; then
            passed=$((passed + 1))
            say judge ok 0 "$(tail -n 1 "$logs/judge.log")"
        elif [ $? = 77 ]; then
            skipped=$((skipped + 1))
        else
            failed=$((failed + 1))
            say judge FAIL 0 "$(tail -n 3 "$logs/judge.log")"
        fi
        ;;
    host)
        step host miopen_host "$hip"
        step first miopen_host "$hip" --first
        cat "$logs/host.log" "$logs/first.log" 2>/dev/null
        ;;
    check) # everything once more, compared with the CPU by the engine itself
        RMCP_CHECK=1 step check test_streams "$hip" 'streams*'
        if grep -q '^rmcp: check:' "$logs/check.log" 2>/dev/null; then
            failed=$((failed + 1))
            grep '^rmcp: check:' "$logs/check.log"
        fi
        ;;
    *) echo "check_gpu_miopen.sh: no step '$what'" >&2; exit 2 ;;
    esac
done
echo "$kind: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
