#!/bin/sh
# Installs what RMCP needs on Debian or Ubuntu, builds it, and runs it: ./setup.sh demo|test|build|release|package
set -eu
cd "$(dirname "$0")"

build_packages="gcc libc6-dev meson ninja-build pkg-config binutils libdnnl-dev libcjson-dev
    opencl-headers zlib1g-dev libzstd-dev libbz2-dev libsqlite3-dev libdw-dev clang-19 lld-19"
test_packages="$build_packages libcmocka-dev python3 python3-torch python3-torchvision
    python3-numpy python3-matplotlib python3-pip python3-setuptools python3-wheel clang-tools-19
    libtorch-dev python3-dev g++ libclang-rt-19-dev llvm-19 shellcheck ocl-icd-libopencl1 pocl-opencl-icd rocminfo hipcc librocprim-dev"

say() { printf '\n== %s\n' "$*"; }
fail() { printf 'setup.sh: %s\n' "$*" >&2; exit 1; }

usage() {
    cat <<'TEXT'
usage: ./setup.sh COMMAND

  demo    build, list the devices, check one quickly, train a small network on it
  test    build in every configuration and run all tests, sanitizers included
  build   build only: the command is build/rmcp, the library build/librmcp.so
  release the same in build-release, with kernels for every chip, not only RDNA1, RDNA2 and NVIDIA's
  package [tarball|wheel|pure|deb|kernels|all]
          a release, packed into build-package: a tarball that runs wherever it is unpacked, a wheel for
          pip, the same of Python alone, Debian packages, the compiled kernels (for building
          where there is no clang 19); docs/install.md tells what is in them

Missing Debian packages are installed with apt-get (through sudo when not root). Without apt-get the tools and
libraries must be there already; what is missing is said (docs/install.md has the packages of other systems).
RMCP_KERNEL_TARGETS=gfx1010,nvptx ./setup.sh release compiles kernels for these targets only (package, too).
RMCP_PYTHON=PROGRAM ./setup.sh test takes the PyTorch of another Python than the system's.
RMCP_DEVICE=opencl ./setup.sh demo takes another device than the best one.
TEXT
}

# Install the packages that are missing; nothing to do the second time.
install_packages() {
    missing=
    for package; do
        dpkg-query -W -f '${Status}\n' "$package" 2>/dev/null | grep -q '^install ok installed$' ||
            missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    command -v apt-get >/dev/null || { check_tools; return; }
    say "installing$missing"
    as_root=
    [ "$(id -u)" = 0 ] || as_root=sudo
    # Word splitting is wanted: a list of package names.
    # shellcheck disable=SC2086
    { $as_root apt-get update -q && DEBIAN_FRONTEND=noninteractive $as_root apt-get install -qy \
        --no-install-recommends $missing; } >"$log" 2>&1 || {
        tail -n 20 "$log" >&2
        echo "setup.sh: apt-get could not install$missing; is it there from elsewhere?" >&2
        check_tools
    }
}

