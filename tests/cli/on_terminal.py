"""on_terminal.py: runs a command on a terminal of a given width, and prints what it wrote there.

usage: on_terminal.py COLUMNS COMMAND…
"""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import threading

END = b"\0end\0"
terminal, ours = pty.openpty()
fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
child = subprocess.Popen(sys.argv[2:], stdin=ours, stdout=ours, stderr=ours, start_new_session=True)


def finish():
    """Marks the end: a terminal whose last writer has closed it may lose what was not read yet."""
    child.wait()
    os.write(ours, END)


threading.Thread(target=finish).start()
text = b""
while not text.endswith(END):
    text += os.read(terminal, 65536)
sys.stdout.buffer.write(text[:-len(END)].replace(b"\r\n", b"\n"))
sys.stdout.flush()
sys.exit(child.returncode)
