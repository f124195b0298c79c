#!/bin/sh
# The rmcp command says it when an option has no effect, is given twice or makes no sense; --json is JSON everywhere.
# usage: check_options.sh RMCP
set -u
. "$(dirname "$0")/../support/lib.sh"
rmcp=$(realpath "$1")
case=n1c2h5w5k3r3s3

# bad PATTERN ARGUMENT…: wrong usage, one line that has the pattern.
bad() {
    pattern=$1
    shift
    expect 2 "$rmcp" "$@"
    one_line
    grep -q -- "$pattern" "$work/err" || fail "rmcp $*: no '$pattern' in its message"
}

# is_json STATUS SCHEMA ARGUMENT…: that exit status, and JSON of that schema on stdout.
is_json() {
    wanted=$1 schema=$2
    shift 2
    expect "$wanted" "$rmcp" "$@"
    "$python" -c 'import json, sys; assert json.load(open(sys.argv[1]))["schema"] == sys.argv[2]' \
        "$work/out" "$schema" 2>/dev/null || fail "rmcp $*: no JSON of $schema"
}

# ---- every option with a value, of every command: twice, and empty ----
: >"$work/file"
for command in check devices verify bench plan audit doctor explain recipe repair run sim version 'sim --kernel x'; do
    # shellcheck disable=SC2086 # words
    expect 0 "$rmcp" $command --help
    quiet
    sed -n 's/^  --\([a-z-]*\) \([A-Z][^ ]*\).*/\1/p' "$work/out" >"$work/options"
    while read -r option; do
        case $option in kernel | gpu | chip | checks | act-out | target) value=x ;; *) value=1 ;; esac
        case "$command $option" in
        *' effort') value=measure ;; *' pass') value=fwd ;; *' type') value=f32 ;; *' layout') value=nchw ;;
        *' chip') value=gfx1010 ;;
        esac
        # shellcheck disable=SC2086
        set -- $command
        [ "$command $option" = 'sim --kernel x kernel' ] ||
            bad "--$option is given twice" "$@" "--$option" $value "--$option=$value"
        bad "--$option needs a value" "$@" "--$option="
        [ "$option" = act-out ] || bad "--$option needs a value" "$@" "--$option" # that one's may be left out
    done <"$work/options"
    case $command in version | devices) continue ;; esac
    [ -s "$work/options" ] || fail "$command: no options with a value found in its help"
done

# ---- options that would have no effect ----
for option in '--step nosuch' '--log x' --yes '--skip large'; do
    # shellcheck disable=SC2086
    bad "${option%% *} is only for --first-owner" verify $option
done
for option in '--suite full' '--cases 3' '--operation conv' '--seed 2' '--algorithm direct' '--threads 1' '--limit 5' \
    '--repeat 2' --list --json; do
    # shellcheck disable=SC2086
    bad "${option%% *} has no meaning for --first-owner" verify --first-owner --device cpu $option
done
bad "there is no step 'nosuch'" verify --first-owner --device cpu --step nosuch
bad 'first-owner has its own cases' verify --first-owner --device cpu $case
bad '--suite and a case' verify --suite full $case
bad '--cases and a case' verify --cases 4 $case
bad '--cases is only for --suite fuzz' verify --cases 4
bad '--operation is only for --suite fuzz' verify --operation conv --suite full
bad '--limit is 0' verify --limit 0 $case
bad '--limit is 86401' verify --limit 86401 $case
bad '--algorithm has no meaning for --list' verify --list --algorithm direct
bad '--type is for --network alone' bench --type f16 $case
bad '--layout is for --network alone' bench --layout nhwc $case
bad '--batch is for --network alone' bench --batch 4 $case
bad '--batch is for --network alone' bench --network resnet50 --batch 4 $case
bad '--batch is 0' bench --network resnet50 --batch 0
bad "--pass is fwd, and '$case:bwd_data' is another one" bench --pass fwd $case:bwd_data
bad '--pass is for convolutions' bench --pass fwd batchnorm:n2c3h4w4:train
bad "--force is only for --install-into" run --force -- true
bad '--print is for a command alone' run --print --install-into "$work"
bad '--require is for a command alone' run --require --restore "$work"
bad '--python is for a command alone' run --python "$python" --restore "$work"
bad '--worst has no meaning for --kernel' audit --kernel x --worst 3 "$work/file"
bad '--full has no meaning for --kernel' audit --kernel x --full "$work/file"
bad '--full is for text' audit --json --full "$work/file"
bad '--worst has no meaning for --csv' audit --csv --worst 3 "$work/file"
bad '--threads is 0' audit --threads 0 "$work/file"
bad '--engine is without PyTorch; --miopen' check --engine --miopen
bad '--engine is without PyTorch; --python' check --engine --python "$python"
bad 'is no program' check --python "$work/nosuch"
bad '--limit is 0' check --limit 0
bad "'x' is too much" check x
bad "no device 'nosuch'" check --engine --device nosuch
for option in '--threads 2' '--limit 5' --stats --json '--checks none' --allow-reports '--launches x'; do
    # shellcheck disable=SC2086
    bad "${option%% *} has no meaning for --write-sysfs" sim --write-sysfs "$work/sysfs" $option
