#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""storm.py SOCKET [SEED]: what a control socket must survive: 300 callers at once, of whom some send noise, some half a request,
some lines without end, some many requests whose answers they do not read, some nothing. Then each kind of noise alone."""
import random
import socket
import sys

path = sys.argv[1]
noise = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)


def call():
    caller = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    caller.settimeout(20)
    caller.connect(path)
    return caller


def garbage():
    kind = noise.randrange(9)
    if kind == 0:
        return noise.randbytes(noise.randrange(1, 5000))
    if kind == 1:
        return b'1 enable - '[:noise.randrange(12)]
    if kind == 2:
        return b'1 list\n' * noise.randrange(1, 300)
    if kind == 3:
        return b'x' * 200000
    if kind == 4:
        return b'\0' * noise.randrange(1, 100) + b'\n'
    if kind == 5:
        return b'1 ' + noise.choice([b'enable', b'attach', b'mode', b'start', b'disable', b'']) + b' ' + noise.randbytes(20) + b'\n'
    if kind == 6:
        return b'2 info\n1 info\n'
    if kind == 7:
        return b'1 enable 99999999999 *\n'
    return b''


def send(caller, data):
    try:
        caller.settimeout(0.05)
        caller.sendall(data)
    except (BrokenPipeError, ConnectionResetError, socket.timeout):
        pass


callers = [call() for _ in range(300)]
for caller in callers:
    send(caller, garbage())
for caller in noise.sample(callers, 150):
    caller.close()
for caller in callers:
    if caller.fileno() >= 0:
        send(caller, garbage())
for _ in range(500):
    alone = call()
    send(alone, garbage())
    alone.close()


def ask(data, caller=None):
    caller = caller or call()
    caller.sendall(data)
    answer = b''
    while not answer.endswith(b'end\n'):
        more = caller.recv(65536)
        if not more:
            break
        answer += more
    return answer


expected = {
    b'2 info\n': b'error expected version 1 of the protocol\nend\n',
    b'1 sing\n': b'error no such request\nend\n',
    b'\n': b'error expected version 1 of the protocol\nend\n',
    b'1 enable\n': b'error expected a level, or -, and patterns\nend\n',
    b'1 enable x net\n': b'error expected a level, or -, and patterns\nend\n',
    b'1 mode sideways\n': b'error expected the mode discard or overwrite\nend\n',
    b'1 start\n': b'error attach first\nend\n',
    b'1 detach\n': b'error attach first\nend\n',
    b'1 flush\n': b'ok\nend\n',
    b'1 disable - *,re:(\n': b'error a parenthesis that is not closed\nend\n',
}
for request, answer in expected.items():
    found = ask(request)
    if found != answer:
        sys.exit(f'{request!r}: expected {answer!r}, found {found!r}')
several = ask(b'1 flush\n1 info\n1 flush\n')
if not several.startswith(b'ok\nend\n'):
    sys.exit(f'several requests at once: {several!r}')

# a refused connection takes nothing from the one that it would have replaced
first = call()
attached = ask(b'1 attach discard - *\n', first)
refused = ask(b'1 attach discard - *\n')
started = ask(b'1 start\n', first)
if not attached.startswith(b'ok\nrings ') or b' is being recorded by process ' not in refused or not started.startswith(b'ok\non '):
    sys.exit(f'two recorders: {attached!r}, {refused!r}, {started!r}')
