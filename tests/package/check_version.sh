#!/bin/sh
# The version stands in rmcp.h alone: the build, the command and the Python package take it from there, and
# no other file of the project spells it out. usage: check_version.sh SOURCE-DIR BUILD-VERSION RMCP PYTHON
set -eu
. "$(dirname "$0")/../support/lib.sh"
source=$1

part() { sed -n "s/^#define RMCP_VERSION_$1 \([0-9][0-9]*\)\$/\1/p" "$source/include/rmcp.h"; }
major=$(part MAJOR) minor=$(part MINOR) patch=$(part PATCH)
version=$major.$minor.$patch
case $version in
*[!0-9.]* | .* | *..* | *.) die "rmcp.h has no version: '$version'" ;;
esac

same() { [ "$2" = "$version" ] || fail "$1 says $2, rmcp.h $version"; }
same "the build" "$2"
same "rmcp version" "$("$3" version | sed -n '1s/^rmcp //p')"
python_says=$(PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$source/python" "$4" -c 'import rmcp; print(rmcp.__version__)')
same "the Python package" "$python_says"

# second FOLDER: the lines of its files that spell the version out, as text or as three numbers. The list of
# changes must; recorded logs, machines and the transcript may: they tell what was.
second() {
    as_text="$major\.$minor\.$patch" as_numbers="$major, *$minor, *$patch"
    find "$1" \( -name .git -o -path "$1/build*" -o -name .cache -o -name __pycache__ \
        -o -path "$1/tests/doctor/machines" -o -path "$1/tests/explain/logs" -o -path "$1/tests/explain/corpus" \
        -o -name '*.egg-info' \) -prune \
        -o -type f ! -path "$1/CHANGELOG.md" ! -path "$1/docs/guide/transcript.md" -exec grep -nHIE \
        "(^|[^0-9.]|so\.)$as_text([^0-9.]|\.?\$|\.[^0-9])|VERSION.*[^0-9]$as_numbers([^0-9]|\$)" \
        {} + || true
}

# The search itself must find what it looks for.
mkdir -p "$work/planted/python"
echo "version = \"$version\"" >"$work/planted/python/pyproject.toml"
echo "VERSION_MAJOR, VERSION_MINOR, VERSION_PATCH = $major, $minor, $patch" >"$work/planted/python/version.py"
echo "export HSA_OVERRIDE_GFX_VERSION=1$version; librmcp.so.$version.1" >"$work/planted/other"
[ "$(second "$work/planted" | wc -l)" = 2 ] ||
    fail "the search for a second place does not work: $(second "$work/planted")"

second "$source" >"$work/found"
[ ! -s "$work/found" ] || fail "the version stands in other places than rmcp.h:
$(cat "$work/found")"
say "$version, from rmcp.h alone"
[ "$n_failures" = 0 ]
