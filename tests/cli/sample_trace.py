#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the trace that the tests of the commands read: one field of every kind, two streams, losses.

    sample_trace.py DIRECTORY
"""
import os
import struct
import sys

METADATA = '''/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := u8;
typealias integer { size = 16; align = 8; signed = false; } := u16;
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 64; align = 8; signed = false; } := u64;
typealias integer { size = 32; align = 8; signed = true; } := i32;
typealias integer { size = 64; align = 8; signed = true; } := i64;
typealias integer { size = 64; align = 8; map = clock.wall.value; } := time;
trace {
  major = 1; minor = 8; byte_order = le; uuid = "01234567-89ab-cdef-0123-456789abcdef";
  packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; u64 stream_instance_id; };
};
env { hostname = "box"; tracer_name = "sample"; answer = 42; };
clock { name = wall; absolute = true; freq = 1000000000; offset_s = 1700000000; offset = 5; };
stream {
  id = 0;
  packet.context := struct { time timestamp_begin; time timestamp_end; u64 content_size; u64 packet_size;
    u64 events_discarded; u64 packet_seq_num; u32 cpu_id;
    u32 discarded_large; u32 discarded_nested; };
  event.header := struct { u16 id; time timestamp; };
  event.context := struct { i32 _vtid; string _procname; u16 _depth; };
};
event {
  name = "net:rx"; id = 1; stream_id = 0; loglevel = 6;
  fields := struct {
    u16 _port;
    enum : u8 { "OPEN" = 1, "HALF OPEN" = 2 ... 3, "SHUT" = 3 } _state;
    string _iface;
    struct { i32 _x; i32 _y; } _where;
    u8 _count;
    u16 _lengths[_count];
  };
};
event {
  name = "all:kinds"; id = 2; stream_id = 0; loglevel = 14; model.emf.uri = "http://example.net/kinds";
  context := struct { u32 _cookie; };
  fields := struct {
    integer { size = 64; align = 8; signed = true; } _min;
    u64 _max;
    integer { size = 32; align = 8; base = 16; } _hex;
    integer { size = 32; align = 8; signed = true; base = 16; } _minus;
    integer { size = 16; align = 8; base = 8; } _oct;
    integer { size = 8; align = 8; base = 2; } _bin;
    integer { size = 3; align = 1; signed = true; } _small;
    integer { size = 13; align = 1; } _odd;
    floating_point { exp_dig = 8; mant_dig = 24; align = 8; } _f32;
    floating_point { exp_dig = 11; mant_dig = 53; align = 8; } _f64;
    floating_point { exp_dig = 11; mant_dig = 53; align = 8; } _nan;
    floating_point { exp_dig = 11; mant_dig = 53; align = 8; } _inf;
    string _text;
    integer { size = 8; align = 8; encoding = UTF8; } _fixed[8];
    u8 _bytes[3];
    struct { } _nothing;
    struct { u8 _a; u8 _b; } _pairs[2];
    enum : u8 { "NUMBER" = 0, "WORDS" = 1 } _kind;
    variant <_kind> { u32 NUMBER; string WORDS; } _value;
  };
};
event { name = "bare"; id = 3; stream_id = 0; };
event { name = "never:seen"; id = 4; stream_id = 0; fields := struct { u8 _x; }; };
'''
UUID = bytes.fromhex('0123456789abcdef0123456789abcdef')


def event(event_id, time, tid, name, body=b''):
    return struct.pack('<HQi', event_id, time, tid) + name + b'\0' + struct.pack('<H', 7) + body


def rx(port, state, lengths):
    return struct.pack('<HB', port, state) + b'eth0\0' + struct.pack(f'<iiB{len(lengths)}H', -1, 2, len(lengths), *lengths)


def kinds(kind, value):
    out = struct.pack('<I', 0xC0FFEE)
    out += struct.pack('<qQIiHB', -2**63, 2**64 - 1, 0xDEADBEEF, -1, 0o755, 0b10100001)
    out += struct.pack('<H', (-3 & 7) | 4095 << 3)
    out += struct.pack('<fddd', 0.1, 1e-7, float('nan'), float('-inf'))
    out += b'tab\t "quoted" \\ \xc3\xa9 \xff \x1b[31m\0' + b'fix\0junk' + bytes([0, 127, 255])
    return out + bytes([1, 2, 3, 4, kind]) + value


def packet(instance, sequence, begin, end, discarded, cpu, events, causes=(0, 0)):
    body = b''.join(events)
    header = struct.pack('<I', 0xC1FC1FC1) + UUID + struct.pack('<IQ', 0, instance)
    size = (len(header) + 60 + len(body)) * 8
    return header + struct.pack('<QQQQQQIII', begin, end, size, size, discarded, sequence, cpu, *causes) + body


def main():
    directory = sys.argv[1]
    os.makedirs(directory, exist_ok=True)
    first = packet(0, 0, 100, 3000, 0, 0, [
        event(1, 100, 4711, b'worker', rx(80, 1, [])),
        event(1, 1500, 4711, b'worker', rx(443, 3, [1, 2, 65535])),
        event(2, 3000, 4712, b'two words', kinds(0, struct.pack('<I', 99))),
    ])
    second = packet(0, 3, 5000, 86400 * 10**9, 12, 0, [
        event(3, 5000, 4711, b'worker'),
        event(2, 86400 * 10**9, 4711, b'worker', kinds(1, b'some words\0')),
    ], causes=(9, 3))
    other = packet(1, 0, 1500, 2000, 0, 1, [
        event(1, 1500, 9, b'\xe9t\xe9', rx(53, 9, [7])),
        event(3, 2000, 9, b''),
    ])
    for name, data in (('metadata', METADATA.encode()), ('channel_0', first + second), ('channel_1', other)):
        with open(os.path.join(directory, name), 'wb') as file:
            file.write(data)


if __name__ == '__main__':
    main()
