# SPDX-License-Identifier: MIT
"""Does what a page of documentation says, from its begin to its end, and compares what is printed with what it shows.

usage: guide.py PAGE.md [--variant WORD] [--alike] [--strict] [--rewrite]

A fence of "```LANGUAGE FILE" is written to that file. In "```console" the lines with "$ " are run by one shell, in the current
directory, and what they print on both streams is below. In "```sh" each line is run and must succeed; what it prints is not shown.

"```console WORD" and "```sh WORD" are done for --variant WORD only. The word "packages" marks what installs packages: it is left
out. With --strict, a fence or an indented block that would be passed over is a fault. --alike takes times, process ids and other
numbers that differ each time for equal, and "…" for any text up to the end of the line. --rewrite puts what is printed now into the page.
"""
import argparse
import os
import re
import subprocess
import sys

FENCE = re.compile(r'^```(\w*)(?: (\S+))?\n(.*?)^```$', re.M | re.S)
INDENTED = re.compile(r'^\n(?:    |\t)\S.*', re.M)
MARK = '-- end of command'
READY_SECONDS = 60
ALIKE = [  # what differs each time, and what replaces it
    (r'\d\d:\d\d:\d\d\.\d+', 'TIME'),
    (r'\d{4}-\d\d-\d\d', 'DATE'),
    (r'\+\d+\.\d{9}', '+DISTANCE'),
    (r'\b\d+(\.\d+)? (ns|us|µs|ms|s)\b', 'DURATION'),
    (r'\b(app|types)/\d+', r'\1/PID'),
    (r'\btid = \d+', 'tid = PID'),
    (r' +', ' '),
]


class Shell:
    def __init__(self):
        self.process = subprocess.Popen(['bash'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)

    def run(self, command):
        """What the command prints, and its exit status."""
        self.process.stdin.write(f'{{ {command}\n}} </dev/null\necho "{MARK} $?"\n')
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            head, found, status = line.rpartition(MARK)
            lines.append(head if found else line)
            if found:
                return ''.join(lines), int(status)
        sys.exit(f'not ok {command}: it ends the shell')

    def wait_for_background(self):
        """A user types slower than a program needs until it can be traced."""
        self.run(f'for i in $(seq {READY_SECONDS * 10}); do kymo list 2>&1 | grep -q "^ *$! " && break; sleep 0.1; done')


def alike(text):
    for pattern, name in ALIKE:
        text = re.sub(pattern, name, text)
    return text


def is_expected(printed, expected, options):
    if not options.alike:
        return printed == expected
    pattern = re.escape(alike(expected)).replace('…', '.*')
    return re.fullmatch(pattern, alike(printed)) is not None


def show(text):
    print(''.join(f'    {line}\n' for line in text.splitlines()), end='')


def run_console(shell, text, options):
    """The text of the fence with what the commands print."""
    out = []
    for command, expected in re.findall(r'^\$ (.*)\n((?:(?!\$ ).*\n)*)', text, re.M):
        printed, _ = shell.run(command)
        if is_expected(printed, expected, options):
            print(f'ok {command}')
            out.append(f'$ {command}\n{expected}')
        else:
            show(printed)
            print(f'not ok {command}: prints something else than the page shows')
            out.append(f'$ {command}\n{printed}')
    return ''.join(out)


def run_lines(shell, text):
    for command in text.splitlines():
        printed, status = shell.run(command)
        if status == 0:
            print(f'ok {command}')
        else:
            show(printed)
            print(f'not ok {command}: exit status {status}')
        if re.sub(r'\s+#.*', '', command).endswith('&'):
            shell.wait_for_background()


def read_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument('page')
    parser.add_argument('--variant', default='')
    for option in ['alike', 'strict', 'rewrite']:
        parser.add_argument('--' + option, action='store_true')
    return parser.parse_args()


def main():
    options = read_arguments()
    with open(options.page, encoding='utf-8') as file:
        page = file.read()
    shell = Shell()

    def do(match):
        language, word, text = match.groups()
        is_typed = language in ('console', 'sh')
        if is_typed and word == 'packages':
            print(''.join(f'left out, since it installs packages: {line}\n' for line in text.splitlines()), end='')
        elif is_typed and word and word != options.variant:
            pass  # of another variant
        elif language == 'console':
            return match[0].replace(text, run_console(shell, text, options))
        elif language == 'sh':
            run_lines(shell, text)
        elif word and os.path.basename(word) == word:
            with open(word, 'w', encoding='utf-8') as file:
                file.write(text)
        elif options.strict:
            print(f'not ok every fence is typed: {match[0].splitlines()[0]}')
        return match[0]

    written = FENCE.sub(do, page)
    if options.strict:
        for block in INDENTED.findall(FENCE.sub('', page)):
            print(f'not ok every block is typed: {block.strip()}')
    if options.rewrite:
        with open(options.page, 'w', encoding='utf-8') as file:
            file.write(written)


main()
