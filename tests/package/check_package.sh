#!/bin/sh
# The tarball and the wheel of a build: they run from any folder with a bare environment, need no newer C library and no
# other library than they say, install without a network, and packing twice gives the same bytes.
# usage: check_package.sh SOURCE-DIR BUILD-DIR
# Skipped where the build was not configured with -Dportable=true -Dlibdir=lib, as ./setup.sh does on Debian.
set -eu
. "$(dirname "$0")/../support/lib.sh"
source=$1 build=$2
need dpkg-query readelf objdump meson
options=$(meson introspect "$build" --buildoptions | tr '{' '\n')
echo "$options" | grep '"name": "portable"' | grep -q '"value": true' || skip "this build is not portable"
echo "$options" | grep '"name": "libdir"' | grep -q '"value": "lib"' || skip "this build does not install into lib"

# ---- the tarball ----

expect 0 "$source/tools/package/package.sh" tarball "$build" "$work/first"
[ "$status" = 0 ] || die "no tarball"
tarball=$(cat "$work/out")
# A folder with a blank and a colon, which is not where anything was built.
place="$work/some where:else"
mkdir "$place"
tar -C "$place" -xzf "$tarball"
mv "$place"/rmcp-* "$place/moved"
# bare COMMAND…: nothing of this environment, above all no LD_LIBRARY_PATH and no PATH to look in.
bare() { env -i HOME="$work/home" PATH=/nowhere "$@"; }
mkdir "$work/home"
rmcp="$place/moved/bin/rmcp"
expect 0 bare "$rmcp" version
has "^rmcp $(sed -n 's/^#define RMCP_VERSION_MAJOR //p' "$source/include/rmcp.h")\." '^drivers: .*hip'
expect 0 bare "$rmcp" verify --device cpu n1c3h8w8k4r3s3p1
expect 0 bare "$rmcp" sim -- /bin/true # with librmcp-sim.so preloaded
# Every library that is needed is the C library's or comes along, and is found there.
n_elf=0
for file in "$rmcp" "$place/moved/lib/librmcp.so.0" "$place/moved/lib/rmcp"/*.so* \
    "$place/moved/lib/rmcp/wheel/libMIOpen.so"; do
    n_elf=$((n_elf + 1))
    readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >"$work/needed"
    while read -r name; do
        case $name in libc.so.6 | libm.so.6 | libdl.so.2 | libpthread.so.0 | ld-linux-x86-64.so.2) continue ;; esac
        [ -f "$place/moved/lib/rmcp/$name" ] || fail "$file needs $name, which does not come along"
        bare /usr/bin/ldd "$file" | grep -qF "$name => $place/moved/" || fail "$file finds another $name than its own"
        [ -s "$place/moved/share/doc/rmcp/licences/${name%%.so*}" ] || fail "there is no licence of $name"
    done <"$work/needed"
    expect 0 "$(dirname "$0")/check_glibc.sh" "$file"
done
[ "$n_elf" -ge 5 ] || fail "so few programs and libraries cannot be right"
! grep -rlF "$source/" "$place/moved/bin" "$place/moved/lib" >"$work/out" || fail "paths of this machine are in it"
mv "$place/moved" "$work/moved" # what follows splits paths at colons and blanks
# Python beside the library, from the same folder.
expect 0 bare PYTHONPATH="$work/moved/python" PYTHONDONTWRITEBYTECODE=1 "$python" -c \
    'import rmcp, rmcp._library as l; rmcp.version(); print(l._candidates()[0])'
has "/moved/lib/librmcp.so.0"
# Installed into a PyTorch, it brings along what it needs, and takes it away again.
if command -v cc >/dev/null; then
    mkdir -p "$work/torch/lib"
    printf 'int miopenCreate(void **handle) { *handle = 0; return 1; }\n' >"$work/toy.c"
    cc -shared -fPIC -Wl,-soname,libMIOpen.so "$work/toy.c" -o "$work/torch/lib/libMIOpen.so"
    cp "$work/torch/lib/libMIOpen.so" "$work/toy.so"
    expect 0 bare "$work/moved/bin/rmcp" run --install-into "$work/torch"
    installed=$work/torch/lib/rmcp
    for file in "$installed/rmcp" "$installed/librmcp.so.0"; do
        bare /usr/bin/ldd "$file" | grep -qF "libgomp.so.1 => $installed/" || fail "$file has no libgomp of its own"
    done
    expect 0 bare "$installed/rmcp" version
    expect 0 bare "$work/moved/bin/rmcp" run --install-into "$work/torch"
    rm "$installed/libgomp.so.1"
    expect 0 bare "$work/moved/bin/rmcp" run --install-into "$work/torch"
    [ -f "$installed/libgomp.so.1" ] || fail "installing again does not complete it"
    expect 0 bare "$work/moved/bin/rmcp" run --restore "$work/torch"
    cmp "$work/toy.so" "$work/torch/lib/libMIOpen.so" || fail "the original is not back"
    [ "$(find "$work/torch/lib" | wc -l)" = 2 ] || fail "restoring leaves $(find "$work/torch/lib")"
fi
# A program in C: pkg-config says everything, the place of the library included.
if command -v pkg-config >/dev/null && command -v cc >/dev/null; then
    printf '#include <rmcp.h>\n#include <stdio.h>\nint main(void) { puts(rmcp_version()); return 0; }\n' >"$work/p.c"
    flags=$(PKG_CONFIG_PATH="$work/moved/lib/pkgconfig" pkg-config --cflags --libs rmcp)
    # shellcheck disable=SC2086 # flags
    expect 0 cc "$work/p.c" -o "$work/p" $flags
    expect 0 bare "$work/p"
fi

# ---- the wheel ----

expect 0 "$source/tools/package/package.sh" wheel "$build" "$work/first"
[ "$status" = 0 ] || die "no wheel"
wheel=$(cat "$work/out")
case ${wheel##*/} in
rmcp-*-py3-none-manylinux_2_34_*.whl) ;;
*) fail "the wheel's name is ${wheel##*/}" ;;
esac
if "$python" -m venv "$work/venv" >"$work/out" 2>&1; then
    expect 0 "$work/venv/bin/python" -m pip install -q --no-index --disable-pip-version-check "$wheel"
    expect 0 bare "$work/venv/bin/rmcp" version
    has '^rmcp '
    expect 0 bare "$work/venv/bin/rmcp" sim -- /bin/true
    expect 0 bare "$work/venv/bin/python" -c \
        'import rmcp, rmcp._library as l; rmcp.version(); print(l._candidates()[0])'
    has '/rmcp/native/lib/librmcp.so.0'
    find "$work/venv" -name '*.pth' ! -name 'distutils-precedence.pth' >"$work/out"
    [ ! -s "$work/out" ] || fail "the wheel brings a .pth file"
    expect 0 "$work/venv/bin/python" -m pip uninstall -qy --disable-pip-version-check rmcp
    find "$work/venv" -iname '*rmcp*' >"$work/out"
    [ ! -s "$work/out" ] || fail "pip uninstall leaves something"
    # The checkout itself, in a fresh environment: nothing is downloaded, nothing left in the source.
    cp -R "$source/python" "$work/python"
    mkdir "$work/include"
    cp "$source/include/rmcp.h" "$work/include/"
    find "$work/python" -name __pycache__ -prune -exec rm -r {} +
    (cd "$work/python" && find . | sort) >"$work/before"
    expect 0 env RMCP_NATIVE=none \
        "$work/venv/bin/python" -m pip install -q --no-index --disable-pip-version-check "$work/python"
    (cd "$work/python" && find . -name __pycache__ -prune -o -print | sort) >"$work/after"
    cmp "$work/before" "$work/after" || fail "pip install leaves files in the source"
    expect 1 "$work/venv/bin/rmcp" version
    says 'Python alone'
