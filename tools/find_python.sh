#!/bin/sh
# Prints a Python that can import these modules: find_python.sh [MODULE…]
#
# The first of $RMCP_PYTHON, /usr/bin/python3, python3 and python3.* in PATH: distributions install PyTorch
# for their own Python, and another one may come first in PATH. Exit status 1 with a reason when none can.
set -u
imports=pass
for module; do imports="$imports; import $module"; done
for candidate in "${RMCP_PYTHON:-}" /usr/bin/python3 python3 python3.14 python3.13 python3.12 python3.11 \
    python3.10 python3.9 python3.8; do
    [ -n "$candidate" ] || continue
    path=$(command -v "$candidate") || continue
    if "$path" -c "$imports" >/dev/null 2>&1; then
        echo "$path"
        exit 0
    fi
done
if [ $# = 0 ]; then
    echo "there is no Python 3" >&2
else
    echo "no Python here can import $*; RMCP_PYTHON may name one that can" >&2
fi
exit 1
