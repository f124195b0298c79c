#!/bin/sh
# Where wheels are to be had stands once, in src/base/chip/addresses.h: documents and sources name the same addresses.
# usage: check_addresses.sh SOURCE-DIR
set -u
. "$(dirname "$0")/../support/lib.sh"
cd "$1" || die "no folder $1"
header=src/base/chip/addresses.h
sed -n 's/^#define ADDRESS_[A-Z0-9_]* "\(https:[^"]*\)".*/\1/p' "$header" >"$work/known"
[ "$(wc -l <"$work/known")" -ge 3 ] || die "$header has no addresses"
wheels=$(sed -n 's/^#define ADDRESS_WHEELS "\(.*\)".*/\1/p' "$header")
# The releases that are given to a chip, and the two others that options name.
{
    sed -n 's/.*\.wheel = "\(rocm[0-9][0-9.]*\)".*/\1/p' src/base/chip/chips.inc
    grep -ho 'ADDRESS_WHEELS "[a-z0-9.]*"' src/help/doctor/*.c | sed 's/.*"\(.*\)"/\1/'
} | sort -u >"$work/releases"

hosts='download\.pytorch\.org/whl|[a-z.]*repo\.amd\.com|rocm\.[a-z]*\.amd\.com|[a-z.-]*\.s3\.amazonaws\.com'
grep -rnoIE "https?://($hosts)"'[^][ `"<>)\\]*' \
    README.md CONTRIBUTING.md docs src python --include='*.md' --include='*.c' --include='*.h' --include='*.inc' \
    --include='*.py' >"$work/named"
[ -s "$work/named" ] || die "no address is named at all"
while IFS= read -r line; do
    address=https${line#*:https}
    n_checks=$((n_checks + 1))
    case $address in
    "$wheels"*)
        release=${address#"$wheels"}
        release=${release%%/*}
        [ -z "$release" ] || grep -qxF "$release" "$work/releases" || fail "$line: no chip is given this release"
        ;;
    *)
        known=no
        while IFS= read -r one; do case $address in "$one"*) known=yes ;; esac; done <"$work/known"
        [ $known = yes ] || fail "$line: not in $header"
        ;;
    esac
done <"$work/named"
# In the sources nothing but the header spells one out.
if cut -d : -f 1 "$work/named" | grep '^src/' | grep -vxF "$header"; then fail "an address outside of $header"; fi
finish addresses