else
    say "no wheel is installed: this Python makes no virtual environments"
fi

# ---- kernels, and what stands for their compiler ----

if [ -x "$build/tools/kernels/pack" ] && [ -f "$build/tools/kernels/kernels_gfx1010.S" ]; then
    expect 0 "$source/tools/package/package.sh" kernels "$build" "$work/first"
    tar -C "$work" -xf "$(cat "$work/out")"
    kernels=$(echo "$work"/rmcp-*-kernels)
    compile() {
        sh "$source/tools/kernels/compile.sh" gfx1010 "$1" "$kernels/gfx1010" "$build/tools/kernels/kernel-list" \
            "$kernels/clang" "$build/tools/kernels/prove" "$build/tools/kernels/pack" "$work/kernels.S"
    }
    expect 0 "$source/tools/kernels/probe.sh" "$kernels/clang" gfx1010
    expect 1 "$source/tools/kernels/probe.sh" "$kernels/clang" gfx90a
    expect 0 compile "$source/src"
    has 'conv: 0 of [0-9]+ kernels compiled' 'proved for gfx1010'
    # Other sources than theirs need the compiler.
    cp -R "$source/src" "$work/src"
    echo '/* changed */' >>"$work/src/engine/ops/conv/kernels/direct.cl"
    expect 255 compile "$work/src"
    says 'compiled from other sources'
else
    say "no kernels are packed: this build has none for gfx1010"
fi

# ---- again ----

for kind in tarball wheel; do
    expect 0 "$source/tools/package/package.sh" $kind "$build" "$work/second"
    path=$(cat "$work/out")
    cmp "$work/first/${path##*/}" "$path" || fail "packed twice, the $kind is another"
done
finish packages
