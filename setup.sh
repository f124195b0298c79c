#!/bin/sh
# Installs what RMCP needs on Debian or Ubuntu, builds, runs and tests it: ./setup.sh demo|test|build|release|package
set -eu
cd "$(dirname "$0")"

build_packages="gcc libc6-dev meson ninja-build pkg-config binutils libdnnl-dev libcjson-dev
    opencl-headers zlib1g-dev libzstd-dev libbz2-dev libsqlite3-dev libdw-dev clang-19 lld-19"
test_packages="$build_packages libcmocka-dev python3 python3-torch python3-torchvision
    python3-numpy python3-matplotlib python3-pip python3-setuptools python3-wheel clang-tools-19 clang-format-14
    libtorch-dev python3-dev g++ libclang-rt-19-dev llvm-19 shellcheck ocl-icd-libopencl1 pocl-opencl-icd rocminfo
    hipcc librocprim-dev"

say() { printf '== %s\n' "$*"; }
fail() {
    # Of tests that ran before.
    [ ! -s "${results:-}/failures" ] || tail -n 300 "$results/failures"
    printf 'setup.sh: %s\n' "$*" >&2
    exit 1
}

usage() {
    cat <<'TEXT'
usage: ./setup.sh COMMAND

  demo    build what it needs, list the devices, check one quickly, train a small network on it; three minutes
  test [WHICH]
          build and run tests; nothing more is said of those that pass:
            (nothing)  whatever a change is likely to break; ten minutes on two cores
            quick      those that take a second or so; less than a minute, for work between two edits
            NAME…      of one room or operation (conv, doctor …), of a suite, or one test by its name
            rest       what the ten minutes leave out: long tests, sanitizers, fuzzers
            all        everything; half an hour
  build   build only: the command is build/rmcp, the library build/librmcp.so
  release the same in build-release, with kernels for every chip, not only RDNA1, RDNA2 and NVIDIA's
  package [tarball|wheel|pure|deb|kernels|all]
          a release, packed into build-package: a tarball that runs wherever it is unpacked, a wheel for
          pip, the same of Python alone, Debian packages, the compiled kernels (for building
          where there is no clang 19); docs/install.md tells what is in them

Missing Debian packages are installed with apt-get (through sudo when not root). Without apt-get the tools and
libraries must be there already; what is missing is said (docs/install.md has the packages of other systems).
RMCP_KERNEL_TARGETS=gfx1010,nvptx compiles kernels for these targets only. Without it a demo compiles them for the
GPUs of this machine, a release for every chip, the others for gfx1010, gfx1030 and nvptx.
RMCP_PYTHON=PROGRAM ./setup.sh test takes the PyTorch of another Python than the system's.
RMCP_DEVICE=opencl ./setup.sh demo takes another device than the best one.
TEXT
}

# tell WORDS…: a line that says how far something is. The next one takes its place on a terminal; elsewhere there is one
# every five seconds, and less often when it takes long.
tell() {
    if [ -t 1 ]; then
        printf '\r\033[K%.78s' "$*"
        return
    fi
    due=5
    [ "$told" -lt 8 ] || due=15
    [ "$told" -lt 20 ] || due=30
    [ $((now - last)) -ge $due ] || return 0
    last=$now
    told=$((told + 1))
    printf '%s\n' "$*"
}

# How far Ninja or Meson is that writes to the log, or what apt-get did last.
far() {
    tail -n 50 "$log" | awk -v unit="$1" '
        match($0, /^\[[0-9]+\/[0-9]+\]/) || match($0, /^ *[0-9]+\/[0-9]+ /) {
            split(substr($0, RSTART, RLENGTH), part, /[^0-9]+/)
            i = part[1] == "" ? 2 : 1
            said = part[i] " of " part[i + 1] " " unit
        }
        /^(Get:|Unpacking|Setting up)/ { said = $1 " " ($1 == "Setting" ? $3 : $1 == "Unpacking" ? $2 : $5) }
        END { if (said != "") print ", " said }'
}

