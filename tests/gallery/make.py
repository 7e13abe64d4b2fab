#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the gallery of descriptions, docs/gallery.html:  make.py KYMO SOURCE OUT

For each description of descriptions/ what it says of itself, and a record of a small file (samples.py), as kymo explain --format html shows it. The
style is that of the workbench. Files are made in the current folder."""
import html
import subprocess
import sys
from pathlib import Path

import samples

HEAD = '''<!DOCTYPE html>
<!-- SPDX-License-Identifier: MIT -->
<!-- Made by tests/gallery/make.py; the suite gallery compares. -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Descriptions of kymo</title>
<style>
{style}body {{ display: block; max-width: 1000px; margin: 0 auto; padding: 0 12px 24px; height: auto; }}
h2 {{ font-size: 18px; margin: 24px 0 4px; }}
figure {{ margin: 8px 0; padding: 8px; border: 1px solid var(--line); overflow-x: auto; }}
a {{ color: var(--ring); }}
.kymo-record .node {{ cursor: auto; }}
</style>
</head>
<body>
<div role="main">
<h1>Descriptions of kymo</h1>
<p>These descriptions are installed with kymo: it finds the right one by the bytes of a file. Each picture is one record of a small file that a
test makes, as <code>kymo explain --format html</code> shows it: its bytes, and its fields with the lines of the description that read them. Bytes in a
dashed frame are in no field. <code>kymo explain --html</code> makes such a page of any described file, with the description beside it;
<a href="tdl.md">tdl.md</a> is the language.</p>
'''


def about(text):
    """The first comment of a description, without the licence."""
    words = []
    for line in text.splitlines():
        if not line.startswith('--'):
            break
        words.append(line[2:].strip())
    return ' '.join(word for word in words if not word.startswith('SPDX-'))


def main():
    kymo, source, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    page = [HEAD.format(style=(source / 'src/tool/workbench/page.css').read_text())]
    for path in sorted((source / 'descriptions').glob('*.tdl')):
        name = path.stem
        sample = Path(f'{name}.sample')
        sample.write_bytes(getattr(samples, name)())
        done = subprocess.run([kymo, 'explain', '--format', 'html', '--record', str(samples.RECORD.get(name, 1)), '--key', str(path), str(sample)],
                              capture_output=True, text=True)
        if done.returncode != 0 or done.stderr:
            sys.exit(f'{name}: {done.stderr}exit code {done.returncode}')
        check = subprocess.run([kymo, 'check', '--key', str(path), str(sample)], capture_output=True, text=True)
        if check.returncode != 0:
            sys.exit(f'{name}: the sample does not fit: {check.stdout}{check.stderr}')
        page.append(f'<h2 id="{name}">{name}</h2>\n<p>{html.escape(about(path.read_text()))} <code>descriptions/{path.name}</code></p>\n'
                    f'<figure>\n{done.stdout}</figure>\n')
    page.append('</div>\n</body>\n</html>\n')
    out.write_text(''.join(page))


main()
