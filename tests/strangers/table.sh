# table.sh: to be sourced by run: counts of results, and the table as Markdown.
# shellcheck shell=bash disable=SC2154 # $results, $here, $only are of run

# counts FILE: in words.
counts() {
    awk -F '\t' '{ n[$1]++ } END {
        printf "%d right, %d right with reports, %d wrong, ", n["right"], n["reports"], n["wrong"]
        printf "%d too long, %d left out by the program", n["slow"], n["skipped"]
        printf "%s\n", n["missing"] ? ", " n["missing"] " without their kernel" : "" }' "$1"
}

# unexplained FILE NAME MODE LIST: results of cases in LIST that known.txt has no line for. Bug patterns are expected
# under the override.
unexplained() {
    local mode=$3 given=$3
    case $mode in
    nops* | repaired) mode=native ;;
    unrepaired) return 0 ;; # what goes wrong there is what it is run for
    esac
    awk -F '\t' -v name="$2" -v mode="$mode" -v given="$given" '
        FILENAME == ARGV[1] {
            if ($0 !~ /^#/ && ($1 == name || $1 == "*") && ($2 == mode || $2 == given || $2 == "both")) known[++n] = $3
            next
        }
        FILENAME == ARGV[2] { program = $1; sub(/.*\//, "", program); has[program ": " $2] = 1; next }
        !($2 in has) || $1 == "right" || $1 == "skipped" || $1 == "slow" || $1 == "missing" { next }
        $1 == "reports" && mode == "override" && $4 !~ /(^|, )[a-oq-z]/ { next }
        { for (i = 1; i <= n; i++) if ($2 " " $4 ~ known[i]) next; print }' "$here/known.txt" "$4" "$1"
}

# print_table: what the results folder has. Status 1 where something has no explanation.
print_table() {
    local failed=0 file name mode listed
    printf '| %s ' program mode 'package, its date' 'cases run, of' right 'right, with reports' wrong \
        'not run: left out, too long' kernels instructions minutes
    echo "|"
    echo "|---|---|---|---|---|---|---|---|---|---|---|"
    while IFS='|' read -r name _; do
        name=${name// /}
        case $name in '#'* | '') continue ;; esac
        case ,${only:-$name}, in *,"$name",*) ;; *) continue ;; esac
        if [ -s "$results/$name.skipped" ]; then
            echo "| $name | | not run: $(tail -n 1 "$results/$name.skipped") | | | | | | | | |"
            continue
        fi
        for file in "$results/$name".{native,override,nops*,repaired,unrepaired}.tsv; do
            [ -s "$file" ] || continue
            mode=${file%.tsv} mode=${mode##*.}
            listed=$(wc -l <"$results/$name.list")
            awk -F '\t' -v name="$name" -v mode="$mode" -v listed="$listed" -v sums="$file.sums" \
                -v version="$(cat "$results/$name.version"), $(cat "$results/$name.date" 2>/dev/null)" '
                # Of cases that it has no longer nothing is told; the last result of each counts.
                FILENAME == ARGV[1] { name_of = $1; sub(/.*\//, "", name_of); has[name_of ": " $2] = 1; next }
                $2 in has { verdict[$2] = $1 }
                END {
                    for (i in verdict) n[verdict[i]]++
                    while ((getline line <sums) > 0) {
                        split(line, field, "\t")
                        split(field[3], count, " ")
                        seconds += field[2]; kernels += count[1]; instructions += count[2]
                    }
                    run = n["right"] + n["reports"] + n["wrong"]
                    printf "| %s | %s | %s | %d of %d | %d | %d | %d | ", name, mode, version, run, listed, n["right"],
                        n["reports"], n["wrong"]
                    printf "%d, %d%s | %d | %.0f M | %.0f |\n", n["skipped"], n["slow"],
                        n["missing"] ? ", no kernel: " n["missing"] : "", kernels, instructions / 1e6, seconds / 60
                }' "$results/$name.list" "$file"
            unexplained "$file" "$name" "$mode" "$results/$name.list" >"$results/$name.$mode.unexplained"
            case $mode in nops*)
                touch "$results/$name.native.tsv"
                differing "$results/$name.native.tsv" "$file" >>"$results/$name.$mode.unexplained"
                ;;
            repaired)
                awk '{ $1 = $1; print "launched, of an object without the note: " $0 }' \
                    "$results/$name.launched.others" >>"$results/$name.$mode.unexplained" 2>/dev/null || true
                # Found by --gpu rx6800 --mode native.
                [ ! -s "$results-rx6800/$name.native.tsv" ] ||
                    other_figures "$results-rx6800/$name.native.tsv" "$file" >>"$results/$name.$mode.unexplained"
                ;;
            esac
            [ ! -s "$results/$name.$mode.unexplained" ] || failed=1
        done
    done <"$here/programs.txt"
    for file in "$results"/*.launched; do
        name=$(basename "$file" .launched)
        case ,${only:-$name}, in *,"$name",*) echo && echo "$name, repaired: $(cat "$file")" ;; esac
    done
    if [ "$failed" = 1 ]; then
        echo
        echo "Without an explanation in known.txt, or other than natively:"
        for file in "$results"/*.unexplained; do
            name=$(basename "$file" .unexplained) name=${name%.*}
            case ,${only:-$name}, in *,"$name",*) ;; *) continue ;; esac
            [ ! -s "$file" ] || sed "s|^|- $(basename "$file" .unexplained): |" "$file" | cut -c 1-300
        done
    fi
    return "$failed"
}
