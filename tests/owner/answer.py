#!/usr/bin/env python3
"""answer.py: runs a command at a terminal and gives each of its questions the same answer.

usage: answer.py ANSWER COMMAND…; prints what the command says, ends with its exit status."""
import os
import pty
import sys

answer, command = sys.argv[1].encode() + b"\n", sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)
said, asked = b"", 0
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:  # the other side is closed
        piece = b""
    if not piece:
        break
    said += piece
    while said.count(b"[y/N] ") > asked:
        os.write(terminal, answer)
        asked += 1
sys.stdout.write(said.decode(errors="replace").replace("\r\n", "\n"))
print(f"{asked} questions")
status = os.waitpid(child, 0)[1]
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
