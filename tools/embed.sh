#!/bin/sh
# Write the text files given as arguments, their own #include "…" resolved, as C arrays and a table;
# with --text before them as they are.
# The text is a byte array, since C compilers need only take strings of 4095 characters.
set -eu
inline() {
    while IFS= read -r line || [ -n "$line" ]; do
        case $line in
        '#include "'*'"'*)
            name=${line#*\"}
            inline "$(dirname "$1")/${name%%\"*}" ;;
        *) printf '%s\n' "$line" ;;
        esac
    done <"$1"
}
if [ "${1-}" = --text ]; then
    shift
    for file; do inline "$file"; done
    exit
fi
rows=
for file; do
    name=$(basename "$file")
    stem=$(printf %s "$name" | tr -c 'A-Za-z0-9' _)
    printf 'static const char source_%s[] = {\n' "$stem"
    inline "$file" | od -An -v -td1 | sed 's/  */,/g; s/^,//; s/$/,/'
    printf '0 };\n'
    rows="$rows{ \"$name\", source_$stem }, "
done
printf 'static const struct { const char *file, *text; } sources[] = { %s{ NULL, NULL } };\n' "$rows"
