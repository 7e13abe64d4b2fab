#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints what `kymo cat --format json one` prints, with one number changed and one event more."""
import json
import os
import subprocess
import sys

done = subprocess.run([os.environ['KYMO_BUILD'] + '/kymo', *sys.argv[1:]], stdout=subprocess.PIPE, check=False)
lines = [json.loads(line) for line in done.stdout.splitlines()]
next(line for line in lines if line['event'] == 'net:rx')['fields']['len'] ^= 1
for line in [*lines, lines[-1]]:
    print(json.dumps(line))
sys.exit(done.returncode)
