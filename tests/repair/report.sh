# report.sh, sourced: what tests of rmcp repair ask of its files and of its JSON. Needs tests/support/lib.sh.
# shellcheck shell=sh

# equal FILE FILE: the same bytes.
equal() {
    n_checks=$((n_checks + 1))
    cmp -s "$1" "$2" || fail "$1 and $2 differ"
}

# field NAME: a number of the last command's JSON.
field() { sed -n "s/^[[:space:]]*\"$1\":[[:space:]]*\([0-9]*\),*$/\1/p" out | head -n 1; }
is() { # NAME NUMBER
    n_checks=$((n_checks + 1))
    [ "$(field "$1")" = "$2" ] || fail "$1 is $(field "$1"), not $2"
}
