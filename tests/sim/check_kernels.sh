#!/bin/sh
# Our kernels, compiled for several chips, on the executor against the reference.
# usage: check_kernels.sh SIM_KERNELS SOURCES LIST OUT CASES [OPTION…]
# SIM_KERNELS is tests/sim/kernels.c, SOURCES is src, LIST prints the table of kernels; objects
# are kept in OUT and made again when a source is newer, but for targets that SHIPPED, the folder of the
# library's own objects, has. TARGETS (default: gfx1010 gfx1012 gfx1030): each
# is run on a chip of that name, gfx1010 with both kinds of data; on gfx1010 once more with
# the silicon bugs acted out, which must not change anything. With SHIPPED chips of gfx10.1 execute the objects for
# gfx1010, as the library has it, which knows no others for them; else objects of their own. OPTIONs go to
# SIM_KERNELS. The whole suite, by hand:
#   tests/sim/check_kernels.sh build/tests/sim/sim_kernels src build/tools/kernels/kernel-list \
#       build/tests/sim/sim_objects data/verify-full.txt
set -eu
if [ "$1" = one ]; then # one TARGET SOURCES OUT NAME OPERATION FILE ENTRY BLOCK OPTIONS…
    target=$2 sources=$3 out=$4/$5 file=$7
    shift 9
    [ ! -e "$out.co" ] || [ -n "$(find "$sources" -newer "$out.co" -type f)" ] || exit 0
    ${CLANG:-clang-19} -x cl -cl-std=CL1.2 -DBARE -O3 -Wall -Werror -target amdgcn-amd-amdhsa \
        -mcpu="$target" -mcode-object-version=4 -nogpulib -I "$sources" "$@" -o "$out.part" "$sources/$file" || exit 255
    mv "$out.part" "$out.co"
    exit
fi
sim_kernels=$1 sources=$2 list=$3 objects=$4 cases=$5
shift 5
. "$(dirname "$0")/../support/lib.sh"
need "${CLANG:-clang-19}"
for target in ${TARGETS:-gfx1010 gfx1012 gfx1030}; do
    family=$target
    case $target in gfx101?) family=gfx1010 ;; esac
    folder=${SHIPPED:+$SHIPPED/$family}
    if [ ! -d "$folder" ]; then
        folder=$objects/$target
        mkdir -p "$folder"
        "$list" | xargs -P "$(getconf _NPROCESSORS_ONLN)" -L 1 sh "$0" one "$target" "$sources" "$folder"
    fi
    once=$([ "$target" = gfx1010 ] || echo --once)
    # shellcheck disable=SC2086
    "$sim_kernels" "$@" $once "$folder" "$target" "$cases" || fail "on $target"
    [ "$target" != gfx1010 ] || "$sim_kernels" "$@" --once --act all "$folder" "$target" "$cases" ||
        fail "on $target, bugs acted out"
done
[ "$n_failures" = 0 ]
