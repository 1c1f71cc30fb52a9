"""The tables of a database that keeps teams, and the queries on them."""

from typing import Final, LiteralString

VERSION: Final = 1
"""The version of the tables, written into the database beside them."""

TABLES: Final[LiteralString] = """
select pg_advisory_xact_lock(7011001);
create schema if not exists pro0;
create table if not exists pro0.version (number integer not null);
insert into pro0.version (number) select 1 where not exists (select from pro0.version);
create table if not exists pro0.teams (
    id bigint generated always as identity primary key,
    name text not null unique,
    uid text not null
);
create sequence if not exists pro0.revisions;
create table if not exists pro0.documents (
    team bigint not null references pro0.teams on delete cascade,
    name text collate "C" not null,
    data bytea not null,
    revision bigint not null default nextval('pro0.revisions'),
    primary key (team, name)
);
create table if not exists pro0.events (
    team bigint not null references pro0.teams on delete cascade,
    seq bigint generated always as identity,
    part integer not null default 0,
    line bytea not null,
    primary key (team, seq)
);
create table if not exists pro0.acts (id uuid primary key, at timestamptz not null default now());
"""
"""The tables are made in one transaction, which waits for any other transaction that makes them."""

MADE: Final[LiteralString] = "select to_regclass('pro0.acts') is not null"
VERSION_THERE: Final[LiteralString] = "select max(number) from pro0.version"

FOUND: Final[LiteralString] = "insert into pro0.teams (name, uid) values (%s, %s) on conflict do nothing returning id"
DROP: Final[LiteralString] = "delete from pro0.teams where name = %s and uid = %s"

UID: Final[LiteralString] = "select uid from pro0.teams where name = %s"
RENAME: Final[LiteralString] = "update pro0.teams set name = %s where name = %s and uid = %s"
IS: Final[LiteralString] = "select 1 from pro0.teams where name = %s and uid = %s"

READ: Final[LiteralString] = """
select d.data from pro0.documents d join pro0.teams t on t.id = d.team
where t.name = %s and t.uid = %s and d.name = %s
"""
STAMP: Final[LiteralString] = """
select d.revision from pro0.documents d join pro0.teams t on t.id = d.team
where t.name = %s and t.uid = %s and d.name = %s
"""
NAMES: Final[LiteralString] = """
select d.name from pro0.documents d join pro0.teams t on t.id = d.team
where t.name = %s and t.uid = %s and d.name >= %s and d.name < %s order by d.name
"""
REPLACE: Final[LiteralString] = """
with kept as (
    insert into pro0.documents (team, name, data) select id, %(name)s, %(data)s
    from pro0.teams where name = %(team)s and uid = %(uid)s
    on conflict (team, name) do update set data = excluded.data, revision = nextval('pro0.revisions')
    returning 1
)
select pg_notify(%(channel)s, %(name)s) from kept
"""
READ_ALL: Final[LiteralString] = """
select d.name, d.data from pro0.documents d join pro0.teams t on t.id = d.team
where t.name = %s and t.uid = %s and d.name >= %s and d.name < %s
"""
DROP_DOCUMENT: Final[LiteralString] = """
with gone as (
    delete from pro0.documents d using pro0.teams t
    where t.id = d.team and t.name = %(team)s and t.uid = %(uid)s and d.name = %(name)s
    returning 1
)
select pg_notify(%(channel)s, %(name)s) from gone
"""
CLOCK: Final[LiteralString] = "select extract(epoch from clock_timestamp())::float8"
TEAMS: Final[LiteralString] = "select name from pro0.teams order by name"
SIGNS: Final[LiteralString] = """
select t.id, (select max(revision) from pro0.documents d where d.team = t.id),
    (select max(seq) from pro0.events e where e.team = t.id)
from pro0.teams t where t.name = %s and t.uid = %s
"""

CARELESS: Final[LiteralString] = "set local synchronous_commit = off"
"""For writes that are never the truth, such as events: a crash may lose them."""
LOG: Final[LiteralString] = """
with kept as (
    insert into pro0.events (team, line) select id, %s from pro0.teams where name = %s and uid = %s returning 1
)
select pg_notify(%s, %s) from kept
"""
KEEP_DOCUMENTS: Final[LiteralString] = "copy pro0.documents (team, name, data) from stdin"
KEEP_LINES: Final[LiteralString] = "copy pro0.events (team, part, line) from stdin"
EVENTS_AFTER: Final[LiteralString] = """
select e.seq, e.part, e.line from pro0.events e join pro0.teams t on t.id = e.team
where t.name = %s and t.uid = %s and e.seq > %s order by e.seq
"""
SOME_EVENTS_AFTER: Final[LiteralString] = EVENTS_AFTER + " limit 2000"
LATEST_EVENTS: Final[LiteralString] = """
select e.seq, e.part, e.line from pro0.events e join pro0.teams t on t.id = e.team
where t.name = %s and t.uid = %s order by e.seq desc limit %s
"""

COMMIT: Final[LiteralString] = "insert into pro0.acts (id) values (%s); commit"
HAPPENED: Final[LiteralString] = "select 1 from pro0.acts where id = %s"
FORGET_ACTS: Final[LiteralString] = "delete from pro0.acts where at < now() - interval '1 day'"

BEGIN: Final[LiteralString] = """
begin isolation level read committed read write;
select set_config('lock_timeout', %s, true);
select pg_advisory_xact_lock_shared(%s);
select pg_advisory_xact_lock(%s);
select set_config('application_name', %s || '@' || floor(extract(epoch from clock_timestamp()) * 1000)::text, true)
"""
"""The name says who holds the lock and since when, since another role sees nothing of a connection but its name."""
HOLDER: Final[LiteralString] = r"""
select regexp_replace(a.application_name, '@\d+$', ''),
    extract(epoch from clock_timestamp())::float8 - substring(a.application_name from '@(\d+)$')::float8 / 1000
from pg_locks l join pg_stat_activity a on a.pid = l.pid
where l.locktype = 'advisory' and l.mode = any(%s) and l.granted and l.objsubid = 1 and l.classid = %s and l.objid = %s
    and l.database = (select oid from pg_database where datname = current_database())
"""
SESSION: Final[LiteralString] = """
select pg_backend_pid(), (select backend_start from pg_stat_activity where pid = pg_backend_pid()),
    case when current_setting('synchronous_commit') = 'off' then set_config('synchronous_commit', 'on', false) end,
    (select set_config(name, '0', false) from pg_settings where name = 'idle_session_timeout' and setting <> '0')
"""
"""Our connections wait for hours, so a limit for idle ones would take the lease away; servers before 14 have none."""
END_IDLE: Final[LiteralString] = """
select pg_terminate_backend(pid) from pg_stat_activity
where pid = %s and backend_start = %s and state like 'idle in transaction%%'
"""
END_SESSION: Final[LiteralString] = """
select pg_terminate_backend(pid) from pg_stat_activity where pid = %s and backend_start = %s
"""