# watch WHAT UNIT COMMAND…: runs it, its output in the log; meanwhile it says how far that is. It has the status of the
# command.
watch() {
    what=$1 unit=$2
    shift 2
    : >"$log"
    begun=$(date +%s)
    # A signal may come too early for a shell that has just begun: the file ends it, too.
    touch "$work/watching"
    (
        last=$begun told=0
        while sleep 1 && [ -e "$work/watching" ]; do
            now=$(date +%s)
            bad=$(grep -c -E '^ *[0-9]+/[0-9]+ .* (FAIL|TIMEOUT|ERROR) ' "$log" || true)
            [ "$bad" = 0 ] && bad='' || bad=", $bad failed"
            tell "$what: $((now - begun)) s$(far "$unit")$bad"
        done
    ) &
    ticker=$!
    watched=0
    "$@" >"$log" 2>&1 </dev/null || watched=$?
    rm "$work/watching"
    kill "$ticker" 2>/dev/null || true
    wait "$ticker" 2>/dev/null || true
    ticker=
    [ ! -t 1 ] || printf '\r\033[K'
    seconds=$(($(date +%s) - begun))
    return $watched
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
    as_root=
    [ "$(id -u)" = 0 ] || as_root=sudo
    # sudo asks for the password now, before its output goes to the log.
    [ -z "$as_root" ] || sudo true
    say "installing$missing"
    watch "reading the lists of packages" files $as_root apt-get update -q || true
    # Word splitting is wanted: a list of package names.
    # shellcheck disable=SC2086
    set -- $missing
    size=$(apt-get install --assume-no --no-install-recommends "$@" 2>/dev/null |
        sed -n 's/^Need to get \(.*\) of archives.*/\1/p')
    watch "installing, ${size:-some} to be fetched" packages $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -qy --no-install-recommends "$@" || {
        tail -n 20 "$log" >&2
        echo "setup.sh: apt-get could not install$missing; is it there from elsewhere?" >&2
        check_tools
        return
    }
    echo "${size:-packages} fetched and installed in $seconds s"
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
    state=$(find src sim tools include tests examples data -name '*.[ch]' -o -name '*.cl' -o -name '*.inc' \
        -o -name meson.build | sort
        command -v clang-19 || true
        pkg-config --modversion cmocka 2>/dev/null || true
        tools/find_python.sh numpy torch 2>/dev/null || true
        printf '%s\n' "$@")
    again=
    if [ ! -f "$folder/build.ninja" ]; then
        # Its compiled kernels stay: they are told from others by what they were made of.
        find "$folder" -mindepth 1 -maxdepth 1 ! -name kernels -exec rm -rf {} + 2>/dev/null || true
    elif [ "$state" = "$(cat "$folder/setup.state" 2>/dev/null)" ]; then
        return 0
    else
        again=--reconfigure
    fi
    watch "configuring $folder" checks meson setup $again "$folder" "$@" ||
        { cat "$log" >&2; fail "cannot configure $folder: $(grep ERROR: "$log" | tail -n 1)"; }
    printf '%s\n' "$state" >"$folder/setup.state"
}

# compile FOLDER [TARGET…]
compile() {
    watch "building in $1" steps ninja -C "$@" || {
        grep -v '^\[[0-9]*/' "$log" | tail -n 200 >&2
        fail "cannot build $1: $(grep -m 1 -E 'error:|ERROR|undefined reference' "$log" ||
            grep -m 1 FAILED: "$log" || tail -n 1 "$log")"
    }
    [ "$seconds" -lt 5 ] || echo "built in $seconds s"
}

# compile_tested FOLDER SUITE: only what tests of a suite need.
compile_tested() {
    # Word splitting is wanted: paths of Ninja, without blanks.
    # shellcheck disable=SC2046
    compile "$1" $(python3 tools/tested.py "$1" "$2")
}

# The targets of kernels for what is built and tested here; those that the build has already stay, so that a demo before
# a build, or after it, takes nothing away.
targets_for() {
    if [ -n "${RMCP_KERNEL_TARGETS+set}" ]; then
        echo "$RMCP_KERNEL_TARGETS"
    else
        { echo "$1" && sed -n 's/^-Dkernel_targets=//p' build/setup.state 2>/dev/null; } | tr , '\n' |
            sed '/^$/d' | sort -u | paste -s -d , -
    fi
}

