#!/bin/sh
# Everything that only a machine with a GPU can show, in one call; needs no compiler.
# usage: check_gpu.sh FOLDER [DEVICE [STEP…]]
# FOLDER holds rmcp, train, gpu_streams and librmcp.so.0, or is a build folder. DEVICE is cuda or hip.
# STEPs are devices full fuzz train streams memcheck racecheck; all of them when none is named.
# A step whose tool is not installed is skipped. Prints one line for each, the end of the output of
# those that failed, and a summary; exit status 1 when one failed. RMCP_CHECK_LOGS keeps the outputs.
set -u
folder=$(cd "$1" && pwd) device=${2:-cuda}
[ $# -lt 2 ] || shift
shift
[ $# -gt 0 ] || set -- devices full fuzz train streams memcheck racecheck
logs=${RMCP_CHECK_LOGS:-$(mktemp -d)}
mkdir -p "$logs"
export LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

# program NAME: where it is
program() {
    for place in "$folder/$1" "$folder/examples/$1" "$folder/tests/driver/$1"; do
        [ ! -x "$place" ] || { echo "$place"; return; }
    done
    echo "check_gpu.sh: no $1 in $folder" >&2
    exit 2
}
rmcp=$(program rmcp) train=$(program train) streams=$(program gpu_streams) || exit 2

sanitizer=
for place in compute-sanitizer /usr/local/cuda/bin/compute-sanitizer; do
    [ -n "$sanitizer" ] || sanitizer=$(command -v "$place" || true)
done

passed=0 failed=0 skipped=0
say() { printf '%-10s %-5s %5ss  %s\n' "$@"; }

step() { # NAME COMMAND…
    name=$1
    shift
    begin=$(date +%s) status=0
    "$@" >"$logs/$name.log" 2>&1 || status=$?
    seconds=$(($(date +%s) - begin))
    if [ $status = 0 ]; then
        passed=$((passed + 1))
        say "$name" ok $seconds "$(grep -v '^ *$' "$logs/$name.log" | tail -n 1)"
    else
        failed=$((failed + 1))
        say "$name" FAIL $seconds "status $status; the end of $logs/$name.log:"
        tail -n 15 "$logs/$name.log" | sed 's/^/    /'
    fi
}

sanitize() { # TOOL
    if [ -z "$sanitizer" ]; then
        skipped=$((skipped + 1))
        say "$1" skip 0 "compute-sanitizer is not installed"
        return
    fi
    step "$1" "$sanitizer" --tool "$1" --error-exitcode 9 "$rmcp" verify --device "$device" --suite quick
}

for what; do
    case $what in
    devices) step devices "$rmcp" devices ;;
    full) step full "$rmcp" verify --device "$device" --suite full ;;
    fuzz) step fuzz "$rmcp" verify --device "$device" --suite fuzz --cases 4000 --seed 1 ;;
    train) step train "$train" --device "$device" ;;
    streams) step streams "$streams" "$device" ;;
    memcheck | racecheck) sanitize "$what" ;;
    *) echo "check_gpu.sh: no step '$what'" >&2; exit 2 ;;
    esac
done
echo "$device: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
