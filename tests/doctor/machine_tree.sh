#!/bin/sh
# Unpacks a recorded machine: machine_tree.sh FILE FOLDER
set -eu
[ $# = 2 ] || { echo "usage: machine_tree.sh FILE FOLDER" >&2; exit 2; }
mkdir -p "$2"
# Folders first, then links, so that a file below a link finds its folder.
awk '/^@ /{ path = $2; sub(/\/[^\/]*$/, "", path); if (path != "") print path }' "$1" | sort -u |
    while IFS= read -r folder; do mkdir -p "$2$folder"; done
awk '/^@ .* -> /{ print $2, $4 }' "$1" | while read -r path target; do ln -s "$target" "$2$path"; done
awk -v root="$2" '
    /^@ .* -> /{ file = ""; next }
    /^@ /{ if (file != "") close(file); file = root $2; printf "" >file; next }
    file != ""{ print >file }' "$1"
