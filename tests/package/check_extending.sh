#!/bin/sh
# Adds the algorithm of docs/extending.md to a copy of the project, builds it and verifies it there.
# usage: check_extending.sh SOURCE-DIR
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$1"
cp -r tools meson.build meson_options.txt include src sim data examples bench tests "$work"
: >"$work/tests/meson.build"
sed -n '/^```c$/,/^```$/{/^```/d;p}' docs/extending.md >"$work/src/conv/algo/pointwise_loops.c"
cd "$work"
meson setup build -Dkernel_targets= >log 2>&1 || { cat log; exit 1; }
ninja -C build rmcp >log 2>&1 || { cat log; exit 1; }
build/rmcp plan --device cpu --explain n1c8h4w4k8 n1c8h4w4k8r3s3p1 >table
cat table
grep -q 'pointwise_loops .*us' table || { echo "it does not apply to a 1x1 case"; exit 1; }
grep -q 'pointwise_loops .*forward only' table || { echo "its refusal is not shown"; exit 1; }
build/rmcp verify --device cpu --algorithm pointwise_loops n2c8h4w4k8:fwd n1c3h5w7k9:fwd
