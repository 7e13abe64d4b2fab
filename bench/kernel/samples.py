# SPDX-License-Identifier: MIT
"""A perf.data of two CPUs for bench/kernel: samples of cpu-clock and sched_switch, with a round after each block of both CPUs."""
import struct
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / 'tests/perf'))
import perf_data  # noqa: E402

BLOCK = 500  # records of a CPU


def generate(path, events, formats, switch):
    """Writes about that many events; `formats` is the head of a trace.dat with its formats, `switch` makes the record of a sched_switch.
    Returns their number."""
    file = perf_data.File()
    base = perf_data.IP | perf_data.TID | perf_data.TIME | perf_data.CPU | perf_data.PERIOD | perf_data.IDENTIFIER
    file.features = {1: formats}
    file.attr('cpu-clock', base, [11, 12])
    file.attr('sched:sched_switch', base | perf_data.RAW, [21, 22], type=2, config=300)
    for pid in range(100, 108):
        file.comm(pid, pid, f'worker-{pid}', False, dict(pid=pid, tid=pid, time=0, cpu=0))
    first = len(file.records)
    block, times = bytearray(), []  # one of both CPUs, and where its times are
    for cpu in range(2):
        for number in range(BLOCK):
            pid = 100 + number % 8
            kind = number % 2
            body = struct.pack('<QQiiQIIQ', (11, 21)[kind] + cpu, 0xffffffff81000000 + number, pid, pid, 0, cpu, 0, 1)
            if kind:
                raw = switch(number)
                raw += bytes(-(len(raw) + 4) % 8)
                body += struct.pack('<I', len(raw)) + raw
            times.append((len(block) + 8 + 24, number * 1000 + cpu * 500))
            block += struct.pack('<IHH', perf_data.SAMPLE, perf_data.KERNEL, 8 + len(body)) + body
    block += struct.pack('<IHH', perf_data.ROUND, 0, 8)
    repeats = max(events // len(times), 1)
    file.records.append(bytes(block) * repeats)
    whole = bytearray(file.bytes())
    at = file.places['records'] + sum(map(len, file.records[:first]))
    for repeat in range(repeats):
        for place, time in times:
            struct.pack_into('<Q', whole, at + place, 10 ** 9 + repeat * BLOCK * 1000 + time)
        at += len(block)
    Path(path).write_bytes(whole)
    return repeats * len(times)
