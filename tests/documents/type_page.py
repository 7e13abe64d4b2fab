# SPDX-License-Identifier: MIT
"""Types what a page of documentation shows, from its begin to its end, and compares what is printed with what the page shows.

usage: type_page.py PAGE.md [--variant WORD] [--rewrite] [--left-out FILE] [--replace WORD TEXT]...

This is the one way in which documents are checked. All commands of a page are run by one shell in the current directory.

    ```LANGUAGE FILE    the block is written to that file
    ```console          lines with "$ " are run; what they print on both streams is below each
    ```console exact    the same, and the comparison is exact
    ```sh               each line is run and must succeed; what it prints is not shown
    ```sh WORD          only for --variant WORD; the word "packages" marks what installs packages, which is left out

The line "<!-- only if: COMMAND -->" before a block skips the block where COMMAND fails.

What differs at each run is equal: times, dates, durations, numbers of processes, addresses (DIFFERS below). The line
"<!-- differs: REGEX -->" adds a pattern for the page. "…" stands for any text within a line, and as a line of its own for any lines.

A fence or an indented block that would be passed over is a fault, unless FILE of --left-out has a reason for it (left_out.py).
--replace types TEXT instead of WORD, where a page has an example of what the reader puts in (a process number).
--rewrite puts what is printed now into the page.
"""
import argparse
import os
import re
import runpy
import subprocess
import sys
import time

FENCE = re.compile(r'^(?:<!-- only if: (.*?) -->\n)?```(\w*)(?: (\S+))?\n(.*?)^```$', re.M | re.S)
INDENTED = re.compile(r'^\n(?:    |\t)\S.*', re.M)
OWN_PATTERN = re.compile(r'^<!-- differs: (.*) -->$', re.M)
MARK = '-- end of command'
READY_SECONDS = 60
DIFFERS = [  # and what replaces it
    (r'\d\d:\d\d:\d\d\.\d+', 'TIME'),
    (r'\d{4}-\d\d-\d\d', 'DATE'),
    (r'\+\d+\.\d{9}', '+DISTANCE'),
    (r'\b\d+(\.\d+)? (ns|us|µs|ms|s|min)\b', 'DURATION'),
    (r'\b([A-Za-z][\w.-]*)/\d+\b', r'\1/PID'),
    (r'\b(tid = |process |processes |thread |PID |pid )\d+', r'\1PID'),
    (r'0x[0-9a-f]{6,}', 'ADDRESS'),
    (r' +', ' '),
]


# The process or what it has started can be traced, or it has ended.
IS_READY = r"""family() { echo $1; for child in $(pgrep -P $1); do family $child; done; }
kymo list 2>&1 | grep -qE "^ *($(family $! | paste -sd '|')) " || ! kill -0 $!
"""
JOB_ENDED = re.compile(r'^bash: line \d+: +\d+ [A-Z].*\n', re.M)  # a shell's word about a process that a signal killed


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
                return JOB_ENDED.sub('', ''.join(lines)), int(status)
        sys.exit(f'not ok {command}: it ends the shell')

    def type(self, command):
        """The same. A user types slower than a program in the background needs until it can be traced."""
        result = self.run(command)
        if re.sub(r'\s+#.*', '', command).endswith('&'):
            for _ in range(READY_SECONDS * 10):
                if self.run(IS_READY)[1] == 0:
                    break
                time.sleep(0.1)
        return result

    def end(self):
        self.run("kill -9 $(jobs -p) 2>/dev/null; wait")


class Page:
    def __init__(self, path, variant, replaced, left_out):
        self.path, self.variant, self.shell = path, variant, Shell()
        self.replaced, self.left_out, self.used = replaced, left_out, set()
        with open(path, encoding='utf-8') as file:
            self.text = file.read()
        self.differs = [(pattern, 'DIFFERENT') for pattern in OWN_PATTERN.findall(self.text)] + DIFFERS

    def is_left_out(self, line):
        """Whether there is a reason not to type a block that begins with this line, or this line of one."""
        line = line.strip()
        if line not in self.left_out:
            return False
        self.used.add(line)
        print(f'left out, since {self.left_out[line]}: {line}')
        return True

    def typed(self, command):
        for word, text in self.replaced:
            command = command.replace(word, text)
        return self.shell.type(command)

    def alike(self, text):
        for pattern, name in self.differs:
            text = re.sub(pattern, name, text)
        return text

    def is_expected(self, printed, expected):
        pattern = re.escape(self.alike(expected))
        pattern = re.sub(r'(?m)^…\\?\n', r'(?:.*\\n)*', pattern).replace('…', '.*')
        return re.fullmatch(pattern, self.alike(printed)) is not None

    def type_console(self, text, is_exact):
        """The text of the fence with what the commands print."""
        out = []
        for command, expected in re.findall(r'^\$ (.*)\n((?:(?!\$ ).*\n)*)', text, re.M):
            printed, _ = self.typed(command)
            if printed == expected or not is_exact and self.is_expected(printed, expected):
                print(f'ok {command}')
                out.append(f'$ {command}\n{expected}')
            else:
                show(printed)
                print(f'not ok {command}: prints something else than the page shows')
                out.append(f'$ {command}\n{printed}')
        return ''.join(out)

    def type_lines(self, text):
        for command in text.splitlines():
            if self.is_left_out(command):
                continue
            printed, status = self.typed(command)
            if status == 0:
                print(f'ok {command}')
            else:
                show(printed)
                print(f'not ok {command}: exit status {status}')

    def type_fence(self, match):
        """The fence as it is in a rewritten page."""
        condition, language, word, text = match.groups()
        if language not in ('console', 'sh'):
            if word and os.path.basename(word) == word:
                with open(word, 'w', encoding='utf-8') as file:
                    file.write(text)
            elif not self.is_left_out(text.split('\n')[0]):
                print(f'not ok every fence is typed: ```{language} {word or ""}'.rstrip())
        elif word == 'packages':
            print(''.join(f'left out, since it installs packages: {line}\n' for line in text.splitlines()), end='')
        elif word not in (None, 'exact', self.variant):
            pass  # of another variant
        elif condition and self.shell.run(f'{{ {condition}; }} >/dev/null 2>&1')[1]:
            print(f'skip {text.splitlines()[0]}: only if: {condition}')
        elif language == 'console':
            return match[0].replace(text, self.type_console(text, word == 'exact'))
        else:
            self.type_lines(text)
        return match[0]

    def type_all(self):
        """The page with what is printed now."""
        written = FENCE.sub(self.type_fence, self.text)
        for block in INDENTED.findall(FENCE.sub('', self.text)):
            if not self.is_left_out(block):
                print(f'not ok every block is typed: {block.strip()}')
        for line in self.left_out:
            if line not in self.used:
                print(f'not ok the page has no such block or line to leave out: {line}')
        self.shell.end()
        return written


def show(text):
    print(''.join(f'    {line}\n' for line in text.splitlines()), end='')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('page')
    parser.add_argument('--variant')
    parser.add_argument('--rewrite', action='store_true')
    parser.add_argument('--left-out', metavar='FILE')
    parser.add_argument('--replace', nargs=2, action='append', default=[], metavar=('WORD', 'TEXT'))
    options = parser.parse_args()
    name = os.path.splitext(os.path.basename(options.page))[0]
    left_out = runpy.run_path(options.left_out)['LEFT_OUT'].get(name, {}) if options.left_out else {}
    written = Page(options.page, options.variant, options.replace, left_out).type_all()
    if options.rewrite:
        with open(options.page, 'w', encoding='utf-8') as file:
            file.write(written)


main()
