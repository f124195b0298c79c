#!/bin/bash
# timed.sh LOG NAME COMMAND…: runs a compiler and appends a line to LOG: NAME, seconds on the clock, of the processor
# and of the system for it, and the compiler's exit status. (The shell's own "time" writes 9.9996 as "9.:00".)
log=$1 name=$2
shift 2
start=${EPOCHREALTIME/[.,]/}
"$@"
status=$?
clock=$((${EPOCHREALTIME/[.,]/} - start))
read -r -a stat </proc/$$/stat # 16 and 17 of proc(5): of children that have ended, in hundredths of a second
seconds() { printf '%d.%02d' $(($1 / 100)) $(($1 % 100)); }
echo "$name $(seconds $((clock / 10000))) $(seconds "${stat[15]}") $(seconds "${stat[16]}") $status" >>"$log"
exit $status
