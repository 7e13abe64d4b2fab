#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The type stubs have what the package has: the same names, the same attributes of classes, the same parameters. Each has a docstring."""
import ast
import inspect
import sys
from pathlib import Path

import kymo

INHERITED = {name for kind in (object, int, tuple, Exception, UserWarning) for name in dir(kind)} - {'__iter__', '__contains__'}
UNSEEN = {'__module__', '__slots__', '__weakref__', '__dict__', '__match_args__', '__annotations__', '__getnewargs__', '_arrow', '_options', '_warns_damage', '_end', '_is_over', '_db', '_cursor',
          '_field_defaults', '_fields', '_asdict', '_make', '_replace', '__orig_bases__', '__next__', '__iter__', '__contains__'}
STUB = ast.parse(Path(kymo.__file__).with_name('__init__.pyi').read_text())


def names_of(body):
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            yield node.name
        elif isinstance(node, ast.AnnAssign):
            yield node.target.id


def parameters(node):
    arguments = node.args
    return [*(a.arg for a in arguments.posonlyargs + arguments.args), *([arguments.vararg.arg] if arguments.vararg else []),
            *(a.arg for a in arguments.kwonlyargs)]


faults = []
stubs = {node.name: node for node in STUB.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
if set(names_of(STUB.body)) != set(kymo.__all__):
    faults.append(f'names: {set(names_of(STUB.body)) ^ set(kymo.__all__)}')
for name, node in stubs.items():
    real = getattr(kymo, name)
    if not real.__doc__:
        faults.append(f'{name}: no docstring')
    if isinstance(node, ast.FunctionDef):
        if parameters(node) != list(inspect.signature(real).parameters):
            faults.append(f'{name}: {parameters(node)}')
        continue
    if issubclass(real, Exception):
        continue
    ours = {attribute for attribute in dir(real) if attribute not in INHERITED} - UNSEEN
    theirs = set(names_of(node.body)) - UNSEEN - INHERITED
    if ours != theirs:
        faults.append(f'{name}: {ours ^ theirs}')
    faults += [f'{name}.{attribute}: no docstring' for attribute in ours
               if not attribute.startswith('_') and inspect.isroutine(getattr(real, attribute)) and not getattr(real, attribute).__doc__]
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and inspect.isfunction(getattr(real, method.name, None)) and not method.name.startswith('_'):
            if parameters(method) != list(inspect.signature(getattr(real, method.name)).parameters):
                faults.append(f'{name}.{method.name}: {parameters(method)}')
print('\n'.join(faults))
sys.exit(bool(faults))
