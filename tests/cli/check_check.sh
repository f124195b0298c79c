#!/bin/sh
# rmcp check: which Python it asks, how that may end, and RMCP itself without PyTorch.
# usage: check_check.sh RMCP
set -u
. "$(dirname "$0")/../support/lib.sh"
rmcp=$(realpath "$1")
unset VIRTUAL_ENV CONDA_PREFIX RMCP_PYTHON PYTHONPATH RMCP_DISABLE RMCP_LIBRARY RMCP_TORCH
XDG_CACHE_HOME=$work
export XDG_CACHE_HOME

# field NAME: of the JSON in $work/out.
field() {
    "$python" -c 'import json, sys
value = json.load(open(sys.argv[1]))
for name in sys.argv[2].split("."): value = value[int(name) if name.isdigit() else name]
print(value)' "$work/out" "$1"
}
# is NAME VALUE
is() { [ "$(field "$1" 2>&1)" = "$2" ] || fail "$1 is $(field "$1" 2>&1), not $2"; }

# ---- without PyTorch ----
expect 0 "$rmcp" check --engine --device cpu
quiet
has '^RMCP itself on cpu, .*: 90 of 90 convolutions, compared with the CPU, right$'
expect 0 "$rmcp" check --engine --device cpu --json
is schema rmcp.check/1
is verdict right
is convolutions 90
is engine.simulated False
# One convolution that the engine refuses or gets wrong is not right: the judge's own tests plant these.
"$rmcp" verify --list --suite check >"$work/list"
[ "$(wc -l <"$work/list")" -eq 90 ] || fail 'the suite check has other convolutions'

# ---- which Python: toys in the place of all of them ----
# toy FILE TORCH BODY: a Python that answers where torch is, and does BODY when it is to check.
mkdir -p "$work/torch" "$work/bin"
printf "__version__ = '2.5.1'\nhip = '6.2'\ncuda = None\n" >"$work/torch/version.py"
toy() {
    mkdir -p "$(dirname "$1")"
    cat >"$1" <<SH
#!/bin/sh
case \$2 in
*_check*|*check*) $3 ;;
*) printf '\nrmcp:executable=%s\n' "$1"; [ -z "$2" ] || printf '\nrmcp:torch=%s\n' "$2" ;;
esac
SH
    chmod +x "$1"
}
answer() {
    json="{\"verdict\": \"$2\", \"notes\": [], \"in_the_way\": [], \"says\": \"of $(basename "${1%/*/*}")\"}"
    toy "$1" "$work/torch" "echo '# import torch'; echo '$json'; exit ${3:-0}"
}
answer "$work/venv/bin/python" right
answer "$work/conda/bin/python" right
answer "$work/wrong/bin/python" wrong 1
answer "$work/path/bin/python3" right
toy "$work/empty/bin/python3" '' 'exit 9'
toy "$work/empty/bin/python" '' 'exit 9'
ask() { # ask WHOSE [NAME=VALUE…]
    whose=$1
    shift
    expect 0 env "$@" "$rmcp" check
    has "^of $whose\$"
}
ask venv "VIRTUAL_ENV=$work/venv" "CONDA_PREFIX=$work/conda" "PATH=$work/path/bin:$PATH"
has "^PyTorch of $work/venv/bin/python\$"
ask conda "CONDA_PREFIX=$work/conda" "PATH=$work/path/bin:$PATH"
ask path "PATH=$work/path/bin:$PATH"
ask path "VIRTUAL_ENV=$work/nosuch" "PATH=$work/path/bin:$PATH"
ask venv "RMCP_PYTHON=$work/venv/bin/python" "PATH=$work/path/bin:$PATH"
ask path "VIRTUAL_ENV=$work/empty" "PATH=$work/path/bin:$PATH"
has "^first asked, without PyTorch: $work/empty/bin/python\$"
ask path "VIRTUAL_ENV=$work/empty" "RMCP_PYTHON=$work/empty/bin/python3" "PATH=$work/path/bin:$PATH"
has "^first asked, without PyTorch: $work/empty/bin/python3, $work/empty/bin/python\$"
expect 0 "$rmcp" check --python "$work/venv/bin/python"
has '^of venv$'
expect 1 "$rmcp" check --python "$work/wrong/bin/python"
has '^of wrong$'
expect 1 "$rmcp" check --python "$work/wrong/bin/python" --json
is schema rmcp.check/1
is verdict wrong
expect 1 "$rmcp" check --python "$work/empty/bin/python3"
has "in the way: $work/empty/bin/python3 has no PyTorch" '  cure: '
expect 1 "$rmcp" check --miopen --python "$work/empty/bin/python3" --json
is in_the_way.0.id no-torch
# No Python has it: RMCP itself is checked, unless the drop-in was asked for. The system's may have it.
if [ ! -e /usr/bin/python3 ] ||
    ! /usr/bin/python3 -c 'import importlib.util as u, sys; sys.exit(u.find_spec("torch") is None)' 2>/dev/null; then
    expect 0 env "PATH=$work/empty/bin" "$rmcp" check --device cpu
    has '^RMCP itself on cpu' "^no PyTorch was checked: none in $work/empty/bin/python3"
    expect 1 env "PATH=$work/empty/bin" "$rmcp" check --miopen
fi

# ---- how it may end ----
# ends ID PATTERN BODY [LIMIT]: the limit only where it is the end, since a busy machine may be slow.
ends() {
    toy "$work/ends/bin/python" "$work/torch" "echo '# network residual on cuda:0'; $3"
    expect 1 "$rmcp" check --python "$work/ends/bin/python" --limit "${4:-60}" --json
    is verdict 'in the way'
    is in_the_way.0.id "$1"
    field in_the_way.0.what | grep -Eq "$2" || fail "no '$2' in: $(field in_the_way.0.what)"
    field in_the_way.0.cure | grep -q . || fail 'no cure'
}
ends crashed 'ended by signal 11 .* at: network residual on cuda:0' 'kill -SEGV $$'
ends hung 'no end within 2 seconds .* at: network residual on cuda:0' 'sleep 60' 2
ends failed 'no answer \(exit status 4\)' 'exit 4'
ends failed 'no answer' 'echo "{ no JSON"'
ends failed 'no answer' 'echo "{}"'
ends crashed 'signal 6' \
    'echo "{\"verdict\": \"right\", \"notes\": [], \"in_the_way\": [], \"says\": \"\"}"; kill -ABRT $$'
ends no-package 'has no package rmcp' 'echo "# no package"; exit 1'

# ---- a real one, where there is PyTorch: with the package beside this program, and one that is not to be found ----
torch=$("$tools/find_python.sh" torch) || torch=
if [ -n "$torch" ] && ! ldd "$rmcp" | grep -q 'lib[at]san' && [ -e "${rmcp%/*}/librmcp.so.0" ]; then
    expect 0 "$rmcp" check --python "$torch" --device cpu --json
    is verdict right
    is device cpu
    expect 1 env RMCP_DISABLE=1 "$rmcp" check --python "$torch" --json
    is in_the_way.0.id disabled
    expect 1 env RMCP_LIBRARY=/nosuch.so "$rmcp" check --python "$torch" --json
    is in_the_way.0.id librmcp-missing
    mkdir "$work/alone"
    cp "$rmcp" "$work/alone/rmcp"
    expect 1 "$work/alone/rmcp" check --python "$torch" --json
    is in_the_way.0.id no-package
fi
finish check
