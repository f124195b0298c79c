#!/bin/sh
# rmcp run --install-into and --restore: whole or without effect, whenever they end.
# usage: check_install.sh RMCP FAULT-LIBRARY
set -u
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/toys.sh"
rmcp=$(realpath "$1") fault=$(realpath "$2")
# Copies of the command and the library are made in every installation: small ones do.
printf 'not really a library\n' >"$toys/librmcp.so.0"
RMCP_LIBRARY=$toys/librmcp.so.0
export RMCP_LIBRARY

# who FOLDER: what the PyTorch in there reaches.
who() { PYTHONPATH=$1 "$python" -S -c 'import torch' 2>&1; }
tree() { (cd "$1" && find . ! -name __pycache__ ! -name '*.pyc' -exec stat -c '%n %F %N %s' {} + | sort); }

# ---- a wheel: in, again, out ----
site=$work/site
wheel "$site"
lib=$site/torch/lib
cp "$lib/libMIOpen.so" "$work/original"
tree "$site" >"$work/before"
for dir in "$site" "$site/torch" "$lib"; do
    expect 0 "$rmcp" run --install-into "$dir"
    has "^$lib/libMIOpen.so: installed, RMCP's [0-9.]+; the original is rmcp/libMIOpen.so.original" 'rmcp run --restore'
    quiet
    [ "$(who "$site")" = "reached ours" ] || fail "not ours: $(who "$site")"
    cmp -s "$lib/rmcp/libMIOpen.so.original" "$work/original" || fail "the backup is not the original"
    cmp -s "$lib/rmcp/librmcp.so.0" "$toys/librmcp.so.0" || fail "no librmcp"
    cmp -s "$lib/rmcp/rmcp" "$rmcp" || fail "no command"
    [ -x "$lib/rmcp/rmcp" ] || fail "the command cannot be executed"
    grep -q '^name libMIOpen.so$' "$lib/rmcp/manifest" || fail "no manifest"
    cmp -s "$lib/libMIOpen.so.rmcp-original" "$work/original" || fail "no link to the original"
    tree "$site" >"$work/installed"
    expect 0 "$rmcp" run --install-into "$dir"
    has "is RMCP's [0-9.]+ already"
    tree "$site" | cmp -s - "$work/installed" || fail "again is not nothing"
    expect 0 "$rmcp" run --restore "$dir"
    has 'restored'
    [ "$(who "$site")" = "reached bundled" ] || fail "not restored"
    tree "$site" | cmp -s - "$work/before" || fail "something remains: $(tree "$site" | diff - "$work/before")"
    expect 0 "$rmcp" run --restore "$dir"
    has 'unchanged: nothing of RMCP'
done

# rmcp run with it in place: nothing to preload, and an older one is preloaded over.
venv "$work/venv"
wheel "$site"
vlib=$site/torch/lib
expect 0 "$rmcp" run --install-into "$work/venv"
has "^$vlib/libMIOpen.so: installed"
expect 0 "$rmcp" run -- "$work/venv/bin/python" -c 'import torch'
has '^reached ours$'
says "is RMCP's already: nothing to preload"
miopen "$toys/newer/wheel/libMIOpen.so" libMIOpen.so newer RMCP_MIOPEN_ORIGINAL
miopen "$toys/newer/libMIOpen.so.1" libMIOpen.so.1 newer.1 RMCP_MIOPEN_ORIGINAL
expect 0 env "RMCP_MIOPEN_LIBRARY=$toys/newer" "$rmcp" run -- "$work/venv/bin/python" -c \
    'import os, torch; print(os.environ["RMCP_MIOPEN_ORIGINAL"])'
