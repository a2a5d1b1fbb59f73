#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a program beside a PostgreSQL of its own: with-postgres.py MODULE_DIR PROGRAM [ARGUMENT…]

The server is new, listens on a unix socket in a temporary folder, and is gone afterwards. PAWL_TEST_PG_URL
names it, PAWL_MODULE_PATH the module. A server that is not there or does not start is a failure."""
import os
import pwd
import shutil
import subprocess
import sys
import tempfile

BIN = os.environ.get('PAWL_PG_BIN', '/usr/lib/postgresql/15/bin')
SETTINGS = ['fsync=off', 'full_page_writes=off', 'shared_buffers=32MB', 'max_connections=30', 'listen_addresses=', 'lc_messages=C']


def as_server_user(argv):
    if os.geteuid() != 0:
        return argv
    user = pwd.getpwnam('postgres')
    return ['setpriv', '--reuid', str(user.pw_uid), '--regid', str(user.pw_gid), '--clear-groups', *argv]


def run(folder, module, argv):
    data, log = f'{folder}/data', f'{folder}/log'
    quiet = {'stdout': subprocess.DEVNULL, 'cwd': folder, 'check': True}
    make = [f'{BIN}/initdb', '-D', data, '-A', 'trust', '-U', 'postgres', '--no-sync', '-E', 'UTF8', '--locale=C']
    subprocess.run(as_server_user(make), **quiet)
    options = ' '.join(f'-c {setting}' for setting in SETTINGS) + f' -k {folder}'
    control = [f'{BIN}/pg_ctl', '-D', data, '-l', log, '-w', '-t', '30']
    subprocess.run(as_server_user([*control, '-o', options, 'start']), **quiet)
    try:
        url = f'postgresql://postgres@/postgres?host={folder}'
        return subprocess.run(argv, env={**os.environ, 'PAWL_TEST_PG_URL': url, 'PAWL_MODULE_PATH': module}).returncode
    finally:
        subprocess.run(as_server_user([*control, '-m', 'immediate', 'stop']), **quiet)


def main():
    folder = tempfile.mkdtemp(prefix='pawl-pg-')
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, 'postgres')
        return run(folder, sys.argv[1], sys.argv[2:])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == '__main__':
    sys.exit(main())