# Whether what a build needs is there, wherever it came from: commands that run, headers that the compiler finds.
check_tools() {
    lacking=
    lack() { lacking="$lacking
  $*"; }
    cc=${CC:-cc}
    for row in "meson|Meson 1.0 or later" "ninja|Ninja" "pkg-config|pkg-config or pkgconf" "readelf|GNU binutils"; do
        command -v "${row%%|*}" >/dev/null || lack "${row#*|} (the command ${row%%|*})"
    done
    if ! command -v "$cc" >/dev/null; then
        lack "a C compiler (the command $cc; CC names another)"
    else
        for row in "oneapi/dnnl/dnnl.h|oneDNN" "CL/cl.h|OpenCL's headers" "zlib.h|zlib" "zstd.h|Zstandard" \
            "bzlib.h|bzip2" "sqlite3.h|SQLite 3" "cjson/cJSON.h|cJSON"; do
            printf '#include <stddef.h>\n#include <stdio.h>\n#include <%s>\n' "${row%%|*}" |
                "$cc" -DCL_TARGET_OPENCL_VERSION=120 -E -x c -o /dev/null - >"$log" 2>&1 ||
                lack "${row#*|}, with what compiling needs (the header ${row%%|*})"
        done
    fi
    [ -z "$lacking" ] || fail "these are missing; docs/install.md has their packages on some systems:$lacking"
    found=
    for clang in clang-19 clang-20 clang-21 clang-22 clang; do
        ! tools/kernels/probe.sh "$clang" gfx1010 >"$log" 2>&1 || { found=$clang; break; }
    done
    [ -n "$found" ] || echo "setup.sh: there is no clang 19 or later with lld: built without GPU kernels"
}

# configure FOLDER OPTIONS…: again only when a source file or a test tool came or went, or the options
# changed.
configure() {
    folder=$1
    shift
    # The kernels are the same in every build: compiled once.
    set -- "-Dkernel_folder=$PWD/build/kernels" "$@"
    state=$(find src sim tools include tests examples data -name '*.[ch]' -o -name '*.cl' -o -name '*.inc' -o -name meson.build | sort
        command -v clang-19 || true
        pkg-config --modversion cmocka 2>/dev/null || true
        tools/find_python.sh numpy torch 2>/dev/null || true
        printf '%s\n' "$@")
    if [ ! -f "$folder/build.ninja" ]; then
        rm -rf "$folder"
        meson setup "$folder" "$@" >"$log" 2>&1 || { cat "$log" >&2; fail "cannot configure $folder"; }
    elif [ "$state" != "$(cat "$folder/setup.state" 2>/dev/null)" ]; then
        meson setup --reconfigure "$folder" "$@" >"$log" 2>&1 ||
            { cat "$log" >&2; fail "cannot configure $folder"; }
    fi
    printf '%s\n' "$state" >"$folder/setup.state"
}

# What the kernels of each operation and target took is said where they are compiled.
compile() {
    ninja -C "$@" >"$log" 2>&1 || { grep -v '^\[[0-9]*/' "$log" >&2; fail "cannot build $1"; }
    grep -E '^[a-z0-9]+: [a-z_]+: ([1-9][0-9]* of [0-9]+ kernels compiled|.* packed$)' "$log" || true
}

build() {
    say "building (some minutes the first time, most of them for the GPU kernels)"
    # Word splitting is wanted here and below: options.
    # shellcheck disable=SC2046
    configure build $(portable)
    compile build
}

# A build can be packed when what it links statically for that is there, as it is in Debian.
portable() {
    for archive in libz.a libzstd.a libbz2.a libsqlite3.a; do
        case $("${CC:-cc}" "-print-file-name=$archive") in
        /*) ;;
        *) echo -Dportable=false; return ;;
        esac
    done
    echo -Dportable=true --libdir=lib
}

# The kernels of all targets; about a minute of one core for each that is compiled the first time.
targets=${RMCP_KERNEL_TARGETS-$(sed -n "s/^  choices: \[\('gfx.*\)\],$/\1/p" meson_options.txt | tr -d "' ")}
release() {
    say "building with kernels for ${targets:-no target}"
    # shellcheck disable=SC2046
    configure build-release "-Dkernel_targets=$targets" $(portable)
    compile build-release
    build-release/rmcp version
}

# package KIND: without tests, which are those of `./setup.sh test`.
package() {
    case $1 in tarball | wheel | pure | deb | kernels | all) ;; *) fail "no kind of package '$1'" ;; esac
    say "building what is packed, with kernels for ${targets:-no target}"
    case $1 in tarball | wheel | kernels | all)
        # shellcheck disable=SC2046
        configure build-release "-Dkernel_targets=$targets" $(portable)
        compile build-release shipped ;;
    esac
    case $1 in deb | all)
        configure build-debian "-Dkernel_targets=$targets" --prefix=/usr "--libdir=lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)"
        compile build-debian shipped ;;
    esac
    say "packing"
    for kind in tarball wheel pure kernels; do
        case $1 in "$kind" | all) tools/package/package.sh "$kind" build-release build-package ;; esac
    done
    case $1 in deb | all) tools/package/deb.sh build-debian build-package ;; esac
}

package_one() { package "$kind"; }

# set_up STEP: with what building needs installed.
set_up() {
    # Word splitting is wanted: a list of package names.
    # shellcheck disable=SC2086
    install_packages $build_packages
    "$1"
}

demo() {
    set_up build
    say "the devices of this machine"
    build/rmcp devices
    say "a quick check against the reference"
    build/rmcp verify --suite quick
    say "training a small network on images that it draws itself"
    build/examples/train ${RMCP_DEVICE:+--device "$RMCP_DEVICE"}
    say "that was everything: convolutions checked, a network trained"
    echo "next: build/rmcp --help, README.md, docs/api.md"
}

# run_tests FOLDER MESON-TEST-OPTIONS…: adds to the totals. A test that fails is run once more, alone: when it passes
# then, it is called unstable and does not count as failed; both are shown at the end.
passed=0 failed=0 skipped=0 unstable=0
run_tests() {
    folder=$1
    shift
    status=0
    meson test -C "$folder" --no-rebuild --timeout-multiplier 4 --print-errorlogs "$@" >"$log" 2>&1 || status=$?
    sed -n -e '/^ *[0-9]*\/[0-9]* /{p;d}' -e '/^[―=-]\{8\}/,$p' "$log"
    count() { sed -n "s/^$1: *\([0-9]*\).*/\1/p" "$log" | tail -n 1; }
    ok=$(count Ok) bad=$(count Fail) late=$(count Timeout) skip=$(count Skipped)
    passed=$((passed + ${ok:-0}))
    failed=$((failed + ${bad:-0} + ${late:-0}))
    skipped=$((skipped + ${skip:-0}))
    # Seconds, folder and name of each test.
    sed -n "s|^ *[0-9]*/[0-9]* rmcp:[^/]* / \(.*[^ ]\)  *[A-Z]\{2,\}  *\([0-9.]*\)s.*|\2 $folder: \1|p" "$log" >>"$durations"
    # A failed test's line, its command, and what it said between two rules.
    awk -v folder="$folder" '
        / (FAIL|TIMEOUT|ERROR) / && /^ *[0-9]+\/[0-9]+ / { print folder ":" $0; rules = 2; next }
        rules { print; if (/^―――/) rules-- }' "$log" >>"$failures"
    [ $status = 0 ] || [ $((${bad:-0} + ${late:-0})) -gt 0 ] || { cat "$log" >&2; failed=$((failed + 1)); }
    sed -n 's|^ *[0-9]*/[0-9]* rmcp:[^/]* / \(.*[^ ]\)  *\(FAIL\|TIMEOUT\|ERROR\) .*|\1|p' "$log" >"$again"
    while IFS= read -r name; do
        meson test -C "$folder" --no-rebuild --timeout-multiplier 4 "$name" >"$log" 2>&1 </dev/null || continue
        failed=$((failed - 1))
        unstable=$((unstable + 1))
        echo "$folder: $name: passed when it was run again, alone" | tee -a "$failures"
    done <"$again"
}

run_all_tests() {
    begun=$(date +%s)
    step() { say "$1, after $((($(date +%s) - begun) / 60)) minutes"; }
    # Word splitting is wanted: a list of package names.
    # shellcheck disable=SC2086
    install_packages $test_packages
    build
    # Tests of random problems draw others each time, except here: a change is judged by what it does, not by the dice.
    export RMCP_SEED="${RMCP_SEED:-1}"
    step "tests"
    run_tests build
    step "tests under AddressSanitizer and UndefinedBehaviorSanitizer"
    configure build-asan -Dbuildtype=debugoptimized -Db_sanitize=address,undefined -Db_lundef=false
    compile build-asan
    run_tests build-asan --no-suite slow
    step "tests under ThreadSanitizer"
    configure build-tsan -Dbuildtype=debugoptimized -Db_sanitize=thread -Dopenmp=disabled -Db_lundef=false
    compile build-tsan
    run_tests build-tsan --suite threads
    step "fuzzers"
    CC=clang-19 configure build-fuzz -Dbuildtype=debugoptimized -Db_sanitize=address,undefined \
        -Db_lundef=false -Dopenmp=disabled -Dfuzz=true
    compile build-fuzz
    run_tests build-fuzz --suite fuzz
    say "the longest tests, seconds"
    sort -rn "$durations" | head -n 20
    step "all tests"
    # Last, so that whoever sees only the end of the output sees what failed.
    tail -n 300 "$failures"
    echo "$passed passed, $failed failed, $skipped skipped, $unstable failed once and passed when run again"
    [ "$failed" = 0 ]
}

# Threads that wait for work spin by default, which is slow where other work has the cores.
export OMP_WAIT_POLICY="${OMP_WAIT_POLICY:-passive}"
log=$(mktemp)
failures=$(mktemp)
again=$(mktemp)
durations=$(mktemp)
trap 'rm -f "$log" "$failures" "$again" "$durations"' EXIT
case ${1-} in
demo) demo ;;
test) run_all_tests ;;
build) set_up build ;;
release) set_up release ;;
package)
    kind=${2:-all}
    build_packages="$build_packages dpkg-dev"
    set_up package_one ;;
-h | --help | help) usage ;;
'') usage >&2; exit 2 ;;
*) printf "setup.sh: no command '%s'\n" "$1" >&2; usage >&2; exit 2 ;;
esac