has '^reached newer$' "^$vlib/libMIOpen.so.rmcp-original$"
# The doctor sees it, also in a recording.
doctor() { # doctor FINDING
    rm -f "$work/machine.tar"
    env "VIRTUAL_ENV=$work/venv" "HOME=$work/nobody" "$rmcp" doctor --json --record "$work/machine.tar" \
        >"$work/out" 2>"$work/err"
    has "\"$1\""
    "$rmcp" doctor --json --root "$work/machine.tar" >"$work/out" 2>"$work/err"
    has "\"$1\""
}
doctor dropin-installed
mv "$vlib/rmcp/librmcp.so.0" "$work/aside"
doctor dropin-broken
mv "$work/aside" "$vlib/rmcp/librmcp.so.0"
cp "$vlib/libMIOpen.so" "$work/aside"
cp --remove-destination "$work/original" "$vlib/libMIOpen.so"
doctor dropin-stale
cp --remove-destination "$work/aside" "$vlib/libMIOpen.so"
env "VIRTUAL_ENV=$work/venv" "LD_PRELOAD=$toys/ours/libMIOpen.so.1" "$rmcp" doctor --json >"$work/out" 2>"$work/err"
has '"dropin-preloaded"'
# Upgraded: the backup stays the original's.
expect 0 env "RMCP_MIOPEN_LIBRARY=$toys/newer" "$rmcp" run --json --install-into "$work/venv"
has '"change":.*"upgraded"' '"schema":.*"rmcp.run.install/1"'
cmp -s "$vlib/rmcp/libMIOpen.so.original" "$work/original" || fail "the upgrade changed the backup"
[ "$(who "$site")" = "reached newer" ] || fail "not upgraded"
# A library of the installation that is damaged or lost is put back.
echo damaged >"$vlib/rmcp/librmcp.so.0"
expect 0 env "RMCP_MIOPEN_LIBRARY=$toys/newer" "$rmcp" run --install-into "$work/venv"
has upgraded
cmp -s "$vlib/rmcp/librmcp.so.0" "$toys/librmcp.so.0" || fail "librmcp stays damaged"
expect 0 "$rmcp" run --restore "$work/venv"
cmp -s "$vlib/libMIOpen.so" "$work/original" || fail "not the original after an upgrade"

# ---- TheRock: links are replaced, never written through ----
site=$work/rock
therock "$site"
tree "$site" >"$work/before"
for dir in "$site" "$site/torch" "$sdk"; do
    expect 0 "$rmcp" run --install-into "$dir"
    has "^$sdk/libMIOpen.so.1: installed"
    [ "$(who "$site")" = "reached ours.1" ] || fail "not ours: $(who "$site")"
    [ "$(readlink "$sdk/rmcp/libMIOpen.so.original")" = ../libMIOpen.so.1.0.71000 ] || fail "the backup is no link"
    [ "$(readlink "$sdk/libMIOpen.so.1.rmcp-original")" = libMIOpen.so.1.0.71000 ] || fail "no link to the original"
    expect 0 "$rmcp" run --install-into "$dir"
    has already
    expect 0 "$rmcp" run --restore "$dir"
    tree "$site" | cmp -s - "$work/before" || fail "something remains: $(tree "$site" | diff - "$work/before")"
done
# An absolute link; one that leads nowhere.
rm "$sdk/libMIOpen.so.1"
ln -s "$sdk/libMIOpen.so.1.0.71000" "$sdk/libMIOpen.so.1"
expect 0 "$rmcp" run --install-into "$sdk"
expect 0 "$rmcp" run --restore "$sdk"
[ "$(readlink "$sdk/libMIOpen.so.1")" = "$sdk/libMIOpen.so.1.0.71000" ] || fail "another link came back"
ln -sf nowhere "$sdk/libMIOpen.so.1"
expect 1 "$rmcp" run --install-into "$sdk"
one_line
[ ! -e "$sdk/rmcp" ] || fail "something was written"

