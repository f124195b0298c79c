# lib.sh: for the packaging scripts, to be sourced: the version, the time that files get, checks of what is packed.
# shellcheck shell=sh
root=$(cd "$(dirname "$0")/../.." && pwd)
newest_glibc=2.34
export LC_ALL=C

fail() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

need() {
    for needed; do command -v "$needed" >/dev/null || fail "$needed is not installed"; done
}

version=$(awk '/^#define RMCP_VERSION_/ { v = v dot $3; dot = "." } END { print v }' "$root/include/rmcp.h")

# Files of a package are as old as the last commit, in every build; a checkout without git says it itself.
[ -n "${SOURCE_DATE_EPOCH:-}" ] || SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct 2>/dev/null) ||
    SOURCE_DATE_EPOCH=$(stat -c %Y "$root/include/rmcp.h")
export SOURCE_DATE_EPOCH

# set_times FOLDER: times and rights that depend on nobody's clock and umask.
set_times() {
    find "$1" -type d -exec chmod 755 {} +
    find "$1" -type f -perm /111 -exec chmod 755 {} +
    find "$1" -type f ! -perm /111 -exec chmod 644 {} +
    find "$1" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
}

# option BUILD NAME: the text of an option of a build: true, false, a path.
option() {
    meson introspect "$1" --buildoptions | tr '{' '\n' |
        sed -n "s/.*\"name\": \"$2\", \"value\": \"*\([^\",]*\)\"*,.*/\1/p" | head -n 1
}

# is_elf FILE
is_elf() { [ "$(head -c 4 "$1" | tail -c 3)" = ELF ]; }

# elf_files FOLDER: programs and libraries, without links to them.
elf_files() {
    find "$1" -type f | sort | while IFS= read -r file; do
        ! is_elf "$file" || printf '%s\n' "$file"
    done
}

# needed_by FILE: the libraries that the dynamic linker wants for it.
needed_by() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }

# check_glibc FOLDER: no file needs a newer C library than $newest_glibc.
check_glibc() {
    elf_files "$1" | while IFS= read -r file; do
        needs=$(objdump -T "$file" | grep -o 'GLIBC_[0-9][0-9.]*' | sed 's/GLIBC_//' | sort -uV | tail -n 1)
        [ "$(printf '%s\n%s\n' "${needs:-0}" "$newest_glibc" | sort -V | tail -n 1)" = "$newest_glibc" ] ||
            fail "$file needs glibc $needs, and $newest_glibc is the newest allowed: build on Debian 12"
    done
}
