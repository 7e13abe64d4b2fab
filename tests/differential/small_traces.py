#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes small CTF 1.8 traces, one for each habit of babeltrace2 that random traces do not meet:

    small_traces.py DIRECTORY       DIRECTORY/NAME for each

One of several files has their paths in DIRECTORY/NAME, and its metadata beside each.
"""
import struct
import sys
from pathlib import Path

HEAD = '''/* CTF 1.8 */
trace { major = 1; minor = 8; byte_order = le; };
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 64; align = 8; } := u64;
'''
CLOCK = 'clock { name = c; freq = 1000000000; };\n'
TIMED = CLOCK + '''typealias integer { size = 8; align = 8; map = clock.c.value; } := stamp;
stream { event.header := struct { integer { size = 64; align = 8; map = clock.c.value; } timestamp; }; };
'''
ONE = struct.pack('<Q', 1)

TRACES = {
    'name-empty': (HEAD + 'event { name = ""; fields := struct { u8 a; }; };', b'\1'),
    'fields-missing': (HEAD + TIMED + 'event { name = e; };', ONE * 2),
    'fields-empty': (HEAD + TIMED + 'event { name = e; fields := struct { }; };', ONE * 2),
    'contexts-empty': (HEAD + 'stream { packet.context := struct { }; event.context := struct { u8 packet_size; }; };'
                       'event { name = e; context := struct { }; fields := struct { u8 id; }; };', bytes([1, 2])),
    'clock-field-hidden': (HEAD + TIMED + 'event { name = e; fields := struct { stamp x; u8 y; }; };',
                           ONE + bytes([7, 8])),
    'clock-field-alone': (HEAD + TIMED + 'event { name = e; fields := struct { stamp x; }; };', ONE + bytes([7])),
    'clock-field-is-length': (HEAD + TIMED + 'event { name = e; fields := struct { stamp x; u8 a[x]; '
                              'u8 timestamp; u8 id; u8 packet_size; }; };', ONE + bytes([2, 3, 4, 5, 6, 7])),
    'clock-field-array': (HEAD + TIMED + 'event { name = e; fields := struct { stamp x[2]; u8 y; struct { } z; '
                          'struct { stamp x; } w; struct { stamp x; u8 y; } v; }; };', ONE + bytes(range(7, 13))),
    'sizes-hidden': (HEAD + 'stream { packet.context := struct { u8 packet_size; u8 content_size; u8 packet_seq_num; '
                     'u8 events_discarded; }; }; event { name = e; fields := struct { u8 y; }; };',
                     bytes([48, 48, 1, 0, 5, 6])),
    'sizes-among-others': (HEAD + 'stream { packet.context := struct { u8 a; u8 packet_size; struct { u8 cpu_id; } s; '
                           'u8 content_size; }; }; event { name = e; fields := struct { u8 y; }; };',
                           bytes([9, 48, 3, 48, 5, 6])),
    'size-is-length': (HEAD + 'stream { packet.context := struct { u8 packet_size; u8 content_size; u8 n; }; };'
                       'event { name = e; fields := struct { u8 y[stream.packet.context.n]; }; };',
                       bytes([56, 56, 2, 1, 2, 3, 4])),
    'variant-in-variant': (HEAD + 'event { name = e; fields := struct { enum : u8 { A, B } t; enum : u8 { C, D } s; '
                           'variant <t> { u8 A; variant <s> { string C; struct { u8 x; } D; } B; } v; }; };',
                           bytes([0, 0, 9, 1, 0]) + b'hi\0' + bytes([1, 1, 5])),
    'array-of-variants': (HEAD + 'event { name = e; fields := struct { enum : u8 { A, B } t; '
                          'variant <t> { u8 A; string B; } v[2]; }; };', bytes([1]) + b'a\0b\0'),
    'labels-many': (HEAD + 'event { name = e; fields := struct { enum : u8 { "a" = 1 ... 5, "b" = 3, "a" = 7, '
                    '"c\\"d" = 3 ... 9 } x; enum : u8 { ONLY } y; }; };', bytes([3, 0, 7, 1, 2, 2, 20, 0])),
    'environment': (HEAD + 'env { hostname = "h"; procname = "p q"; vpid = -4; vtid = 5; domain = "d"; };'
                    'event { name = "a:b c"; fields := struct { u8 a; }; };', b'\1'),
    'environment-odd': (HEAD + 'env { procname = "p"; vpid = 4; }; event { name = e; fields := struct { u8 a; }; };',
                        b'\1'),
}

COUNTED = HEAD.replace('byte_order', 'uuid = "00112233-4455-6677-8899-aabbccddeeff"; byte_order').replace('};', '''
  packet.header := struct { integer { size = 8; align = 8; } stream_id; integer { size = 8; align = 8; } stream_instance_id; };
};''', 1) + CLOCK + '''typealias integer { size = 8; align = 8; map = clock.c.value; } := stamp;
env { hostname = "h"; };
stream { id = 0; packet.context := struct { stamp timestamp_begin; stamp timestamp_end; u8 packet_size; u8 events_discarded;
  u8 packet_seq_num; }; event.header := struct { stamp timestamp; }; };
event { name = e; stream_id = 0; fields := struct { u8 a; }; };
'''


def counted(instance, begin, discarded, sequence):
    """A packet of COUNTED with one event."""
    return bytes([0, instance, begin, begin + 5, 72, discarded, sequence, begin + 1, begin + 2])


TRACES['losses-of-chunks'] = (COUNTED, {
    'one/ust/stream': counted(1, 10, 0, 0) + counted(1, 20, 3, 1), 'one/ust/other': counted(2, 15, 0, 0),
    'two/ust/stream': counted(1, 20, 3, 1) + counted(1, 30, 4, 3), 'two/ust/other': counted(2, 35, 0, 2)})
TRACES['losses-of-a-directory-below'] = (COUNTED, {'ust/stream': counted(1, 10, 0, 0) + counted(1, 20, 3, 2)})


UNORDERED = COUNTED.replace('stamp timestamp_begin; stamp timestamp_end; ', '').replace('u8 events_discarded;', '')
TRACES['files-without-times'] = (UNORDERED, {
    'one': bytes([0, 1, 48, 0, 10, 1, 0, 1, 64, 1, 30, 2, 31, 3]), 'two': bytes([0, 1, 64, 0, 20, 4, 40, 5])})


def frequency(hertz, offset_s, offset, stamps):
    """Times that the double of babeltrace2 rounds."""
    metadata = HEAD + f'''clock {{ name = c; freq = {hertz}; offset_s = {offset_s}; offset = {offset}; }};
stream {{ event.header := struct {{ integer {{ size = 64; align = 8; map = clock.c.value; }} timestamp; }}; }};
event {{ name = e; fields := struct {{ }}; }};'''
    return metadata, b''.join(struct.pack('<Q', stamp) for stamp in stamps)


DAYS_120 = 120 * 86400
for _hertz in (2500000000, 2445425887, 3000000001, 24000000, 1000, 7):
    TRACES[f'frequency-{_hertz}'] = frequency(
        _hertz, 1700000000, 3 * _hertz // 4, [DAYS_120 * _hertz + i * 12345 + i * i * 7919 for i in range(200)])


def main():
    for name, (metadata, data) in TRACES.items():
        for path, content in data.items() if isinstance(data, dict) else [('stream', data)]:
            file = Path(sys.argv[1], name, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            file.with_name('metadata').write_text(metadata, encoding='utf-8')


if __name__ == '__main__':
    main()
