#!/bin/sh
# What differs between two records of record.sh: every line and field, by file, then a total for each file.
# usage: compare.sh BEFORE AFTER
# Instructions may differ by 3 percent. Exit status 1 when anything differs, also a part that one of them lacks.
# The machine, about.txt, is not compared, but told when it is another.
set -eu
[ $# = 2 ] && [ -d "$1" ] && [ -d "$2" ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
before=$1 after=$2
tab=$(printf '\t')
result=0

# The first line of a file says how many columns are a key, and what all are called.
compare() {
    awk -F "$tab" -v file="$1" '
        function show(key) { gsub("\t", ", ", key); return key }
        function say(text) { if (!n++) print file ":"; print "  " text }
        # Of long values only the words that differ.
        function change(field, old, new,    i, k, a, b, text) {
            k = split(old, a, " ")
            if (k < 2 || k != split(new, b, " ") || length(old) < 60) return field " " quoted(old) " -> " quoted(new)
            for (i = 1; i <= k; i++)
                if (a[i] != b[i] && !alike(a[i], b[i])) text = text " word " i ": " a[i] " -> " b[i]
            return field text
        }
        function quoted(text) { return text == "" ? "nothing" : text }
        # Bytes that nobody wrote, "??", are like any.
        function alike(old, new,    i) {
            if (length(old) != length(new) || (old new) !~ /[?]/) return 0
            for (i = 1; i <= length(old); i++)
                if (substr(old, i, 1) != substr(new, i, 1) && substr(old, i, 1) != "?" && substr(new, i, 1) != "?")
                    return 0
            return 1
        }
        function same(field, old, new) {
            if (old == new) return 1
            if (field == "arguments") return alike(old, new)
            return field == "instructions" && old > 0 && new + 0 > old * 0.97 && new + 0 < old * 1.03
        }
        # A key that comes again is told apart by how often it came.
        function key_of(    i, key, side) {
            key = $1
            for (i = 2; i <= n_keys; i++) key = key "\t" $i
            side = NR == FNR
            return seen[side, key]++ ? key " (" seen[side, key] ")" : key
        }
        FNR == 1 {
            n_keys = substr($1, 3) + 0
            for (i = 2; i <= NF; i++) name[i - 1] = $i
            if (NR != FNR && $0 != heading) say("columns: " heading " -> " $0)
            heading = $0
            next
        }
        { key = key_of() }
        NR == FNR { line[key] = $0; order[++n_before] = key; next }
        {
            n_after++
            if (!(key in line)) { say("only after: " show(key)); next }
            met[key] = 1
            if (line[key] == $0) next
            k = split(line[key], old, "\t")
            text = ""
            for (i = n_keys + 1; i <= (k > NF ? k : NF); i++)
                if (!same(name[i], old[i] "", $i "")) text = text "; " change(name[i], old[i], $i)
            if (text != "") say(show(key) ": " substr(text, 3))
        }
        END {
            for (i = 1; i <= n_before; i++) if (!(order[i] in met)) say("only before: " show(order[i]))
            printf "%s\t%d\t%d\t%d\n", file, n_before, n_after, n >"/dev/stderr"
            exit n > 0
        }' "$before/$1" "$after/$1"
}

totals=$(mktemp)
trap 'rm -f "$totals"' EXIT
for file in $(cd "$before" && ls ./*.tsv; cd "$OLDPWD" && cd "$after" && ls ./*.tsv); do echo "${file#./}"; done |
    sort -u >"$totals.files"
while read -r file; do
    if [ -e "$before/$file" ] && [ -e "$after/$file" ]; then
        compare "$file" 2>>"$totals" || result=1
    else
        [ -e "$before/$file" ] && side=before || side=after
        echo "$file: only $side"
        printf '%s\t-\t-\tmissing\n' "$file" >>"$totals"
        result=1
    fi
done <"$totals.files"
rm -f "$totals.files"
cmp -s "$before/about.txt" "$after/about.txt" ||
    {
        echo "the machine or the checkout is another (not compared):"
        diff "$before/about.txt" "$after/about.txt" | sed -n 's/^[<>]/  &/p'
    }
echo
awk -F "$tab" '
    BEGIN { printf "%-42s %8s %8s %12s\n", "file", "before", "after", "differences" }
    { printf "%-42s %8s %8s %12s\n", $1, $2, $3, $4; before += $2; after += $3; n += $4 == "missing" ? 1 : $4 }
    END { printf "%-42s %8d %8d %12d\n", "all", before, after, n }' "$totals"
exit $result
