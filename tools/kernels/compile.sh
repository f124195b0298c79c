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

# batch KERNEL…, the rest from the environment: paths may hold blanks, names of kernels do not
if [ "$1" = batch ]; then
    shift
    cd "$out"
    # Of each kernel a text of its own, in which its options come first, for one process compiles many texts.
    awk -v kernels=" $* " 'index(kernels, " " $1 " ") {
        to = $1 ".cl"
        text = $3
        gsub("/", "_", text)
        for (i = 6; i <= NF; i++) {
            if (!sub(/^-D/, "", $i)) {
                print $1 ": an option that is no -D: " $i >"/dev/stderr"
                exit 1
            }
            if (!sub(/=/, " ", $i)) $i = $i " 1"
            print "#define " $i >to
        }
        while ((getline line <("text/" text)) > 0) print line >to
        close("text/" text)
        close(to)
    }' todo || exit 255
    texts=$(printf '%s.cl ' "$@") results=$(printf '%s.s ' "$@") objects=$(printf '%s.o ' "$@")
    # Word splitting is wanted from here on: lists of files.
    # shellcheck disable=SC2086
    rm -f $results
    if ! eval "$compiler $texts"; then
        for name; do
            [ -e "$name.s" ] || fail "$name: does not compile"
        done
        fail "does not compile: $*"
    fi
    refuse() { # REASON PATTERN
        # shellcheck disable=SC2086
        ! found=$(grep -HE "$2" $results) || fail "$1: $found"
    }
    case $target in
    gfx*)
        refuse 'hidden arguments' 'value_kind: *hidden_'
        # The names of atomics, of cache control and of the bits for a wider scope than a workgroup's.
        wider='^\s+[a-z0-9_]*atomic|^\s+(buffer_(wb|inv)|buffer_gl1|global_(wb|inv)|s_dcache)'
        refuse 'device or system scope' "$wider|^\s[^;]*\s(glc|slc|dlc|sc[01]|scope:)"
        for name; do
            eval "$assembler -o $name.o $name.s" && eval "$linker -o $name.co $name.o" || fail "$name: cannot be linked"
        done ;;
    nvptx)
        refuse 'calls a function that nobody defines' '\.extern \.func'
        refuse 'atomics' '^\s+(atom|red)\.'
        for name; do
            grep -q '^\.version 6\.0$' "$name.s" && grep -q '^\.target sm_60$' "$name.s" ||
                fail "$name: not PTX 6.0 for sm_60"
            mv "$name.s" "$name.ptx"
        done ;;
    esac
    # shellcheck disable=SC2086
    rm -f $texts $objects
    times >"$1.all"
    # The second line is what the children took: 0m1.2s of their own and 0m0.1s in the kernel. Each has its share.
    awk -v kernels="$*" -F '[ms ]+' 'NR == 2 {
        count = split(kernels, name, " ")
        for (i = 1; i <= count; i++) {
            printf "0m0s 0m0s\n0m%.3fs 0m0s\n", (60 * ($1 + $3) + $2 + $4) / count >(name[i] ".times")
            close(name[i] ".times")
        }
    }' "$1.all"
    rm -f "$1.all"
    for name; do mv "$name.wanted" "$name.key"; done
    exit
fi

target=$1 sources=$2 out=$3 list=$4 clang=$5
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
tool="$("$clang" --version | head -n 1) $(cksum <"$0")"
"$list" >"$out/list"
mkdir -p "$out/text"
files=$(cut -d ' ' -f 3 "$out/list" | sort -u)
# Word splitting is wanted: names below SOURCES have no blanks.
# shellcheck disable=SC2086
sh "$here/../embed.sh" --text "$out/text" --root "$sources" $files
(cd "$out/text" && for file in $files; do echo "$file"; done | tr / _ | xargs sha256sum) >"$out/digests"
export target sources out clang tool
# The keys are compared without starting a process for each of them.
awk 'NR == FNR { digest[$2] = $1; next }
    {
        text = $3
        gsub("/", "_", text)
        base = ENVIRON["out"] "/" $1
        rest = $0
        sub(/^[^ ]+ +[^ ]+ +[^ ]+ */, "", rest)
        key = ENVIRON["tool"] " " digest[text] " " $3 " " rest
        old = ""
        getline old <(base ".key")
        close(base ".key")
        if (old == key) next
        print key >(base ".wanted")
        close(base ".wanted")
        print
    }' "$out/digests" "$out/list" >"$out/todo"
(cd "$out" && cut -d ' ' -f 1 todo | sed 's/$/.key/' | xargs -r rm -f)
if [ -s "$out/todo" ]; then
    # What the compiler's driver would start, without the files. It would start one process for each file.
    job() { # NUMBER OPTION…
        number=$1
        shift
        "$clang" -### "$@" >"$out/jobs" 2>&1 || fail "$(cat "$out/jobs")"
        awk -v number="$number" '/^ "/ && ++n == number {
            count = split(substr($0, 3, length($0) - 3), word, /" "/)
            for (i = 1; i <= count; i++)
                if (word[i] == "-o") i++
                else if (i < count && word[i] !~ /\.o$/) printf " \"%s\"", word[i]
        }' "$out/jobs"
    }
    common="-x cl -cl-std=CL1.2 -DBARE -O3 -Wall -Werror"
    machine="-target amdgcn-amd-amdhsa -mcpu=$target -mcode-object-version=4"
    case $target in # else some of them spill two registers
    gfx9*) common="$common -mllvm -greedy-reverse-local-assignment" ;;
    esac
    # Word splitting is wanted: lists of options.
    # shellcheck disable=SC2086
    case $target in
    gfx*)
        compiler=$(job 1 $common $machine -nogpulib -S -o k.s /dev/null)
        assembler=$(job 1 $machine -o k.co -x assembler /dev/null)
        linker=$(job 2 $machine -o k.co -x assembler /dev/null) ;;
    nvptx)
        compiler=$(job 1 $common -target nvptx64-nvidia-cuda --cuda-feature=+ptx60 -march=sm_60 -S -o k.s /dev/null)
        assembler='' linker='' ;;
    esac
    export compiler assembler linker
fi
# Up to eight kernels of an operation together, fewer where that would leave processors without work.
processors=$(getconf _NPROCESSORS_ONLN)
awk -v most=$(($(wc -l <"$out/todo") / (4 * processors))) '
    BEGIN { if (most < 1) most = 1; if (most > 8) most = 8 }
    $2 == operation && count < most { printf " " }
    NR > 1 && ($2 != operation || count == most) { printf "\n"; count = 0 }
    { printf "%s", $1; operation = $2; count++ }
    END { if (NR) printf "\n" }' "$out/todo" >"$out/batches"
xargs -r -P "$processors" -L 1 sh "$here/compile.sh" batch <"$out/batches"
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
