#!/bin/sh
# Adds the algorithm of docs/extending.md to a copy of the project, builds it and verifies it there.
# usage: check_extending.sh SOURCE-DIR
set -eu
. "$(dirname "$0")/../support/lib.sh"
cd "$1"
cp -r tools meson.build meson_options.txt include src sim data examples bench tests "$work"
: >"$work/tests/meson.build"
# shellcheck disable=SC2016 # backquotes of Markdown
sed -n '/^```c$/,/^```$/{/^```/d;p}' docs/extending.md >"$work/src/conv/algo/pointwise_loops.c"
cd "$work"
meson setup build -Dkernel_targets= >log 2>&1 || { cat log; die "it does not build"; }
ninja -C build rmcp >log 2>&1 || { cat log; die "it does not build"; }
build/rmcp plan --device cpu --explain n1c8h4w4k8 n1c8h4w4k8r3s3p1 >table
cat table
grep -q 'pointwise_loops .*us' table || die "it does not apply to a 1x1 case"
grep -q 'pointwise_loops .*forward only' table || die "its refusal is not shown"
build/rmcp verify --device cpu --algorithm pointwise_loops n2c8h4w4k8:fwd n1c3h5w7k9:fwd
