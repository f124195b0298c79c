#!/bin/sh
# Builds RMCP against oneDNN 3.x of Debian 13 and runs the quick suite on it, with Debian 13's own C
# library, on whatever Debian this is. Exit status 77 (skip) when the packages cannot be had.
# usage: check_onednn3.sh SOURCE-DIR
set -eu
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/debian.sh"
source=$1
debian_open "$work" trixie
library=$(debian_apt apt-cache depends libdnnl-dev | sed -n 's/.*Depends: \(libdnnl[0-9.]*\)$/\1/p' | head -n 1)
[ -n "$library" ] || skip "Debian 13 has no libdnnl"
debian_unpack libdnnl-dev "$library" libc6 libgcc-s1 libgomp1 libstdc++6 libcjson1 zlib1g libzstd1 \
    libbz2-1.0 libsqlite3-0

lib=$work/root/usr/lib/x86_64-linux-gnu
[ -e "$lib/ld-linux-x86-64.so.2" ] || skip "only for x86-64"
cd "$source"
mkdir "$work/source"
cp -r tools meson.build meson_options.txt include src sim data examples bench tests "$work/source"
: >"$work/source/tests/meson.build"
meson setup "$work/build" "$work/source" -Donednn="$work/root/usr" -Dkernel_targets= -Dbuildtype=debug \
    -Doptimization=1 -Ddebug=false -Dwerror=false >"$work/log" 2>&1 || { cat "$work/log"; die "it does not build"; }
ninja -C "$work/build" rmcp >"$work/log" 2>&1 || { cat "$work/log"; die "it does not build"; }
run() { "$lib/ld-linux-x86-64.so.2" --library-path "$lib" "$work/build/rmcp" "$@"; }
run devices
run devices | grep -q 'oneDNN 3\.' || die "it did not load oneDNN 3.x"
run verify --device cpu --suite quick
run verify --device cpu --suite fuzz --cases 300 --seed 3
