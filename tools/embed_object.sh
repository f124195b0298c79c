#!/bin/sh
# Writes assembly that holds a file as the array NAME up to NAME_end: embed_object.sh NAME FILE OUTPUT
set -eu
cat >"$3" <<TEXT
    .section .rodata
    .balign 64
    .globl $1, $1_end
    .hidden $1, $1_end
$1:
    .incbin "$(realpath "$2")"
$1_end:
    .section .note.GNU-stack, "", %progbits
TEXT
