#!/bin/sh
# Runs PyTorch's own tests of convolutions without RMCP and with it, on the CPU, and compares; by hand, as root.
# usage: torch_suite.sh BUILD [RELEASE…]   bookworm (PyTorch 1.13), trixie (2.6) and sid (the newest) unless told
#                                          otherwise
#   EVERY=N           run one test of N, chosen by name (default 1: all of them, many hours of two cores)
#   SUITES='nn ops'   only these
#   RMCP_TORCH_NATIVE=1   with the native part, which is built first (default 0)
# Chroots, test files and results are kept in ~/.cache/rmcp; what was run is not run again: remove torch-suite/logs to
# start anew. The test files are those of the release's source package; where the mirror has none, as for a new sid,
# trixie's.
# Exit status: 0 no test fails that passes without RMCP, 1 some do (they are listed), 77 the packages cannot be had.
set -eu
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/debian.sh"
[ $# -ge 1 ] || { sed -n '3,7p' "$0" | cut -c3-; exit 2; }
build=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- bookworm trixie sid
source=$(cd "$(dirname "$0")/../.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/rmcp
state=$cache/torch-suite
[ "$(id -u)" = 0 ] || skip "a chroot needs root"
[ -e "$build/librmcp.so" ] || skip "$build has no librmcp.so"
need debootstrap xz
every=${EVERY:-1}
form=${RMCP_TORCH_NATIVE:-0}

# fetch_tests RELEASE: its PyTorch's test folder as $state/RELEASE/test.
fetch_tests() {
    [ ! -d "$state/$1/test" ] || return 0
    debian_source pytorch "$state/$1" || return 1
    tar -C "$state/$1" -xJf "$state/$1"/pytorch_*.orig.tar.xz --strip-components=1 --wildcards '*/test/*'
}

# inside ROOT COMMAND…
inside() {
    inside_root=$1
    shift
    chroot "$inside_root" /usr/bin/env HOME=/root OMP_WAIT_POLICY=passive RMCP_LIBRARY=/suite/librmcp.so \
        RMCP_TORCH_NATIVE="$form" PYTORCH_TESTING_DEVICE_ONLY_FOR=cpu PYTHONPATH=/suite/python:/suite/expecttest "$@"
}

mounted=
trap 'for place in $mounted; do umount "$place"; done; rm -rf "$work"' EXIT
mkdir -p "$state/logs"
for release; do
    root=$cache/$release
    debian_chroot "$root" "$release" python3-torch libtorch-dev python3-numpy python3-scipy python3-hypothesis \
        python3-yaml python3-dev g++ libdnnl-dev
    mkdir -p "$work/$release"
    debian_open "$work/$release" "$release"
    tests=$state/$release
    if ! fetch_tests "$release"; then
        say "the mirror has no source of $release's PyTorch: trixie's tests"
        mkdir -p "$work/trixie"
        debian_open "$work/trixie" trixie
        fetch_tests trixie || skip "no test files"
        tests=$state/trixie
    fi
    if [ ! -e "$state/expecttest" ]; then # Debian 12 has none; it is Python alone
        mkdir -p "$work/expecttest"
        debian_open "$work/expecttest" trixie
        debian_unpack python3-expecttest
        cp -r "$work/expecttest/root/usr/lib/python3/dist-packages" "$state/expecttest"
    fi
    mkdir -p "$root/suite/tests"
    rm -rf "$root/suite/python"
    cp -r "$source/python" "$source/include" "$source/tests/python/torch_suite.py" "$root/suite/"
    cp -r "$state/expecttest" "$root/suite/"
    cp -L "$build/librmcp.so" "$root/suite/"
    mkdir -p "$root/suite/logs"
    for pair in "proc:$root/proc" "$state/logs:$root/suite/logs" "$tests:$root/suite/tests"; do
        place=${pair#*:}
        mountpoint -q "$place" && continue
        if [ "${pair%%:*}" = proc ]; then mount -t proc proc "$place"; else mount --bind "${pair%%:*}" "$place"; fi
        mounted="$place $mounted"
    done
    name=$(inside "$root" python3 -c 'import torch; print(torch.__version__.split("+")[0])')
    [ "$form" = 0 ] || inside "$root" python3 -m rmcp.torch build
    while read -r suite file pattern; do
        case " ${SUITES:-$suite} " in *" $suite "*) ;; *) continue ;; esac
        [ -e "$tests/test/$file" ] || continue # a release has no such tests
        for way in own rmcp; do
            on=0
            [ $way = own ] || on=1
            inside "$root" RMCP_SUITE=$on nice python3 -W ignore /suite/torch_suite.py run \
                "/suite/logs/$name-$suite.$way" "/suite/tests/test/$file" "$pattern" "$every" \
                2>>"$state/logs/$name-$suite.$way.err" || say "$name $suite, $way: not complete"
        done
    done <"$source/tests/python/torch_suites.txt"
done
"$python" "$source/tests/python/torch_suite.py" table "$state/logs"
