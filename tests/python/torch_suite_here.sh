#!/bin/sh
# Runs PyTorch's own tests of convolutions, with the PyTorch that is installed here, without RMCP and with it; by hand.
# usage: torch_suite_here.sh TESTS LOGS [DEVICE [JOBS]]   TESTS: the folder test of PyTorch's sources; DEVICE: cuda unless
#        told otherwise; JOBS: parts that run at once (default: one for each core)
#   SUITES='nn ops'   only these;  RMCP_LIBRARY=FILE, PYTHONPATH=…/python: where RMCP is
# LOGS keeps what was run, and it is not run again. Exit status 1: some tests fail that pass without RMCP; they are listed.
set -eu
[ $# -ge 2 ] || { sed -n '3,5p' "$0" | cut -c3-; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2/whole"
tests=$(cd "$1" && pwd) logs=$(cd "$2" && pwd) device=${3:-cuda} jobs=${4:-$(nproc)}
export PYTORCH_TESTING_DEVICE_ONLY_FOR="$device" RMCP_SUITE_DEVICE="$device" RMCP_TORCH_NATIVE="${RMCP_TORCH_NATIVE:-0}"
export OMP_NUM_THREADS=1
name=$(python3 -c 'import torch; print(torch.__version__.split("+")[0])')-$device

# one_part K: all suites, without RMCP and with it.
one_part() {
    while read -r suite file pattern; do
        case " ${SUITES:-$suite} " in *" $suite "*) ;; *) continue ;; esac
        [ -e "$tests/$file" ] || continue
        for way in own rmcp; do
            on=1
            [ $way = rmcp ] || on=0
            RMCP_SUITE=$on python3 -W ignore "$here/torch_suite.py" run "$logs/$name-$suite.$1.$way" "$tests/$file" \
                "$pattern" "$jobs:$1" </dev/null 2>>"$logs/$suite.$1.$way.err" || echo "$suite, part $1, $way: not complete"
        done
    done <"$here/torch_suites.txt"
}

part=0
while [ "$part" -lt "$jobs" ]; do
    one_part "$part" &
    part=$((part + 1))
done
wait
while read -r suite _; do
    for way in own rmcp; do
        cat "$logs/$name-$suite".*."$way" >"$logs/whole/$name-$suite.$way" 2>/dev/null || rm "$logs/whole/$name-$suite.$way"
    done
done <"$here/torch_suites.txt"
python3 "$here/torch_suite.py" table "$logs/whole"
