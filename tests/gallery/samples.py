# SPDX-License-Identifier: MIT
"""A small file for each description of the gallery: a function with its name returns the bytes, and RECORD names the event that is shown if it is
not the first one. They are made as the descriptions and the formats' own documents say; the suite descriptions compares with other tools."""
import struct
import zlib

RECORD = {'ghc': 1, 'ulog': 2}
SECONDS = 1767225600  # 2026-01-01


def blf():
    message = struct.pack('<HBBI8s', 1, 0, 3, 0x123, b'\1\2\3')
    item = struct.pack('<4sHHIIIHHQ', b'LOBJ', 32, 1, 32 + len(message), 1, 2, 0, 0, 5_000_000) + message
    box = struct.pack('<4sHHIIH6xI4x', b'LOBJ', 16, 1, 32 + len(item), 10, 0, len(item)) + item
    start = (2026, 1, 4, 1, 0, 0, 0, 0)
    return struct.pack('<4sI4B4BQQII8H8H', b'LOGG', 144, 5, 0, 0, 0, 2, 6, 8, 1, 0, 0, 1, 0, *start, *start) + bytes(72) + box


def blktrace():
    return struct.pack('<IIQQIIIIIHH', 0x65617407, 1, 1_000_000, 2048, 4096, 1 << 17 | 1 << 20 | 1, 4711, 8 << 20, 0, 0, 0)


def cpel():
    heap = b'main\0packet in\0\0'
    section = lambda kind, data: struct.pack('>II', kind, len(data)) + data
    sections = [section(1, heap), section(3, b'main'.ljust(64, b'\0') + struct.pack('>IIII', 1, 7, 5, 15)),
                section(5, b'main'.ljust(64, b'\0') + struct.pack('>II5I', 1, 1_000_000_000, 0, 1500, 3, 7, 42))]
    return struct.pack('>BBHI', 1, 0, len(sections), SECONDS) + b''.join(sections)


def dataflash():
    form = struct.pack('<HBBB4s16s64s', 0x95a3, 128, 130, 19, b'GPS', b'QLL', b'TimeUS,Lat,Lng')
    return form + struct.pack('<HBQii', 0x95a3, 130, 12_500_000, 473_977_000, 85_456_000)


def dlt():
    text = b'brake hot\0'
    body = b'ECU1' + struct.pack('>I', 12345) + struct.pack('<BB4s4sIH', 0x41, 1, b'LIFT', b'MAIN', 0x200, len(text)) + text
    return b'DLT\1' + struct.pack('<Ii4s', SECONDS, 250_000, b'ECU1') + struct.pack('>BBH', 0x35, 7, 4 + len(body)) + body


def evtx():
    filetime = (SECONDS + 11644473600) * 10**7
    xml = bytes.fromhex('0f01010001')
    event = struct.pack('<IIQQ', 0x2a2a, 28 + len(xml), 1, filetime) + xml + struct.pack('<I', 28 + len(xml))
    chunk = struct.pack('<8sQQQQIIII', b'ElfChnk\0', 1, 1, 1, 1, 128, 512, 512 + len(event), zlib.crc32(event))
    head = struct.pack('<8sQQQIHHHH', b'ElfFile\0', 0, 0, 2, 128, 1, 3, 4096, 1) + bytes(76)
    return (head + struct.pack('<II', 0, zlib.crc32(head))).ljust(4096, b'\0') + (chunk.ljust(512, b'\0') + event).ljust(65536, b'\0')


def fit():
    def crc16arc(data):
        crc = 0
        for bit in (byte >> i & 1 for byte in data for i in range(8)):
            crc = crc >> 1 ^ (0xa001 if crc & 1 ^ bit else 0)
        return struct.pack('<H', crc)

    fields = ((253, 4, 0x86), (5, 4, 0x86), (6, 2, 0x84), (3, 1, 0x02))
    content = struct.pack('<BBBHB', 0x40, 0, 0, 20, len(fields)) + b''.join(map(bytes, fields)) + struct.pack('<BIIHB', 0, SECONDS - 631065600, 123_450, 3_210, 141)
    head = struct.pack('<BBHI4s', 14, 32, 2132, len(content), b'.FIT')
    file = head + crc16arc(head) + content
    return file + crc16arc(file)


