#!/bin/sh
# Packs a build: package.sh tarball|wheel|pure|kernels BUILD FOLDER   (deb.sh makes the Debian packages)
# tarball and wheel run wherever they are unpacked (stage.sh); pure is a wheel of Python alone; kernels are
# those of the build, for -Dkernel_prebuilt. The same build gives the same bytes. Prints the path of what it wrote into
# FOLDER.
set -eu
. "$(dirname "$0")/lib.sh"
[ $# = 3 ] || fail "usage: package.sh tarball|wheel|pure|kernels BUILD FOLDER"
kind=$1 build=$2
mkdir -p "$3"
out=$(cd "$3" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=$("$root/tools/find_python.sh") || fail "there is no Python 3"
name=rmcp-$version-$(uname -m)

# pack NAME: a folder of $work as a tar archive.
pack() {
    set_times "$work/$1"
    tar -C "$work" --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$1"
}

case $kind in
tarball)
    "$root/tools/package/stage.sh" "$build" "$work/$name"
    # gzip, since bare systems have no xz; almost everything is compressed already.
    pack "$name" | gzip -9n >"$out/$name.tar.gz"
    echo "$out/$name.tar.gz" ;;
wheel)
    "$root/tools/package/stage.sh" "$build" "$work/$name"
    platform=manylinux_$(echo "$newest_glibc" | tr . _)_$(uname -m)
    wheel=$(RMCP_NATIVE=$work/$name "$python" -B "$root/python/build_backend.py" "$out" "$platform")
    echo "$out/$wheel" ;;
pure)
    wheel=$(RMCP_NATIVE=none "$python" -B "$root/python/build_backend.py" "$out")
    echo "$out/$wheel" ;;
kernels)
    name=rmcp-$version-kernels
    folder=$(option "$build" kernel_folder)
    [ -n "$folder" ] || folder=$build/tools/kernels/compiled
    mkdir "$work/$name"
    for image in "$build"/tools/kernels/kernels_*.S; do
        [ -f "$image" ] || fail "$build has no kernels"
        target=${image##*/kernels_}
        target=${target%.S}
        mkdir "$work/$name/$target"
        cut -d ' ' -f 1 "$folder/$target/list" | while read -r kernel; do
            for suffix in co ptx key; do
                [ ! -f "$folder/$target/$kernel.$suffix" ] ||
                    cp "$folder/$target/$kernel.$suffix" "$work/$name/$target/"
            done
            # What took how long is not the same twice.
            printf '0m0s 0m0s\n0m0s 0m0s\n' >"$work/$name/$target/$kernel.times"
        done
        key=$(find "$work/$name/$target" -name '*.key' | sort | head -n 1)
        line=$(sed -n '1s/^\(.*\) [0-9]* [0-9]* [0-9a-f]\{64\} .*/\1/p' "$key")
    done
    [ -n "$line" ] || fail "the compiler is not in $folder/$target"
    # compile.sh asks for the version, and for nothing else while the kernels are those of the sources.
    cat >"$work/$name/clang" <<TEXT
#!/bin/sh
# Stands for the compiler of these kernels where there is none: tells its version, and compiles probe.sh's only.
case " \$* " in
*" --version "*) echo '$line' ;;
*/k.cl" ") target=\${*##*-mcpu=}; target=\${target%% *}
    case " \$* " in *nvptx*) target=nvptx ;; esac
    [ -d "\$(dirname "\$0")/\$target" ] || { echo "there are no prebuilt kernels for \$target" >&2; exit 1; } ;;
*) echo "these kernels were compiled from other sources, and there is no compiler: \$*" >&2; exit 1 ;;
esac
TEXT
    chmod 755 "$work/$name/clang"
    pack "$name" | xz -6 -T1 >"$out/$name.tar.xz"
    echo "$out/$name.tar.xz" ;;
*) fail "no kind '$kind'" ;;
esac
