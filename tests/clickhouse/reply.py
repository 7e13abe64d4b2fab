#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints a free port, goes to the background, and answers each request there with the bytes of a file, for a minute.

    reply.py FILE LOG      LOG becomes what was asked
"""
import os
import socket
import sys

REPLY, LOG = open(sys.argv[1], 'rb').read(), sys.argv[2]
listener = socket.create_server(('127.0.0.1', 0))
print(listener.getsockname()[1], flush=True)
if os.fork():
    sys.exit()
for stream in (0, 1, 2):
    os.dup2(os.open(os.devnull, os.O_RDWR), stream)
listener.settimeout(60)
with open(LOG, 'wb') as log:
    try:
        while True:
            connection, _ = listener.accept()
            connection.settimeout(60)
            log.write(connection.recv(1 << 20))
            log.flush()
            connection.sendall(REPLY)
            connection.close()
    except OSError:
        pass
