#!/bin/sh
# The tables of docs/troubleshooting.md, made from what rmcp explain knows, so that the page cannot differ from it.
# usage: troubleshooting.sh RMCP SOURCE-DIR           the whole page to standard output
#        troubleshooting.sh RMCP SOURCE-DIR --write   into docs/troubleshooting.md
# What stands before and behind the two marks in the page is written by hand and stays.
set -eu
rmcp=$1 source=$2 write=${3-}
page=$source/docs/troubleshooting.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Which file of signatures has an id, in the order in which they are included, and what the file's first sentence says.
tables=$source/src/help/explain
sed -n 's/^#include "help\/explain\/\(signatures_[a-z_]*\.inc\)"/\1/p' "$tables/signatures.inc" | while read -r file; do
    awk '
        NR == 1 { sub(/^\/\* [^:]*: /, ""); head = $0 }
        NR > 1 && NR < 4 && !done { sub(/^ \* ?/, ""); head = head " " $0 }
        { if (head ~ /[.;]/) done = 1 }
        NR == 4 { sub(/[.;].*/, "", head); print "title\t" toupper(substr(head, 1, 1)) substr(head, 2) }
        /^SIGNATURE\("/ { split($0, part, "\""); print "id\t" part[2] }' "$tables/$file"
done >"$work/order"

"$rmcp" explain --table >"$work/table"
awk -F '\t' '
    function plain(s) {
        gsub(/&/, "\\&amp;", s); gsub(/</, "\\&lt;", s); gsub(/>/, "\\&gt;", s); gsub(/\|/, "\\&#124;", s)
        gsub(/\*/, "\\&#42;", s); gsub(/`/, "\\&#96;", s); gsub(/\[/, "\\&#91;", s)
        if (s ~ /(^|[^A-Za-z0-9_])_/) gsub(/_/, "\\&#95;", s) # inside of words they are no marks
        if (s ~ /\$.*\$/) gsub(/\$/, "\\&#36;", s)
        if (s ~ /[^ (:\/]~/) gsub(/~/, "\\&#126;", s)
        return s
    }
    function anchor(s) { s = tolower(s); gsub(/[^a-z0-9 _-]/, "", s); gsub(/ /, "-", s); return s }
    NR == FNR { row[$1] = "| <code>" plain($2) "</code> | **" plain($3) "** " plain($4) " | " plain($5) \
                    ($6 == "" ? "" : " ([seen](" $6 "))") " |"; known++; next }
    $1 == "title" { list = list "- [" $2 "](#" anchor($2) ")\n"
                    text = text "\n## " $2 "\n\n| you see, for instance | it means | do |\n|---|---|---|\n"; next }
    !($2 in row) { print "troubleshooting.sh: rmcp explain does not know " $2 | "cat >&2"; failed = 1; next }
    { text = text row[$2] "\n"; used++ }
    END { printf "\n%s%s", list, text
          if (used != known) {
              print "troubleshooting.sh: " known " rows, but " used " in the sources" | "cat >&2"
              failed = 1
          }
          exit failed }' "$work/table" "$work/order" >"$work/tables"

begin='<!-- made by tools/troubleshooting.sh: do not edit below -->'
end='<!-- made by tools/troubleshooting.sh: end -->'
for mark in "$begin" "$end"; do
    [ "$(grep -cxF -e "$mark" "$page")" = 1 ] || { echo "troubleshooting.sh: $page needs one line: $mark" >&2; exit 1; }
done
awk -v begin="$begin" -v end="$end" -v tables="$work/tables" '
    $0 == end { while ((getline line <tables) > 0) print line; print ""; inside = 0 }
    !inside { print }
    $0 == begin { inside = 1 }' "$page" >"$work/page"
case $write in
--write) cat "$work/page" >"$page" ;;
'') cat "$work/page" ;;
*) echo "troubleshooting.sh: no such option: $write" >&2 && exit 2 ;;
esac
