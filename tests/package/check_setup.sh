#!/bin/sh
# ./setup.sh build on a system without apt-get: what is really missing is said by its own name, and with everything there
# it builds, whatever dpkg knows. usage: check_setup.sh SOURCE-DIR
set -eu
. "$(dirname "$0")/../support/lib.sh"
source=$1
need cc readelf pkg-config
copy=$work/source
mkdir -p "$copy" "$work/bin"
cp -R "$source/setup.sh" "$source/tools" "$source/include" "$source/data" "$copy/"
mkdir "$copy/src" "$copy/sim" "$copy/tests" "$copy/examples"
# A system's commands, but for those of Debian's packages.
for folder in /usr/bin /bin; do
    for command in sh awk sed grep find sort cat cut rm mkdir mktemp dirname printf env head tail tr cc gcc as ld readelf \
        pkg-config ls id xargs; do
        [ ! -x "$folder/$command" ] || ln -sf "$folder/$command" "$work/bin/$command"
    done
done
# Meson and Ninja that only tell that they were called.
cat >"$work/bin/meson" <<TEXT
#!/bin/sh
echo "meson \$*" >>"$work/called"
[ "\$1" != setup ] || { mkdir -p build && : >build/build.ninja; }
TEXT
printf '#!/bin/sh\necho "ninja $*" >>"%s"\n' "$work/called" >"$work/bin/ninja"
chmod 755 "$work/bin/meson" "$work/bin/ninja"
setup() { env -i PATH="$work/bin" HOME="$work" TMPDIR="${TMPDIR:-/tmp}" "$@" "$copy/setup.sh" build; }

# Nothing is missing but for clang, perhaps.
: >"$work/called"
if printf '#include <stdio.h>\n#include <oneapi/dnnl/dnnl.h>\n#include <CL/cl.h>\n#include <cjson/cJSON.h>\n#include <sqlite3.h>\n' |
    cc -E -x c -o /dev/null - 2>/dev/null; then
    expect 0 setup
    grep -q '^meson setup build .*-Dportable=' "$work/called" || fail "Meson was not called"
    grep -q '^ninja -C build' "$work/called" || fail "Ninja was not called"
    has 'no clang 19 or later with lld: built without GPU kernels'
fi

# Commands that are missing.
rm "$work/bin/meson" "$work/bin/pkg-config"
expect 1 setup
says 'Meson 1.0 or later' 'pkg-config or pkgconf' 'docs/install.md'
! grep -Eq 'Ninja|binutils|-dev|clang' "$work/err" || fail "it asks for what is there, or by Debian's names"

# Headers that are missing: a compiler that knows none but the C library's.
printf '#!/bin/sh\ntext=$(cat)\ncase $text in *cl.h*|*zstd.h*) echo "no such file" >&2; exit 1 ;; esac\n' >"$work/bin/other-cc"
chmod 755 "$work/bin/other-cc"
expect 1 setup CC=other-cc
says "OpenCL's headers.*CL/cl.h" 'Zstandard.*zstd.h'
! grep -q 'SQLite' "$work/err" || fail "it asks for what is there"
expect 1 setup CC=no-such-compiler
says 'a C compiler \(the command no-such-compiler'

# After meson install: silent where the dynamic linker knows the folder, and for packages; else it says what to do.
printf '#!/bin/sh\necho "librmcp.so.0 (libc6,x86-64) => /known/lib/librmcp.so.0"\n' >"$work/bin/ldconfig"
chmod 755 "$work/bin/ldconfig"
after() { env -i PATH="$work/bin" "$@"; }
expect 0 after "$source/tools/after_install.sh" /known/lib
[ ! -s "$work/out" ] || fail "it speaks of what is known"
expect 0 after DESTDIR=/stage "$source/tools/after_install.sh" /other/lib
[ ! -s "$work/out" ] || fail "it speaks to packagers"
expect 0 after "$source/tools/after_install.sh" /other/lib
has 'do not find /other/lib/librmcp.so.0' 'ldconfig as root' 'LD_LIBRARY_PATH=/other/lib'
finish "setup.sh without apt-get"
