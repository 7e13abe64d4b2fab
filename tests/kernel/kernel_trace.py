#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a trace as LTTng's kernel tracer describes and stores it: compact headers, arguments as plain numbers.

    kernel_trace.py DIRECTORY [DOMAIN [errors|flags|signals]]

With a third word: one event for each number of this machine's headers, and its name on the standard output, a line each.
"""
import errno
import os
import signal
import struct
import sys

HEAD = '''/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 64; align = 8; signed = false; } := unsigned long;
typealias integer { size = 5; align = 1; signed = false; } := uint5_t;
typealias integer { size = 27; align = 1; signed = false; } := uint27_t;
trace {
	major = 1;
	minor = 8;
	uuid = "01234567-89ab-cdef-0123-456789abcdef";
	byte_order = le;
	packet.header := struct {
		uint32_t magic;
		uint8_t  uuid[16];
		uint32_t stream_id;
		uint64_t stream_instance_id;
	};
};
env {
	hostname = "box";
	domain = "DOMAIN";
	sysname = "Linux";
	kernel_release = "6.1.0";
	tracer_name = "TRACER";
	tracer_major = 2;
	tracer_minor = 13;
};
clock {
	name = "monotonic";
	freq = 1000000000;
	offset = 1700000000000000000;
};
typealias integer { size = 27; align = 1; signed = false; map = clock.monotonic.value; } := uint27_clock_monotonic_t;
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := uint64_clock_monotonic_t;
struct packet_context {
	uint64_clock_monotonic_t timestamp_begin;
	uint64_clock_monotonic_t timestamp_end;
	uint64_t content_size;
	uint64_t packet_size;
	uint64_t packet_seq_num;
	unsigned long events_discarded;
	uint32_t cpu_id;
};
struct event_header_compact {
	enum : uint5_t { compact = 0 ... 30, extended = 31 } id;
	variant <id> {
		struct {
			uint27_clock_monotonic_t timestamp;
		} compact;
		struct {
			uint32_t id;
			uint64_clock_monotonic_t timestamp;
		} extended;
	} v;
} align(8);
stream {
	id = 0;
	event.header := struct event_header_compact;
	packet.context := struct packet_context;
};
'''


def integer(bits, signed, base=10, order=''):
    return f'integer {{ size = {bits}; align = 8; signed = {int(signed)}; encoding = none; base = {base}; {order}}}'


INT, UNSIGNED, LONG = integer(32, True), integer(32, False), integer(64, True)
HEX, SHORT = integer(64, False, 16), integer(16, False)
NET8, NET16 = integer(8, False, 10, 'byte_order = be; '), integer(16, False, 10, 'byte_order = be; ')
NET16X, NET32X = integer(16, False, 16, 'byte_order = be; '), integer(32, False, 16, 'byte_order = be; ')
ADDRESS = f'{UNSIGNED} __v4addr_length; {NET8} _v4addr[ __v4addr_length ]; {UNSIGNED} __v6addr_length; {NET16X} _v6addr[ __v6addr_length ];'
HEADERS = f'''
		enum : {NET8} {{ "_none" = 0, "_ipv4" = 1, "_ipv6" = 2 }} _network_header_type;
		variant <_network_header_type> {{
			struct {{ }} _none;
			struct {{ {NET8} _ttl; {NET8} _saddr[4]; {NET8} _daddr[4]; }} _ipv4;
			struct {{ {NET8} _flow_lbl[3]; {NET16X} _saddr[8]; {NET16X} _daddr[8]; }} _ipv6;
		}} _network_header;'''

# name, fields
EVENTS = [
    ('syscall_entry_openat', f'{INT} _dfd; string _filename; {INT} _flags; {SHORT} _mode;'),
    ('syscall_exit_openat', f'{LONG} _ret;'),
    ('syscall_entry_connect', f'{INT} _fd; {HEX} _uservaddr; {integer(32, True, 16)} _addrlen; {INT} _family; {NET16} _dport; {ADDRESS}'),
    ('syscall_exit_connect', f'{LONG} _ret;'),
    ('syscall_exit_accept4', f'{LONG} _ret; {INT} _upeer_addrlen; {INT} _family; {NET16} _sport; {ADDRESS}'),
    ('syscall_entry_socket', f'{INT} _family; {INT} _type; {INT} _protocol;'),
    ('syscall_entry_mmap', f'{HEX} _addr; {HEX} _len; {INT} _prot; {INT} _flags; {INT} _fd; {LONG} _offset;'),
    ('syscall_exit_mmap', f'{integer(64, False, 16)} _ret;'),
    ('syscall_entry_kill', f'{INT} _pid; {INT} _sig;'),
    ('syscall_entry_futex', f'{HEX} _uaddr; {INT} _op; {UNSIGNED} _val;'),
    ('compat_syscall_exit_read', f'{LONG} _ret;'),
    ('signal_deliver', f'{INT} _sig; {INT} _errno; {INT} _code;'),
    ('sched_switch', f'{INT} _prev_tid; {LONG} _prev_state; {INT} _next_tid;'),
    ('net_dev_queue', f'{HEX} _skbaddr; {UNSIGNED} _len; {HEADERS}'),
    ('module_load', f'{INT} _flags; {LONG} _ret;'),
    ('syscall_entry_fcntl', f'{UNSIGNED} _fd; {UNSIGNED} _cmd; {HEX} _arg;'),
    ('syscall_entry_umask', f'{INT} _mask;'),
]
NUMBER = {name: i for i, (name, _) in enumerate(EVENTS)}
V4, V6 = bytes([127, 0, 0, 1]), bytes.fromhex('20010db8' + '00' * 11 + '01')


def address(v4=b'', v6=b''):
    return struct.pack('<I', len(v4)) + v4 + struct.pack('<I', len(v6) // 2) + v6


def opened(dfd, name, flags, mode):
    return 'syscall_entry_openat', struct.pack('<i', dfd) + name + b'\0' + struct.pack('<iH', flags, mode)


def sample():
    ret = lambda call, value: (call, struct.pack('<q', value))
    yield opened(-100, b'/etc/passwd', 0o2000000, 0)
    yield ret('syscall_exit_openat', 3)
    yield opened(5, b'out', 0o2001101, 0o644)
    yield ret('syscall_exit_openat', -2)
    yield opened(-100, b'.', 0o20200002 | 1 << 30, 0o600)
    yield ret('syscall_exit_openat', -4095)
    yield 'syscall_entry_socket', struct.pack('<iii', 2, 1 | 0o2004000, 6)
    yield 'syscall_entry_socket', struct.pack('<iii', 77, 3, 0)
    yield 'syscall_entry_connect', struct.pack('<iQii', 4, 0x7ffe1000, 16, 2) + struct.pack('>H', 8080) + address(V4)
    yield ret('syscall_exit_connect', -115)
    yield 'syscall_entry_connect', struct.pack('<iQii', 4, 0x7ffe1000, 28, 10) + struct.pack('>H', 443) + address(b'', V6)
    yield ret('syscall_exit_connect', -111)
    yield 'syscall_entry_connect', struct.pack('<iQii', 4, 0, 0, 0) + struct.pack('>H', 0) + address()
    yield 'syscall_exit_accept4', struct.pack('<qii', 9, 16, 2) + struct.pack('>H', 51000) + address(V4)
    yield 'syscall_exit_accept4', struct.pack('<qii', -11, 16, 0) + struct.pack('>H', 0) + address(b'\1\2\3')
    yield 'syscall_entry_mmap', struct.pack('<QQiiiq', 0, 4096, 3, 0x22, -1, 0)
    yield 'syscall_exit_mmap', struct.pack('<Q', 0x7f0000001000)
    yield 'syscall_entry_mmap', struct.pack('<QQiiiq', 0, 1 << 60, 0, 0x4022, -1, 0)
    yield 'syscall_exit_mmap', struct.pack('<q', -12)
    yield 'syscall_entry_kill', struct.pack('<ii', 42, 9)
    yield 'syscall_entry_kill', struct.pack('<ii', 42, 0)
    yield 'syscall_entry_futex', struct.pack('<QiI', 0x1000, 128, 2)
    yield 'syscall_entry_futex', struct.pack('<QiI', 0x1000, 0x189, 2)
    yield ret('compat_syscall_exit_read', -512)
    yield 'signal_deliver', struct.pack('<iii', 11, 0, 1)
    yield 'sched_switch', struct.pack('<iqi', 7, 1, 0)
    yield 'sched_switch', struct.pack('<iqi', 7, 0x402, 0)
    yield 'net_dev_queue', struct.pack('<QIB', 0xffff8880, 60, 1) + bytes([64]) + V4 + bytes([10, 0, 0, 7])
    yield 'net_dev_queue', struct.pack('<QIB', 0xffff8880, 80, 2) + b'\0\1\2' + V6 + V6
    yield 'net_dev_queue', struct.pack('<QIB', 0xffff8880, 80, 0)
    yield 'module_load', struct.pack('<iq', 0o2000000, -11)
    yield 'syscall_entry_fcntl', struct.pack('<IIQ', 3, 1030, 0)
    yield 'syscall_entry_umask', struct.pack('<i', 0o22)
    yield opened(6, b'many flags', 0o2007702, 0o600)
    yield opened(6, b'all flags', 0o37777777 | 1 << 31 - 1, 0o600)


def all_of(what):
    if what == 'errors':
        own = {11: 'EAGAIN', 35: 'EDEADLK', 95: 'EOPNOTSUPP'}  # of several names
        for number, name in sorted(errno.errorcode.items()):
            yield 'syscall_exit_openat', struct.pack('<q', -number), f'{own.get(number, name)}'
    elif what == 'signals':
        for number in signal.Signals:
            if number < 32:
                yield 'syscall_entry_kill', struct.pack('<ii', 1, number), number.name
    else:
        for name in ('CREAT EXCL NOCTTY TRUNC APPEND NONBLOCK DSYNC ASYNC DIRECT DIRECTORY NOFOLLOW NOATIME CLOEXEC PATH').split():
            yield *opened(3, b'f', getattr(os, 'O_' + name) | os.O_RDWR, 0), f'O_RDWR|O_{name}'


def write(directory, domain, events):
    os.makedirs(directory, exist_ok=True)
    tracer = 'lttng-modules' if domain == 'kernel' else 'lttng-ust'
    with open(os.path.join(directory, 'metadata'), 'w') as out:
        out.write(HEAD.replace('DOMAIN', domain).replace('TRACER', tracer))
        for number, (name, fields) in enumerate(EVENTS):
            out.write(f'event {{\n\tname = "{name}";\n\tid = {number};\n\tstream_id = 0;\n\tfields := struct {{ {fields} }};\n}};\n')
    uuid = bytes.fromhex('0123456789abcdef0123456789abcdef')
    body = b''
    for time, (name, payload) in enumerate(events):
        body += struct.pack('<I', NUMBER[name] | (time * 1000) << 5) + payload
    head = struct.pack('<I16sIQ', 0xC1FC1FC1, uuid, 0, 0)
    size = (len(head) + 52 + len(body)) * 8
    with open(os.path.join(directory, 'channel0_0'), 'wb') as out:
        out.write(head + struct.pack('<6QI', 0, time * 1000, size, size, 0, 0, 1) + body)


def main():
    directory, domain, what = sys.argv[1], (sys.argv + ["kernel"])[2], (sys.argv + ["kernel", ""])[3] if len(sys.argv) > 3 else ""
    events = list(all_of(what)) if what else list(sample())
    for event in events:
        if what:
            print(event[2])
    write(directory, domain, [event[:2] for event in events])


main()
