#!/bin/sh
# Runs after meson install: lets the dynamic linker know the library, or says how: after_install.sh FOLDER
# The folder is that of librmcp.so.0. Nothing is done for a package, which is installed below DESTDIR.
set -eu
[ -z "${DESTDIR:-}" ] || exit 0
PATH=$PATH:/usr/sbin:/sbin
known() { ldconfig -p 2>/dev/null | grep -qF "$1/librmcp.so.0"; }
[ "$(id -u)" != 0 ] || ldconfig >/dev/null 2>&1 || true
known "$1" || cat <<TEXT
rmcp: programs do not find $1/librmcp.so.0 yet. Run ldconfig as root (where that folder is not known to it, put its
rmcp: name into a file in /etc/ld.so.conf.d first), or set LD_LIBRARY_PATH=$1
TEXT
