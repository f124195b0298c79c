#!/bin/sh
# Writes what comes from the list of MIOpen's functions: generate.sh map|renames|slots|thunks LIST
#   map      the linker's map of exported names
#   renames  pragmas that give our definitions other names than the exported ones
#   slots    F(name, number, implemented), one line for each function
#   thunks   assembly: each exported name jumps through its slot; a stub for each function not implemented
set -eu
what=$1 list=$2
grep -v '^#' "$list" | awk -v what="$what" '
BEGIN {
    if (what == "map") print "MIOPEN_HIP_1 {\n  global:"
    if (what == "thunks") print "    .text"
}
NF != 3 || ($3 != "yes" && $3 != "no") { print "generate.sh: not a row: " $0 >"/dev/stderr"; exit 1 }
what == "map" { print "    " $1 ";" }
what == "renames" && $3 == "yes" { print "#pragma redefine_extname " $1 " rmcp_" $1 }
what == "slots" { print "F(" $1 ", " n ", " ($3 == "yes") ")" }
what == "thunks" {
    print "    .globl " $1 "\n    .type " $1 ", @function\n    .p2align 4\n" $1 ":"
    print "    endbr64\n    jmp *(mi_slots + 8 * " n ")(%rip)\n    .size " $1 ", . - " $1
    if ($3 == "no") {
        print "    .hidden rmcp_" $1 "\n    .globl rmcp_" $1 "\n    .type rmcp_" $1 ", @function\nrmcp_" $1 ":"
        print "    endbr64\n    lea name_" n "(%rip), %rdi\n    jmp mi_not_implemented"
        print "    .size rmcp_" $1 ", . - rmcp_" $1
        names = names "name_" n ": .string \"" $1 "\"\n"
    }
}
{ n++ }
END {
    if (what == "map") print "  local: *;\n};"
    if (what == "thunks") print "    .section .rodata\n" names "    .section .note.GNU-stack, \"\", @progbits"
}' n=0
