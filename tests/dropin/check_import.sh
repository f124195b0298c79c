#!/bin/sh
# import rmcp.miopen: test_miopen.py, in a folder with toy PyTorches of every kind.
# usage: check_import.sh LIBRMCP
set -u
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/toys.sh"
wheel "$work/wheel"
therock "$work/therock"
system "$work/system"
torch "$work/distribution" 2.6.0 "'5.7.31921'" None
cc -shared -fPIC -o "$work/distribution/torch/lib/libtorch_hip.so" "$toys/torch.c" "-L$work/system" -lMIOpen ||
    die "no libtorch_hip.so"
torch "$work/cpu" 2.6.0+cpu None None
mkdir "$work/empty"
RMCP_LIBRARY=$(realpath "$1") "$python" "$(dirname "$0")/test_miopen.py" "$work"
