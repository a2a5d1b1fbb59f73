#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The build step that turns the SQL files into C (sql/README.md says how a file looks).

  sql-table.py SQL_DIR --ids sql_ids.h --info sql_info.c --sqlite sql_sqlite.c --depfile sql.d

SQL_DIR holds one folder per engine with statements/NAME.sql and migrations/NNNN_NAME.sql. The depfile names the folders
too, so a file that is added or removed is seen by the next build without a reconfigure. Every file is checked; what is
wrong is printed as FILE:LINE: what, all of it at once, and the exit code is 1."""
import argparse
import os
import re
import sys

TYPES = {'int': 'i', 'text': 't', 'id': 'd', 'blob': 'b', 'real': 'r'}
FIRST_WORDS = {'SELECT', 'INSERT', 'UPDATE', 'DELETE', 'WITH', 'VALUES'}
FIELD = re.compile(r'^([a-z][a-z0-9_]*):([a-z]+)(\?)?$')
ENGINES = ('sqlite', 'postgres')


class Faults:
    """Collects what is wrong, so that one build shows all of it."""

    def __init__(self):
        self.lines = []

    def add(self, path, line, text):
        self.lines.append(f'{path}:{line}: {text}')


class Statement:
    def __init__(self, name, path):
        self.name, self.path = name, path
        self.params, self.columns = [], []  # (name, type, may be null)
        self.params_line = self.columns_line = 0
        self.many = False  # its parameters are arrays
        self.only = False  # the other engine has no such statement
        self.text = ''


def skip_quoted(text, at, end, faults, path):
    """The index behind the closing quote; a doubled quote stays inside."""
    close = text.find(end, at + 1)
    while close >= 0 and end != ']' and text[close + 1:close + 2] == end:
        close = text.find(end, close + 2)
    if close < 0:
        faults.add(path, text.count('\n', 0, at) + 1, f'a {text[at]} is not closed')
        return len(text)
    return close + 1


def skip_block_comment(text, at, nested, faults, path):
    depth, here = 1, at + 2
    while here < len(text) and depth > 0:
        two = text[here:here + 2]
        if two == '*/':
            depth, here = depth - 1, here + 2
        elif two == '/*' and nested:
            depth, here = depth + 1, here + 2
        else:
            here += 1
    if depth > 0:
        faults.add(path, text.count('\n', 0, at) + 1, 'a /* is not closed')
    return here


def tokens(text, engine, faults, path):
    """Yields (kind, text, line): 'quoted', 'param', 'end' for a semicolon, 'space' for blanks and comments, 'other'."""
    at = 0
    while at < len(text):
        start, char, line = at, text[at], text.count('\n', 0, at) + 1
        if text.startswith('--', at):
            at = text.find('\n', at)
            at = len(text) if at < 0 else at
            kind = 'space'
        elif text.startswith('/*', at):
            at, kind = skip_block_comment(text, at, engine == 'postgres', faults, path), 'space'
        elif char.isspace():
            while at < len(text) and text[at].isspace():
                at += 1
            kind = 'space'
        elif char in '\'"' or (engine == 'sqlite' and char in '`['):
            at, kind = skip_quoted(text, at, ']' if char == '[' else char, faults, path), 'quoted'
        elif engine == 'postgres' and (dollar := re.match(r'\$(?:[A-Za-z_]\w*)?\$', text[at:])):
            close = text.find(dollar.group(), at + dollar.end())
            if close < 0:
                faults.add(path, line, f'a {dollar.group()} is not closed')
            at, kind = (len(text) if close < 0 else close + dollar.end()), 'quoted'
        elif char == ';':
            at, kind = at + 1, 'end'
        elif engine == 'sqlite' and (mark := re.match(r'\?\d*|[:@$][A-Za-z_]\w*', text[at:])):
            at, kind = at + mark.end(), 'param'
        elif engine == 'postgres' and (mark := re.match(r'\$\d+', text[at:])):
            at, kind = at + mark.end(), 'param'
        elif word := re.match(r'\w+', text[at:]):
            at, kind = at + word.end(), 'other'
        else:
            at, kind = at + 1, 'other'
        yield kind, text[start:at], line


def parse_fields(text, what, line, statement, fields, faults):
    for word in text.split():
        field = FIELD.match(word)
        if word == '-' and len(text.split()) == 1:
            return
        if not field or field.group(2) not in TYPES:
            faults.add(statement.path, line, f"'{word}' is no {what}: write name:type or name:type?, the type one of {', '.join(TYPES)}")
            continue
        name, kind, null = field.groups()
        if name in [f[0] for f in fields]:
            faults.add(statement.path, line, f'the {what} {name} stands there twice')
        if name.endswith('_at_ms') and kind != 'int':
            faults.add(statement.path, line, f'{name} is an instant, so its type is int')
        fields.append((name, kind, bool(null)))


def parse_header(lines, statement, engine, faults):
    """Reads the comment lines at the top. A list of parameters or columns goes on in further lines of the same kind."""
    said = False
    for number, line in enumerate(lines, 1):
        if not line.startswith('--'):
            break
        body = line[2:].strip()
        if body.startswith('SPDX-License-Identifier:'):
            continue
        if match := re.match(r'(params|columns):\s*(.*)$', body):
            what = match.group(1)
            if what == 'params':
                statement.params_line = statement.params_line or number
            else:
                statement.columns_line = statement.columns_line or number
            if not match.group(2):
                faults.add(statement.path, number, f"'{what}:' says nothing; write - for none")
            parse_fields(match.group(2), what[:-1], number, statement, getattr(statement, what), faults)
        elif match := re.match(r'many:\s*(.*)$', body):
            statement.many = True
            if match.group(1) != 'yes' or engine != 'postgres':
                faults.add(statement.path, number, "'many:' says yes, and only for postgres")
        elif match := re.match(r'only:\s*(.*)$', body):
            statement.only = True
            if match.group(1) != engine:
                faults.add(statement.path, number, f"'only: {match.group(1)}' stands in a file of {engine}")
        elif not said and not statement.params_line:
            said = True
            if not (match := re.match(r'([A-Za-z0-9_]+):\s+\S', body)):
                faults.add(statement.path, number, f"the first comment must be '-- {statement.name}: what it does'")
            elif match.group(1) != statement.name:
                faults.add(statement.path, number, f'the comment names {match.group(1)}, the file {statement.name}')
    if not said:
        faults.add(statement.path, 1, f"'-- {statement.name}: what it does' is missing")
    for what in ('params', 'columns'):
        if not getattr(statement, what + '_line'):
            faults.add(statement.path, 1, f"'-- {what}:' is missing; write - for none")


def check_params(statement, used, engine, faults):
    sign = '?' if engine == 'sqlite' else '$'
    for mark, line in used.items():
        if not re.fullmatch(re.escape(sign) + r'[1-9]\d*', mark):
            faults.add(statement.path, line, f"'{mark}': parameters are written {sign}1, {sign}2, …")
        elif int(mark[1:]) > len(statement.params):
            faults.add(statement.path, line, f'{mark} is used, but {len(statement.params)} parameters are declared')
    for number, field in enumerate(statement.params, 1):
        if f'{sign}{number}' not in used:
            faults.add(statement.path, statement.params_line, f'parameter {number} ({field[0]}) is declared, but {sign}{number} is not used')


def parse_body(text, statement, engine, faults):
    """Finds the one statement: comments out, runs of blanks to one."""
    parts, used, ended, first = [], {}, 0, None
    for kind, token, line in tokens(text, engine, faults, statement.path):
        if kind == 'space':
            parts.append(' ')
            continue
        if ended:
            faults.add(statement.path, line, 'a second statement begins here; a file has one')
            return
        if kind == 'end':
            ended = line
            continue
        first = first or (token.upper(), line)
        if kind == 'param':
            used.setdefault(token, line)
        parts.append(token)
    if first is None:
        faults.add(statement.path, 1, 'there is no statement')
        return
    if first[0] not in FIRST_WORDS:
        faults.add(statement.path, first[1], f"a statement begins with {', '.join(sorted(FIRST_WORDS))}, not with {first[0]}")
    if not ended:
        faults.add(statement.path, text.rstrip().count('\n') + 1, "the ';' at the end is missing")
    statement.text = re.sub(r'^ +| +$', '', join_blanks(parts))
    check_params(statement, used, engine, faults)


def join_blanks(parts):
    out = []
    for part in parts:
        if part != ' ' or (out and out[-1] != ' '):
            out.append(part)
    return ''.join(out)


def read_text(path, faults):
    try:
        with open(path, encoding='utf-8') as file:
            return file.read()
    except UnicodeDecodeError as error:
        faults.add(path, 1, f'not UTF-8: {error.reason} at byte {error.start}')
    except OSError as error:
        faults.add(path, 1, error.strerror)
    return ''


def sql_files(folder):
    return sorted(n for n in os.listdir(folder) if n.endswith('.sql') and not n.startswith('.')) if os.path.isdir(folder) else []


def load_statements(folder, engine, faults):
    found = {}
    for file in sql_files(folder):
        path, name = os.path.join(folder, file), file[:-len('.sql')]
        if not re.fullmatch(r'[a-z][a-z0-9_]*', name):
            faults.add(path, 1, 'a name has small letters, digits and _')
            continue
        statement = found[name] = Statement(name, path)
        text = read_text(path, faults)
        parse_header(text.splitlines(), statement, engine, faults)
        parse_body(text, statement, engine, faults)
    return found


def load_migrations(folder, faults):
    found = []
    for file in sql_files(folder):
        path = os.path.join(folder, file)
        match = re.fullmatch(r'(\d{4})_([a-z][a-z0-9_]*)\.sql', file)
        if not match:
            faults.add(path, 1, 'a schema script is named NNNN_name.sql')
            continue
        number = int(match.group(1))
        if number != len(found) + 1:
            faults.add(path, 1, f'schema scripts count from 0001 without a gap; {len(found) + 1:04d} is next')
        found.append((number, match.group(2), read_text(path, faults)))
    return found


def compare_dialects(ours, other, faults):
    """Both engines answer to the same names with the same parameters and columns, but for what says that only one has it."""
    for mine, others in ((ours, other), (other, ours)):
        for name in sorted(mine.keys() - others.keys()):
            if not mine[name].only:
                faults.add(mine[name].path, 1, f'{name} is missing for the other engine')
    for name in sorted(ours.keys() & other.keys()):
        if ours[name].only or other[name].only:
            faults.add((ours if ours[name].only else other)[name].path, 1, f'{name} is there for the other engine too')
        for what in ('params', 'columns'):
            if getattr(ours[name], what) != getattr(other[name], what):
                line = getattr(other[name], what + '_line')
                faults.add(other[name].path, line, f'the {what} differ from those in {ours[name].path}:{getattr(ours[name], what + "_line")}')


def c_string(text):
    out = []
    for char in text.encode('utf-8'):
        out.append({0x22: '\\"', 0x5c: '\\\\', 0x0a: '\\n', 0x3f: '\\?'}.get(char) or (chr(char) if 0x20 <= char < 0x7f else f'\\{char:03o}'))
    return '"' + ''.join(out) + '"'


def c_lines(text):
    """A long text, one literal a line."""
    return '\n    '.join(c_string(line) for line in text.splitlines(keepends=True)) or '""'


def c_types(fields):
    return c_string(''.join(TYPES[kind].upper() if null else TYPES[kind] for _, kind, null in fields))


HEAD = '/* SPDX-License-Identifier: Apache-2.0 */\n/* Generated by tools/sql-table.py from the SQL files: do not edit. */\n'


def make_ids(statements):
    names = ''.join(f'  PAWL_SQL_{name.upper()},\n' for name in statements)
    return f'{HEAD}#pragma once\n\ntypedef enum {{\n{names}  PAWL_SQL_COUNT\n}} PawlSql;\n'


def make_info(statements):
    rows = ''.join(
        f'  {{{c_string(s.name)}, {c_types(s.params)}, {c_types(s.columns)},\n'
        f'    {c_string(" ".join(f[0] for f in s.params))}, {c_string(" ".join(f[0] for f in s.columns))}}},\n' for s in statements.values())
    return f'{HEAD}#include "db/db_private.h"\n\nconst PawlSqlInfo pawl_sql_info[PAWL_SQL_COUNT] = {{\n{rows}}};\n'


def make_engine(engine, names, statements, migrations):
    texts = ''.join(f'  {c_string(statements[n].text)},\n' if n in statements else '  NULL,\n' for n in names)
    scripts = ''.join(f'  {{{number}, {c_string(name)},\n    {c_lines(text)}}},\n' for number, name, text in migrations)
    many = ', '.join(str(int(n in statements and statements[n].many)) for n in names)
    flags = f'extern const gboolean pawl_{engine}_many[];\nconst gboolean pawl_{engine}_many[] = {{{many}}};\n\n' if engine == 'postgres' else ''
    externs = (f'extern const char *const pawl_{engine}_sql[];\nextern const PawlMigration pawl_{engine}_migrations[];\n\n' if engine == 'postgres' else '')
    return (f'{HEAD}#include "db/db_private.h"\n\n{externs}{flags}const char *const pawl_{engine}_sql[PAWL_SQL_COUNT] = {{\n{texts}}};\n\n'
            f'const PawlMigration pawl_{engine}_migrations[] = {{\n{scripts}  {{0, NULL, NULL}},\n}};\n')


def write_if_changed(path, text):
    """An unchanged file keeps its time, so nothing that depends on it is built again."""
    if os.path.exists(path) and read_text(path, Faults()) == text:
        return
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def make_depfile(target, sql_dir):
    inputs = [os.path.abspath(__file__), sql_dir]
    for engine in ENGINES:
        for kind in ('statements', 'migrations'):
            folder = os.path.join(sql_dir, engine, kind)
            if os.path.isdir(folder):
                inputs += [folder] + [os.path.join(folder, f) for f in sql_files(folder)]
    return f'{target}: ' + ' '.join(i.replace(' ', '\\ ') for i in inputs) + '\n'


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('sql_dir')
    for option in ('ids', 'info', 'sqlite', 'postgres', 'depfile'):
        parser.add_argument('--' + option)
    options = parser.parse_args()
    faults = Faults()
    statements = {e: load_statements(os.path.join(options.sql_dir, e, 'statements'), e, faults) for e in ENGINES}
    migrations = {e: load_migrations(os.path.join(options.sql_dir, e, 'migrations'), faults) for e in ENGINES}
    if not statements['sqlite']:
        faults.add(os.path.join(options.sql_dir, 'sqlite', 'statements'), 1, 'there is no statement')
    if os.path.isdir(os.path.join(options.sql_dir, 'postgres', 'statements')):
        compare_dialects(statements['sqlite'], statements['postgres'], faults)
    if faults.lines:
        sys.exit('\n'.join(faults.lines))
    every = dict(sorted((statements['postgres'] | statements['sqlite']).items()))
    if options.ids:
        write_if_changed(options.ids, make_ids(every))
    if options.info:
        write_if_changed(options.info, make_info(every))
    for engine in ENGINES:
        if path := getattr(options, engine):
            write_if_changed(path, make_engine(engine, every, statements[engine], migrations[engine]))
    if options.depfile:
        with open(options.depfile, 'w', encoding='utf-8') as file:
            file.write(make_depfile(options.ids, options.sql_dir))


if __name__ == '__main__':
    main()
