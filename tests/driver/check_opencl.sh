#!/bin/sh
# Runs a command of rmcp on the OpenCL device; exit status 77 (skip) where there is none.
# usage: check_opencl.sh RMCP ARGUMENTS…
set -eu
. "$(dirname "$0")/../support/lib.sh"
if "$1" devices | grep '^opencl .*not usable'; then skip "no OpenCL driver"; fi
"$@"
