#!/bin/bash
# The drop-in, called as PyTorch, ONNX Runtime, MIGraphX and XLA call it; PyTorch on the CPU judges the results.
# usage: check_sequence.sh sim|cpu RMCP SEQUENCE LIBRARY [PATTERN…]
#   sim  on a simulated card, under the HIP that is installed (exit status 77 without one); in one process
#   cpu  on RMCP's CPU device, without any HIP; each sequence in a process of its own, wrong calls too
# PATTERN… as for the program sequence: which sequences; default all, without the wrong calls on the simulated card
# (tests/miopen/judge.sh has them).
set -eu
. "$(dirname "$0")/../support/lib.sh"
where=$1 rmcp=$2 sequence=$3 library=$4
shift 4
export XDG_CACHE_HOME=$work/cache RMCP_GUARD=0 OMP_WAIT_POLICY=passive
unset RMCP_HIP_LIBRARY RMCP_SYSFS_ROOT RMCP_DEVICE HSA_OVERRIDE_GFX_VERSION RMCP_DISABLE RMCP_MIOPEN_CHAIN || true
mkdir "$work/results"
case $where in
sim)
    if "$rmcp" devices | grep '^hip .*cannot be loaded'; then skip "AMD's runtime is not installed"; fi
    [ $# -gt 0 ] || set -- '!hostile/*'
    expect 0 "$rmcp" sim -- "$sequence" --together "$library" "$work/results" "$@"
    says ' 0 reports'
    ;;
cpu) RMCP_DEVICE=cpu expect 0 "$sequence" "$library" "$work/results" "$@" ;;
*) die "sim or cpu, not '$where'" ;;
esac
says 'sequence: [1-9][0-9]* sequences, 0 died'
grep '^sequence: ' "$work/err"
expect 0 "$python" "$(dirname "$0")/sequence_check.py" --quiet "$work/results"
[ "$status" != 77 ] || skip "no PyTorch"
has ' right, 0 wrong'
cat "$work/out"
finish "sequences"
