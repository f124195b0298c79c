#!/bin/sh
# rmcp recipe --run and --plan with a toy: done once, interrupted and gone on, failed, changed, without room.
# usage: check_recipe_run.sh RMCP
set -u
. "$(dirname "$0")/../support/lib.sh"
rmcp=$1
here=$(cd "$(dirname "$0")" && pwd)
cat "$here/toy.sh" "$here/../../data/recipes/steps.sh" >"$work/toy"
export HOME="$work/home"
mkdir -p "$HOME"

# toy STATUS FOLDER WORD…: what rmcp recipe makes of the toy.
toy() {
    wanted=$1 folder=$2
    shift 2
    expect "$wanted" "$rmcp" recipe toy --template "$work/toy" --chip gfx1010 --folder "$folder" "$@"
}
lines() { [ "$(tr '\n' ' ' <"$1/lines")" = "$2" ] || fail "$1: done was: $(tr '\n' ' ' <"$1/lines")"; }

# What it takes is said, and nothing is done.
toy 0 "$work/a b" --plan
has '^toy, in .*/a b' 'steps   4, 0 of them done' 'disk    1 GB more, [0-9]+ GB are free' \
    'memory  0 GB, [0-9]+ GB' 'time    about' \
    '^  -    waiting'
[ ! -e "$work/a b" ] || fail "--plan wrote something"

# All of it, in a folder with a blank; then nothing again.
mkdir -p "$work/a b" && : >"$work/a b/go"
toy 0 "$work/a b" --run
has '\[1/4\] Writes a line' '\[4/4\] done in [0-9]+ seconds' '^the end$'
quiet
lines "$work/a b" "first gfx1010 begun waited fine last "
toy 0 "$work/a b" --run
has '4 of them done' '\[1/4\] done before: Writes' 'disk    0 GB more'
lines "$work/a b" "first gfx1010 begun waited fine last "
# Another chip changes what the steps do: all are done again. A comment does not.
sed 's/^# Steps that/# Steps which/' "$work/toy" >"$work/toy2"
expect 0 "$rmcp" recipe toy --template "$work/toy2" --chip gfx1010 --folder "$work/a b" --run
lines "$work/a b" "first gfx1010 begun waited fine last "
expect 0 "$rmcp" recipe toy --template "$work/toy" --chip gfx1012 --folder "$work/a b" --run
lines "$work/a b" "first gfx1010 begun waited fine last first gfx1012 begun waited fine last "
# A step that was changed: it and those behind it.
sed 's/echo "fine"/echo "finer"/' "$work/toy" >"$work/toy2"
expect 0 "$rmcp" recipe toy --template "$work/toy2" --chip gfx1012 --folder "$work/a b" --run
lines "$work/a b" "first gfx1010 begun waited fine last first gfx1012 begun waited fine last finer last "

# Interrupted by Ctrl-C and by kill: at once, with what the step had started; then it goes on with that step.
for signal in INT TERM; do
    folder=$work/$signal
    n_checks=$((n_checks + 1))
    "$python" - "$signal" "$folder" "$rmcp" recipe toy --template "$work/toy" --chip gfx1010 --folder "$folder" --run \
        >"$work/out" 2>"$work/err" <<'PY' || fail "SIG$signal was not obeyed"
