#!/bin/sh
# The drop-in where programs find MIOpen: in the system's folder, in a wheel, preloaded, loaded before; with
# lazy binding and without. The original is a toy whose functions return 77.
# usage: check_layouts.sh functions.txt libMIOpen.so.1 wheel/libMIOpen.so librmcp.so.0
set -eu
. "$(dirname "$0")/../support/lib.sh"
functions=$1 ours=$(realpath "$2") wheel=$(realpath "$3") engine=$(realpath "$4")
here=$(cd "$(dirname "$0")" && pwd)
need cc readelf
export RMCP_DEVICE=cpu RMCP_LOG=0 XDG_CACHE_HOME="$work/cache"
unset LD_PRELOAD LD_LIBRARY_PATH RMCP_DISABLE RMCP_MIOPEN_CHAIN RMCP_MIOPEN_ORIGINAL RMCP_LIBRARY || true

# compile ARGUMENTS…
compile() { cc -std=c11 -D_POSIX_C_SOURCE=200809L -O1 "$@" || die "cc $*"; }

# original FILE SONAME: the toy, with every function and the version node.
echo 'MIOPEN_HIP_1 { global: miopen*; local: *; };' >"$work/map"
awk '/^miopen/ { print "int " $1 "(void); int " $1 "(void) { return 77; }" }' "$functions" >"$work/original.c"
original() { compile -fPIC -shared "$work/original.c" -o "$1" "-Wl,--version-script=$work/map,-soname,$2"; }

# ---- what programs are ----

# A distribution: the program needs libtorch_hip, which needs libMIOpen.so.1, all by the search path.
mkdir "$work/system" "$work/dropin" "$work/bin"
original "$work/system/libMIOpen.so.1" libMIOpen.so.1
compile -fPIC -shared "$here/layout_torch.c" -o "$work/bin/libtorch_hip.so" "$work/system/libMIOpen.so.1"
compile -DNEEDS_TORCH "$here/layout_main.c" -o "$work/bin/linked" "$work/bin/libtorch_hip.so" \
    -Wl,-rpath,"$work/bin",--allow-shlib-undefined -ldl
compile "$here/layout_main.c" -o "$work/bin/loader" -ldl
readelf -W --dyn-syms "$work/bin/libtorch_hip.so" >"$work/out"
has 'miopenCreate@MIOPEN_HIP_1'
cp "$ours" "$work/dropin/libMIOpen.so.1"
cp "$engine" "$work/dropin/librmcp.so.0"

# A wheel: everything beside libtorch_hip, needed as libMIOpen.so, found by RPATH $ORIGIN.
make_wheel() {
    mkdir -p "$1/torch/lib"
    original "$1/torch/lib/libMIOpen.so" libMIOpen.so
    compile -fPIC -shared "$here/layout_torch.c" -o "$1/torch/lib/libtorch_hip.so" "$1/torch/lib/libMIOpen.so" \
        -Wl,-rpath,'$ORIGIN',--disable-new-dtags
}
make_wheel "$work/site"
torch=$work/site/torch/lib/libtorch_hip.so

# ---- what is expected ----

reaches_original() {
    has '^version 77 create 77 backend 77 destroy 77$'
    grep -q '^has .*librmcp' "$work/out" && fail "the engine was loaded for nothing"
    return 0
}
# Ours answers, nothing is loaded before the first handle, and the engine is one.
reaches_ours() {
    has '^version 0 create 0 backend 6 destroy 0$'
    sed '/^after/,$d' "$work/out" | grep -q librmcp && fail "the engine is loaded before anybody asks"
    [ "$(sed '1,/^after/d' "$work/out" | grep -c librmcp)" = 1 ] || fail "not one engine"
    quiet
}
only_one() { [ "$(sed '1,/^after/d' "$work/out" | grep -c MIOpen)" = 1 ] || fail "two MIOpens in one process"; }

