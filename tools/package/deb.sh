#!/bin/sh
# Makes the Debian packages of a build: deb.sh BUILD FOLDER
# BUILD was configured with --prefix=/usr --libdir=lib/x86_64-linux-gnu, so that it uses the system's libraries. Prints
# the paths of what it wrote. What is in which package is said once, in split() below.
set -eu
. "$(dirname "$0")/lib.sh"
[ $# = 2 ] || fail "usage: deb.sh BUILD FOLDER"
build=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
need dpkg-deb dpkg-shlibdeps dpkg-architecture meson
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
arch=$(dpkg-architecture -qDEB_HOST_ARCH)
lib=/usr/lib/$triplet
revision=$version-1

DESTDIR=$work/root meson install -C "$build" --no-rebuild --strip --quiet >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; fail "$build cannot be installed"; }
[ -e "$work/root$lib/librmcp.so.0" ] || fail "$build does not install into $lib: --prefix=/usr --libdir=lib/$triplet"
check_glibc "$work/root"
dist=$work/root/usr/lib/python3/dist-packages
mkdir -p "$dist"
(cd "$root/python" && find rmcp -type f ! -path '*__pycache__*' ! -name _command.py | sort | tar -cf - -T -) |
    tar -C "$dist" -xf -
cp "$root/include/rmcp.h" "$dist/rmcp/rmcp.h"
mkdir "$dist/rmcp-$version.dist-info" # for pip list, and for those who ask importlib for the version
printf 'Metadata-Version: 2.1\nName: rmcp\nVersion: %s\nLicense: MIT\n' "$version" \
    >"$dist/rmcp-$version.dist-info/METADATA"
echo dpkg >"$dist/rmcp-$version.dist-info/INSTALLER"
mkdir -p "$work/root/usr/share/doc/rmcp"
cp "$root"/README.md "$work/root/usr/share/doc/rmcp/"
cp -R "$root/docs" "$work/root/usr/share/doc/rmcp/docs"
gzip -9n "$work"/root/usr/share/man/man1/*.1

# split PACKAGE PATH…: moves installed paths into the folder of a package.
split() {
    package=$1
    shift
    for path; do
        for found in "$work/root"$path; do
            [ -e "$found" ] || [ -L "$found" ] || fail "nothing was installed as $path"
            target=$work/$package${found#"$work/root"}
            mkdir -p "$(dirname "$target")"
            mv "$found" "$target"
        done
    done
}
split librmcp0 "$lib/librmcp.so.*"
split librmcp-dev "$lib/librmcp.so" "$lib/pkgconfig" /usr/include
split libmiopen-rmcp "$lib/rmcp/libMIOpen.so.1" "$lib/rmcp/wheel"
split rmcp /usr/bin/rmcp "$lib/rmcp/librmcp-sim.so" /usr/share/doc/rmcp /usr/share/man /usr/share/bash-completion \
    /usr/share/zsh /usr/share/fish
split python3-rmcp /usr/lib/python3
left=$(find "$work/root" -type f -o -type l)
[ -z "$left" ] || fail "these belong to no package: $left"

# libraries_of PACKAGE: what its programs and libraries are linked with, as Depends.
libraries_of() {
    mkdir -p "$work/$1/DEBIAN" "$work/depends/debian"
    printf 'Source: rmcp\n\nPackage: %s\nArchitecture: %s\n' "$1" "$arch" >"$work/depends/debian/control"
    (cd "$work/depends" && elf_files "$work/$1" | sed 's/^/-e/' | xargs -d '\n' dpkg-shlibdeps -O "-S$work/$1") \
        2>"$work/log" | sed 's/^shlibs:Depends=//' || { cat "$work/log" >&2; fail "dpkg-shlibdeps"; }
}

# pack PACKAGE ARCHITECTURE SECTION SUMMARY: the rest of the control file (fields, then lines of the description) is
# read from standard input.
pack() {
    folder=$work/$1 control=$work/$1/DEBIAN
    mkdir -p "$control" "$folder/usr/share/doc/$1"
    {
        printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: rmcp\n\n'
        printf 'Files: *\nCopyright: %s\nLicense: Expat\n' "$(sed -n 's/^Copyright (c) //p' "$root/LICENSE")"
        sed '1,/^Copyright/d; /./,$!d' "$root/LICENSE" | sed 's/^$/./; s/^/ /'
    } >"$folder/usr/share/doc/$1/copyright"
    gzip -9n <"$root/CHANGELOG.md" >"$folder/usr/share/doc/$1/changelog.gz"
    fields=$(cat)
    {
        printf 'Package: %s\nSource: rmcp\nVersion: %s\nArchitecture: %s\nSection: %s\nPriority: optional\n' \
            "$1" "$revision" "$2" "$3"
        printf 'Maintainer: The RMCP authors <rmcp@localhost>\nInstalled-Size: %s\n' \
            "$(du -k --apparent-size -s "$folder" | cut -f 1)"
        printf '%s\n' "$fields" | sed '/^ /,$d'
        printf 'Description: %s\n' "$4"
        printf '%s\n' "$fields" | sed -n '/^ /,$p'
    } >"$control/control"
    (cd "$folder" && find . -type f ! -path './DEBIAN/*' | sort | sed 's|^\./||' | xargs -d '\n' md5sum) \
        >"$control/md5sums"
    set_times "$folder"
    dpkg-deb --root-owner-group -Zxz --threads-max=1 --build "$folder" "$out/$1_${revision}_$2.deb" >"$work/log" 2>&1 ||
        { cat "$work/log" >&2; fail "dpkg-deb: $1"; }
    echo "$out/$1_${revision}_$2.deb"
}

# oneDNN is loaded when there is one, of the release that this build knows.
onednn=$(sed -n 's/.*RMCP_ONEDNN_SONAME=\\*"*libdnnl\.so\.\([0-9]*\).*/libdnnl\1/p' "$build/build.ninja" | head -n 1)

