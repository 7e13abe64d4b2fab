#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""slow_reader.py COMMAND…: reads what it prints only after an interrupt that comes while it waits for its reader.

Prints how many lines there are that begin with "[". Its exit status is the command's."""
import fcntl
import os
import signal
import struct
import subprocess
import sys
import termios
import time

reader, writer = os.pipe()
full = fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)


def waiting():
    return struct.unpack('i', fcntl.ioctl(reader, termios.FIONREAD, bytes(4)))[0]


command = subprocess.Popen(sys.argv[1:], stdout=writer)
os.close(writer)
while waiting() < full:
    if command.poll() is not None:
        sys.exit('it has ended before its reader was slow')
    time.sleep(0.01)
command.send_signal(signal.SIGINT)
with os.fdopen(reader, 'rb') as lines:
    print(sum(line.startswith(b'[') for line in lines))
sys.exit(command.wait())
