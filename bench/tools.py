# SPDX-License-Identifier: MIT
"""The common part of the benchmarks: running commands, and sessions of LTTng."""
import os
import shutil
import signal
import subprocess
import time


class Broken(Exception):
    """A measurement failed; the text says why."""


def call(argv, **options):
    """Output of a program that has to succeed."""
    finished = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, **options)
    if finished.returncode != 0:
        raise Broken(f'{" ".join(map(str, argv))}: exit code {finished.returncode}\n{finished.stdout}{finished.stderr}')
    return finished.stdout


def pkg_config(name, *what, path=None):
    environment = {**os.environ, **({'PKG_CONFIG_PATH': str(path)} if path else {})}
    return call(['pkg-config', *what, name], env=environment).split()


def has_package(name):
    return subprocess.run(['pkg-config', '--exists', name], check=False).returncode == 0


class SessionDaemon:
    """One session of a session daemon of LTTng: ours, unless one is running already. `home` is a folder for it."""

    def __init__(self, home):
        self.session, self.daemon = None, None
        self.environ = {**os.environ, 'LTTNG_HOME': str(home), 'HOME': str(home)}
        # with this, main of a traced program begins when the daemon has enabled its events
        self.program_environment = {'LTTNG_HOME': str(home), 'LTTNG_UST_REGISTER_TIMEOUT': '-1'}
        if not self.answers():
            self.daemon = subprocess.Popen(['lttng-sessiond', '--no-kernel'], stdin=subprocess.DEVNULL,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environ,
                                           start_new_session=True)
            self.wait_for_daemon()

    @staticmethod
    def is_there():
        return shutil.which('lttng') and shutil.which('lttng-sessiond')

    def answers(self):
        return subprocess.run(['lttng', '-n', 'list'], stdin=subprocess.DEVNULL, capture_output=True, timeout=30,
                              env=self.environ, check=False).returncode == 0

    def wait_for_daemon(self):
        for _ in range(100):
            if self.answers():
                return
            time.sleep(0.1)
        self.stop()
        raise Broken('lttng-sessiond does not answer')

    def command(self, *arguments):
        call(['lttng', '-n', *arguments], env=self.environ)

    def create(self, *options):
        """Makes the session; returns its name."""
        name = f'kymo-bench-{os.getpid()}'
        self.command('create', name, *options)
        self.session = name
        return name

    def stop(self):
        """Ends the session, and the daemon if it is ours."""
        try:
            if self.session:
                self.command('destroy', self.session)
        except (Broken, OSError, subprocess.TimeoutExpired):
            pass
        if self.daemon:
            self.daemon.terminate()
            try:
                self.daemon.wait(10)
            except subprocess.TimeoutExpired:
                pass
            try:
                os.killpg(self.daemon.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
