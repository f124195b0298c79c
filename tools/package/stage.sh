#!/bin/sh
# Lays out what the tarball and the wheel have, so that it runs wherever it is unpacked: stage.sh BUILD FOLDER
# BUILD was configured with -Dportable=true -Dlibdir=lib. Libraries that a bare system may lack are copied beside ours,
# each with its licence; what is linked statically has its licence there too.
set -eu
. "$(dirname "$0")/lib.sh"
[ $# = 2 ] || fail "usage: stage.sh BUILD FOLDER"
build=$1 stage=$2
need readelf objdump dpkg-query meson

[ "$(option "$build" portable) $(option "$build" libdir)" = "true lib" ] ||
    fail "$build is not portable: meson configure $build -Dportable=true -Dlibdir=lib"
rm -rf "$stage"
mkdir -p "$stage/bin" "$stage/lib/rmcp" "$stage/share/doc/rmcp/licences"
stage=$(cd "$stage" && pwd)
installed=$stage.installed
rm -rf "$installed"
DESTDIR=$installed meson install -C "$build" --no-rebuild --strip --quiet >"$stage.log" 2>&1 ||
    { cat "$stage.log" >&2; fail "$build cannot be installed"; }
one() { find "$installed" -path "*/$1" | head -n 1; }
libraries=$(dirname "$(one librmcp.so.0)")
cp "$(one bin/rmcp)" "$stage/bin/rmcp"
cp -P "$libraries"/librmcp.so* "$stage/lib/"
cp -R "$libraries/rmcp/." "$stage/lib/rmcp/"
cp -R "$(dirname "$(one include/rmcp.h)")" "$stage/include"
for shared in man bash-completion zsh fish; do cp -R "$(one "share/$shared")" "$stage/share/"; done
mkdir "$stage/lib/pkgconfig"
# shellcheck disable=SC2016 # pkg-config's own variables
sed -e 's|^prefix=.*|prefix=${pcfiledir}/../..|' -e 's|^libdir=.*|libdir=${prefix}/lib|' \
    -e 's|^Libs:.*-lrmcp|Libs: -L${libdir} -Wl,-rpath,${libdir} -lrmcp|' "$(one rmcp.pc)" \
    >"$stage/lib/pkgconfig/rmcp.pc"
rm -rf "$installed" "$stage.log"

# licence_of PACKAGE NAME: its licence, and where its source is: distributions keep it under this name and version.
licence_of() {
    cp "/usr/share/doc/$1/copyright" "$stage/share/doc/rmcp/licences/$2"
    dpkg-query -W -f "$2: \${Package} \${Version} of Debian, source package \${source:Package} \${source:Version}\n" \
        "$1" |
        head -n 1 >>"$stage/share/doc/rmcp/licences/SOURCES"
}

# The C library is the system's; everything else comes along.
pending=$(elf_files "$stage")
while [ -n "$pending" ]; do
    file=$(printf '%s\n' "$pending" | head -n 1)
    pending=$(printf '%s\n' "$pending" | tail -n +2)
    for name in $(needed_by "$file"); do
        case $name in
        libc.so.6 | libm.so.6 | libdl.so.2 | libpthread.so.0 | librt.so.1 | ld-linux-x86-64.so.2) continue ;;
        esac
        [ ! -e "$stage/lib/rmcp/$name" ] || continue
        source=$("${CC:-cc}" "-print-file-name=$name")
        [ -f "$source" ] || fail "$file needs $name, which was not found"
        case $name in # what we know the licence of, and that it runs from anywhere
        libcjson.so.* | libgomp.so.*) ;;
        *) fail "$file needs $name, which is not to be carried along" ;;
        esac
        cp -L "$source" "$stage/lib/rmcp/$name"
        pending=$(printf '%s\n%s' "$pending" "$stage/lib/rmcp/$name" | sed '/^$/d')
        package=$(dpkg-query -S "$(realpath "$source")" | sed 's/:.*//' | head -n 1)
        licence_of "$package" "${name%%.so*}"
    done
done
for package in zlib1g-dev libzstd-dev libbz2-dev libsqlite3-dev; do
    licence_of "$package" "${package%-dev}"
done
cp /usr/share/common-licenses/GPL-3 "$stage/share/doc/rmcp/licences/GPL-3" # libgomp's, with an exception
check_glibc "$stage"

cp "$root/LICENSE" "$root/README.md" "$root/CHANGELOG.md" "$stage/share/doc/rmcp/"
cp -R "$root/docs" "$stage/share/doc/rmcp/docs"
cp "$root/docs/install.md" "$stage/INSTALL.md"
mkdir "$stage/python"
(cd "$root/python" && find rmcp -type f ! -path '*__pycache__*' | sort | tar -cf - -T -) | tar -C "$stage/python" -xf -
set_times "$stage"