import os, signal, subprocess, sys, time
name, folder, command = sys.argv[1], sys.argv[2], sys.argv[3:]
run = subprocess.Popen(command, start_new_session=True,
                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
def within(seconds, what):
    end = time.time() + seconds
    while not what() and time.time() < end:
        time.sleep(0.05)
    return what()
def text(path):
    return open(path).read() if os.path.exists(path) else ""
assert within(60, lambda: text(folder + "/sleeper").endswith("\n")), "it does not begin"
time.sleep(0.2)
sleeper = int(text(folder + "/sleeper"))
if name == "INT":
    os.killpg(run.pid, signal.SIGINT)  # as a terminal does
else:
    os.kill(run.pid, signal.SIGTERM)
assert run.wait(timeout=20) == 130, run.returncode
def ended():
    try:
        return open(f"/proc/{sleeper}/stat").read().split(")")[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
assert within(10, ended), "what the step had started lives on"
assert not os.path.exists(folder + "/.recipe/running")
PY
    says 'stopped in the step waiting; the same command goes on there'
    lines "$folder" "first gfx1010 begun "
    : >"$folder/go"
    toy 0 "$folder" --run
    has '\[1/4\] done before' '\[2/4\] Waits'
    lines "$folder" "first gfx1010 begun begun waited fine last "
done

# A command that fails in the middle of a step ends it, with the end of its log; cured, it goes on.
folder=$work/failing
mkdir -p "$folder" && : >"$folder/go" && : >"$folder/bad"
toy 1 "$folder" --run
says 'the step failing failed .status 1.; its log is .*/failing.log' 'no such file' 'rmcp explain'
lines "$folder" "first gfx1010 begun waited "
rm "$folder/bad"
toy 0 "$folder" --run
lines "$folder" "first gfx1010 begun waited fine last "

# Twice at the same time.
folder=$work/twice
mkdir -p "$folder/.recipe" && echo $$ >"$folder/.recipe/running"
toy 1 "$folder" --run
says "it is running already, as process $$"
echo 999999999 >"$folder/.recipe/running" # one that was killed
: >"$folder/go"
toy 0 "$folder" --run

# Too little memory, too little disk: said first, and nothing is done unless it is insisted on.
TOY_MEMORY=999999 toy 1 "$work/memory" --run
has 'memory  999999 GB' 'NOT ENOUGH MEMORY'
says 'nothing was done'
[ ! -e "$work/memory" ] || fail "it began without memory"
mkdir "$work/bin"
# df as POSIX has it, of a disk with 300 MB left, then of one that is full.
printf '%s\n' '#!/bin/sh' 'echo "Filesystem 1024-blocks Used Available Capacity Mounted on"' \
    'echo "/dev/x 1000000 1 ${LEFT:-300000} 99% /"' >"$work/bin/df"
chmod 755 "$work/bin/df"
path=$PATH
export PATH="$work/bin:$PATH"
toy 1 "$work/disk" --run
has 'disk    1 GB more, 0 GB are free' 'NOT ENOUGH DISK'
folder=$work/full
mkdir -p "$folder" && : >"$folder/go" && : >"$folder/bad"
RECIPE_ANYWAY=1 LEFT=1000 toy 1 "$folder" --run
says 'the disk is full: less than 200 MB are left in .*/full'
PATH=$path

# On a terminal it asks, once; no ends it.
n_checks=$((n_checks + 1))
"$python" - "$work/asked" \
    "$rmcp" recipe toy --template "$work/toy" --chip gfx1010 --folder "$work/asked" --run <<'PY' ||
import os, pty, sys, threading, time
folder, command = sys.argv[1], sys.argv[2:]
def talk(answer):
    process, terminal = pty.fork()
    if not process:
        os.execv(command[0], command)
    text, sent = b"", not answer
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        if not piece:
            break
        text += piece
        if not sent and b"[y/N]" in text:
            os.write(terminal, answer)
            sent = True
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), text.decode()
status, text = talk(b"n\n")
assert status == 1 and "nothing was done" in text, text
os.makedirs(folder, exist_ok=True)
open(folder + "/go", "w")
status, text = talk(b"y\n")
assert status == 0 and "Begin?" in text and "the end" in text, text
status, text = talk(b"")
assert status == 0 and "Begin?" not in text, text
PY
    fail "the question is not asked once"

# Where no GPU is, and none was named: printing guesses, running refuses only where the chip matters.
expect 0 "$rmcp" recipe torch-therock
expect 2 "$rmcp" recipe torch-therock --chip gfx9999 --plan
says "--chip is 'gfx9999'"
finish "recipe run"
