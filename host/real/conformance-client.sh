#!/usr/bin/env bash
# What the conformance suite starts as a client: a program over the server whose URL is the last argument.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf '{"mcpServers": {"suite": {"url": "%s"}}}' "${@: -1}" > "$folder/tools.json"
export ILO_TOKENS=$folder/tokens

# field JSON EXPRESSION: what is computed from a JSON text.
field() { node -p "const it = JSON.parse(process.argv[1] || '{}'); $2" "$1"; }
# call TOOL [ARGUMENTS]: a program with one call, whose inputs are the arguments.
call() {
    field "${2:-}" "const all = form => Object.fromEntries(Object.keys(it).map(name => [name, form(name)]));
        JSON.stringify({function: 'f', input: all(() => 'any'), output: 'any', steps: [
            {let: 'answer', call: 'mcp://suite/$1', args: all(name => '\$' + name)}, {return: '\$answer'}]})" > "$folder/call.json"
    "$ILO_VM" run "$folder/call.json" --tools "$folder/tools.json" --input "${2:-{\}}"
}
tools() { "$ILO_VM" tools --tools "$folder/tools.json" --json; }

# Signs in as a person would: opens the address that `login` prints. The pages of the suite ask nothing.
sign_in() {
    "$ILO_VM" login suite --tools "$folder/tools.json" --timeout 20000 "$@" > "$folder/said" 2>&1 &
    local login=$! address=''
    for _ in $(seq 100); do
        address=$(grep -oE 'https?://[^ ]*response_type=[^ ]*' "$folder/said" | head -1) && break
        kill -0 $login 2> /dev/null || break
        sleep 0.1
    done
    [ -z "$address" ] || curl -sL "$address" > /dev/null || true
    wait $login || { cat "$folder/said" >&2; return 1; }
}

case ${MCP_CONFORMANCE_SCENARIO:-initialize} in
    tools_call) call add_numbers '{"a": 5, "b": 3}' ;;
    sse-retry) call test_reconnection ;;
    http-invalid-tool-headers) call valid_tool '{"region": "eu"}' ;;
    json-schema-2020-12-preservation)
        call json_schema_echo "{\"schema\": $(field "$(tools)" 'JSON.stringify(it.tools.find(t => /2020/.test(t.name)).inputSchema)')}" ;;
    http-custom-headers)
        field "$MCP_CONFORMANCE_CONTEXT" 'it.toolCalls.map(c => c.name + "\t" + JSON.stringify(c.arguments)).join("\n")' |
            while IFS=$'\t' read -r tool arguments; do call "$tool" "$arguments"; done ;;
    # Tools that ask for input fail here; the others have an answer.
    sep-2322-client-request-state)
        for tool in $(field "$(tools)" 'it.tools.map(t => t.name.replace(/.*\//, "")).join(" ")'); do call "$tool" || true; done ;;
    auth/*)
        # A client that was registered by hand.
        known() { field "${MCP_CONFORMANCE_CONTEXT:-}" "it.$1 ?? ''"; }
        client=()
        SECRET=$(known client_secret) && export SECRET
        [ -z "$(known client_id)" ] || client=(--client-id "$(known client_id)" --client-secret-env SECRET)
        sign_in "${client[@]}"
        # A call that needs more scopes says which; one after a change of the authorization server needs a new sign-in.
        if ! call test-tool > "$folder/out" 2>&1; then
            cat "$folder/out"
            mapfile -t scopes < <(grep -oE -- '--scope [^ `]+' "$folder/out" | sort -u)
            # shellcheck disable=SC2068  # two words each
            sign_in ${scopes[@]} "${client[@]}"
            call test-tool
        fi ;;
    *) "$ILO_VM" tools --tools "$folder/tools.json" ;;
esac
