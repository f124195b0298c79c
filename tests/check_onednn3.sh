#!/bin/sh
# Builds RMCP against oneDNN 3.x of Debian 13 and runs the quick suite on it, with Debian 13's own C
# library, on whatever Debian this is. Exit status 77 (skip) when the packages cannot be had.
# usage: check_onednn3.sh SOURCE-DIR
set -eu
skip() { echo "skipped: $*"; exit 77; }
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"

# The mirror is the one that apt uses here.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep '/debian/*$' | head -n 1) || true
[ -n "$mirror" ] || skip "apt has no Debian mirror"
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/debs" "$work/root"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" >"$work/sources.list"
apt() {
    "$@" -q -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root
}
apt apt-get update >"$work/log" 2>&1 || skip "no package lists of Debian 13"
library=$(apt apt-cache depends libdnnl-dev | sed -n 's/.*Depends: \(libdnnl[0-9.]*\)$/\1/p' | head -n 1)
[ -n "$library" ] || skip "Debian 13 has no libdnnl"
(cd "$work/debs" && apt apt-get download libdnnl-dev "$library" libc6 libgcc-s1 libgomp1 libstdc++6 libcjson1 \
    zlib1g libzstd1 libbz2-1.0 libsqlite3-0) \
    >"$work/log" 2>&1 || skip "the packages of Debian 13 cannot be downloaded"
for deb in "$work"/debs/*.deb; do dpkg -x "$deb" "$work/root"; done

lib=$work/root/usr/lib/x86_64-linux-gnu
[ -e "$lib/ld-linux-x86-64.so.2" ] || skip "only for x86-64"
cd "$source"
mkdir "$work/source"
cp -r meson.build meson_options.txt include src data examples bench "$work/source"
mkdir "$work/source/tests"
: >"$work/source/tests/meson.build"
meson setup "$work/build" "$work/source" -Donednn="$work/root/usr" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
ninja -C "$work/build" rmcp >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
run() { "$lib/ld-linux-x86-64.so.2" --library-path "$lib" "$work/build/rmcp" "$@"; }
run devices
run devices | grep -q 'oneDNN 3\.' || { echo "it did not load oneDNN 3.x"; exit 1; }
run verify --device cpu --suite quick
run verify --device cpu --suite fuzz --cases 300 --seed 3