def ghc():
    name = b'Stop thread'
    kind = b'etb\0' + struct.pack('>HHI', 2, 10, len(name)) + name + struct.pack('>I', 0) + b'ete\0'
    return b'hdrbhetb' + kind + b'hete' + b'hdredatb' + struct.pack('>HQIHI', 2, 81_000, 3, 5, 0) + b'\xff\xff'


def pacct():
    return struct.pack('<BBHIIIIIIf8H16s', 2, 3, 0, 0, 0, 0, 4711, 1, SECONDS, 12.0, 3, 1, 2048, 0, 0, 90, 0, 0, b'ls')


def pcap():
    data = bytes.fromhex('ffffffffffff0242c0a8010208060001')
    return struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1) + struct.pack('<IIII', SECONDS, 250_000, len(data), 60) + data


def pcapng():
    data, microseconds = bytes.fromhex('ffffffffffff0242c0a8010208060001'), SECONDS * 1_000_000
    block = lambda kind, body: struct.pack('<II', kind, len(body) + 12) + body + struct.pack('<I', len(body) + 12)
    return block(0x0a0d0d0a, struct.pack('<IHHq', 0x1a2b3c4d, 1, 0, -1)) + block(1, struct.pack('<HHI', 1, 0, 65535)) + block(
        6, struct.pack('<IIIII', 0, microseconds >> 32, microseconds & 0xffffffff, len(data), 60) + data)


def ring():
    head = struct.pack('<QIIIIQIIIIIiQ16sQQI64s4xQi', 0x4b594d4f52494e47, 1, 256, 1, 1, 408, 88, 4096, 1, 0, 0, 4711, 1_000_000, bytes(range(16)), 0, 0, 0, b'lift', 5_000_000, 0)
    packet = struct.pack('<7QIIi4x16s', 1, 0, 5_000_100, 5_004_200, 1, 0, 2, 0, 0, 4712, b'door')
    return head.ljust(256, b'\0') + struct.pack('<Ii', 1, 4712).ljust(320, b'\0') + packet


def simpletrace():
    name, args = b'lift_door', struct.pack('<Q', 3)
    mapping = struct.pack('<QQI', 0, 5, len(name)) + name
    return b'\xff' * 8 + struct.pack('<QQ', 0xf2b177cb0aa429b4, 4) + mapping + struct.pack('<QQQII', 1, 5, 81_000, 24 + len(args), 4711) + args


def snoop():
    data = bytes.fromhex('ffffffffffff0242c0a8010208060001')
    return b'snoop\0\0\0' + struct.pack('>II', 2, 4) + struct.pack('>6I', 60, len(data), 24 + len(data), 0, SECONDS, 250_000) + data


def stapbulk():
    text = b'brake hot\n'
    return b'\xf0\x9f\xa9\xba' + struct.pack('<II', 0, len(text)) + text


def ulog():
    message = lambda kind, payload: struct.pack('<H', len(payload)) + kind + payload
    return b'ULog\1\x12\x35\1' + struct.pack('<Q', 1_000_000) + message(b'B', bytes(40)) + b''.join([
        message(b'F', b'battery:uint64_t timestamp;float voltage;int16_t[2] cells;'), message(b'A', b'\0\1\0battery'),
        message(b'D', struct.pack('<HQf2h', 1, 1_500_000, 15.5, 4100, 4090))])


def wtmp():
    return struct.pack('<H2xi32s4s32s256shhiii16s20x', 7, 4711, b'pts/0', b'ts/0', b'ada', b'host.example', 0, 0, 0, SECONDS, 250_000, bytes([192, 0, 2, 1]))
