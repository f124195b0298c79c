#!/bin/sh
# Adds the algorithm and the operation of docs/extending.md to a copy of the project, builds it and verifies
# them there. usage: check_extending.sh SOURCE-DIR
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$1"
cp -r tools meson.build meson_options.txt include src sim data examples bench tests "$work"
: >"$work/tests/meson.build"
# A block of C belongs to the file named last before it.
awk -v root="$work/" '
    /^```c$/ { inside = 1; next }
    /^```$/ { if (inside) close(file); inside = 0; next }
    inside { print >file; next }
    match($0, /`src\/[a-z_\/]*\.c`:$/) {
        file = root substr($0, RSTART + 1, RLENGTH - 3)
        folder = file
        sub(/\/[^\/]*$/, "", folder)
        system("mkdir -p \"" folder "\"")
    }' docs/extending.md
cd "$work"
ls src/conv/algo/pointwise_loops.c src/ops/negate/negate.c src/ops/negate/algo/loops.c
meson setup build -Dkernel_targets= >log 2>&1 || { cat log; exit 1; }
ninja -C build rmcp >log 2>&1 || { cat log; exit 1; }
build/rmcp plan --device cpu --explain n1c8h4w4k8 n1c8h4w4k8r3s3p1 negate:n1000 >table
cat table
grep -q 'pointwise_loops .*us' table || { echo "it does not apply to a 1x1 case"; exit 1; }
grep -q 'pointwise_loops .*forward only' table || { echo "its refusal is not shown"; exit 1; }
grep -q '^ *\* loops ' table || { echo "the operation has no plan"; exit 1; }
build/rmcp verify --device cpu --algorithm pointwise_loops n2c8h4w4k8:fwd n1c3h5w7k9:fwd
build/rmcp verify --device cpu negate:n1 negate:n1000 | tee log
grep -q '^4 runs, 0 failures' log
build/rmcp verify --device cpu --suite fuzz --operation negate --cases 50 | grep -q '^50 runs, 0 failures'
build/rmcp bench --device cpu negate:n100000 | grep -q 'loops *negate:n100000'
! build/rmcp verify negate:n0 2>log || { echo "a wrong case was taken"; exit 1; }
grep -q 'negate:n0' log
