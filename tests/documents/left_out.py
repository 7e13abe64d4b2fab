# SPDX-License-Identifier: MIT
"""What tests/documents does not type of the pages of reference, and why: by page, the first line of a block, or a line of commands.
A block or line that is neither typed nor here is a fault, and so is an entry without a block."""
UNTIL_KEY = 'it runs until Ctrl-C is pressed'
PART = 'it is a part of a program'
BYTES = 'it shows bytes'
PRINTED = 'it shows one line of an output that other suites compare'
DESCRIBED = 'tests/tdl compiles it'
OWN_SINK = 'the reader writes mine.so, and tests/plugins has such sinks'
GRAMMAR = 'it is the grammar'
BUILT = 'tests/pkgconfig and tests/subproject build by these files'

LEFT_OUT = {
    'bprintf': {
        'struct kymo_log *log = kymo_log_open("/tmp/log", NULL);': PART,
        '07            kind': BYTES,
        'struct kymo_bevent event;': PART,
        'struct kymo_log_options options = {.is_framed = true};': PART,
        'log:bytes length = 8, bytes = <07 00 00 00 00 08 00 00> | sequence = 0, thread = 0': 'tests/frames prints such lines',
        'struct kymo_definition *read = kymo_definition_new(log, "read", NULL);': PART,
        '<0> read: id: 1, timeval: 1142896381.115226, tgid: 13495, name: read, fd: 3, count: 8192,': 'tests/define prints such lines',
        '00 00 00 00 00 00 06 00  01 00 00 00 04 00 00 00  72 65 61 64': BYTES,
    },
    'cookbook': {'[22:49:08.203310853] +0.000000070 turn/12130 app:turn_begin i = 1': 'only a busy machine has such a turn'},
    'converting': {
        'read      packet context: cpu_id, tid …     common context: vpid, procname …     payload': 'it is a table',
        'import pyarrow': 'Debian has no pyarrow; tests/arrow reads such files by another library',
    },
    'cpel': {
        'FileStrtab   names and formats      string table': 'it is a table',
        '#define EV_NET_START 100  /* pointdefs: net_points.h */    the codes of that header begin with 100': 'tests/gist reads such headers',
    },
    'json': {
        '{"ts":1795269785123456789,"event":"net:rx","tid":4711,"thread":"worker","cpu":1,"fields":{"port":80,"state":{"value":1,"label":"OPEN"}},"context":{"vpid":4700}}': PRINTED,
        '{"lost":{"what":"events","count":12,"begin":1795269785123456789,"end":1795269785200000000,"stream":"mytrace/stream_0"}}': PRINTED,
    },
    'python': {},
    'queries': {'kymo convert mytrace --to clickhouse -o http://server:8123/traces': 'tests/clickhouse sends to a server'},
    'reading': {'#include <inttypes.h>': 'tests/examples compiles and runs it'},
    'recording': {
        '# meson.build': BUILT,
        '# subprojects/kymo.wrap': BUILT,
        'find_package(kymo REQUIRED)': BUILT,
        'kymo record -p 1234 -e net      # until Ctrl-C; then the process is as it was': UNTIL_KEY,
        'kymo stat 1234                  # events/s, lost, buffer use': 'it runs until the process ends',
        'KYMO_EVENT(net, rx, KYMO_ARGS(const struct packet *p, const char *ifname), KYMO_LEVEL(debug),': PART,
        'kymo-clocks 1': 'it is the form of a file',
        'KYMO_PRINTF(log, note, "got %u bytes from %s", n, host);': PART,
        '[14:03:05.123456789] +0.000001234 worker/4711 log:note "got 5 bytes from x"': PRINTED,
        'kymo-modules 1': 'it is the form of a file',
        """kymo cat --filter 'EVENT LIKE "libc:pthread_mutex_*lock" AND mutex = 0x55…' trace | tail -1    # who took it last""":
            'the address is one that the command before printed',
        'struct point { int x, y; };': PART,
        'KYMO(net, move, KYMO_STRUCT(where, struct point, &p), KYMO_ENUM(state, enum state, s));': PART,
    },
    'registry': {
        'registry 1.0;': 'tests/registry compiles the one text and the other is its form',
        '00000000  52 59 4b a7              magic number a74b5952: little-endian': 'tests/registry compares it with what the text compiles to',
    },
    'sinks': {
        'kymo cat TRACE --sink ./mine.so             # prints, or does anything else with the events': OWN_SINK,
        'kymo cat TRACE --sink ./mine.so:key=value   # the sink reads what follows the colon': OWN_SINK,
        'kymo cat --follow TRACE --sink ./mine.so    # while the trace is written, if the sink has flush and grow': OWN_SINK,
        'kymo convert TRACE --sink ./mine.so -o OUT  # a sink with .makes_files': OWN_SINK,
    },
    'tdl': {
        'TRACE logger VERSION 7;': DESCRIBED,
        'TRACE archive;': DESCRIBED,
        'TRACE boxes;': DESCRIBED,
        'TRACE styles;': DESCRIBED,
        'TRACE journeys;': DESCRIBED,
        'TRACE numbered;': DESCRIBED,
        'TRACE packed;': DESCRIBED,
        'trace   = TRACE name [VERSION num] ";" {declaration ";"} LAYOUT layout END TRACE "."': GRAMMAR,
        'filter = FILTER name [FOR name] [OVER ALL] ";" {definition ";"} SELECT expr [FIRST num] "."': GRAMMAR,
    },
    'viewing': {
        'kymo cat --follow /tmp/demo-trace                 # while it is being written, until Ctrl-C': UNTIL_KEY,
        '[22:13:20.000002000] +0.000001000 @1 syscall_entry_openat dfd = AT_FDCWD, filename = "out", flags = O_WRONLY|O_CREAT|O_CLOEXEC, mode = 0644': PRINTED,
        'offset_seconds × 10⁹ + ⌊10⁹ × offset_cycles / frequency⌋ + ⌊10⁹ × value / frequency⌋': 'it is a formula',
    },
}
