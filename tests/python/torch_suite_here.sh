#!/bin/sh
# Runs PyTorch's own tests of convolutions, with the PyTorch that is installed here, without RMCP and with it; by hand.
# usage: torch_suite_here.sh TESTS LOGS [DEVICE [JOBS]]   TESTS: the folder test of PyTorch's sources; DEVICE: cuda
#        unless told otherwise; JOBS: parts that run at once (default: one for each core)
#   SUITES='nn ops'   only these, in this order;  PARTS=N   parts of each (default JOBS)
#   RMCP_LIBRARY=FILE, PYTHONPATH=…/python: where RMCP is
# LOGS keeps what was run, and it is not run again. Exit status 1: some tests fail that pass without RMCP; they are
# listed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

# one SUITE PART WAY FILE PATTERN: a part of a suite, without RMCP (own) or with it (rmcp).
if [ "${1-}" = --one ]; then
    suite=$2 part=$3 way=$4 file=$5 pattern=$6
    on=1
    [ "$way" = rmcp ] || on=0
    RMCP_SUITE=$on python3 -W ignore "$here/torch_suite.py" run "$logs/$name-$suite.$part.$way" "$tests/$file" \
        "$pattern" "$parts:$part" </dev/null 2>>"$logs/$suite.$part.$way.err" ||
        echo "$suite, part $part, $way: not complete"
    exit 0
fi

[ $# -ge 2 ] || { sed -n '3,6p' "$0" | cut -c3-; exit 2; }
mkdir -p "$2/whole"
tests=$(cd "$1" && pwd) logs=$(cd "$2" && pwd) device=${3:-cuda} jobs=${4:-$(nproc)}
parts=${PARTS:-$jobs}
export PYTORCH_TESTING_DEVICE_ONLY_FOR="$device" RMCP_SUITE_DEVICE="$device" RMCP_TORCH_NATIVE="${RMCP_TORCH_NATIVE:-0}"
export OMP_NUM_THREADS=1
name=$(python3 -c 'import torch; print(torch.__version__.split("+")[0])')-$device
export tests logs parts name

for chosen in ${SUITES:-$(cut -d' ' -f1 "$here/torch_suites.txt")}; do
    while read -r suite file pattern; do
        [ "$suite" = "$chosen" ] && [ -e "$tests/$file" ] || continue
        # PyTorch's choice of a device does not reach these.
        case $suite in inductor*) pattern="$pattern.*_$device" ;; esac
        part=0
        while [ "$part" -lt "$parts" ]; do
            for way in own rmcp; do printf '%s\n' "--one $suite $part $way $file $pattern"; done
            part=$((part + 1))
        done
    done <"$here/torch_suites.txt"
done | xargs -P "$jobs" -L 1 "$0" || true
for log in "$logs/$name"-*.0.own; do
    suite=${log##*/"$name"-} && suite=${suite%.0.own}
    for way in own rmcp; do cat "$logs/$name-$suite".*."$way" >"$logs/whole/$name-$suite.$way"; done
done
python3 "$here/torch_suite.py" table "$logs/whole"