done
[ ! -e "$work/sysfs" ] || fail 'sim --write-sysfs wrote in spite of its complaint'
bad '--threads is 0' sim --threads 0 -- true
bad '--threads is 9999' sim --threads 9999 -- true
bad '--limit is 0' sim --limit 0 -- true
bad "--launches: writing '$work/no/such'" sim --launches "$work/no/such" -- true
sed 's/^chip .*/chip gfx906/' "$(dirname "$0")/../../data/cards/rx5600xt.card" >"$work/other.card"
bad 'card rx5600xt: code for gfx906 cannot be executed' sim --gpu "$work/other.card" -- true
expect 0 "$rmcp" sim --gpu "$work/other.card" --write-sysfs "$work/shown"
expect 0 "$rmcp" sim --write-sysfs "$work/shown1010"
bad "--override is 'ten'" sim --override ten -- true
bad "--checks is 'nosuch'" sim --checks nosuch -- true
bad "--plant is 'hang:'" sim --plant hang: -- true
bad "--wave is 0" sim --kernel "$work/file" x --wave 0
bad '--trace runs on one thread' sim --kernel "$work/file" x --trace --threads 4
bad "no option '--kernels'" sim --kernels x
for command in verify bench plan; do bad '--threads is 0' $command --device cpu --threads 0 $case; done
bad '--max-error is 0' plan --device cpu --max-error 0 $case
if "$rmcp" devices | grep -q '^opencl '; then
    bad '--threads is for the device cpu' bench --device opencl --threads 2 $case
fi

# ---- help of one command ----
for command in check devices verify bench plan audit doctor explain recipe repair run sim version; do
    "$rmcp" $command --help >"$work/help"
    grep -q "^  --json " "$work/help" || fail "rmcp $command has no --json"
    for way in help --help -h; do
        expect 0 "$rmcp" $way $command
        quiet
        cmp -s "$work/help" "$work/out" || fail "rmcp $way $command is not rmcp $command --help"
    done
done
bad "no command 'nosuch'" help nosuch
bad "'x' is too much" help doctor x

# ---- JSON ----
# Names and lines that are no UTF-8, which JSON always is.
odd=$(printf 'n\377me')
printf 'HIP error: invalid device function \377\n' >"$work/$odd"
is_json 1 rmcp.explain/1 explain --json "$work/$odd"
# (A library with a sanitizer in it cannot be loaded into a program without.)
ldd "$rmcp" | grep -q 'lib[at]san' || is_json 0 rmcp.sim.program/1 sim --json -- true "$odd"
is_json 1 rmcp.audit/1 audit --json "$work/$odd"
is_json 0 rmcp.recipe.list/1 recipe --json
is_json 0 rmcp.recipe/1 recipe --json docker
"$rmcp" recipe docker >"$work/script"
"$python" -c 'import json, sys; sys.stdout.write(json.load(open(sys.argv[1]))["script"])' "$work/out" |
    cmp -s - "$work/script" || fail 'recipe --json has another script'
bad '--json is for the list' recipe --json docker --plan
is_json 0 rmcp.verify.list/1 verify --list --json --suite full
"$rmcp" verify --list --suite full >"$work/list"
"$python" -c 'import json, sys; print("\n".join(json.load(open(sys.argv[1]))["cases"]))' "$work/out" |
    cmp -s - "$work/list" || fail 'verify --list --json has other cases than verify --list'
is_json 1 rmcp.audit/1 audit --json /bin/sh
[ -n "$(cat "$work/err")" ] || fail 'audit of a host program: no word that it has no GPU code'
expect 1 "$rmcp" audit --csv /bin/sh
has '^library,target,kind,'
XDG_CACHE_HOME=$work is_json 0 rmcp.devices.forget/1 devices --forget --json
is_json 0 rmcp.version/1 version --json

# ---- verify --limit ----
n_checks=$((n_checks + 1))
for form in '' --json; do
    # shellcheck disable=SC2086
    expect 1 "$rmcp" verify --device cpu --suite fuzz --cases 100000000 --limit 1 $form
    says '^rmcp verify: not done after 1 seconds \(--limit\)'
    if [ -n "$form" ]; then
        "$python" -c 'import json, sys; o = json.load(open(sys.argv[1])); assert o["complete"] is False' "$work/out" ||
            fail 'verify --limit --json: no JSON'
    fi
done
expect 0 "$rmcp" verify --device cpu --limit 500 $case
quiet

# ---- the simulated card: where its library is looked for, and JSON ----
mkdir "$work/alone"
cp "$rmcp" "$work/alone/rmcp"
expect 1 "$work/alone/rmcp" sim -- true
says "looked for: $work/alone/librmcp-sim.so, $work/alone/sim/driver/librmcp-sim.so"
library=${rmcp%/*}/sim/driver/librmcp-sim.so
if [ -r "$library" ] && ! ldd "$rmcp" | grep -q 'lib[at]san'; then
    cp "$library" "$work/alone/librmcp-sim.so"
    expect 0 "$work/alone/rmcp" sim -- grep -q "$work/alone/librmcp-sim.so" /proc/self/maps
    is_json 3 rmcp.sim.program/1 sim --json --stats -- sh -c 'echo of the program; exit 3'
    says '^of the program$'
    has '"program_status":[[:space:]]*3' '"simulated":[[:space:]]*\["rx5600xt"\]' '"stats":'
fi
finish options
