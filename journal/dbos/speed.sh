#!/usr/bin/env bash
# The journal on PostgreSQL beside DBOS's crate, in one sequence on one server, and what a million steps leave behind:
# journal/dbos/speed.sh [WAITING_RUNS [SECONDS]]
#
# Starts a server of its own in a new folder, with the settings of a new installation: fsync and synchronous_commit are
# on. Needs PostgreSQL's programs: apt-get install postgresql
#
# ILO_FLUSH_US=1600 lets each flush of the server take at least that many microseconds, as disks do that are not
# in the machine. It needs cc. With TMPDIR=/dev/shm the server's files are in memory, so that flushes take no other
# time, whoever else uses the disk. ILO_STEPS is another number of steps than a million.
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

# A library that the server loads before that of the system.
preload=()
if [ -n "${ILO_FLUSH_US:-}" ]; then
    cat >"$folder/flush.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

static int at_least(const char *name, int file) {
    long least = atol(getenv("ILO_FLUSH_US")) * 1000;
    int (*flush)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    int done = flush(file), error = errno;
    end.tv_sec += (end.tv_nsec + least) / 1000000000;
    end.tv_nsec = (end.tv_nsec + least) % 1000000000;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR) {}
    errno = error;
    return done;
}

int fsync(int file) { return at_least("fsync", file); }
int fdatasync(int file) { return at_least("fdatasync", file); }
END
    cc -O2 -shared -fPIC -o "$folder/flush.so" "$folder/flush.c" -ldl
    preload=(env "LD_PRELOAD=$folder/flush.so" "ILO_FLUSH_US=$ILO_FLUSH_US")
fi

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
(
    cd /
    "${as[@]}" "$bin/initdb" -D "$folder/data" --data-checksums --username=ilo --auth=trust >/dev/null
    printf "port = %s\nunix_socket_directories = ''\nmax_connections = 200\n" "$port" |
        "${as[@]}" tee -a "$folder/data/postgresql.conf" >/dev/null
    "${as[@]}" "${preload[@]}" "$bin/pg_ctl" -D "$folder/data" -l "$folder/log" -s -w start
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
# How the server flushes by itself, and how long one flush of 8 kB takes.
flush=$("${as[@]}" "${preload[@]}" "$bin/pg_test_fsync" -s 1 -f "$folder/data/flush" |
    awk '$1 == "fdatasync" && !found++ { print $(NF - 1) }')
echo "pg_test_fsync: one fdatasync of the server takes $flush us"
for round in 1 2 3; do
    echo "== round $round"
    echo "pgbench, one row at c=1: $(floor)"
    target/dbos/release/ilo-dbos-speed "$(at dbos)" "$seconds" | tee "$folder/dbos"
    ILO_SECONDS=$seconds ILO_RUNS=0 journal "$(at journal)" | tee "$folder/journal"
    # Both lines end with `N steps/s`, that of the journal with more behind it.
    awk -v flush="$flush" 'match($0, /c=1, .* steps: [0-9]+ steps/) {
        split(substr($0, RSTART, RLENGTH), part, ": ")
        printf "%s at c=1: %.2f steps in the time of one flush\n", /^DBOS/ ? "DBOS" : "journal", part[2] * flush / 1e6
    }' "$folder/dbos" "$folder/journal"
    echo "with prepare=1 in the address:"
    ILO_SECONDS=$seconds ILO_RUNS=0 journal "$(at journal)?prepare=1"
done
echo "sizes afterwards: DBOS $(size dbos), journal $(size journal)"

steps=${ILO_STEPS:-1000000}
echo "== $steps steps, three times, in runs of 500 by 64 at once"
for turn in first second third; do
    before=$(sql growth "SELECT pg_database_size('growth')")
    ILO_STEPS=$steps ILO_RUNS=0 journal "$(at growth)"
    sql growth "SELECT relname, n_tup_ins, n_tup_upd, n_tup_hot_upd, pg_size_pretty(pg_total_relation_size(relid)) FROM pg_stat_user_tables ORDER BY 1"
    echo "the $turn $steps: grown by $((($(sql growth "SELECT pg_database_size('growth')") - before) / 1000)) kB"
    sql growth 'VACUUM ilo.live'
    echo "ilo.live with its indexes after VACUUM: $(($(sql growth "SELECT pg_total_relation_size('ilo.live')") / 1000)) kB"
done

echo "== $waiting waiting runs"
ILO_SECONDS=1 ILO_RUNS=$waiting journal "$(at journal)"
uptime
