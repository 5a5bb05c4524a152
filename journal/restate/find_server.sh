# Sets `target`, and RESTATE_SERVER where it is not set. Sourced by the scripts here.
target=${CARGO_TARGET_DIR:-$PWD/target}
if [ -z "${RESTATE_SERVER:-}" ]; then
    mkdir -p "$target/npm"
    npm install --silent --no-fund --no-audit --prefix "$target/npm" @restatedev/restate-server@1.7.12
    # The program itself: a signal to npm's own process would not reach it.
    RESTATE_SERVER=$(echo "$target"/npm/node_modules/@restatedev/restate-server-*/bin/restate-server)
fi
export RESTATE_SERVER
