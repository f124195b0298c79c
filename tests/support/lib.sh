# lib.sh: for test scripts in sh or bash, to be sourced: a temporary folder, verdicts, counting.
# shellcheck shell=sh
#
#     . "$(dirname "$0")/../support/lib.sh"
#
# $work is a folder that goes when the script ends, $python any Python 3, $n_checks and $n_failures count.
# Standard input is empty unless a command is given another.
tools=$(cd "$(dirname "$0")/../../tools" && pwd)
python=$("$tools/find_python.sh") || python=python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
exec </dev/null
n_checks=0
n_failures=0
: >"$work/out"
: >"$work/err"

say() { printf '%s\n' "$*"; }

# skip REASON…: this machine or this build has not what the test needs.
skip() {
    say "skipped: $*"
    exit 77
}

# need COMMAND…: skip without one of them.
need() {
    for needed; do
        command -v "$needed" >/dev/null || skip "$needed is not installed"
    done
}

# fail WORDS…: counts, and shows what the last command of expect printed; the script goes on.
fail() {
    n_failures=$((n_failures + 1))
    say "FAIL: $*" >&2
    sed 's/^/    stdout: /' "$work/out" | head -n 40 >&2
    sed 's/^/    stderr: /' "$work/err" | head -n 20 >&2
}

# die WORDS…: the same, and ends the script.
die() {
    fail "$@"
    exit 1
}

# expect STATUS COMMAND…: runs it, with its output in $work/out and $work/err, its status in $status.
expect() {
    expected=$1
    shift
    n_checks=$((n_checks + 1))
    status=0
    "$@" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" = "$expected" ] || fail "$*: exit status $status, expected $expected"
}

# has PATTERN…, says PATTERN…: extended regular expressions in what the last command wrote to stdout, to
# stderr.
has() { find_each out "$@"; }
says() { find_each err "$@"; }
find_each() {
    where=$1
    shift
    for sought; do
        grep -Eq -- "$sought" "$work/$where" || fail "no '$sought' in std$where"
    done
}

# quiet: the last command wrote nothing to stderr. one_line: it wrote one line there, and nothing to stdout.
quiet() { [ ! -s "$work/err" ] || fail "it complains"; }
one_line() {
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "not one line on stderr"
    [ ! -s "$work/out" ] || fail "something on stdout"
}

# finish WORDS…: the verdict.
finish() {
    say "${*:+$*: }$n_checks checks, $n_failures failures"
    [ "$n_failures" -eq 0 ]
    exit
}