build() {
    say "building (some minutes the first time, most of them for the GPU kernels)"
    # Word splitting is wanted here and below: options.
    # shellcheck disable=SC2046
    configure build "-Dkernel_targets=$(targets_for gfx1010,gfx1030,nvptx)" $(portable)
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

# The kernels of all targets; two or three minutes of one core for each that is compiled the first time.
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
        configure build-debian "-Dkernel_targets=$targets" --prefix=/usr \
            "--libdir=lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)"
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

# Only what it needs is built, and kernels only for GPUs that are here. ./setup.sh build then makes the rest.
demo() {
    cards=$(targets_for "$(tools/kernels/cards.sh)")
    if [ -n "$cards" ]; then
        say "building, with GPU kernels for $cards"
    else
        say "building, without GPU kernels: no GPU here takes any"
    fi
    # shellcheck disable=SC2046
    configure build "-Dkernel_targets=$cards" $(portable)
    compile build rmcp examples/train
    say "the devices of this machine"
    build/rmcp devices
    say "a quick check against the reference"
    watch "checking every operation" runs build/rmcp verify --suite quick ||
        { tail -n 40 "$log"; fail "a result is wrong"; }
    tail -n 2 "$log"
    say "training a small network on images that it draws itself"
    build/examples/train ${RMCP_DEVICE:+--device "$RMCP_DEVICE"}
    say "that was everything: every operation checked, a network trained"
    echo "next: build/rmcp --help, README.md, docs/api.md"
}

# Results of tests are summed in a folder: RMCP_TEST_RESULTS names one for several calls of this script.
# run_tests FOLDER MESON-TEST-OPTIONS…
run_tests() {
    folder=$1
    shift
    status=0
    watch "tests in $folder" tests \
        meson test -C "$folder" --no-rebuild --timeout-multiplier 4 --print-errorlogs "$@" || status=$?
    count() { sed -n "s/^$1: *\([0-9]*\).*/\1/p" "$log" | tail -n 1; }
    ok=$(count Ok) bad=$(count Fail) late=$(count Timeout) skip=$(count Skipped)
    ok=${ok:-0} bad=$((${bad:-0} + ${late:-0})) skip=${skip:-0}
    # Names of what was skipped; seconds, folder and name of each test.
    sed -n 's|^ *[0-9]*/[0-9]* rmcp:[^/]* / \(.*[^ ]\)  *SKIP .*|skipped: \1|p' "$log"
    sed -n "s|^ *[0-9]*/[0-9]* rmcp:[^/]* / \(.*[^ ]\)  *[A-Z]\{2,\}  *\([0-9.]*\)s.*|\2 $folder: \1|p" "$log" \
        >>"$results/durations"
    # A failed test's line, its command, and what it said between two rules.
    awk -v folder="$folder" '
        / (FAIL|TIMEOUT|ERROR) / && /^ *[0-9]+\/[0-9]+ / { print folder ":" $0; rules = 2; next }
        rules { print; if (/^―――/) rules-- }' "$log" >>"$results/failures"
    if [ $status != 0 ] && [ $bad = 0 ]; then # Meson itself
        cat "$log" >>"$results/failures"
        bad=1
    fi
    echo "$ok passed, $bad failed, $skip skipped in $seconds s"
    echo "$ok $bad $skip" >>"$results/totals"
}

# After all tests, so that whoever sees only the end of the output sees what failed.
finish_tests() {
    sort -rn "$results/durations" | awk 'NR == 1 { print "\nthe longest tests, seconds:" } NR <= 10'
    step "the end"
    tail -n 300 "$results/failures"
    # The first of several calls: those that follow have the closing line.
    so_far=
    [ -z "${RMCP_TEST_RESULTS:-}" ] || [ $# -gt 0 ] || so_far='so far '
    awk -v so_far="$so_far" '{ passed += $1; failed += $2; skipped += $3 }
        END {
            printf "%s%d passed, %d failed, %d skipped\n", so_far, passed, failed, skipped
            exit failed > 0
        }' "$results/totals"
}

step() { say "$1, after $((($(date +%s) - started) / 60)) minutes"; }

# The tests that a word means: those of a suite, which rooms and operations are, too, or one by its name.
names_of() {
    awk -v word="$1" '
        match($0, / \/ /) {
            name = substr($0, RSTART + 3)
            suites = substr($0, 1, RSTART - 1)
            sub(/^[^:]*:/, "", suites)
            if (name == word || index("+" suites "+", "+" word "+")) print name
        }' "$work/list"
}

test_named() {
    meson test -C build --no-rebuild --list >"$work/list" 2>/dev/null
    : >"$work/names"
    # Words that together are one name, else each for itself.
    names_of "$*" >"$work/names"
    [ -s "$work/names" ] || for word; do
        names_of "$word" >"$work/some"
        [ -s "$work/some" ] || fail "there is no test, room, operation or suite '$word'; there are these,
and the names of tests (meson test -C build --list):
$(sed -n 's|^[^:]*:\([^/]*\) / .*|\1|p' "$work/list" | tr '+' '\n' | sort -u | paste -s -d ' ' - | fold -s -w 100)"
        cat "$work/some" >>"$work/names"
    done
    set --
    while IFS= read -r name; do set -- "$@" "$name"; done <"$work/names"
    run_tests build "$@"
}

# sanitized FOLDER OPTIONS…: with the kernels of the build. What -O2 and all of -g would add takes longer to compile
# than the tests then save. Warnings are for the plain build: with less of the optimiser compilers guess worse.
sanitized() {
    sanitized_folder=$1
    shift
    configure "$sanitized_folder" "-Dkernel_targets=$(targets_for gfx1010,gfx1030,nvptx)" -Dbuildtype=custom \
        -Doptimization=1 -Ddebug=true -Dc_args=-g1 -Dwerror=false -Db_lundef=false "$@"
}

# Builds of their own, of which only what is tested is built.
sanitizers() {
    step "building with AddressSanitizer and UndefinedBehaviorSanitizer"
    sanitized build-asan -Db_sanitize=address,undefined
    compile build-asan
    step "tests under them"
    run_tests build-asan --no-suite slow
    step "building with ThreadSanitizer"
    sanitized build-tsan -Db_sanitize=thread -Dopenmp=disabled
    compile_tested build-tsan threads
    step "tests under it"
    run_tests build-tsan --suite threads
    step "building fuzzers"
    export CC=clang-19
    sanitized build-fuzz -Db_sanitize=address,undefined -Dopenmp=disabled -Dfuzz=true
    compile_tested build-fuzz fuzz
    step "fuzzers"
    run_tests build-fuzz --suite fuzz
}

run_all_tests() {
    started=$(date +%s)
    # Word splitting is wanted: a list of package names.
    # shellcheck disable=SC2086
    install_packages $test_packages
    build
    # Tests of random problems draw others each time, except here: a change is judged by what it does, not by the dice.
    export RMCP_SEED="${RMCP_SEED:-1}"
    step "tests"
    case ${1-} in
    '') run_tests build --no-suite rest ;;
    quick) run_tests build --no-suite rest --no-suite slow --no-suite long ;;
    rest)
        run_tests build --suite rest
        sanitizers
        ;;
    all)
        run_tests build
        sanitizers
        ;;
    *) test_named "$@" ;;
    esac
    finish_tests "$@"
}

# Threads that wait for work spin by default, which is slow where other work has the cores.
export OMP_WAIT_POLICY="${OMP_WAIT_POLICY:-passive}"
work=$(mktemp -d)
log=$work/log results=${RMCP_TEST_RESULTS:-$work/results} ticker=
mkdir -p "$results"
touch "$results/failures" "$results/durations" "$results/totals"
trap '[ -z "$ticker" ] || kill "$ticker" 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
case ${1-} in
demo) set_up demo ;;
test)
    shift
    case ${1-} in
    quick | rest | all) [ $# = 1 ] || { echo "setup.sh: 'test $1' takes no other words" >&2; exit 2; } ;;
    esac
    run_all_tests "$@" ;;
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
