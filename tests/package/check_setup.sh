#!/bin/sh
# ./setup.sh on a system without apt-get: what is really missing is said by its own name, and with everything there it
# builds, whatever dpkg knows; what a demo builds; how tests are chosen, counted and told of.
# usage: check_setup.sh SOURCE-DIR
set -eu
. "$(dirname "$0")/../support/lib.sh"
source=$1
need cc readelf pkg-config
copy=$work/source
mkdir -p "$copy" "$work/bin"
cp -R "$source/setup.sh" "$source/tools" "$source/include" "$source/data" "$copy/"
mkdir -p "$copy/src/base/chip" "$copy/sim" "$copy/tests" "$copy/examples"
cp "$source/src/base/chip/chips.inc" "$copy/src/base/chip/"
# A system's commands, but for those of Debian's packages.
for folder in /usr/bin /bin; do
    for command in sh awk sed grep find sort cat cut rm mkdir mktemp dirname printf env head tail tr cc gcc as ld \
        readelf pkg-config ls id xargs date sleep paste fold touch cp python3; do
        [ ! -x "$folder/$command" ] || ln -sf "$folder/$command" "$work/bin/$command"
    done
done
# Meson and Ninja that only tell that they were called.
cat >"$work/bin/meson" <<TEXT
#!/bin/sh
echo "meson \$*" >>"$work/called"
case \$1 in
setup)
    shift
    [ "\$1" != --reconfigure ] || shift
    mkdir -p "\$1/meson-info" && : >"\$1/build.ninja"
    echo '[{"suite": ["rmcp:threads", "rmcp:fuzz"], "depends": ["x"]}]' >"\$1/meson-info/intro-tests.json"
    echo "[{\"id\": \"x\", \"filename\": [\"\$PWD/\$1/sub/x\"]}]" >"\$1/meson-info/intro-targets.json"
    ;;
test)
    case "\$*" in
    *--list*)
        printf 'rmcp:%s\n' 'conv / conv case' 'conv+slow / conv verify' 'sim+slow / sim card with conv' \
            'doctor / doctor rules'
        ;;
    *) grep -q "Fail:  *[1-9]" "$work/tests" && bad=1; cat "$work/tests"; exit "\$((bad + \$(cat "$work/status")))" ;;
    esac ;;
esac
TEXT
printf '#!/bin/sh\necho "ninja $*" >>"%s"\n' "$work/called" >"$work/bin/ninja"
chmod 755 "$work/bin/meson" "$work/bin/ninja"
# setup VARIABLE=VALUE…: with what $arguments says.
arguments=build
# shellcheck disable=SC2086 # words
setup() { env -i PATH="$work/bin" HOME="$work" TMPDIR="${TMPDIR:-/tmp}" "$@" "$copy/setup.sh" $arguments; }
called() { grep -q -e "$1" "$work/called" || fail "not called: $1"; }

# Nothing is missing but for clang, perhaps.
: >"$work/called"
if printf '#include <%s>\n' stdio.h oneapi/dnnl/dnnl.h CL/cl.h cjson/cJSON.h sqlite3.h |
    cc -E -x c -o /dev/null - 2>/dev/null; then
    expect 0 setup
    called '^meson setup build .*-Dkernel_targets=gfx1010,gfx1030,nvptx .*-Dportable='
    called '^ninja -C build$'
    has 'no clang 19 or later with lld: built without GPU kernels'

    # A demo builds what it needs, with kernels for the GPUs that are there; what was built before stays.
    rm -r "$copy/build"
    mkdir -p "$work/sys/bus/pci/devices/1" "$copy/build/kernels"
    # shellcheck disable=SC2016 # for that program
    printf '#!/bin/sh\n[ "$1" != verify ] || echo "9 runs, 0 failures"\n' >"$copy/build/kernels/program"
    chmod 755 "$copy/build/kernels/program"
    cat >"$work/bin/ninja" <<TEXT
#!/bin/sh
echo "ninja \$*" >>"$work/called"
mkdir -p build/examples && cp build/kernels/program build/rmcp && cp build/kernels/program build/examples/train
TEXT
    arguments=demo
    : >"$work/called"
    expect 0 setup RMCP_SYSFS_ROOT="$work/sys"
    has 'without GPU kernels' '9 runs, 0 failures'
    called '-Dkernel_targets= '
    called '^ninja -C build rmcp examples/train$'
    [ "$(wc -l <"$work/out")" -lt 30 ] || fail "a demo says too much"
    printf '0x1002' >"$work/sys/bus/pci/devices/1/vendor"
    printf '0x731f' >"$work/sys/bus/pci/devices/1/device"
    printf '0x030000' >"$work/sys/bus/pci/devices/1/class"
    expect 0 setup RMCP_SYSFS_ROOT="$work/sys"
    has 'kernels for gfx1010$'
    expect 0 setup RMCP_SYSFS_ROOT="$work/sys" RMCP_KERNEL_TARGETS=gfx803
    called '--reconfigure build .*-Dkernel_targets=gfx803 '
    arguments=build
    : >"$work/called"
    expect 0 setup
    called '-Dkernel_targets=gfx1010,gfx1030,gfx803,nvptx '

    # Tests by the words of rooms, suites and names; unknown ones are told what there is.
    cat >"$work/tests" <<'TEXT'
