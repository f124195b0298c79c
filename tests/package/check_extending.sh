#!/bin/sh
# Adds the algorithm, the operation and the element-wise function of docs/extending.md to a copy of the project, builds
# it and verifies them there. usage: check_extending.sh SOURCE-DIR
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$1"
cp -r tools meson.build meson_options.txt include src sim data examples bench tests "$work"
: >"$work/tests/meson.build"
# A block of C belongs to the file named last before it; rows go to the end of theirs.
awk -v root="$work/" '
    /^```c$/ { inside = 1; next }
    /^```$/ { if (inside) close(file); inside = 0; next }
    inside && file ~ /inc$/ { print >>file; next }
    inside { print >file; next }
    match($0, /`src\/[a-z_\/]*\.(c|inc)`:$/) {
        file = root substr($0, RSTART + 1, RLENGTH - 3)
        folder = file
        sub(/\/[^\/]*$/, "", folder)
        system("mkdir -p \"" folder "\"")
    }' docs/extending.md
cd "$work"
ls src/engine/ops/conv/algo/pointwise_loops.c src/engine/ops/negate/negate.c src/engine/ops/negate/algo/loops.c
# Without the optimiser, which takes longer than what is run; without it GCC warns of what it cannot see.
meson setup build -Dkernel_targets= -Dbuildtype=plain -Dwerror=false >log 2>&1 || { cat log; exit 1; }
ninja -C build rmcp >log 2>&1 || { cat log; exit 1; }
build/rmcp plan --device cpu --explain n1c8h4w4k8 n1c8h4w4k8r3s3p1 negate:8x125:f32 >table
cat table
grep -q 'pointwise_loops .*us' table || { echo "it does not apply to a 1x1 case"; exit 1; }
grep -q 'pointwise_loops .*forward only' table || { echo "its refusal is not shown"; exit 1; }
grep -q '^ *\* loops ' table || { echo "the operation has no plan"; exit 1; }
build/rmcp verify --device cpu --algorithm pointwise_loops n2c8h4w4k8:fwd n1c3h5w7k9:fwd
build/rmcp verify --device cpu negate:1 negate:8x125:scale3 negate:2x3x5:bf16:x/15x1x3:y/40x10x2 | tee log
grep -q '^6 runs, 0 failures' log
build/rmcp verify --device cpu --suite fuzz --operation negate --cases 50 | grep -q '^50 runs, 0 failures'
build/rmcp bench --device cpu negate:100x1000 | grep -q 'loops *negate:100x1000'
build/rmcp verify --device cpu lerp:8x125:alpha0.25 lerp:2x3x5:bf16:b/0x0x1:y/40x10x2 | grep -q '^4 runs, 0 failures'
build/rmcp verify --device cpu --suite fuzz --operation lerp --cases 50 | grep -q '^50 runs, 0 failures'
build/rmcp verify --device opencl --suite fuzz --operation lerp --cases 20 >log 2>&1 ||
    ! grep -q 'failures' log || { cat log; exit 1; }
for wrong in 0 3x 2:f64 2:scale 2:scale0 2:scale1:scale2 2x2:y/0x1 2x2:y/1 2x2:x/1x1x1 2x2:f16:f32 1x1x1x1x1x1 \
    99999999999999x99999999999999 2x2:y/9223372036854775807x1; do
    ! build/rmcp verify --device cpu "negate:$wrong" 2>log >/dev/null || { echo "negate:$wrong was taken"; exit 1; }
    grep -q "case '" log || { cat log; exit 1; }
done
