#!/bin/sh
# Compile every kernel variant for one target: compile.sh TARGET SOURCES OUT LIST CLANG [PROVE PACK RESULT]
# TARGET is an AMD chip (code objects and assembly) or nvptx (PTX); LIST prints the table of kernels.
# A kernel whose text, options and compiler are those of the last time is not compiled again.
# PROVE (prove.c) is then run on the code objects and must be content, and PACK (pack.c) makes of all
# of them RESULT, an assembler file. Fails when one variant does not compile, calls a function that
# nobody defines, needs arguments that only a runtime could supply, or reaches beyond its workgroup.
set -eu

fail() { # xargs stops at once at status 255
    echo "$*" >&2
    exit 255
}

# one TARGET SOURCES OUT CLANG NAME FILE ENTRY BLOCK OPTIONS...
if [ "$1" = one ]; then
    target=$2 sources=$3 base=$4/$6 clang=$5 file=$7
    shift 9
    common="-x cl -cl-std=CL1.2 -DBARE -O3 -Wall -Werror"
    case $target in
    gfx*)
        machine="-target amdgcn-amd-amdhsa -mcpu=$target -mcode-object-version=4"
        case $target in # else some of them spill two registers
        gfx9*) common="$common -mllvm -greedy-reverse-local-assignment" ;;
        esac
        $clang $common $machine -nogpulib "$@" -S -o "$base.s" "$sources/$file" &&
            $clang $machine -o "$base.co" "$base.s" || exit 255
        ! grep -q 'value_kind: *hidden_' "$base.s" || fail "$base: needs hidden arguments"
        # The names of atomics, of cache control and of the bits for a wider scope than a workgroup's.
        ! grep -E '^\s+[a-z0-9_]*atomic|^\s+(buffer_(wb|inv)|buffer_gl1|global_(wb|inv)|s_dcache)|^\s[^;]*\s(glc|slc|dlc|sc[01]|scope:)' \
            "$base.s" || fail "$base: device or system scope" ;;
    nvptx)
        $clang $common -target nvptx64-nvidia-cuda --cuda-feature=+ptx60 -march=sm_60 "$@" \
            -S -o "$base.ptx" "$sources/$file" || exit 255
        ! grep -q '\.extern \.func' "$base.ptx" || fail "$base: calls a function that nobody defines"
        ! grep -E '^\s+(atom|red)\.' "$base.ptx" || fail "$base: atomics"
        grep -q '^\.version 6\.0$' "$base.ptx" && grep -q '^\.target sm_60$' "$base.ptx" ||
            fail "$base: not PTX 6.0 for sm_60" ;;
    esac
    mv "$base.wanted" "$base.key"
    exit
fi

target=$1 sources=$2 out=$3 list=$4 clang=$5
mkdir -p "$out"
tool="$($clang --version | head -n 1) $(cksum <"$0")"
"$list" >"$out/list"
digests=
for file in $(cut -d ' ' -f 2 "$out/list" | sort -u); do
    digests="$digests $file=$(sh "$(dirname "$0")/../embed.sh" --text "$sources/$file" | sha256sum | cut -d ' ' -f 1)"
done
# The keys are compared without starting a process for each of them.
: >"$out/todo"
while read -r name file rest; do
    digest=${digests#* "$file"=}
    key="$tool ${digest%% *} $file $rest" old=
    [ ! -f "$out/$name.key" ] || read -r old <"$out/$name.key" || true
    [ "$old" != "$key" ] || continue
    rm -f "$out/$name.key"
    printf '%s\n' "$key" >"$out/$name.wanted"
    printf '%s\n' "$name $file $rest" >>"$out/todo"
done <"$out/list"
jobs=$(getconf _NPROCESSORS_ONLN)
xargs -r -P "$jobs" -L 1 sh "$0" one "$target" "$sources" "$out" "$clang" <"$out/todo"
echo "$target: $(wc -l <"$out/todo") of $(wc -l <"$out/list") kernels compiled"
[ $# -ge 8 ] || exit 0

suffix=co
[ "$target" != nvptx ] || suffix=ptx
files=$(cut -d ' ' -f 1 "$out/list" | sed "s|.*|$out/&.$suffix|")
# Word splitting is wanted: file names without blanks.
# shellcheck disable=SC2086
[ $suffix != co ] || "$6" "$target" $files
# shellcheck disable=SC2086
"$7" "$target" "$out/$target.zst" "$8" $files
