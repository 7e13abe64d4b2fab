# SPDX-License-Identifier: MIT
"""Measures the page of `kymo view` in Chromium: its JavaScript a frame while a script zooms and pans, and blank frames."""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from server import Server
from tools import Broken

HERE = Path(__file__).resolve().parent


def modules(build):
    """The folder of the page's packages: where the suites keep them (tests/web.sh), or where npm ci does. None: they are not
    there, or not complete yet."""
    web = build.resolve() / 'web'
    candidates = [web / 'node_modules'] if (web / 'installed').is_file() else []
    for folder in *candidates, HERE.parent.parent / 'src/view/web/node_modules':
        if (folder / 'playwright-core/index.mjs').is_file():
            return folder
    return None


def measure(build, trace, cache, rounds, profile):
    """Figures by name, or a word that says what is missing."""
    node, packages = shutil.which('node'), modules(build)
    chromium = next(filter(None, map(shutil.which, ('chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'))), None)
    if not node or not chromium or not packages:
        return f'{"node" if not node else "chromium" if not chromium else "packages of the page (npm ci in src/view/web)"} not found'
    server = Server(build.resolve() / 'kymo', trace, cache)
    server.complete()
    finished = subprocess.run([node, HERE / 'page.mjs', server.address, str(rounds), *([profile] if profile else [])], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env={**os.environ, 'KYMO_MODULES': str(packages), 'KYMO_CHROMIUM': chromium}, check=False)
    server.stop()
    if finished.returncode != 0:
        raise Broken(f'page.mjs: exit code {finished.returncode}\n{finished.stderr}')
    return json.loads(finished.stdout)
