#!/bin/sh
# Write text files as C arrays and a table: embed.sh [--text FOLDER] [--root FOLDER] FILE…
# Each file's own #include "…" are resolved, beside it or below the root; with a root the files are named below
# it, too. With --text they are written as they then are into files of that FOLDER, with / as _ in their names and
# with the lines by which a compiler knows what is from which file.
# The text is a byte array, since C compilers need only take strings of 4095 characters.
set -eu
text=
[ "${1-}" != --text ] || { text=$2; shift 2; }
root=
[ "${1-}" != --root ] || { root=$2/; shift 2; }
# One process for all files, since a shell takes seconds for a hundred kernels. Blanks in paths reach it whole.
export text root
resolve() {
    awk 'BEGIN {
        root = ENVIRON["root"]
        folder = ENVIRON["text"]
        for (i = 1; i < ARGC; i++) {
            to = ARGV[i]
            gsub("/", "_", to)
            to = folder == "" ? "/dev/stdout" : folder "/" to
            if (folder != "") print "# 1 \"" ARGV[i] "\"" >to
            inline(root ARGV[i], ARGV[i])
            close(to)
        }
        exit
    }
    function inline(path, name, line, got, n, beside) {
        beside = path
        if (!sub("/[^/]*$", "/", beside)) beside = ""
        while ((got = (getline line <path)) > 0) {
            n++
            if (line !~ /^#include ".*"/) {
                print line >to
                continue
            }
            sub(/^[^"]*"/, "", line)
            sub(/".*/, "", line)
            if (folder != "") print "# 1 \"" line "\" 1" >to
            inline((is_there(beside line) ? beside : root) line, line)
            if (folder != "") print "# " n + 1 " \"" name "\" 2" >to
        }
        if (got < 0) {
            print path ": cannot be read" >"/dev/stderr"
            exit 1
        }
        close(path)
    }
    function is_there(path, line, got) {
        got = (getline line <path) >= 0
        close(path)
        return got
    }' "$@"
}
if [ "$text" ]; then
    resolve "$@"
    exit
fi
rows=
for file; do
    name=$file
    [ "$root" ] || name=$(basename "$file")
    stem=$(printf %s "$name" | tr -c 'A-Za-z0-9' _)
    printf 'static const char source_%s[] = {\n' "$stem"
    resolve "$file" | od -An -v -td1 | sed 's/  */,/g; s/^,//; s/$/,/'
    printf '0 };\n'
    rows="$rows{ \"$name\", source_$stem }, "
done
printf 'static const struct { const char *file, *text; } sources[] = { %s{ NULL, NULL } };\n' "$rows"
