# rewritten.sh: to be sourced by run: the GPU code of a program taken apart and laid out again with s_nop in it.
# shellcheck shell=bash disable=SC2154 # $root, $build, $scratch, $results, $name, $chip and $mounts are of run

# code_of PROGRAMS: the files of the chroot that $name's kernels for $chip are in; none where that is not known.
code_of() {
    local libraries=$root/usr/lib/x86_64-linux-gnu path
    case $name in
    ggml | llama) set -- "$libraries"/ggml/backends*/libggml-hip.so ;;
    rocblas*) set -- ;;
    magma) set -- "$libraries"/lib{magma,rocsparse}.so.* ;;
    hiprand) # rocRAND's, and kernels of the tests themselves
        sed "s|^|$root|" "$1"
        printf '%s\n' "$libraries"/librocrand.so.*.*
        return 0
        ;;
    rocprim | hipcub | rocthrust) # libraries of headers: the programs hold the kernels themselves
        sed "s|^|$root|" "$1"
        return 0
        ;;
    *) return 0 ;;
    esac
    # Matrix products of ggml are rocBLAS's, and some of MAGMA's.
    for path in "$@" "$libraries"/librocblas.so.* "$libraries"/rocblas/*/library/*"$chip"*.{co,hsaco}; do
        [ -L "$path" ] || printf '%s\n' "$path"
    done
}

# make_rewritten PERCENT PROGRAMS: into ${mounts[@]}; kept in the results, until the rewriter is another.
make_rewritten() {
    local folder=$results/rewritten/$1 path new stamp
    stamp=$(sha256sum <"$build/tests/rewrite/rewrite_scan")
    [ "$(cat "$folder/stamp" 2>/dev/null)" = "$stamp" ] || rm -rf "$folder"
    mkdir -p "$folder" && echo "$stamp" >"$folder/stamp"
    mounts=()
    code_of "$2" >"$scratch/code"
    while IFS= read -r path; do
        new=$folder${path#"$root"}
        if [ ! -s "$new" ] || [ "$path" -nt "$new" ]; then
            mkdir -p "${new%/*}"
            if ! "$build/tests/rewrite/rewrite_scan" --target "$chip" --nops "$1" --avoid-3f --to "$new" "$path" \
                >"$scratch/rewriting"; then
                # Some of rocPRIM's programs test what the host does.
                ! grep -q 'no GPU code that could be replaced' "$scratch/rewriting" || continue
                die "$path cannot be rewritten: $(tail -n 3 "$scratch/rewriting")"
            fi
            printf '%s\t%s\n' "${path#"$root"}" "$(tr '\n' ' ' <"$scratch/rewriting")" >>"$folder/log"
        fi
        chmod --reference="$path" "$new"
        mounts+=("$new:$path")
    done <"$scratch/code"
    [ ${#mounts[@]} -gt 0 ] || { echo "$name, $mode: not known where its kernels are" >&2 && return 1; }
    echo "$name, $mode: ${#mounts[@]} rewritten files" >&2
}

# differing NATIVE REWRITTEN: cases that ended otherwise, or with another figure, in the second file of results; or
# that the first does not have. What took too long in one of them is no difference.
differing() {
    awk -F '\t' 'FILENAME == ARGV[1] { verdict[$2] = $1; figure[$2] = $5; next } { last[$2] = $1; now[$2] = $5 }
        END { for (i in last)
                  if (!(i in verdict)) print i ": not run natively"
                  else if (last[i] != "slow" && verdict[i] != "slow" && (last[i] != verdict[i] || now[i] != figure[i]))
                      print i ": " verdict[i] " " figure[i] ", rewritten: " last[i] " " now[i] }' "$1" "$2" | sort
}
