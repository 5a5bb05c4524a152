#!/usr/bin/env bash
# The journal on PostgreSQL beside DBOS's crate, in one sequence on one server, and what a million steps leave behind:
# journal/dbos/speed.sh [WAITING_RUNS [SECONDS]]
#
# Starts a server of its own in a new folder, with the settings of a new installation: fsync and synchronous_commit are
# on. Needs PostgreSQL's programs: apt-get install postgresql
set -euo pipefail
cd "$(dirname "$0")/../.."
waiting=${1:-100032} seconds=${2:-10}

bin=$(dirname "$(compgen -G '/usr/lib/postgresql/*/bin/initdb' | sort -V | tail -1 || command -v initdb || true)")
[ -x "$bin/initdb" ] || { echo 'PostgreSQL is missing: apt-get install postgresql' >&2; exit 1; }
folder=$(mktemp -d)
# PostgreSQL refuses to run as root.
as=()
[ "$(id -u)" != 0 ] || { chown postgres "$folder"; as=(runuser -u postgres --); }
cleanup() {
    (cd / && "${as[@]}" "$bin/pg_ctl" -D "$folder/data" -m immediate -s stop) || true
    rm -rf "$folder"
}
trap cleanup EXIT

cargo bench --quiet --locked -p ilo-journal --features postgres --bench journal --no-run
cargo build --quiet --locked --release --manifest-path journal/dbos/Cargo.toml --target-dir target/dbos

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
(
    cd /
    "${as[@]}" "$bin/initdb" -D "$folder/data" --data-checksums --username=ilo --auth=trust >/dev/null
    printf "port = %s\nunix_socket_directories = ''\nmax_connections = 200\n" "$port" |
        "${as[@]}" tee -a "$folder/data/postgresql.conf" >/dev/null
    "${as[@]}" "$bin/pg_ctl" -D "$folder/data" -l "$folder/log" -s -w start
)
sql() { "$bin/psql" -h 127.0.0.1 -p "$port" -U ilo -d "$1" -Atc "$2"; }
for name in journal dbos growth; do sql postgres "CREATE DATABASE $name"; done
at() { echo "postgres://ilo@127.0.0.1:$port/$1"; }
journal() { ILO_JOURNAL=$1 cargo bench --quiet --locked -p ilo-journal --features postgres --bench journal; }
size() { sql "$1" "SELECT pg_size_pretty(pg_database_size('$1'))"; }

date -u +%FT%H:%M
sql postgres 'SELECT version()'
# The floor of a step at c=1: one transaction with one row, and its flush.
floor() {
    "$bin/pgbench" -h 127.0.0.1 -p "$port" -U ilo -n -M extended -T "$seconds" -f "$folder/floor.sql" journal | grep '^tps'
}
sql journal 'CREATE TABLE floor AS SELECT 1 AS id, 0 AS n; ALTER TABLE floor ADD PRIMARY KEY (id)'
echo 'UPDATE floor SET n = n + 1 WHERE id = 1;' >"$folder/floor.sql"
uptime
for round in 1 2 3; do
    echo "== round $round"
    echo "pgbench, one row at c=1: $(floor)"
    target/dbos/release/ilo-dbos-speed "$(at dbos)" "$seconds"
    ILO_SECONDS=$seconds ILO_RUNS=0 journal "$(at journal)"
done
echo "sizes afterwards: DBOS $(size dbos), journal $(size journal)"

echo '== a million steps, in runs of 500 by 64 at once'
# A vacuum finds the room that ended runs have left; autovacuum does that within a minute.
for million in first second third; do
    before=$(sql growth "SELECT pg_database_size('growth')")
    ILO_STEPS=1000000 ILO_RUNS=0 journal "$(at growth)"
    sql growth "SELECT relname, n_tup_ins, n_tup_upd, n_tup_hot_upd, pg_size_pretty(pg_total_relation_size(relid)) FROM pg_stat_user_tables ORDER BY 1"
    echo "the $million million: grown by $((($(sql growth "SELECT pg_database_size('growth')") - before) / 1000)) kB"
    sql growth 'VACUUM ilo.live'
done

echo "== $waiting waiting runs"
ILO_SECONDS=1 ILO_RUNS=$waiting journal "$(at journal)"
uptime
