#!/bin/sh
# Runs a command of rmcp on the OpenCL device; exit status 77 (skip) where there is none.
# usage: check_opencl.sh RMCP ARGUMENTS…
set -eu
if "$1" devices | grep '^opencl .*not usable'; then exit 77; fi
exec "$@"
