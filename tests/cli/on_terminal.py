"""on_terminal.py: runs a command on a terminal of a given width, and prints what it wrote there.

usage: on_terminal.py COLUMNS COMMAND…
"""
import fcntl
import os
import pty
import struct
import sys
import termios

child, terminal = pty.fork()
if not child:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
while True:
    try:
        text = os.read(terminal, 65536)
    except OSError:  # the other end is closed
        break
    if not text:
        break
    sys.stdout.buffer.write(text.replace(b"\r\n", b"\n"))
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) if hasattr(os, "waitstatus_to_exitcode") else 0)
