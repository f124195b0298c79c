#!/bin/sh
# Are the packages that the recipes name in Debian's archive, and can they be installed together? With their versions.
# usage: debian.sh RMCP        by hand: needs a Debian mirror (apt's own); a minute. Markdown on stdout.
set -eu
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/debian.sh"
rmcp=$1
need apt-get apt-cache
list() { # the value of a variable of a printed script, as words
    "$rmcp" recipe "$1" --chip gfx1010 | sed '/^# 1\. /,$d' >"$work/top.sh"
    (. "$work/top.sh" >/dev/null && eval "printf '%s\n' \$$2")
}
source_packages=$(list torch-source build_packages | tr ' ' '\n' | sed '/^$/d')
image_packages=$("$rmcp" recipe docker --chip gfx1010 |
    sed -n '/^RUN apt-get update/,/rm -rf/p' | tr -d '\\)' | tr ' ' '\n' | grep -E '^(python3|lib|ca-)' | sort -u)
say "| release | recipe | packages | in the archive | can be installed together |"
say "|---|---|---|---|---|"
# try RELEASE RECIPE PACKAGE…
try() {
    release=$1 recipe=$2
    shift 2
    n_checks=$((n_checks + 1))
    missing=''
    for one; do
        debian_apt apt-cache policy "$one" 2>/dev/null | grep -q 'Candidate: [0-9]' || missing="$missing $one"
    done
    if [ -n "$missing" ]; then
        say "| $release | $recipe | $# | without$missing | - |"
        n_failures=$((n_failures + 1))
    elif debian_apt apt-get install -s --no-install-recommends -o Dir::State::status=/dev/null "$@" \
        >"$work/out" 2>&1; then
        say "| $release | $recipe | $# | all | yes, $(grep -c '^Inst' "$work/out") with what they need |"
    else
        say "| $release | $recipe | $# | all | no: $(grep -E '^E:|Depends' "$work/out" | head -n 1) |"
        n_failures=$((n_failures + 1))
    fi
}
for release in bookworm trixie sid; do
    mkdir -p "$work/$release"
    debian_open "$work/$release" "$release"
    # Several words are wanted.
    # shellcheck disable=SC2086
    case $release in
    bookworm) try $release torch-therock python3-venv ;;
    trixie)
        try $release torch-therock python3-venv && try $release docker $image_packages &&
            try $release 'torch-source, tools' debootstrap bubblewrap
        ;;
    sid)
        try $release torch-therock python3-venv
        try $release torch-source $source_packages
        for one in libamdhip64-dev librocblas-dev libmiopen-dev libhipblaslt-dev librocprim-dev librocrand-dev \
            librocfft-dev clang-21 rocm-device-libs-21; do
            printf '%s %s\n' "$one" "$(debian_apt apt-cache policy $one | sed -n 's/.*Candidate: //p')"
        done >"$work/versions"
        ;;
    esac
done
say && sed 's/^/    /' "$work/versions"
finish packages
