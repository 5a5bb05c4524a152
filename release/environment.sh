# Read by the scripts of this folder: where they build, and the tools of requirements.txt on PATH.
set -euo pipefail
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0 PIP_DISABLE_PIP_VERSION_CHECK=1
release=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$release")
out=$release/out
# `dist` is what is published; `trial` is built in a quarter of the time, to test the packages.
PROFILE=${PROFILE:-dist}
# SQLite without what a journal does not use, in the program and in the library.
LIBSQLITE3_FLAGS='-USQLITE_ENABLE_FTS3 -USQLITE_ENABLE_FTS3_PARENTHESIS -USQLITE_ENABLE_FTS5 -USQLITE_ENABLE_RTREE'
LIBSQLITE3_FLAGS+=' -USQLITE_ENABLE_LOAD_EXTENSION -DSQLITE_OMIT_LOAD_EXTENSION'
LIBSQLITE3_FLAGS+=' -USQLITE_ENABLE_STAT4 -USQLITE_ENABLE_DBSTAT_VTAB -USQLITE_SOUNDEX -USQLITE_ENABLE_COLUMN_METADATA'
for unused in JSON DEPRECATED TRACE SHARED_CACHE PROGRESS_CALLBACK TCL_VARIABLE GET_TABLE COMPLETE DATETIME_FUNCS UTF16; do
    LIBSQLITE3_FLAGS+=" -DSQLITE_OMIT_$unused"
done
export LIBSQLITE3_FLAGS
# For Linux. A panic never goes through a function of C, so these need no tables for unwinding.
without_tables='-fno-asynchronous-unwind-tables -fno-unwind-tables'
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -1)
if ! cmp -s "$release/requirements.txt" "$release/.venv/requirements.txt"; then
    python3 -m venv "$release/.venv"
    "$release/.venv/bin/pip" install --quiet --requirement "$release/requirements.txt"
    cp "$release/requirements.txt" "$release/.venv/"
fi
PATH=$release/.venv/bin:$PATH
mkdir -p "$out"
