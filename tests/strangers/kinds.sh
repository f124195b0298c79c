# kinds.sh: to be sourced by run: how each kind of program lists its cases, is given some, and tells how they went.
# shellcheck shell=bash disable=SC2154 # $root, $inside, $filter and $here are of run
#
# list_KIND: "PROGRAM<tab>CASE" lines of all cases. command_KIND PROGRAM CASE…: the command into ${command[@]}.
# judge_KIND LOG PROGRAM: "right|wrong|skipped<tab>CASE[<tab>FIGURE]" lines of those cases that ended; the figure is
# that by which the program judges itself. batch_KIND: how many of
# them one process may be given.

# chosen FILE N: N lines of FILE, spread evenly over it whatever N is: multiples of the golden ratio, in order.
chosen() {
    awk '{ printf "%.9f\t%s\n", (NR * 0.6180339887498949) % 1, $0 }' "$1" | sort -n |
        if [ "$2" = 0 ]; then cat; else head -n "$2"; fi | cut -f 2- | sort -s -t $'\t' -k 1,1
}

# reported LOG: the kinds of the reports, for bug patterns with their rule.
reported() {
    sed -n -e 's/^rmcp sim: pattern: .* wave [0-9]*[^:]*: \([a-z0-9-]*\): .*/pattern \1/p' \
        -e '/^rmcp sim: pattern: /!s/^rmcp sim: \([a-z-]*\): kernel .*/\1/p' "$1" | sort | uniq -c | sort -rn |
        awk '{ n = $1; $1 = ""; printf "%s%s (%d)", (NR > 1 ? "," : ""), $0, n }' | sed 's/^ //'
}

plain() { sed 's/\x1b\[[0-9;]*m//g' "$@"; }

# Google Test. Parameters stand behind a "#"; disabled tests are not run.
batch_gtest=25
gtest_options() {
    pattern=${filter%%;*} options=()
    case $filter in *';'*) read -r -a options <<<"${filter#*;}" ;; esac
}
list_gtest() {
    local program
    for program in "${programs[@]}"; do
        gtest_options
        inside $((20 + start)) "$program" --gtest_list_tests ${pattern:+"--gtest_filter=$pattern"} \
            "${options[@]}" 2>/dev/null |
            awk -v program="$program" '
                /^[^ ].*\.($| )/ { suite = $1; next }
                /^  [^ ]/ && suite !~ /DISABLED_/ && $1 !~ /^DISABLED_/ { print program "\t" suite $1 }'
    done
}
command_gtest() {
    local program=$1
    shift
    gtest_options
    command=(env GTEST_LISTENER=PASS_LINE_IN_LOG "$program" --gtest_color=no "--gtest_filter=$(IFS=: && echo "$*")"
        "${options[@]}")
}
judge_gtest() {
    awk '
        match($0, /\[ +(OK|FAILED|SKIPPED) +\] [^ ,]+[.][^ ,]+/) {
            n = split(substr($0, RSTART, RLENGTH), word, " ")
            verdict = /\[ +OK/ ? "right" : /\[ +FAILED/ ? "wrong" : "skipped"
            if (!(word[n] in seen)) print verdict "\t" word[n]
            seen[word[n]] = 1
        }' "$1"
}

# Thrust's own framework, with small inputs.
batch_thrust=25
list_thrust() {
    local program
    for program in "${programs[@]}"; do
        inside 20 "$program" --list 2>/dev/null | sed -n "s|^\([A-Za-z_][A-Za-z_0-9<>:, ]*\)\$|$program\t\1|p"
    done
}
command_thrust() {
    local program=$1
    shift
    command=("$program" --sizes=tiny --verbose "$@")
}
judge_thrust() {
    sed -n -e 's/.*\[PASS\] *[0-9.]* ms \(.*\)/right\t\1/p' \
        -e 's/.*\[\(FAILURE\|ERROR\|KNOWN FAILURE\)\] *[0-9.]* ms \(.*\)/wrong\t\2/p' "$1"
}

# ggml's test-backend-ops, each case against ggml's own CPU code.
batch_ggml=20
list_ggml() {
    inside 1800 "${programs[0]}" support -b ROCm0 2>/dev/null | plain |
        sed -n "s|^  \([A-Z][^:]*\): SUPPORTED.*|${programs[0]}\t\1|p" | awk '!seen[$0]++'
}
command_ggml() {
    local program=$1
    shift
    command=("$program" test -b ROCm0 -o "$(IFS=, && echo "$*")")
}
judge_ggml() {
    plain "$1" | sed -n -e 's/^  \([A-Z][^:]*\): OK.*/right\t\1/p' -e 's/^  \([A-Z][^:]*\):.*FAIL.*/wrong\t\1/p' \
        -e 's/^  \([A-Z][^:]*\): not supported.*/skipped\t\1/p' | awk -F '\t' '!seen[$2]++'
}

# CLBlast's tests, each program by all its routines, against the host's BLAS.
batch_clblast=1
list_clblast() {
    local program
    for program in "${programs[@]}"; do printf '%s\t%s\n' "$program" "$(basename "$program")"; done
}
command_clblast() { command=("$1"); }
judge_clblast() {
    plain "$1" | awk -v name="$(basename "$2")" '
        /test\(s\) passed/ { right += $1 } /test\(s\) failed/ { wrong += $1; ends++ }
        END { if (ends && wrong) print "wrong\t" name; else if (ends && right) print "right\t" name
              else if (ends) print "skipped\t" name }'
}

# piglit's OpenCL tests: it prints the commands itself.
batch_piglit=1
list_piglit() {
    inside 600 env -C / piglit print-cmd cl 2>/dev/null | sed -n "s|^\(.*\) ::: .*|${programs[0]}\t\1|p"
}
command_piglit() {
    local line
    [ -s "$inside/piglit.txt" ] || inside 600 env -C / piglit print-cmd cl >"$inside/piglit.txt" 2>/dev/null
    line=$(grep -m 1 -F -- "$2 ::: " "$inside/piglit.txt")
    read -r -a command <<<"${line#* ::: }"
    command[0]=/usr/${command[0]#../}
}
judge_piglit() {
    result=$(sed -n 's/^PIGLIT: *{"result": *"\([a-z]*\)".*/\1/p' "$1" | tail -n 1)
    case $result in
    pass) printf 'right\t%s\n' "$3" ;;
    skip) printf 'skipped\t%s\n' "$3" ;;
    ?*) printf 'wrong\t%s\n' "$3" ;;
    esac
}

