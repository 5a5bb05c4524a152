#!/usr/bin/env bash
# What the conformance suite starts as a client: a program over the server whose URL is the last argument.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf '{"mcpServers": {"suite": {"url": "%s"}}}' "${@: -1}" > "$folder/tools.json"
export ILO_TOKENS=$folder/tokens

# call TOOL [FIELDS ARGUMENTS]: a program with one call.
call() {
    printf '; fn f() -> any\n; Tools: 0=mcp://suite/%s\n%sRET CALL 0 %s\n' "$1" "${2:-}" "${3:-0}" > "$folder/call.ilo"
    "$ILO_VM" run "$folder/call.ilo" --tools "$folder/tools.json"
}

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
    tools_call) call add_numbers $'; Fields: 0=a 1=b\n' '2 0 LIT 1 5 1 LIT 1 3' ;;
    sse-retry) call test_reconnection ;;
    auth/*)
        # A client that was registered by hand.
        known() { node -p "JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT || '{}').$1 ?? ''"; }
        client=()
        SECRET=$(known client_secret) && export SECRET
        [ -z "$(known client_id)" ] || client=(--client-id "$(known client_id)" --client-secret-env SECRET)
        sign_in "${client[@]}"
        # A call that needs more scopes says which.
        if ! call test-tool > "$folder/out" 2>&1; then
            cat "$folder/out"
            mapfile -t scopes < <(grep -oE -- '--scope [^ `]+' "$folder/out" | sort -u)
            [ ${#scopes[@]} -gt 0 ] || exit 1
            # shellcheck disable=SC2068  # two words each
            sign_in ${scopes[@]} "${client[@]}"
            call test-tool
        fi ;;
    *) "$ILO_VM" tools --tools "$folder/tools.json" ;;
esac
