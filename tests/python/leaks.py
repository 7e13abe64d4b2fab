#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""For LeakSanitizer: uses all that allocates memory, also what fails in the middle, and ends. With --leak it leaks on purpose.

    leaks.py [--leak] ONE SAMPLE DAMAGED
"""
import ctypes
import gc
import sys
import warnings

import kymo
import arrow_check

ONE, SAMPLE, DAMAGED = sys.argv[-3:]
warnings.simplefilter('ignore')
for _ in range(3):
    trace = kymo.open(ONE)
    list(trace)
    next(iter(trace))
    list(kymo.open(ONE, filter='port = 80'))
    list(kymo.open(SAMPLE))
    try:
        list(kymo.open(DAMAGED))
    except kymo.Damage:
        pass
    for words in {'filter': 'prot = 1'}, {'begin': 'nonsense'}, {'format': 'nothing'}, {'description': 'absent'}:
        try:
            kymo.open(ONE, **words)
        except kymo.Error:
            pass
    arrow_check.read(trace.arrow('net:rx'))
    arrow_check.read(trace.arrow())
    arrow_check.read(kymo.open(SAMPLE).arrow('all:kinds'))
    trace.arrow('net:rx').__arrow_c_stream__()
    trace.arrow().__arrow_c_schema__()
    trace.close()
    gc.collect()
if '--leak' in sys.argv:
    new = ctypes.CDLL(kymo._kymo.library).kymo_walk_new
    new.restype = ctypes.c_void_p
    new()
print('the end')
