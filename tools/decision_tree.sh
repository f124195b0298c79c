#!/bin/sh
# The decision tree of rmcp doctor as a picture by itself, taken from its page: docs/guide/decision-tree.svg. The way
# that is marked is that of a machine with an RX 5600 XT and no PyTorch.
# usage: decision_tree.sh RMCP >docs/guide/decision-tree.svg
set -eu
rmcp=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$rmcp" sim --gpu rx5600xt --write-sysfs "$work/machine" >/dev/null
"$rmcp" doctor --root "$work/machine" --html "$work/page" || [ $? = 1 ]
awk '
    /<style>/ { style = 1 }
    style { line = $0; sub(/.*<style>/, "", line); sub(/<\/style>.*/, "", line)
            if (line ~ /^(:root|@media\(prefers-color-scheme|svg)/ || more) { css = css line "\n"; more = line !~ /}$/ }
    }
    /<\/style>/ { style = 0 }
    /<svg/ { drawing = 1; sub(/<svg /, "<svg width=\"470\" ")
             sub(/the way of this machine marked/, "the way of an RX 5600 XT marked")
             print; printf "<style>\n%ssvg text{font-family:system-ui,sans-serif}</style>\n", css
             print "<rect width=\"100%\" height=\"100%\" style=\"fill:var(--page);stroke:none\"/>"; next }
    drawing { print }
    /<\/svg>/ { drawing = 0; drawn = 1 }
    END { exit !drawn }' "$work/page"
