# SPDX-License-Identifier: MIT
#
# Writes perf.data, by tools/perf/Documentation/perf.data-file-format.txt and linux/perf_event.h alone: the tests compare what kymo and
# perf read with what was written here.
import struct

IP, TID, TIME, ADDR, READ, CHAIN, ID, CPU, PERIOD, STREAM, RAW, BRANCHES, USER_REGS, STACK, WEIGHT, SOURCE, IDENTIFIER, TRANSACTION, REGS, \
    PHYSICAL, AUX, CGROUP, DATA_PAGE, CODE_PAGE, WEIGHTS = (1 << bit for bit in range(25))
SAMPLE_ID_ALL, USE_CLOCK = 18, 25
MMAP, LOST, COMM, EXIT, THROTTLE, FORK, SAMPLE, MMAP2, LOST_SAMPLES, SWITCH, NAMESPACES, KSYMBOL, CGROUPS = \
    1, 2, 3, 4, 5, 7, 9, 10, 13, 14, 16, 17, 19
ROUND, COMPRESSED, COMPRESSED2 = 68, 81, 83
KERNEL, USER = 1, 2
CHAIN_KERNEL, CHAIN_USER = 2 ** 64 - 128, 2 ** 64 - 512


class File:
    def __init__(self, is_big=False, is_pipe=False, packing=None):
        self.order, self.is_big, self.is_pipe, self.packing = '>' if is_big else '<', is_big, is_pipe, packing
        self.attrs = []      # (bytes of the attr, ids, name, sample_type)
        self.records = []    # bytes
        self.features = {}   # number: bytes
        self.places = {}     # where the sections begin

    def pack(self, format, *values):
        return struct.pack(self.order + format, *values)

    def string(self, text):
        data = text.encode() + b'\0'
        data += bytes(-len(data) % 8)
        return self.pack('I', len(data)) + data

    # ---- attrs ----

    def attr(self, name, sample_type, ids, type=1, config=0, read_format=0, flags=(SAMPLE_ID_ALL,), branch=0, regs=0, clock=0):
        bits = sum(1 << (63 - flag if self.is_big else flag) for flag in flags)
        data = self.pack('IIQQQQQIIQQQQIiQIHH', type, 112, config, 1, sample_type, read_format, bits, 0, 0, 0, 0, branch, regs, 0, clock, regs, 0, 0, 0)
        assert len(data) == 112
        self.attrs.append((data, ids, name, sample_type))
        return len(self.attrs) - 1

    # ---- records ----

    def add(self, type, misc, body):
        record = self.pack('IHH', type, misc, len(body) + 8) + body
        self.records.append(record)
        return record

    def tail(self, attr=0, pid=0, tid=0, time=0, cpu=0, id=None):
        kind = self.attrs[attr][3]
        id = self.attrs[attr][1][0] if id is None else id
        data = b''
        data += self.pack('ii', pid, tid) if kind & TID else b''
        data += self.pack('Q', time) if kind & TIME else b''
        data += self.pack('Q', id) if kind & ID else b''
        data += self.pack('Q', 0) if kind & STREAM else b''
        data += self.pack('II', cpu, 0) if kind & CPU else b''
        return data + (self.pack('Q', id) if kind & IDENTIFIER else b'')

    def text(self, text):
        data = text.encode() + b'\0'
        return data + bytes(-len(data) % 8)

    def comm(self, pid, tid, name, is_exec, who):
        self.add(COMM, is_exec << 13, self.pack('ii', pid, tid) + self.text(name) + self.tail(**who))

    def fork(self, type, pid, ppid, tid, ptid, who):
        self.add(type, 0, self.pack('iiiiQ', pid, ppid, tid, ptid, who['time']) + self.tail(**who))

    def mmap2(self, pid, start, length, offset, path, build_id, inode, who):
        file = self.pack('B3x20s', len(build_id), build_id) if build_id else self.pack('IIQQ', *inode, 0)
        body = self.pack('iiQQQ', pid, pid, start, length, offset) + file + self.pack('II', 5, 2) + self.text(path)
        self.add(MMAP2, (1 << 14 if build_id else 0) | USER, body + self.tail(**who))

    def round(self):
        self.add(ROUND, 0, b'')

    # ---- the file ----

    def event_desc(self):
        out = self.pack('II', len(self.attrs), 112)
        for data, ids, name, _ in self.attrs:
            out += data + self.pack('I', len(ids)) + self.string(name) + b''.join(self.pack('Q', id) for id in ids)
        return out

    def packed(self):
        """The records, those between rounds as pieces of one stream of zstd whose blocks are not compressed."""
        out, waiting, is_first = [], b'', True
        for record in self.records + [None]:
            type = struct.unpack(self.order + 'I', record[:4])[0] if record else ROUND
            if type < 64:
                waiting += record
                continue
            while waiting:
                piece, waiting = waiting[:1000], waiting[1000:]
                head = struct.pack('<IBB', 0xfd2fb528, 0, 0x58) if is_first else b''
                is_first = False
                data = head + struct.pack('<I', len(piece) << 3)[:3] + piece
                if self.packing == 'zstd2':
                    pad = bytes(-len(data) % 8)
                    out.append(self.pack('IHHQ', COMPRESSED2, 0, 16 + len(data) + len(pad), len(data)) + data + pad)
                else:
                    out.append(self.pack('IHH', COMPRESSED, 0, 8 + len(data)) + data)
            if record:
                out.append(record)
        return out

    def bytes(self):
        records = self.packed() if self.packing else self.records
        magic = self.pack('Q', 0x32454c4946524550)
        if self.is_pipe:
            head = [self.pack('IHH', 64, 0, 8 + 112 + 8 * len(ids)) + data + b''.join(self.pack('Q', id) for id in ids)
                    for data, ids, _, _ in self.attrs]
            for number, data in {**self.features, 12: self.event_desc()}.items():
                data += bytes(-len(data) % 8)
                if number == 1:
                    head.append(self.pack('IHHI', 66, 0, 12, len(data)) + data)
                elif number == 2:
                    head.append(data)
                else:
                    head.append(self.pack('IHHQ', 80, 0, 16 + len(data), number) + data)
            begin = magic + self.pack('Q', 16)
            self.places = {'header': 0, 'attrs': 16, 'records': 16 + sum(map(len, head))}
            return begin + b''.join(head) + b''.join(records)
        features = {**self.features, 12: self.event_desc()}
        ids = b''.join(self.pack('Q', id) for _, each, _, _ in self.attrs for id in each)
        attrs_at = 104 + len(ids)
        data_at = attrs_at + 128 * len(self.attrs)
        attrs, at = b'', 104
        for data, each, _, _ in self.attrs:
            attrs += data + self.pack('QQ', at, 8 * len(each))
            at += 8 * len(each)
        data = b''.join(records)
        table_at = data_at + len(data)
        at, table, bodies = table_at + 16 * len(features), b'', b''
        for number in sorted(features):
            table += self.pack('QQ', at, len(features[number]))
            bodies += features[number]
            at += len(features[number])
        bits = sum(1 << number for number in features)
        head = magic + self.pack('13Q', 104, 128, attrs_at, len(attrs), data_at, len(data), 0, 0, bits, 0, 0, 0, 0)[:96]
        self.places = {'header': 0, 'ids': 104, 'attrs': attrs_at, 'records': data_at, 'table': table_at, 'features': table_at + len(table)}
        return head + ids + attrs + data + table + bodies
