# SPDX-License-Identifier: MIT
"""Runs suites of its own through the functions of tests/run."""
import contextlib
import io
import re
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path

source, scratch = Path(sys.argv[1]), Path(sys.argv[2])
run = SourceFileLoader('run', str(source / 'tests/run')).load_module()
run.SOURCE = scratch

REASON = 'the clock of this machine jumps'
FAILS_ONCE = 'if [ -e {0} ]; then echo ok case; else touch {0}; echo not ok case: too early; fi'
SUITES = {
    'steady': 'echo ok case',
    'once': FAILS_ONCE.format(scratch / 'seen-once'),
    'always': 'echo not ok case: wrong',
    'finding': 'echo runtime error: overflow; ' + FAILS_ONCE.format(scratch / 'seen-finding'),
}


def result(name, text, listed=()):
    """Status and text of a run of one suite."""
    for seen in scratch.glob('seen-*'):
        seen.unlink()
    folder = scratch / 'tests' / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / 'run.sh').write_text(text + '\n')
    report, out = run.Report(False, set(listed)), io.StringIO()
    with contextlib.redirect_stdout(out):
        run.run_rung('plain', scratch, re.compile(f'^{name}$'), report, 2)
        status = run.summary(report)
    return status, out.getvalue()


def check(what, holds, shown=''):
    print(f'ok {what}' if holds else f'not ok {what}: {shown}')


def refused(line):
    try:
        return str(run.listed_unsteady(line, '2026-11-23'))
    except ValueError as error:
        return str(error)


(scratch / 'tests/unit').mkdir(parents=True)
for name, status, words in (('steady', 0, '1 passed, 0 failed, 0 skipped\n'), ('always', 1, 'FAILED always: case: wrong'),
                            ('once', 1, 'UNSTEADY once: case: too early\n1 passed, 0 failed, 0 skipped, 1 UNSTEADY\n'),
                            ('finding', 1, 'FAILED finding: case: too early')):
    got = result(name, SUITES[name])
    check(f'a suite that is "{name}" ends with {status}', got[0] == status and words in got[1], got)
run.SILENT_SECONDS = 6
got = result('slow', 'for i in 1 2 3 4 5 6 7 8; do sleep 1; echo ok $i; done')
check('a suite may take longer than one that hangs is waited for', got[0] == 0 and '8 passed' in got[1], got)
got = result('hangs', 'echo ok case; sleep 1000')
check('a suite that hangs is ended, and what it printed counts', got[0] == 1 and 'FAILED hangs: printed nothing for 6 s' in got[1] and '1 passed' in got[1], got)
got = result('once', SUITES['once'], [('once', 'case')])
check('what is listed does not fail the run', got[0] == 0 and '(listed in tests/unsteady)' in got[1], got)
got = result('once', SUITES['once'], [('once', 'cas'), ('always', 'case')])
check('what is listed excuses no other case', got[0] == 1, got)
got = refused(f'# comment\n\nonce: a: b; until 2026-11-23; {REASON}')
check('a line names suite, case, day and reason', got == str({('once', 'a: b')}), got)
for line, words in ((f'once; until 2026-12-01; {REASON}', 'tests/unsteady:1: expected'), ('once: a; until 2026-12-01; flaky', 'expected'),
                    (f'once: a; until 2026-11-22; {REASON}', 'was to be repaired until 2026-11-22')):
    check(f'"{line}" is refused', words in refused(line), refused(line))
