# SPDX-License-Identifier: MIT
#
# Writes trace.dat, versions 6 and 7, by the manual pages trace-cmd.dat.v6(5) and v7(5) and by the kernel's
# ring-buffer documentation alone: the tests compare what kymo and trace-cmd read with what was written here.
import struct
import zlib

LOST, LOST_STORED = 1 << 31, 1 << 30


class Page:
    """A page of the ring buffer: records with the time since the record before."""

    def __init__(self, file, time, lost=None):
        self.file, self.time, self.lost, self.data = file, time, lost, b''

    def word(self, kind, delta):
        assert delta < 1 << 27
        return self.file.pack('I', kind << 27 | delta if self.file.is_big else delta << 5 | kind)

    def record(self, delta, data, counted=False):
        """Data of a record; `counted`: with its size in the word after the first."""
        data += bytes(-len(data) % 4)
        if delta >= 1 << 27:
            self.extend(delta)
            delta = 0
        if counted or len(data) > 28 * 4 or not data:
            self.data += self.word(0, delta) + self.file.pack('I', len(data) + 4) + data
        else:
            self.data += self.word(len(data) // 4, delta) + data
        return self

    def extend(self, delta):
        self.data += self.word(30, delta & (1 << 27) - 1) + self.file.pack('I', delta >> 27)
        return self

    def stamp(self, time):
        self.data += self.word(31, time & (1 << 27) - 1) + self.file.pack('I', time >> 27 & 0xffffffff)
        return self

    def discarded(self, delta, size):
        """A record that was taken back: its bytes are still there."""
        self.data += self.word(29, delta) + self.file.pack('I', size) + b'\xee' * (size - 4)
        return self

    def padding(self, size):
        """The end of a page that no record fits into."""
        self.data += self.word(29, 0) + b'\xdd' * (size - 4)
        return self

    def bytes(self):
        commit, tail = len(self.data), b''
        if self.lost is not None:
            commit |= LOST
            if self.lost:
                commit |= LOST_STORED
                tail = self.file.long(self.lost)
        page = self.file.pack('Q', self.time) + self.file.long(commit) + self.data + tail
        assert len(page) <= self.file.page_size, len(page)
        return page + bytes(self.file.page_size - len(page))


class File:
    def __init__(self, is_big=False, long_size=8, page_size=4096, version=6, packing='none'):
        self.is_big, self.long_size, self.page_size = is_big, long_size, page_size
        self.version, self.packing = version, packing
        self.ftrace, self.groups = [], {}
        self.kallsyms = self.printk = self.cmdlines = ''
        self.options = []  # (id, bytes)
        self.buffers = []  # (name, clock, {cpu: [page, …]}); the first one is the top buffer
        self.places = {}  # where each section begins, after writing

    def pack(self, format, *values):
        return struct.pack(('>' if self.is_big else '<') + format, *values)

    def long(self, value):
        return self.pack('Q' if self.long_size == 8 else 'I', value)

    def page(self, time, lost=None):
        return Page(self, time, lost)

    # ---- sections ----

    def header_info(self):
        size, start = self.long_size, 8 + self.long_size
        page = (f'\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n'
                f'\tfield: local_t commit;\toffset:8;\tsize:{size};\tsigned:1;\n'
                f'\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n'
                f'\tfield: char data;\toffset:{start};\tsize:{self.page_size - start};\tsigned:0;\n').encode()
        event = b'# compressed entry header\n\ttype_len    :    5 bits\n'
        return (b'header_page\0' + self.pack('Q', len(page)) + page + b'header_event\0' +
                self.pack('Q', len(event)) + event)

    def formats(self, texts):
        return b''.join(self.pack('Q', len(text.encode())) + text.encode() for text in texts)

    def ftrace_formats(self):
        return self.pack('I', len(self.ftrace)) + self.formats(self.ftrace)

    def event_formats(self):
        out = self.pack('I', len(self.groups))
        for name, texts in self.groups.items():
            out += name.encode() + b'\0' + self.pack('I', len(texts)) + self.formats(texts)
        return out

    def text(self, text, size='I'):
        return self.pack(size, len(text.encode())) + text.encode()

    def begin(self):
        return (b'\x17\x08\x44tracing' + str(self.version).encode() + b'\0' +
                bytes([self.is_big, self.long_size]) + self.pack('I', self.page_size))

    # ---- version 6 ----

    def cpu_count(self):
        return max([cpu for _, _, cpus in self.buffers for cpu in cpus], default=0) + 1

    def write6(self):
        out = self.begin()
        for name, section in (('header', self.header_info()), ('ftrace', self.ftrace_formats()),
                              ('events', self.event_formats()), ('kallsyms', self.text(self.kallsyms)),
                              ('printk', self.text(self.printk)), ('cmdlines', self.text(self.cmdlines, 'Q'))):
            self.places[name] = len(out)
            out += section
        count = self.cpu_count()
        self.places['cpus'] = len(out)
        out += self.pack('I', count)
        if self.options:
            self.places['options'] = len(out)
            out += b'options  \0'
            out += b''.join(self.pack('HI', id, len(data)) + data for id, data in self.options)
            out += self.pack('H', 0)
        self.places['table'] = len(out)
        out += b'flyrecord\0'
        table, at = b'', len(out) + 16 * count
        at += -at % self.page_size
        data = b''
        cpus = self.buffers[0][2] if self.buffers else {}
        for cpu in range(count):
            pages = b''.join(page.bytes() for page in cpus.get(cpu, []))
            table += self.pack('QQ', at + len(data), len(pages))
            data += pages
        out += table
        out += bytes(at - len(out))
        self.places['pages'] = len(out)
        return out + data

    # ---- version 7 ----

    def pack_bytes(self, data):
        if self.packing == 'zlib':
            return zlib.compress(data)
        # a frame of zstd whose blocks are not compressed
        out = b'\x28\xb5\x2f\xfd' + bytes([0xe0]) + struct.pack('<Q', len(data))
        pieces = [data[i:i + 65536] for i in range(0, len(data), 65536)] or [b'']
        for i, piece in enumerate(pieces):
            header = len(piece) << 3 | (i + 1 == len(pieces))
            out += header.to_bytes(3, 'little') + piece
        return out

    def section(self, id, data, is_pages=False):
        is_packed = self.packing != 'none'
        if is_packed and not is_pages and id != 0:
            packed = self.pack_bytes(data)
            data = self.pack('II', len(packed), len(data)) + packed
        flags = int(is_packed and id != 0)
        return self.pack('HHIQ', id, flags, 0, len(data)) + data

    def packed_pages(self, pages):
        """Pieces of two pages each. Their size does not count the number of pieces."""
        data = b''.join(page.bytes() for page in pages)
        step = 2 * self.page_size
        pieces = [data[i:i + step] for i in range(0, len(data), step)]
        out = b''
        for piece in pieces:
            packed = self.pack_bytes(piece)
            out += self.pack('II', len(packed), len(piece)) + packed
        return self.pack('I', len(pieces)) + out, len(out)

    def buffer(self, at, name, clock, cpus):
        """The section of a buffer that begins at `at`, and the option that describes it."""
        data, table = b'', b''
        for cpu, pages in sorted(cpus.items()):
            place = at + 16 + len(data)
            data += bytes(-place % self.page_size)
            place += -place % self.page_size
            if self.packing == 'none':
                bytes_ = b''.join(page.bytes() for page in pages)
                size = len(bytes_)
            else:
                bytes_, size = self.packed_pages(pages)
            data += bytes_
            table += self.pack('IQQ', cpu, place, size)
        option = (self.pack('Q', at) + name.encode() + b'\0' + clock.encode() + b'\0' +
                  self.pack('II', self.page_size, len(cpus)) + table)
        return self.section(3, data, True), option

    def write7(self):
        out = self.begin() + self.packing.encode() + b'\0' + b'1.0\0'
        place_of_first = len(out)
        out += self.pack('Q', 0)
        options = list(self.options)
        for name, id, section in (('header', 16, self.header_info()), ('ftrace', 17, self.ftrace_formats()),
                                  ('events', 18, self.event_formats()), ('kallsyms', 19, self.text(self.kallsyms)),
                                  ('printk', 20, self.text(self.printk)), ('cmdlines', 21, self.text(self.cmdlines, 'Q'))):
            self.places[name] = len(out)
            options.append((id, self.pack('Q', len(out))))
            out += self.section(id, section)
        options.append((8, self.pack('I', self.cpu_count())))
        for name, clock, cpus in self.buffers:
            self.places['pages' + name] = len(out)
            section, option = self.buffer(len(out), name, clock, cpus)
            options.append((3, option))
            out += section
        # two sections of options, of which the first leads to the second
        half = len(options) // 2
        data = b''.join(self.pack('HI', id, len(bytes_)) + bytes_ for id, bytes_ in options[:half])
        first = len(out)
        second = first + 16 + len(data) + 14
        self.places['options'] = first
        out += self.section(0, data + self.pack('HIQ', 0, 8, second))
        data = b''.join(self.pack('HI', id, len(bytes_)) + bytes_ for id, bytes_ in options[half:])
        self.places['more options'] = second
        out += self.section(0, data + self.pack('HIQ', 0, 8, 0))
        return out[:place_of_first] + self.pack('Q', first) + out[place_of_first + 8:]

    def bytes(self):
        return self.write6() if self.version == 6 else self.write7()


# ---- formats ----

COMMON = '''format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

'''


def format(name, id, fields, print_fmt):
    """A format file; fields: (declaration, offset, size, signed)."""
    text = f'name: {name}\nID: {id}\n{COMMON}'
    for declaration, offset, size, signed in fields:
        text += f'\tfield:{declaration};\toffset:{offset};\tsize:{size};\tsigned:{int(signed)};\n'
    return text + f'\nprint fmt: {print_fmt}\n'
