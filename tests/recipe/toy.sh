#!/bin/sh
#: title A toy, for trying how steps are run
# Steps that write a line each into the folder; one waits for a file, one fails when it is told to.
# shellcheck disable=SC2034 # the steps are run at the end
set -eu
recipe=@recipe@
folder=@folder@
card=@card@
needs_memory=${TOY_MEMORY:-0}
needs_root=''
#: begin
word=@chip@

#: step first 1 0 Writes a line, whatever happens
step_first() { echo "first $word" >>"$folder/lines"; }

#: if guess
#: step guessed 1 0 Only where no GPU was found
step_guessed() { echo guessed >>"$folder/lines"; }
#: end

#: step waiting 90c 0 Waits for the file go, with a process of its own
step_waiting() {
    echo begun >>"$folder/lines"
    echo "a line for whoever looks at the log"
    sh -c 'echo $$ >"$1/sleeper"; while [ ! -e "$1/go" ]; do sleep 0.1; done' sh "$folder"
    echo waited >>"$folder/lines"
}

#: step failing 1 0 Fails where a command in the middle does
step_failing() {
    [ ! -e "$folder/bad" ] || cat "$folder/no such file"
    echo "fine" >>"$folder/lines"
}

#: step last 1 1 The last one
step_last() { echo last >>"$folder/lines"; }

epilogue() { echo "the end"; }

