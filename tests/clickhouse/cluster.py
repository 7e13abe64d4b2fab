#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kymo convert --to clickhouse --cluster: two servers share the traces; a sender that is killed, a server that is down.

    cluster.py KYMO FOLDER      FOLDER has the traces one, two (make_trace.py) and random/*
"""
import subprocess
import sys
from pathlib import Path

from clickhouse import Server, case, check_once, convert, events_of, expected, free_port, summary

KYMO, FOLDER = sys.argv[1], Path(sys.argv[2])
TRACES = [FOLDER / 'one', FOLDER / 'two', *sorted((FOLDER / 'random').iterdir())]
HOSTS = ('127.0.0.1', '127.0.0.2')


def make_servers():
    """The port of HTTP is the same; those of the other protocol differ, or a server would take both addresses for its own."""
    http, tcp = free_port(), {host: free_port(host) for host in HOSTS}
    shards = ''.join(f'<shard><internal_replication>true</internal_replication><replica><host>{host}</host><port>{tcp[host]}</port></replica></shard>' for host in HOSTS)
    more = f'<remote_servers><fleet>{shards}</fleet></remote_servers>'
    return [Server(FOLDER / f'cluster-{host}', host=host, http=http, tcp=tcp[host], more=more).start() for host in HOSTS]


SERVERS = make_servers()
URL = f'{SERVERS[0].url}/k'


def shared():
    for server in SERVERS:
        server.new_database()
    status, said = convert(KYMO, TRACES, URL, '--cluster', 'fleet')
    assert status in (0, 1), said
    wanted = summary((e['event'] or '', e['ts'] if e.get('ts') is not None else -2**63) for trace in TRACES for e in events_of(KYMO, [trace]))
    for server in SERVERS:
        check_once(server, wanted)
    here, there = ({row['t'] for row in server.rows('SELECT DISTINCT toString(trace) AS t FROM `events.local`')} for server in SERVERS)
    assert here and there and not here & there, f'{here}, {there}'
    assert SERVERS[1].rows('SELECT count() AS n FROM alloc')[0]['n'] == wanted['alloc'][0]


def again():
    status, said = convert(KYMO, TRACES, f'{SERVERS[1].url}/k', '--cluster', 'fleet', '--jobs', '3')
    assert status in (0, 1), said
    shared_rows = SERVERS[0].rows('SELECT count() AS n, uniqExact(trace, stream, packet, seq) AS u FROM events')[0]
    assert shared_rows['n'] == shared_rows['u'] == sum(server.rows('SELECT count() AS n FROM `events.local`')[0]['n'] for server in SERVERS)


def asked():
    done = subprocess.run([KYMO, 'query', '--clickhouse', f'{SERVERS[1].url}/k', '--preset', 'threads', '--format', 'csv'], stdout=subprocess.PIPE, check=True)
    groups = SERVERS[0].rows('SELECT count() AS n FROM (SELECT host FROM events GROUP BY host, trace, process, pid, thread, tid)')[0]['n']
    assert groups and done.stdout.count(b'\n') - 1 == groups, f'{groups}: {done.stdout.decode()}'


def one_is_down():
    for server in SERVERS:
        server.new_database()
    SERVERS[1].stop()
    status, said = convert(KYMO, TRACES[:2], URL, '--cluster', 'fleet')
    assert (status, said) == (3, f"kymo convert: {SERVERS[1].url}/k: Couldn't connect to server\n"), said
    SERVERS[1].start()
    status, said = convert(KYMO, TRACES[:2], URL, '--cluster', 'fleet')
    assert status == 0, said
    check_once(SERVERS[0], expected(KYMO, *TRACES[:2]))


def unknown():
    status, said = convert(KYMO, TRACES[:1], URL, '--cluster', 'nowhere')
    assert (status, said) == (3, f'kymo convert: {URL}: there is no cluster "nowhere"\n'), said


case('two servers share the traces', shared)
case('sending to a cluster again', again)
case('a preset over a cluster', asked)
case('a cluster with a server that is down', one_is_down)
case('a cluster that does not exist', unknown)
for each in SERVERS:
    each.stop()
