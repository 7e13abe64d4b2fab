# SPDX-License-Identifier: MIT
"""For mypy: a program that uses the package, and mistakes that it must find."""
from typing import List, Optional, Tuple

import kymo


def lengths(path: str) -> List[Tuple[Optional[int], str, int]]:
    with kymo.open(path, filter='len > 0', begin='+1s', damage='warn') as trace:
        return [(event.time, event.name, int(event.fields['len'])) for event in trace]


def places(path: str) -> List[Optional[int]]:
    try:
        return [loss.count for event in kymo.open(path) for loss in event.losses]
    except kymo.Damage as damage:
        return [place.offset for place in damage.places]


kymo.open('trace', damage='skip')  # type: ignore[arg-type]
kymo.open(3)  # type: ignore[arg-type]
kymo.open('trace').arow()  # type: ignore[attr-defined]
for wrong in kymo.open('trace'):
    wrong.time + 1  # type: ignore[operator]
    wrong.name = 'x'  # type: ignore[misc]
