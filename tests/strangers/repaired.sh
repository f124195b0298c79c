# repaired.sh: to be sourced by run: a program's GPU code for gfx1030 alone, and that code as rmcp repair makes it.
# shellcheck shell=bash disable=SC2154 # $root, $build, $scratch, $results, $name, $chip, $mode and $mounts are of run

# The chip whose code is repaired.
from=gfx1030

# tensile_of: the folders of rocBLAS's kernels that $name uses.
tensile_of() {
    case $name in
    ggml | llama | magma | rocblas*) printf '%s\n' "$root"/usr/lib/x86_64-linux-gnu/rocblas/*/library ;;
    esac
}

# only_folder FOLDER NEW: without the files that are named after other chips than $from.
only_folder() {
    mkdir -p "$2.part"
    find "$1" -maxdepth 1 -type f \( -name "*$from*" -o ! -name '*gfx[0-9]*' \) \
        -exec cp -l -t "$2.part" {} + 2>/dev/null ||
        find "$1" -maxdepth 1 -type f \( -name "*$from*" -o ! -name '*gfx[0-9]*' \) -exec cp -t "$2.part" {} +
    mv "$2.part" "$2"
}

# only_file FILE NEW: without code of other chips. 1: there is no code in it.
only_file() {
    "$build/tests/codeobj/codeobj_rewrite" file only "$from" "$1" "$2" >"$scratch/only" 2>&1 && return 0
    # Some of rocPRIM's programs test what the host does.
    grep -q 'no GPU code that could be replaced' "$scratch/only" || die "$1: $(tail -n 1 "$scratch/only")"
    return 1
}

# repair FROM NEW: what cannot be repaired is left out, and told in the log. Where nothing can be, it stays as it is,
# without code for the card.
repair() {
    if ! "$build/rmcp" repair "$1" --target "$chip" --out "$2" >"$scratch/repairing" 2>&1 && [ ! -e "$2" ]; then
        grep -q 'nothing of it could be repaired' "$scratch/repairing" && cp "$1" "$2" ||
            die "$1 cannot be repaired: $(tail -n 3 "$scratch/repairing")"
    fi
    { echo "${1#"$results"}:" && cat "$scratch/repairing"; } >>"$results/rewritten/repaired/log"
}

# make_repaired PROGRAMS: into ${mounts[@]}; the repaired files, or for the mode unrepaired those with $from's code
# alone. Kept in the results, until the repair is another.
make_repaired() {
    local only=$results/rewritten/only fixed=$results/rewritten/repaired path new stamp
    stamp=$(sha256sum <"$build/rmcp")
    [ "$(cat "$fixed/stamp" 2>/dev/null)" = "$stamp" ] || rm -rf "$fixed"
    mkdir -p "$only" "$fixed" && echo "$stamp" >"$fixed/stamp"
    mounts=()
    # Programs have kernels of their own, too: rocblas-bench fills its matrices with them.
    { code_of "$1" | grep -v '/rocblas/.*/library/' || true; sed "s|^|$root|" "$1" && tensile_of; } | sort -u \
        >"$scratch/code"
    while IFS= read -r path; do
        new=$only${path#"$root"}
        mkdir -p "${new%/*}"
        if [ ! -e "$new" ] || [ "$path" -nt "$new" ]; then
            rm -rf "$new" "$fixed${path#"$root"}"
            if [ -d "$path" ]; then only_folder "$path" "$new"; else only_file "$path" "$new" || continue; fi
        fi
        if [ "$mode" = repaired ]; then
            new=$fixed${path#"$root"}
            mkdir -p "${new%/*}"
            [ -e "$new" ] || repair "$only${path#"$root"}" "$new"
        fi
        chmod --reference="$path" "$new"
        mounts+=("$new:$path")
    done <"$scratch/code"
    [ ${#mounts[@]} -gt 0 ] || { echo "$name, $mode: not known where its kernels are" >&2 && return 1; }
    echo "$name, $mode: ${#mounts[@]} files or folders" >&2
}

# refusal LOG: why HIP did not launch a kernel, in its own words.
refusal() {
    grep -m 1 -o -E -e 'Cannot find Symbol with name: [^ ]*|invalid device function' \
        -e 'are larger than launch bounds \([0-9]+\) for kernel [^ ]*' "$1" | cut -c 1-200
}

# other_figures ORIGINAL REPAIRED: cases that both have right, with another figure.
other_figures() {
    awk -F '\t' '$1 != "right" && $1 != "reports" { next } FILENAME == ARGV[1] { figure[$2] = $5; has[$2] = 1; next }
        has[$2] && figure[$2] != $5 {
            print $2 ": " figure[$2] " with the code of gfx1030 on its card, repaired: " $5
        }' "$1" "$2"
}

# keep_launches: what was launched, from inside the chroot to the results.
keep_launches() {
    [ "$mode" = repaired ] && [ -s "$inside/launches" ] || return 0
    cat "$inside/launches" >>"$found.launches"
    : >"$inside/launches"
}

# tell_launches: of which objects the launches in the results are; 1 where some are of others than repaired ones.
tell_launches() {
    local files=("${mounts[@]%%:*}")
    [ "$mode" = repaired ] && [ -s "$found.launches" ] || return 0
    "$build/tests/repair/launched" "$found.launches" "${files[@]}" >"$scratch/launched" || true
    tail -n 1 "$scratch/launched" >"$results/$name.launched"
    sed -n 's/^other: //p' "$scratch/launched" | sort | uniq -c >"$results/$name.launched.others"
}