depends=$(libraries_of librmcp0)
echo "activate-noawait ldconfig" >"$work/librmcp0/DEBIAN/triggers"
echo "librmcp 0 librmcp0 (>= $version)" >"$work/librmcp0/DEBIAN/shlibs"
pack librmcp0 "$arch" libs "convolutions on AMD GPUs that ROCm left behind, library" <<TEXT
Depends: $depends
Recommends: rmcp (= $revision)${onednn:+, $onednn}
Suggests: ocl-icd-libopencl1
 RMCP computes convolutions, batch normalisation and tensor operations,
 correctly first, on AMD's RDNA1 cards (RX 5500, 5600, 5700) and on whatever
 else is there: other AMD GPUs, NVIDIA's, OpenCL, the processor. The drivers
 of GPUs and oneDNN are loaded when used; none is required.
TEXT

pack librmcp-dev "$arch" libdevel "convolutions on AMD GPUs that ROCm left behind, for compiling" <<TEXT
Depends: librmcp0 (= $revision)
 The header rmcp.h and what compilers want of librmcp.
TEXT

depends=$(libraries_of rmcp)
pack rmcp "$arch" science "convolutions on AMD GPUs that ROCm left behind, command" <<TEXT
Depends: $depends
Recommends: libmiopen-rmcp (= $revision)${onednn:+, $onednn}
Suggests: python3-rmcp, rocminfo, libdw1t64 | libdw1
 The command rmcp: checks convolutions against a reference, measures them,
 tells what is wrong with a machine and its GPU libraries, runs programs with
 RMCP in the place of MIOpen, and runs ROCm programs on a simulated card.
TEXT

depends=$(libraries_of libmiopen-rmcp)
pack libmiopen-rmcp "$arch" libs "MIOpen's interface over RMCP" <<TEXT
Depends: $depends, librmcp0 (= $revision)
Recommends: rmcp (= $revision)
 A library with the interface of AMD's MIOpen, which the command rmcp run
 puts in its place for one program. It lies in a folder of its own and
 replaces nothing by itself.
TEXT

# As Debian's own packages do it: Python's compiled files come and go with the package.
cat >"$work/python3-rmcp.postinst" <<'TEXT'
#!/bin/sh
set -e
if [ "$1" = configure ] && command -v py3compile >/dev/null; then py3compile -p python3-rmcp; fi
TEXT
cat >"$work/python3-rmcp.prerm" <<'TEXT'
#!/bin/sh
set -e
if command -v py3clean >/dev/null; then py3clean -p python3-rmcp; fi
TEXT
mkdir -p "$work/python3-rmcp/DEBIAN"
for script in postinst prerm; do install -m 755 "$work/python3-rmcp.$script" "$work/python3-rmcp/DEBIAN/$script"; done
pack python3-rmcp all python "convolutions on AMD GPUs that ROCm left behind, for Python" <<TEXT
Depends: python3:any (>= 3.8), librmcp0 (= $revision)
Recommends: libmiopen-rmcp
Suggests: python3-torch
 The package rmcp for Python 3: librmcp through ctypes, and PyTorch's
 convolutions in RMCP (import rmcp.torch; rmcp.torch.enable()).
TEXT
