# SPDX-License-Identifier: MIT
"""Rules over the text of our sources. Prints a line for each rule, and the places that break it."""
import re
import sys
from pathlib import Path

FILE_LINES, FUNCTION_LINES, COLUMNS = 1000, 100, 110
BANNED = r'\b(gets|strcpy|strcat|sprintf|vsprintf|strtok|atoi|atol|atoll|alloca|tmpnam|mktemp|regcomp|regexec|fnmatch)\s*\('
MARKER = r'\b(TODO|FIXME|XXX|HACK)\b'
AVOIDED = (r'\b(behind|in\s+front\s+of|tells?|told|telling|whoever|borders?|mend(s|ed|ing)?|hostile|hung\s+up|purse|scouts?'
           r'|at\s+hand|nobody|somebody|no\s+good|come\s+along|so\s+many|laid\s+down|lays\s+down)\b') # see ARCHITECTURE.md
EXPECTED = r'/\* expect: |\s*/\* = |\s*//= ' # what a compiler or a trace must say
LEFT_OUT = {'build', 'node_modules', '.git', 'expected'} # expected: what tools print


def sources(top):
    for folder in ('include', 'src', 'bindings', 'tests', 'bench', 'examples', 'fuzz'):
        for path in sorted((top / folder).rglob('*')):
            if path.suffix in ('.c', '.h', '.cc', '.cpp') and not LEFT_OUT & set(path.relative_to(top).parts):
                yield path


def without_texts_and_comments(text):
    """The same lines, with comments, strings and characters blanked."""
    def blank(match):
        return re.sub(r'[^\n]', ' ', match[0])
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def long_functions(code):
    """(first line, length) of each function over the limit: from a line that ends in "{" at column 0 to "}"."""
    start = None
    for number, line in enumerate(code.splitlines(), 1):
        if start is None and re.match(r'[A-Za-z_].*\)\s*\{\s*$', line):
            start = number
        elif start and line.startswith('}'):
            if number - start + 1 > FUNCTION_LINES:
                yield start, number - start + 1
            start = None


def avoided(text):
    """(line, word) of each word in a comment that the vocabulary replaces."""
    for comment in re.finditer(r'/\*(?! expect: ).*?\*/', text, flags=re.S):
        words = re.sub(r'(?<=\n)(\s*)\*', r'\1 ', comment[0])
        words = re.sub(r'`[^`\n]*`', lambda name: ' ' * len(name[0]), words) # names of the code
        for word in re.finditer(AVOIDED, words, flags=re.I):
            yield text.count('\n', 0, comment.start() + word.start()) + 1, ' '.join(word[0].split())


def scripts(top):
    for folder in ('bindings', 'tests', 'bench', 'fuzz', 'examples', 'scripts'):
        for path in sorted((top / folder).rglob('*')):
            is_one = path.suffix in ('.sh', '.py') or path.name == 'run'
            if is_one and path.is_file() and not LEFT_OUT & set(path.relative_to(top).parts) and path.parent.name not in ('words', 'style'):
                yield path


def avoided_in_script(text):
    """(line, word) of each such word in a comment or first line of a docstring, or in the name of a case."""
    for number, line in enumerate(text.splitlines(), 1):
        said = re.match(r"""\s*(?:\[.*(?:\|\||&&) )?(?:check|skip)\(?\s*(["'])(.*?)\1""", line)
        comment = re.search(r'(?:^|\s)# (.*)|"""(.*)', line)
        for part in (said[2] if said else '', ' '.join(filter(None, comment.groups())) if comment else ''):
            for word in re.finditer(AVOIDED, re.sub(r'`[^`]*`|"[^"]*"', ' ', part), flags=re.I):
                yield number, ' '.join(word[0].split())


def unlisted(top):
    """C files under src that no meson.build lists."""
    listed = set()
    for build in (top / 'src').rglob('meson.build'):
        listed |= {build.parent / name for name in re.findall(r"'([^']+\.c)'", build.read_text())}
    return [path for path in (top / 'src').rglob('*.c') if path not in listed]


def main(top):
    broken = {rule: [] for rule in (
        'every C file names its licence first', f'no file has more than {FILE_LINES} lines',
        f'no function has more than {FUNCTION_LINES} lines', 'no function that cannot be used safely is called',
        'no work is left marked in the code', 'every C file under src is in a build list',
        'every public header is installed', 'no line ends in blanks or holds a tab',
        f'no line has more than {COLUMNS} columns', 'no comment and no name of a case has a word that the vocabulary replaces')}
    licence, file_size, function_size, banned, marked, listed, installed, blanks, columns, plain = broken
    for path in sources(top):
        text, name = path.read_text(), path.relative_to(top)
        code, lines = without_texts_and_comments(text), text.splitlines()
        if not lines or 'SPDX-License-Identifier: MIT' not in lines[0]:
            broken[licence].append(f'{name}:1')
        if len(lines) > FILE_LINES:
            broken[file_size].append(f'{name}: {len(lines)} lines')
        broken[function_size] += [f'{name}:{line}: {length} lines' for line, length in long_functions(code)]
        for number, line in enumerate(code.splitlines(), 1):
            if match := re.search(BANNED, line):
                broken[banned].append(f'{name}:{number}: {match[1]}')
        for number, line in enumerate(lines, 1):
            if re.search(MARKER, line):
                broken[marked].append(f'{name}:{number}: {line.strip()}')
            if re.search(r'[ \t]$|\t', line):
                broken[blanks].append(f'{name}:{number}')
            if len(line) > COLUMNS and not re.match(EXPECTED, line):
                broken[columns].append(f'{name}:{number}: {len(line)} columns')
        broken[plain] += [f'{name}:{line}: {word}' for line, word in avoided(text)]
    for path in scripts(top):
        broken[plain] += [f'{path.relative_to(top)}:{line}: {word}' for line, word in avoided_in_script(path.read_text())]
    broken[listed] = [str(path.relative_to(top)) for path in unlisted(top)]
    headers = (top / 'include/kymo/meson.build').read_text()
    broken[installed] = [path.name for path in (top / 'include/kymo').glob('*.h') if f"'{path.name}'" not in headers]
    for rule, places in broken.items():
        for place in places:
            print(f'    {place}')
        print(f'not ok {rule}: {len(places)} do not hold' if places else f'ok {rule}')


main(Path(sys.argv[1]))