for bind in '' 1; do
    export LD_BIND_NOW=$bind
    say "LD_BIND_NOW='$bind'"

    # The system's folder.
    expect 0 env LD_LIBRARY_PATH="$work/system" "$work/bin/linked"
    reaches_original
    expect 0 env LD_LIBRARY_PATH="$work/dropin:$work/system" "$work/bin/linked"
    reaches_ours
    only_one
    expect 0 env LD_LIBRARY_PATH="$work/system" LD_PRELOAD="$work/dropin/libMIOpen.so.1" "$work/bin/linked"
    reaches_ours
    only_one
    expect 0 env LD_LIBRARY_PATH="$work/system" LD_PRELOAD="$ours" "$work/bin/linked" # out of the build folder
    reaches_ours
    only_one

    # The wheel: as it is; ours preloaded; ours loaded before, as Python does.
    expect 0 "$work/bin/loader" "local:$torch"
    reaches_original
    expect 0 env LD_LIBRARY_PATH="$work/dropin" "$work/bin/loader" "local:$torch" # which its RPATH overrules
    reaches_original
    expect 0 env LD_PRELOAD="$wheel" "$work/bin/loader" "local:$torch"
    reaches_ours
    only_one
    expect 0 "$work/bin/loader" "global:$wheel" "local:$torch"
    reaches_ours
    only_one
    # The copy under the other name wins as well; the bundled one is loaded beside it and not reached.
    expect 0 env LD_PRELOAD="$work/dropin/libMIOpen.so.1" "$work/bin/loader" "local:$torch"
    reaches_ours

    # Preloaded into a program that needs no MIOpen.
    expect 0 env LD_PRELOAD="$ours" "$work/bin/loader"
    grep -q librmcp "$work/out" && fail "preloading loads the engine"
    quiet
done
unset LD_BIND_NOW

# ---- ours in the place of the wheel's ----

make_wheel "$work/replaced"
lib=$work/replaced/torch/lib
mkdir "$lib/rmcp"
mv "$lib/libMIOpen.so" "$lib/rmcp/libMIOpen.so.original"
cp "$wheel" "$lib/libMIOpen.so"
cp "$engine" "$lib/rmcp/librmcp.so.0"
for bind in '' 1; do
    export LD_BIND_NOW=$bind
    expect 0 "$work/bin/loader" "local:$lib/libtorch_hip.so"
    reaches_ours
    has "^has $lib/rmcp/librmcp.so.0$"
    only_one
    # Switched off: every call is the original's.
    expect 0 env RMCP_DISABLE=1 "$work/bin/loader" "local:$lib/libtorch_hip.so"
    reaches_original
    quiet
    expect 0 env RMCP_DISABLE=0 "$work/bin/loader" "local:$lib/libtorch_hip.so"
    reaches_ours
    # Chained: those that ours has not.
    expect 0 env RMCP_MIOPEN_CHAIN=1 "$work/bin/loader" "local:$lib/libtorch_hip.so"
    has 'backend 77'
done
unset LD_BIND_NOW
expect 0 env RMCP_DISABLE=1 RMCP_MIOPEN_ORIGINAL="$work/system/libMIOpen.so.1" LD_LIBRARY_PATH="$work/dropin" \
    "$work/bin/linked"
reaches_original
# An original that is not there: a status, and one word about it.
rm "$lib/rmcp/libMIOpen.so.original"
expect 0 env RMCP_DISABLE=1 "$work/bin/loader" "local:$lib/libtorch_hip.so"
has '^version [0-9]+ create [0-9]+ '
expect 0 env -u RMCP_LOG RMCP_DISABLE=1 "$work/bin/loader" "local:$lib/libtorch_hip.so"
[ "$(wc -l <"$work/err")" -le 1 ] || fail "more than one line"

# ---- where the engine is found ----

# engine_in FOLDER-OF-OURS FOLDER-OF-ENGINE
engine_in() {
    rm -rf "$work/places"
    mkdir -p "$work/places/$1" "$work/places/$2"
    cp "$wheel" "$work/places/$1/libMIOpen.so"
    cp "$engine" "$work/places/$2/librmcp.so.0"
    expect 0 "$work/bin/loader" "global:$work/places/$1/libMIOpen.so" "local:$torch"
    reaches_ours
    has "^has $work/places/.*librmcp.so.0$"
}
engine_in lib lib
engine_in lib lib/rmcp
engine_in lib/rmcp lib
engine_in lib/rmcp/wheel lib
engine_in "with a space" "with a space/rmcp"
# Named; the process's own before all others.
mkdir "$work/named" "$work/alone"
cp "$engine" "$work/named/engine.so"
cp "$wheel" "$work/alone/libMIOpen.so"
expect 0 env RMCP_LIBRARY="$work/named/engine.so" "$work/bin/loader" "global:$work/alone/libMIOpen.so" "local:$torch"
has '^version 0 create 0 '
expect 0 "$work/bin/loader" "local:$work/dropin/librmcp.so.0" "global:$wheel" "local:$torch"
has '^version 0 create 0 '
[ "$(sed '1,/^after/d' "$work/out" | grep -c librmcp)" = 1 ] || fail "a second engine beside the process's own"
# None: a status, no crash.
expect 0 env LD_LIBRARY_PATH=/nonexistent "$work/bin/loader" "global:$work/alone/libMIOpen.so" "local:$torch"
has '^version 0 create [1-9]'
expect 0 env RMCP_LIBRARY="$work/map" "$work/bin/loader" "global:$work/alone/libMIOpen.so" "local:$torch" # no library
has '^version 0 create '
finish layouts
