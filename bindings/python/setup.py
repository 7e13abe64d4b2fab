# SPDX-License-Identifier: MIT
"""For `pip install ./bindings/python`: the part in C, with the libkymo that pkg-config finds. Meson builds the package without this
file."""
import glob
import shlex
import subprocess

from setuptools import Extension, setup


def flags(*words):
    return shlex.split(subprocess.run(['pkg-config', *words, 'kymo'], check=True, stdout=subprocess.PIPE, text=True).stdout)


setup(ext_modules=[Extension('kymo._kymo', sorted(glob.glob('src/*.c')), py_limited_api=True,
                             define_macros=[('Py_LIMITED_API', '0x030a0000'), ('_GNU_SOURCE', None)],
                             extra_compile_args=[*flags('--cflags'), '-fvisibility=hidden'], extra_link_args=flags('--libs'))],
      options={'bdist_wheel': {'py_limited_api': 'cp310'}})
