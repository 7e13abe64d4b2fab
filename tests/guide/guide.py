# SPDX-License-Identifier: MIT
"""Does what a guide says, from its begin to its end, and holds what comes out against what it shows.

usage: guide.py GUIDE.md [--rewrite]

A fence of "```LANGUAGE FILE" is written to that file; in "```console" the lines with "$ " are run by one shell, in the current
directory, and what they print on both streams stands below. --rewrite puts what they print now into the guide.
"""
import os
import re
import subprocess
import sys

FENCE = re.compile(r'^```(\w+)(?: (\S+))?\n(.*?)^```$', re.M | re.S)
MARK = '-- end of command'


class Shell:
    def __init__(self):
        self.process = subprocess.Popen(['bash'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)

    def run(self, command):
        """What the command prints."""
        self.process.stdin.write(f'{{ {command}\n}} </dev/null\necho "{MARK}"\n')
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            head, found, _ = line.rpartition(MARK)
            lines.append(head if found else line)
            if found:
                return ''.join(lines)
        sys.exit(f'not ok {command}: it ends the shell')


def run_console(shell, text):
    """The text of the fence with what the commands print."""
    out = []
    for command, expected in re.findall(r'^\$ (.*)\n((?:(?!\$ ).*\n)*)', text, re.M):
        printed = shell.run(command)
        out.append(f'$ {command}\n{printed}')
        if printed == expected:
            print(f'ok {command}')
        else:
            print(''.join(f'    {line}\n' for line in printed.splitlines()), end='')
            print(f'not ok {command}: prints something else than the guide shows')
    return ''.join(out)


def main():
    path, rewrite = sys.argv[1], '--rewrite' in sys.argv
    with open(path, encoding='utf-8') as file:
        guide = file.read()
    shell = Shell()

    def do(match):
        language, name, text = match.groups()
        if name and os.path.basename(name) == name:
            with open(name, 'w', encoding='utf-8') as file:
                file.write(text)
        elif language == 'console':
            return f'```console\n{run_console(shell, text)}```'
        return match[0]

    written = FENCE.sub(do, guide)
    if rewrite:
        with open(path, 'w', encoding='utf-8') as file:
            file.write(written)


main()
