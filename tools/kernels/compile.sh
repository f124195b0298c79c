#!/bin/sh
# Compile every kernel variant for one target: compile.sh TARGET SOURCES OUT LIST CLANG [PROVE PACK RESULT]
# TARGET is an AMD chip (code objects and assembly) or nvptx (PTX); LIST prints the table of kernels, whose
# files are below SOURCES. A kernel whose text, options and compiler are those of the last time is not
# compiled again. PROVE (prove.c) is then run on the code objects and must be content, and PACK (pack.c) makes
# of them RESULT, an assembler file with one archive for each operation. Prints what each operation took.
# Fails when one variant does not compile, calls a function that nobody defines, needs arguments that only
# a runtime could supply, or reaches beyond its workgroup.
set -eu

fail() { # xargs stops at once at status 255
    echo "$*" >&2
    exit 255
}

# one NAME OPERATION FILE ENTRY BLOCK OPTIONS…, the rest from the environment: paths may hold blanks
if [ "$1" = one ]; then
    name=$2 file=$4
    shift 6
    cd "$out"
    common="-x cl -cl-std=CL1.2 -DBARE -O3 -Wall -Werror"
    case $target in
    gfx*)
        machine="-target amdgcn-amd-amdhsa -mcpu=$target -mcode-object-version=4"
        case $target in # else some of them spill two registers
        gfx9*) common="$common -mllvm -greedy-reverse-local-assignment" ;;
        esac
        # Word splitting is wanted: lists of options.
        # shellcheck disable=SC2086
        "$clang" $common $machine -nogpulib -I "$sources" "$@" -S -o "$name.s" "$sources/$file" &&
            "$clang" $machine -o "$name.co" "$name.s" || exit 255
        ! grep -q 'value_kind: *hidden_' "$name.s" || fail "$name: needs hidden arguments"
        # The names of atomics, of cache control and of the bits for a wider scope than a workgroup's.
        ! grep -E '^\s+[a-z0-9_]*atomic|^\s+(buffer_(wb|inv)|buffer_gl1|global_(wb|inv)|s_dcache)|^\s[^;]*\s(glc|slc|dlc|sc[01]|scope:)' \
            "$name.s" || fail "$name: device or system scope" ;;
    nvptx)
        # shellcheck disable=SC2086
        "$clang" $common -target nvptx64-nvidia-cuda --cuda-feature=+ptx60 -march=sm_60 -I "$sources" "$@" \
            -S -o "$name.ptx" "$sources/$file" || exit 255
        ! grep -q '\.extern \.func' "$name.ptx" || fail "$name: calls a function that nobody defines"
        ! grep -E '^\s+(atom|red)\.' "$name.ptx" || fail "$name: atomics"
        grep -q '^\.version 6\.0$' "$name.ptx" && grep -q '^\.target sm_60$' "$name.ptx" ||
            fail "$name: not PTX 6.0 for sm_60" ;;
    esac
    times >"$name.times"
    mv "$name.wanted" "$name.key"
    exit
fi

target=$1 sources=$2 out=$3 list=$4 clang=$5
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
tool="$("$clang" --version | head -n 1) $(cksum <"$0")"
"$list" >"$out/list"
for file in $(cut -d ' ' -f 3 "$out/list" | sort -u); do
    echo "$file $(sh "$here/../embed.sh" --text --root "$sources" "$file" | sha256sum | cut -d ' ' -f 1)"
done >"$out/digests"
export target sources out clang tool
# The keys are compared without starting a process for each of them.
awk 'NR == FNR { digest[$1] = $2; next }
    {
        base = ENVIRON["out"] "/" $1
        rest = $0
        sub(/^[^ ]+ +[^ ]+ +[^ ]+ */, "", rest)
        key = ENVIRON["tool"] " " digest[$3] " " $3 " " rest
        old = ""
        getline old <(base ".key")
        close(base ".key")
        if (old == key) next
        print key >(base ".wanted")
        close(base ".wanted")
        print
    }' "$out/digests" "$out/list" >"$out/todo"
(cd "$out" && cut -d ' ' -f 1 todo | sed 's/$/.key/' | xargs -r rm -f)
xargs -r -P "$(getconf _NPROCESSORS_ONLN)" -L 1 sh "$here/compile.sh" one <"$out/todo"
for operation in $(cut -d ' ' -f 2 "$out/list" | sort -u); do
    names() { awk -v operation="$operation" '$2 == operation { print $1 }' "$1"; }
    # The second line of `times` is what the compiler took: 0m1.2s of its own and 0m0.1s in the kernel.
    seconds=$(cd "$out" && names list | sed 's/$/.times/' | xargs -n 1000 \
        awk -F '[ms ]+' 'FNR == 2 { all += 60 * ($1 + $3) + $2 + $4 } END { printf "%.0f", all }')
    echo "$target: $operation: $(names "$out/todo" | wc -l) of $(names "$out/list" | wc -l) kernels compiled;" \
        "all of them take $seconds seconds of one core"
done
[ $# -ge 8 ] || exit 0

# Relative names in the folder itself, since its path may hold blanks.
absolute() { case $1 in /*) printf '%s\n' "$1" ;; *) printf '%s\n' "$PWD/$1" ;; esac; }
prove=$(absolute "$6") pack=$(absolute "$7") result=$(absolute "$8")
cd "$out"
suffix=co
[ "$target" != nvptx ] || suffix=ptx
# Word splitting is wanted: file names without blanks.
# shellcheck disable=SC2046
[ $suffix != co ] || "$prove" "$target" $(awk '{ print $1 ".co" }' list)
# shellcheck disable=SC2046
"$pack" "$target" "$PWD" "$result" $(awk -v suffix=$suffix '{ print $2 "/" $1 "." suffix }' list)
