#!/bin/sh
# How many gfx10 instructions rmcp audit looks at in a second: audit_speed.sh RMCP FILE…
set -eu
rmcp=$1
shift
out=$(mktemp)
trap 'rm -f "$out"' EXIT
start=$(date +%s.%N)
"$rmcp" audit --csv "$@" >"$out" 2>/dev/null || [ $? = 1 ] # findings are no failure here
end=$(date +%s.%N)
awk -F, -v start="$start" -v end="$end" '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == "instructions") column = i; if (!column) exit 1; next }
    { n += $column }
    END { printf "%d instructions in %.1f s: %.1f million a second\n", n, end - start, n / (end - start) / 1e6 }' "$out"
