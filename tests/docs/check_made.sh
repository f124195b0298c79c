#!/bin/sh
# What documents take from the program is what the program says: docs/troubleshooting.md has what rmcp explain knows,
# neither more nor less nor otherwise, and the picture of the decision tree is rmcp doctor's.
# usage: check_made.sh RMCP SOURCE-DIR
set -eu
. "$(dirname "$0")/../support/lib.sh"
rmcp=$1 source=$2
page=docs/troubleshooting.md
make=$source/tools/troubleshooting.sh

expect 0 "$make" "$rmcp" "$source"
quiet
cp "$work/out" "$work/page"
if ! diff "$source/$page" "$work/page" >"$work/out"; then
    fail "$page differs from what rmcp explain knows; make it again: tools/troubleshooting.sh build/rmcp . --write"
fi
rows=$("$rmcp" explain --table | wc -l)
[ "$rows" -ge 200 ] || fail "only $rows rows"
[ "$(grep -c '^| <code>' "$work/page")" = "$rows" ] || fail "the page has not $rows rows"
# Every row has its three cells and nothing that Markdown would take for marks of a table.
awk -F '|' '/^\| <code>/ && NF != 5' "$work/page" >"$work/out"
[ ! -s "$work/out" ] || fail "rows with another number of cells"
# A log with the line of a row is told something: a sample, without harmless lines, about which nothing is said.
"$rmcp" explain --table | awk -F '\t' '$5 != "Nothing." && ++n % 20 == 1 { print $2 }' >"$work/examples"
while read -r line; do
    printf '%s\n' "$line" >"$work/log"
    expect 1 "$rmcp" explain --gpu gfx1010 "$work/log"
done <"$work/examples"

# A changed page and a lost mark are seen.
mkdir -p "$work/other/docs" "$work/other/src/help"
ln -s "$(cd "$source" && pwd)/src/help/explain" "$work/other/src/help/explain"
sed 's/Memory access fault/Memory acces fault/' "$source/$page" >"$work/other/$page"
expect 0 "$make" "$rmcp" "$work/other" --write
cmp -s "$source/$page" "$work/other/$page" || fail "--write does not make the page right again"
grep -v 'made by tools/troubleshooting.sh: end' "$source/$page" >"$work/other/$page"
expect 1 "$make" "$rmcp" "$work/other"
says 'needs one line'

# --table stands alone.
expect 2 "$rmcp" explain --table --json
expect 2 "$rmcp" explain --table "$work/log"

picture=docs/guide/decision-tree.svg
expect 0 "$source/tools/decision_tree.sh" "$rmcp"
cp "$work/out" "$work/tree"
cmp -s "$source/$picture" "$work/tree" ||
    fail "$picture differs from rmcp doctor's tree; make it again: tools/decision_tree.sh build/rmcp >$picture"
has 'Which GPU is in the machine' 'class="on"' 'prefers-color-scheme:dark'
[ "$(grep -c '<rect' "$work/tree")" -ge 20 ] || fail "the tree is small"
"$python" -c 'import sys, xml.etree.ElementTree as t; t.parse(sys.argv[1])' "$work/tree" || fail "it is no XML"
finish "made documents"
