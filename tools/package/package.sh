#!/bin/sh
# Packs a build: package.sh tarball|wheel|pure BUILD FOLDER   (deb.sh makes the Debian packages)
# tarball and wheel run wherever they are unpacked (stage.sh); pure is a wheel of Python alone. The same build gives
# the same bytes. Prints the path of what it wrote into FOLDER.
set -eu
. "$(dirname "$0")/lib.sh"
[ $# = 3 ] || fail "usage: package.sh tarball|wheel|pure BUILD FOLDER"
kind=$1 build=$2
mkdir -p "$3"
out=$(cd "$3" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=$("$root/tools/find_python.sh") || fail "there is no Python 3"
name=rmcp-$version-$(uname -m)

case $kind in
tarball)
    "$root/tools/package/stage.sh" "$build" "$work/$name"
    # gzip, since bare systems have no xz; almost everything is compressed already.
    tar -C "$work" --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
        -cf "$work/tar" "$name"
    gzip -9n <"$work/tar" >"$out/$name.tar.gz"
    echo "$out/$name.tar.gz" ;;
wheel)
    "$root/tools/package/stage.sh" "$build" "$work/$name"
    platform=manylinux_$(echo "$newest_glibc" | tr . _)_$(uname -m)
    wheel=$(RMCP_NATIVE=$work/$name "$python" -B "$root/python/build_backend.py" "$out" "$platform")
    echo "$out/$wheel" ;;
pure)
    wheel=$(RMCP_NATIVE=none "$python" -B "$root/python/build_backend.py" "$out")
    echo "$out/$wheel" ;;
*) fail "no kind '$kind'" ;;
esac