1/3 rmcp:conv / conv case          OK              0.05s
2/3 rmcp:conv+slow / conv verify   SKIP            1.50s
3/3 rmcp:doctor / doctor rules     FAIL            2.25s   exit status 1
>>> RMCP_SEED=1 doctor_rules
――― ✀ ―――
stderr:
the rule is wrong
―――――――――
Ok:                 1
Expected Fail:      0
Fail:               1
Unexpected Pass:    0
Skipped:            1
Timeout:            0
TEXT
    echo 0 >"$work/status"
    arguments='test conv'
    : >"$work/called"
    expect 1 setup
    has '^1 passed, 1 failed, 1 skipped$' 'the rule is wrong' '^skipped: conv verify$' '2.25 build: doctor rules'
    called 'meson test -C build .*conv case conv verify$'
    arguments='test doctor rules'
    expect 1 setup
    called 'meson test -C build .* doctor rules$'
    arguments='test doctor conv'
    expect 1 setup
    called 'meson test -C build .* doctor rules conv case conv verify$'
    arguments='test convolution'
    expect 1 setup
    says "there is no test, room, operation or suite 'convolution'" '^conv doctor sim slow$'
    arguments='test quick conv'
    expect 2 setup
    says "'test quick' takes no other words"
    arguments='test quick'
    expect 1 setup
    called 'meson test -C build .*--no-suite rest --no-suite slow --no-suite long$'
    # A failure is not tried again, and is told last.
    [ "$(grep -c 'meson test -C build .*--no-suite long$' "$work/called")" = 1 ] || fail "tests ran more than once"
    [ "$(tail -n 1 "$work/out")" = "1 passed, 1 failed, 1 skipped" ] || fail "the last line is $(tail -n 1 "$work/out")"
    # Results of two calls are summed; the first one has no closing line.
    arguments='test '
    mkdir "$work/results"
    expect 1 setup RMCP_TEST_RESULTS="$work/results"
    called 'meson test -C build .*--no-suite rest$'
    has '^so far 1 passed'
    ! grep -q '^1 passed, 1 failed, 1 skipped$' "$work/out" || fail "a closing line in the middle"
    arguments='test doctor'
    sed -i -e 's/FAIL   /OK     /' -e '/^>>>/,/^―*$/d' -e 's/^Ok: .*/Ok:  2/' -e 's/^Fail: .*/Fail:   0/' "$work/tests"
    expect 1 setup RMCP_TEST_RESULTS="$work/results"
    has '3 passed, 1 failed, 2 skipped$' 'the rule is wrong'
    expect 0 setup
    # What the ten minutes leave out: of two builds only what is tested.
    arguments='test rest'
    : >"$work/called"
    expect 0 setup
    called 'meson test -C build .*--suite rest$'
    called 'meson setup build-asan .*-Doptimization=1 .*-Db_sanitize=address,undefined$'
    called '^ninja -C build-asan$'
    called 'meson test -C build-asan .*--no-suite slow$'
    called '^ninja -C build-tsan sub/x$'
    called 'meson test -C build-tsan .*--suite threads$'
    called 'meson setup build-fuzz .*-Dfuzz=true'
    called '^ninja -C build-fuzz sub/x$'
    called 'meson test -C build-fuzz .*--suite fuzz$'
    [ "$(tail -n 1 "$work/out")" = "8 passed, 0 failed, 4 skipped" ] || fail "four parts are not summed"
    # Meson itself may fail.
    arguments='test doctor'
    echo 1 >"$work/status"
    expect 1 setup
    has '^2 passed, 1 failed, 1 skipped$'

    # What cannot be built is told by the compiler's message, which is repeated in the last line.
    printf '[1/2] Compiling\nFAILED: a.o\nsrc/a.c:3: error: no such thing\nninja: build stopped\n' >"$work/ninja"
    printf '#!/bin/sh\ncat "%s"\nexit 1\n' "$work/ninja" >"$work/bin/ninja"
    arguments=build
    expect 1 setup
    [ "$(tail -n 1 "$work/err")" = 'setup.sh: cannot build build: src/a.c:3: error: no such thing' ] ||
        fail "it ends otherwise"
fi
arguments=build

# Commands that are missing.
rm "$work/bin/meson" "$work/bin/pkg-config"
expect 1 setup
says 'Meson 1.0 or later' 'pkg-config or pkgconf' 'docs/install.md'
! grep -Eq 'Ninja|binutils|-dev|clang' "$work/err" || fail "it asks for what is there, or by Debian's names"

# Headers that are missing: a compiler that knows none but the C library's.
cat >"$work/bin/other-cc" <<'TEXT'
#!/bin/sh
text=$(cat)
case $text in *cl.h*|*zstd.h*) echo "no such file" >&2; exit 1 ;; esac
TEXT
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
