#!/bin/sh
# Write text files as C arrays and a table: embed.sh [--text] [--root FOLDER] FILE…
# Each file's own #include "…" are resolved, beside it or below FOLDER; with FOLDER the files are named below
# it, too. With --text they are written as they then are.
# The text is a byte array, since C compilers need only take strings of 4095 characters.
set -eu
inline() {
    while IFS= read -r line || [ -n "$line" ]; do
        case $line in
        '#include "'*'"'*)
            line=${line#*\"}
            line=${line%%\"*}
            if [ -f "$(dirname "$1")/$line" ]; then inline "$(dirname "$1")/$line"; else inline "$root$line"; fi ;;
        *) printf '%s\n' "$line" ;;
        esac
    done <"$1"
}
as_text=
[ "${1-}" != --text ] || { as_text=yes; shift; }
root=
[ "${1-}" != --root ] || { root=$2/; shift 2; }
if [ "$as_text" ]; then
    for file; do inline "$root$file"; done
    exit
fi
rows=
for file; do
    name=$file
    [ "$root" ] || name=$(basename "$file")
    stem=$(printf %s "$name" | tr -c 'A-Za-z0-9' _)
    printf 'static const char source_%s[] = {\n' "$stem"
    inline "$root$file" | od -An -v -td1 | sed 's/  */,/g; s/^,//; s/$/,/'
    printf '0 };\n'
    rows="$rows{ \"$name\", source_$stem }, "
done
printf 'static const struct { const char *file, *text; } sources[] = { %s{ NULL, NULL } };\n' "$rows"
