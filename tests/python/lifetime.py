#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Closes while iterating, in all ways: by chance (seeded), in threads, in cycles of garbage, in loops that fail, after a fork. Every event
that is still there must have the values that it had.

    lifetime.py [--seed N] [--rounds N] [--cases] TRACE LOSSY     traces of tests/query/make_trace.py and tests/cli/sample_trace.py

The seed decides which steps are taken by chance. --cases runs the other cases too, which have no seed.
"""
import argparse
import gc
import os
import random
import sys
import threading
import warnings
import weakref

import kymo


def values(event):
    """As a text: NaN equals NaN there."""
    return repr((event.time, event.name, event.number, event.fields, event.context, event.tid, event.thread, event.cpu, event.pid,
                 event.message, event.stream.path, event.losses))


class Fuzz:
    """Takes steps by chance with up to a few traces and passes open at a time; events are compared with the same events of a whole pass."""

    def __init__(self, path, seed):
        self.path, self.random = path, random.Random(seed)
        self.wanted = {filter: [values(event) for event in kymo.open(path, filter=filter)] for filter in (None, 'port = 80')}
        self.traces, self.passes, self.events = [], [], []
        self.steps = [self.open, self.begin, self.begin, self.move, self.move, self.move, self.move, self.read, self.keep_none, self.close,
                      self.close_pass, self.forget, self.forget_pass, self.collect, self.cycle, self.fail_in_loop]

    def choose(self, things):
        return self.random.choice(things) if things else None

    def open(self):
        filter = self.random.choice([None, None, 'port = 80'])
        if len(self.traces) < 4:
            self.traces.append((kymo.open(self.path, filter=filter), filter))

    def begin(self):
        if (chosen := self.choose(self.traces)) and len(self.passes) < 6:
            trace, filter = chosen
            try:
                self.passes.append([iter(trace), trace, filter, 0])
            except ValueError:
                assert trace.closed

    def move(self):
        if not (chosen := self.choose(self.passes)):
            return
        events, trace, filter, index = chosen
        for _ in range(self.random.choice([1, 2, 50, 300, 3000])):
            try:
                event = next(events)
            except StopIteration:
                assert index == len(self.wanted[filter]) or index < 0
                break
            except ValueError as error:
                assert str(error) == 'the trace is closed'
                break
            if self.random.random() < 0.1:
                self.events.append((event, self.wanted[filter][index]))
            index += 1
        chosen[3] = index

    def read(self):
        for event, wanted in self.random.sample(self.events, min(20, len(self.events))):
            assert values(event) == wanted, (event, wanted)

    def keep_none(self):
        for event, wanted in self.events:
            assert values(event) == wanted, (event, wanted)
        self.events.clear()

    def close(self):
        if chosen := self.choose(self.traces):
            chosen[0].close()

    def close_pass(self):
        if chosen := self.choose(self.passes):
            chosen[0].close()

    def forget(self):
        if self.traces:
            self.traces.pop(self.random.randrange(len(self.traces)))

    def forget_pass(self):
        if self.passes:
            self.passes.pop(self.random.randrange(len(self.passes)))

    def collect(self):
        gc.collect()

    def cycle(self):
        """An event that refers to itself, to its pass and to its trace."""
        if chosen := self.choose(self.passes):
            try:
                event = next(chosen[0])
            except (StopIteration, ValueError):
                return
            event.fields['event'], event.fields['pass'] = event, chosen
            chosen[3] += 1

    def fail_in_loop(self):
        trace = kymo.open(self.path)
        try:
            for number, event in enumerate(trace):
                if number == self.random.choice([0, 1, 255, 256, 257]):
                    raise KeyError(event)
        except KeyError as error:
            self.events.append((error.args[0], self.wanted[None][number]))

    def run(self, rounds):
        for _ in range(rounds):
            self.random.choice(self.steps)()
        self.keep_none()


def closed_by_thread(path):
    """Another thread closes the trace: the pass ends with an error, and its events stay."""
    wanted = [values(event) for event in kymo.open(path)]
    for number in range(20):
        trace, kept, error = kymo.open(path, filter='port = 80 OR port <> 80' if number % 2 else None), [], None
        begun = threading.Event()

        def close():
            begun.wait()
            trace.close()
        thread = threading.Thread(target=close)
        thread.start()
        try:
            while True:
                for event in trace:
                    kept.append(event)
                    begun.set()
        except ValueError as closed:
            error = closed
        thread.join()
        assert str(error) == 'the trace is closed', error
        assert all(values(event) == wanted[event.number - 1] for event in kept[:3000])


def passes_of_threads(path):
    """A pass for each thread over one trace, while others read the events."""
    wanted = [values(event) for event in kymo.open(path)]
    trace, failed = kymo.open(path), []

    def read():
        try:
            assert [values(event) for event in trace] == wanted
        except BaseException as error:  # shown by the main thread
            failed.append(error)
    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed


def handed_over(path):
    """Events are read by another thread than the one that moves their pass."""
    wanted, lines, failed, is_over = [values(event) for event in kymo.open(path)], [], [], threading.Event()

    def read():
        try:
            index = 0
            while index < len(wanted):
                if index < len(lines):
                    assert values(lines[index]) == wanted[index]
                    index += 1
                elif is_over.is_set() and index >= len(lines):
                    break
        except BaseException as error:
            failed.append(error)
    thread = threading.Thread(target=read)
    thread.start()
    for event in kymo.open(path):
        lines.append(event)
    is_over.set()
    thread.join()
    assert not failed and len(lines) == len(wanted), failed


def one_pass_of_two_threads(path):
    """Two threads move one pass: each event comes once, or a thread receives an error."""
    events, numbers, failed = iter(kymo.open(path)), [], []

    def read():
        while True:
            try:
                numbers.append(next(events).number)
            except StopIteration:
                return
            except RuntimeError as error:
                if 'being moved' not in str(error):
                    failed.append(error)
                    return
    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and sorted(numbers) == list(range(1, len(list(kymo.open(path))) + 1)), failed


def garbage(path):
    """Cycles through a trace, a pass and an event are freed."""
    class Holder:
        pass
    for _ in range(50):
        holder = Holder()
        holder.trace = kymo.open(path)
        holder.events = iter(holder.trace)
        holder.event = next(holder.events)
        holder.event.fields['holder'] = holder
        gone = weakref.ref(holder)
        del holder
        gc.collect()
        assert gone() is None


def finalisers(path):
    """Code that runs while garbage is collected, or while a warning is shown, closes the pass that is just moved."""
    class Closer:
        def __init__(self, trace):
            self.trace, self.self = trace, self

        def __del__(self):
            self.trace.close()
    gc.set_threshold(1)
    try:
        for _ in range(20):
            trace = kymo.open(path)
            try:
                for number, event in enumerate(trace):
                    if number == 300:
                        Closer(trace)
                    assert event.fields is not None
            except ValueError as error:
                assert str(error) == 'the trace is closed'
    finally:
        gc.set_threshold(700)


def warnings_that_close(path):
    """The trace has losses; the handler of warnings closes it, moves the pass, or makes the warning an error."""
    def handler(act):
        def show(*words, **more):
            act()
        return show
    before = warnings.showwarning
    with warnings.catch_warnings():
        warnings.simplefilter('always')
        trace = kymo.open(path)
        warnings.showwarning = handler(trace.close)
        try:
            list(trace)
            raise AssertionError('the pass went on')
        except ValueError as error:
            assert str(error) == 'the trace is closed'
        events = iter(kymo.open(path))
        said = []

        def move():
            try:
                next(events)
            except RuntimeError as error:
                said.append(str(error))
        warnings.showwarning = handler(move)
        count = len(list(events))
        assert said and 'being moved' in said[0]
    warnings.showwarning = before
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        events, got, raised = iter(kymo.open(path)), 0, 0
        while True:
            try:
                next(events)
                got += 1
            except kymo.LossWarning:
                raised += 1
            except StopIteration:
                break
        assert raised and got == count, (raised, got, count)


def forked(path):
    """A child process goes on with the pass of its parent, and so does the parent."""
    events = iter(kymo.open(path))
    kept = [next(events) for _ in range(300)]
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if sum(1 for _ in events) == len(list(kymo.open(path))) - 300 and kept[0].fields else 1
        finally:
            os._exit(status)
    assert sum(1 for _ in events) == len(list(kymo.open(path))) - 300
    assert os.waitpid(child, 0)[1] == 0


def nothing_leaks(path):
    """As many blocks of memory after many passes as before."""
    def work():
        trace = kymo.open(path)
        kept = [event for number, event in enumerate(trace) if number % 100 == 0]
        next(iter(trace))
        try:
            kymo.open(path, filter='nothing_like_it = 1')
        except kymo.Error:
            pass
        return len(kept)
    for _ in range(3):
        work()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(10):
        work()
    gc.collect()
    assert sys.getallocatedblocks() - before < 500, sys.getallocatedblocks() - before


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--rounds', type=int, default=2000)
    parser.add_argument('--cases', action='store_true')
    parser.add_argument('path')
    parser.add_argument('lossy')
    arguments = parser.parse_args()
    Fuzz(arguments.path, arguments.seed).run(arguments.rounds)
    if not arguments.cases:
        return
    for case in (closed_by_thread, passes_of_threads, handed_over, one_pass_of_two_threads, garbage, finalisers, forked, nothing_leaks):
        case(arguments.path)
        print(f'    {case.__name__}', flush=True)
    warnings_that_close(arguments.lossy)


main()