# MAGMA's tests, each program by some problems that the last column of programs.txt has; the figure: all its errors.
batch_magma=1
list_magma() {
    local program
    for program in "${programs[@]}"; do printf '%s\t%s\n' "$program" "$(basename "$program")"; done
}
command_magma() {
    local arguments
    read -r -a arguments <<<"$filter"
    command=("$1" "${arguments[@]}")
}
judge_magma() {
    awk -v name="$3" '
        /^[%#]/ { next }
        / ok *$/ { right++ } / (failed|error) *$/ || /^(Assertion|Error)/ { wrong++ }
        { for (i = 1; i <= NF; i++) if ($i ~ /^[0-9.]+e[-+][0-9]+$/) figure = figure (figure ? " " : "") $i }
        /^rmcp sim: simulated / { ended = 1 }
        END { if (ended && wrong) print "wrong\t" name "\t" figure
              else if (ended && right) print "right\t" name "\t" figure
              else if (ended) print "skipped\t" name }' "$1"
}

# Programs that take one problem a run: a file with a line of arguments for each. "right PATTERN" and "never PATTERN"
# say what it must and must not print, "with NAME=VALUE" is its environment.
batch_lines=1
list_lines() { grep -v -E '^(#|right |never |with |$)' "$here/$filter" | sed "s|^|${programs[0]}\t|"; }
command_lines() {
    local arguments settings=()
    read -r -a arguments <<<"$2"
    mapfile -t settings < <(sed -n 's/^with //p' "$here/$filter")
    command=(env ${settings[@]+"${settings[@]}"} "$1" "${arguments[@]}")
}
judge_lines() {
    local figure
    if grep -q -E -- "$(sed -n 's/^never //p' "$here/$filter")" <(plain "$1"); then
        printf 'wrong\t%s\n' "$3"
    elif figure=$(grep -m 1 -o -E -- "$(sed -n 's/^right //p' "$here/$filter")" <(plain "$1")); then
        printf 'right\t%s\t%s\n' "$3" "$figure"
    fi
}