# ---- what pip does in between ----
fresh() {
    rm -rf "$work/site"
    site=$work/site lib=$work/site/torch/lib
    mkdir -p "$lib"
    cp "$work/original" "$lib/libMIOpen.so"
    : >"$lib/libtorch_hip.so"
}
miopen "$work/upgraded" libMIOpen.so upgraded
fresh
expect 0 "$rmcp" run --install-into "$site"
cp --remove-destination "$work/upgraded" "$lib/libMIOpen.so"
expect 1 "$rmcp" run --install-into "$site"
one_line
says 'neither RMCP.s nor the one that RMCP replaced \(was PyTorch upgraded\?\); rmcp run --restore'
cmp -s "$lib/libMIOpen.so" "$work/upgraded" || fail "the new file was touched"
cmp -s "$lib/rmcp/libMIOpen.so.original" "$work/original" || fail "the backup was touched"
expect 0 "$rmcp" run --restore "$site"
has 'it stays, and the old backup was dropped'
cmp -s "$lib/libMIOpen.so" "$work/upgraded" || fail "the new file was touched"
[ ! -e "$lib/rmcp" ] || fail "the folder remains"
expect 0 "$rmcp" run --install-into "$site"
has installed
# The same release again: nothing is stale.
fresh
expect 0 "$rmcp" run --install-into "$site"
cp --remove-destination "$work/original" "$lib/libMIOpen.so"
expect 0 "$rmcp" run --install-into "$site"
has ': installed'
expect 0 "$rmcp" run --restore "$site"
cmp -s "$lib/libMIOpen.so" "$work/original" || fail "not restored"
# Removed: pip takes its own files and leaves ours.
expect 0 "$rmcp" run --install-into "$site"
rm "$lib"/*.so
expect 1 "$rmcp" run --install-into "$lib"
says 'there is no libMIOpen.so'
expect 0 "$rmcp" run --restore "$lib"
has 'PyTorch was removed from there: the old backup was dropped'
[ -z "$(ls -A "$lib")" ] || fail "something remains"
# Only the library was lost: it comes back.
fresh
expect 0 "$rmcp" run --install-into "$site"
rm "$lib/libMIOpen.so"
expect 0 "$rmcp" run --restore "$lib"
has 'it is the original now'
cmp -s "$lib/libMIOpen.so" "$work/original" || fail "the original did not come back"
# The backup was lost or damaged: nothing is made worse.
expect 0 "$rmcp" run --install-into "$site"
cp "$lib/libMIOpen.so" "$work/ours-now"
cp --remove-destination "$work/upgraded" "$lib/rmcp/libMIOpen.so.original"
expect 1 "$rmcp" run --restore "$site"
one_line
says 'damaged'
rm "$lib/rmcp/libMIOpen.so.original"
for way in --install-into --restore; do
    expect 1 "$rmcp" run $way "$site"
    one_line
    says 'the original is not in rmcp/ beside it'
    cmp -s "$lib/libMIOpen.so" "$work/ours-now" || fail "the library was touched"
done
# The manifest was lost or is nonsense: the backup still comes back.
for text in '' 'rmcp-dropin 1' "$(head -c 9000 /dev/zero | tr '\0' x)"; do
    fresh
    expect 0 "$rmcp" run --install-into "$site"
    printf '%s\n' "$text" >"$lib/rmcp/manifest"
    expect 0 "$rmcp" run --restore "$site"
    cmp -s "$lib/libMIOpen.so" "$work/original" || fail "not restored without a manifest"
    expect 0 "$rmcp" run --install-into "$site"
    printf '%s\n' "$text" >"$lib/rmcp/manifest"
    expect 0 "$rmcp" run --install-into "$site" # made anew
    has upgraded
    expect 0 "$rmcp" run --restore "$site"
    cmp -s "$lib/libMIOpen.so" "$work/original" || fail "not restored with a new manifest"
done

# ---- refusals; nothing is written ----
refuse() { # refuse PATTERN: of the folder $lib
    tree "$lib" >"$work/before"
    expect 1 "$rmcp" run --install-into "$lib"
    one_line
    says "$1"
    tree "$lib" | cmp -s - "$work/before" || fail "something was written"
}
fresh
echo 'no library at all' >"$lib/libMIOpen.so"
refuse 'no library, or a damaged one'
cc -shared -fPIC -o "$lib/libMIOpen.so" -Wl,-soname,libother.so.1 "-DWHO=\"x\"" "-DWORDS=\"x\"" "$toys/miopen.c"
refuse "no MIOpen: its SONAME is 'libother.so.1'"
cc -shared -fPIC -o "$lib/libMIOpen.so" -Wl,-soname,libMIOpen.so "$toys/torch.c"
refuse 'no MIOpen: it has no miopenCreate'
head -c 3000 "$work/original" >"$lib/libMIOpen.so"
refuse 'no library, or a damaged one|no MIOpen'
fresh
RMCP_MIOPEN_LIBRARY=$work/original refuse "is a MIOpen, but not RMCP's"
RMCP_LIBRARY=/nowhere RMCP_MIOPEN_LIBRARY=/nowhere refuse 'which is not there'
fresh
mkdir "$work/outside"
ln -s "$work/outside" "$lib/rmcp"
refuse 'Not a directory|symbolic links'
[ -z "$(ls -A "$work/outside")" ] || fail "written through a link"
for dir in "$work" "$work/nowhere" "$rmcp"; do
    expect 2 "$rmcp" run --install-into "$dir"
    one_line
done
mkdir -p "$work/two/lib/python3.11/site-packages/torch/lib" "$work/two/lib/python3.12/site-packages/torch/lib"
for minor in 11 12; do cp "$work/original" "$work/two/lib/python3.$minor/site-packages/torch/lib/libMIOpen.so"; done
expect 2 "$rmcp" run --install-into "$work/two"
says 'there are several'
# One at a time.
if command -v flock >/dev/null; then
    fresh
    for way in --install-into --restore; do
        expect 1 flock "$lib" "$rmcp" run $way "$site"
        one_line
        says 'another rmcp is at work'
    done
    [ ! -e "$lib/rmcp" ] || fail "something was written"
fi
# Somebody else's file in our folder stays.
fresh
expect 0 "$rmcp" run --install-into "$site"
echo mine >"$lib/rmcp/mine"
expect 0 "$rmcp" run --restore "$site"
has 'not empty'
[ "$(ls "$lib/rmcp")" = mine ] || fail "not what was there: $(ls "$lib/rmcp")"
cmp -s "$lib/libMIOpen.so" "$work/original" || fail "not restored"
# A folder of the system's packages.
if [ "$(id -u)" -eq 0 ]; then
    # A user's folder that root installs into: all files are the user's.
    fresh
    chown -R 65534:65534 "$site"
    expect 0 "$rmcp" run --install-into "$site"
    [ -z "$(find "$lib" ! -uid 65534)" ] || fail "files of root in a user's folder: $(find "$lib" ! -uid 65534)"
    # Who may not write there is told so.
    if command -v setpriv >/dev/null; then
        fresh
        chmod 755 "$work"
        expect 1 setpriv --reuid 65534 --clear-groups "$rmcp" run --install-into "$site"
        one_line
        says 'cannot write into .*: Permission denied; it belongs to user 0'
    fi
    if mkdir -p "$work/small" && mount -t tmpfs -o size=200k none "$work/small" 2>/dev/null; then
        cp "$work/original" "$work/small/libMIOpen.so" # the command alone is larger
        tree "$work/small" >"$work/before"
        expect 1 "$rmcp" run --install-into "$work/small"
        says 'No space left'
        tree "$work/small" | cmp -s - "$work/before" || fail "a full disk leaves something behind"
        umount "$work/small"
    fi
fi

# ---- killed, or failing, at every step ----
# Fewer bytes to copy make the steps few: the command is written in pieces of 1 MiB.
faults() { # faults WHAT…: make_it (a function), then what is killed
    at=0
    done=
    while [ -z "$done" ]; do
        at=$((at + 1))
        for mode in kill after full; do
            make_it
            case $mode in
            kill) set -- FAULT_AT=$at ;;
            after) set -- FAULT_AT=$at FAULT_AFTER=1 ;;
            full) set -- FAULT_AT=$at FAULT_ERRNO=28 ;; # ENOSPC
            esac
            env "$@" "LD_PRELOAD=$fault" "$rmcp" run "$way" "$site" >"$work/out" 2>"$work/err"
            ended=$?
            n_checks=$((n_checks + 1))
            [ $ended -eq 0 ] && [ $mode = kill ] && done=1
            # The library is whole, and with ours goes all that it needs.
            if cmp -s "$lib/$name" "$toys/ours/$below"; then
                cmp -s "$lib/rmcp/libMIOpen.so.original" "$work/original" || fail "$way $mode at $at: no backup"
                cmp -s "$lib/rmcp/librmcp.so.0" "$toys/librmcp.so.0" || fail "$way $mode at $at: no librmcp"
                grep -q '^original' "$lib/rmcp/manifest" || fail "$way $mode at $at: no manifest"
                cmp -s "$lib/$name.rmcp-original" "$work/original" || fail "$way $mode at $at: no link to the original"
            else
                cmp -s "$lib/$name" "$work/original" || fail "$way $mode at $at: the library is neither"
            fi
            [ $mode != full ] || [ $ended -eq 0 ] || [ $ended -eq 1 ] || fail "$way $mode at $at: exit status $ended"
            # Again completes it, and it can be undone.
            "$rmcp" run "$way" "$site" >"$work/out" 2>"$work/err" || fail "$way $mode at $at: not again"
            if [ "$way" = --install-into ]; then
                cmp -s "$lib/$name" "$toys/ours/$below" || fail "$way $mode at $at: not installed"
                "$rmcp" run --restore "$site" >"$work/out" 2>"$work/err" || fail "$way $mode at $at: no way back"
            fi
            tree "$site" | cmp -s - "$work/clean" ||
                fail "$way $mode at $at: not as before: $(tree "$site" | diff - "$work/clean")"
        done
        [ $at -lt 400 ] || die "no end"
    done
    [ $at -gt 5 ] || fail "only $at steps were counted"
    say "$way, $name: $at steps"
}
[ "$(stat -c %s "$rmcp")" -lt 50000000 ] || die "the command is too large for this test"
name=libMIOpen.so below=wheel/libMIOpen.so
fresh
tree "$site" >"$work/clean"
make_it() { fresh; }
way=--install-into
faults
make_it() { # an installation of something older is upgraded
    fresh
    RMCP_MIOPEN_LIBRARY=$toys/newer "$rmcp" run --install-into "$site" >/dev/null
}
# Until the last step the library is the older one, with its own files beside it.
cp "$toys/ours/wheel/libMIOpen.so" "$work/kept"
at=0
while :; do
    at=$((at + 1))
    make_it
    env FAULT_AT=$at "LD_PRELOAD=$fault" "$rmcp" run --install-into "$site" >/dev/null 2>&1
    ended=$?
    n_checks=$((n_checks + 1))
    cmp -s "$lib/$name" "$work/kept" || cmp -s "$lib/$name" "$toys/newer/$below" || fail "upgrade at $at: neither"
    cmp -s "$lib/rmcp/libMIOpen.so.original" "$work/original" || fail "upgrade at $at: no backup"
    "$rmcp" run --install-into "$site" >/dev/null 2>&1 || fail "upgrade at $at: not again"
    cmp -s "$lib/$name" "$work/kept" || fail "upgrade at $at: not upgraded"
    "$rmcp" run --restore "$site" >/dev/null 2>&1 || fail "upgrade at $at: no way back"
    tree "$site" | cmp -s - "$work/clean" || fail "upgrade at $at: not as before"
    [ $ended -ne 0 ] || break
done
make_it() {
    fresh
    "$rmcp" run --install-into "$site" >/dev/null
}
way=--restore
faults
# The same with a link.
name=libMIOpen.so.1 below=libMIOpen.so.1
fresh_link() {
    rm -rf "$work/site"
    site=$work/site lib=$work/site/torch/lib
    mkdir -p "$lib"
    cp "$work/original.1" "$lib/libMIOpen.so.1.0"
    ln -s libMIOpen.so.1.0 "$lib/libMIOpen.so.1"
}
miopen "$work/original.1" libMIOpen.so.1 AMDs
cp "$work/original.1" "$work/original"
fresh_link
tree "$site" >"$work/clean"
make_it() { fresh_link; }
way=--install-into
faults
make_it() {
    fresh_link
    "$rmcp" run --install-into "$site" >/dev/null
}
way=--restore
faults

finish install
