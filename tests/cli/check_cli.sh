#!/bin/sh
# The rmcp command: help, JSON, wrong usage and exit status.
# usage: check_cli.sh RMCP
set -u
. "$(dirname "$0")/../support/lib.sh"
rmcp=$1
# run STATUS ARGUMENT…: the command ends with that status.
run() {
    wanted=$1
    shift
    expect "$wanted" "$rmcp" "$@"
}

# good PATTERN ARGUMENT…: all is well, the output has the pattern and stderr is silent.
good() {
    pattern=$1
    shift
    run 0 "$@"
    grep -q -- "$pattern" "$work/out" || fail "rmcp $*: no '$pattern' in its output"
    quiet
}

# bad STATUS PATTERN ARGUMENT…: one line on stderr with the pattern, nothing on stdout.
bad() {
    wanted=$1 pattern=$2
    shift 2
    run "$wanted" "$@"
    one_line
    grep -q -- "$pattern" "$work/err" || fail "rmcp $*: no '$pattern' in its message"
    grep -q '^rmcp' "$work/err" || fail "rmcp $*: the message does not begin with rmcp"
    if LC_ALL=C grep -q '[[:cntrl:]]' "$work/err"; then fail "rmcp $*: control characters"; fi
}

# json SCHEMA ARGUMENT…: valid JSON of that schema.
json() {
    schema=$1
    shift
    run 0 "$@" --json
    "$python" -m json.tool "$work/out" >"$work/json" 2>&1 || fail "rmcp $* --json: no JSON"
    grep -q "\"schema\": \"$schema\"" "$work/json" || fail "rmcp $* --json: not $schema"
}

case=n1c2h5w5k3r3s3

good 'usage: rmcp COMMAND' --help
good 'usage: rmcp COMMAND' -h
good 'usage: rmcp COMMAND' help
good '^rmcp [0-9]' --version
for command in devices verify bench plan doctor version; do
    good "^  $command " --help
    good "usage: rmcp $command " $command --help
    good 'example:' $command -h
    bad 2 "no option '--nosuch'" $command --nosuch
    bad 2 "no option '-x'" $command -x
    bad 2 '--json takes no value' $command --json=1
done

good 'cpu' devices
good '^conv: .* direct' version
good '^cpu: .*oneDNN' version
good ' 0 failures' verify --device cpu $case
good ' 0 failures' verify --device=cpu --suite=fuzz --cases=3 --seed=5
good "^$case" verify --list $case
good 'n1c64h56w56k64r1s1:f32:nchw:fwd' verify --list --suite full
good 'GFLOP/s' bench --device cpu --repeats 1 --pass fwd $case
good 'chosen' plan --device cpu --explain $case
good 'reference' plan --device cpu --algorithm reference $case:fwd
good 'workspace 0 B' plan --device cpu --max-workspace 0 $case:fwd
good ' 0 failures' verify --device cpu -- $case
good ' 0 failures' verify --device cpu --repeat 5 $case
good 'chosen' plan --device cpu --explain --strict --max-error 1 $case

json rmcp.devices/1 devices
json rmcp.version/1 version
json rmcp.verify/1 verify --device cpu $case
json rmcp.bench/1 bench --device cpu --repeats 1 $case
json rmcp.plan/1 plan --device cpu $case

bad 2 "no command 'nosuch'" nosuch
bad 2 "no command 'no?such'" "$(printf 'no\nsuch')"
bad 2 "no option '--a?b'" verify "$(printf -- '--a\nb')"
bad 2 "no device 'nosuch'" verify --device nosuch
bad 2 'there is only 1' verify --device cpu:1
bad 2 "no device 'nosuch'" bench --device nosuch $case
bad 2 "no device 'nosuch'" plan --device nosuch $case
bad 2 'n is 0' plan n0c1
bad 2 'larger than 9223372036854775807' plan n12345678901234567890c1h1w1k1
bad 2 'reach over 3, the padded input has 2' plan n1c1h2w2k1r3s3
bad 2 'reach over 3, the padded input has 2' verify n1c1h2w2k1r3s3
bad 2 'reach over 3, the padded input has 2' bench n1c1h2w2k1r3s3
bad 2 'the case string is empty' plan ''
bad 2 "unknown word 'f64'" verify $case:f64
bad 2 'unknown word' verify "$(printf '%s:\033[31m' $case)"
bad 2 'x is too large' plan n4611686018427387904c4h1w1k1
bad 2 "no suite 'nosuch'" verify --suite nosuch
bad 2 "no suite '../networks'" verify --suite ../networks
bad 2 "no network 'nosuch'" bench --network nosuch
bad 2 "no algorithm 'nosuch'" verify --device cpu --algorithm nosuch
bad 2 "no algorithm 'nosuch'" bench --device cpu --algorithm nosuch $case
bad 2 "no algorithm 'nosuch'" plan --device cpu --algorithm nosuch $case
bad 2 '--repeat is 0; from 1' verify --repeat 0 $case
bad 2 '--suite needs a value' verify --suite
bad 2 '--suite needs a value' verify --suite=
bad 2 '--seed needs a value' verify --seed
bad 2 "--seed is 'x'" verify --seed x
bad 2 "--seed is '-1'" verify --seed -1
bad 2 "--seed is '18446744073709551616'" verify --seed 18446744073709551616
bad 2 '--cases is 0' verify --suite fuzz --cases 0
bad 2 'threads is 4294967295' verify --device cpu --threads 99999999999 $case
bad 2 '--network needs a value' bench --network
bad 2 'give cases or --network' bench
bad 2 "--type is 'f8'" bench --type f8 $case
bad 2 "--layout is 'chwn'" bench --layout chwn $case
bad 2 "--pass is 'sideways'" bench --pass sideways $case
bad 2 "--effort is 'much'" bench --effort much $case
bad 2 "--effort is 'much'" plan --effort much $case
bad 2 '--repeats is 0' bench --repeats 0 $case
bad 2 '--batch is 99999999999' bench --network vgg16 --batch 99999999999
bad 2 'no case given' plan
bad 2 "'x' is too much" devices x
bad 2 "'x' is too much" version x

run 2
grep -q 'usage: rmcp COMMAND' "$work/err" || fail "rmcp without arguments: no help on stderr"
[ ! -s "$work/out" ] || fail "rmcp without arguments: something on stdout"

# A result that cannot be written is a failure.
if [ -w /dev/full ]; then
    for command in --help help version devices "version --json" "verify --device cpu $case" \
        "verify --list --suite full" "plan --device cpu $case" \
        "bench --device cpu --repeats 1 $case:fwd" "plan --help"; do
        n_checks=$((n_checks + 1))
        : >"$work/out"
        # shellcheck disable=SC2086 # the words are arguments
        "$rmcp" $command >/dev/full 2>"$work/err"
        status=$?
        [ "$status" -eq 3 ] || fail "rmcp $command >/dev/full: exit status $status, expected 3"
        grep -q 'cannot write the result' "$work/err" || fail "rmcp $command >/dev/full: no message"
    done
fi

finish cli
