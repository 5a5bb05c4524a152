#!/usr/bin/env bash
# What the conformance suite starts as a client: a program over the server whose URL is the last argument.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf '{"mcpServers": {"suite": {"url": "%s"}}}' "${@: -1}" > "$folder/tools.json"
case ${MCP_CONFORMANCE_SCENARIO:-initialize} in
    tools_call)
        printf '; fn f() -> text\n; Tools: 0=mcp://suite/add_numbers\n; Fields: 0=a 1=b\nRET CALL 0 2 0 LIT 1 5 1 LIT 1 3\n' \
            > "$folder/add.ilo"
        "$ILO_VM" run "$folder/add.ilo" --tools "$folder/tools.json" ;;
    sse-retry)
        printf '; fn f() -> any\n; Tools: 0=mcp://suite/test_reconnection\nRET CALL 0 0\n' > "$folder/again.ilo"
        "$ILO_VM" run "$folder/again.ilo" --tools "$folder/tools.json" ;;
    *) "$ILO_VM" tools --tools "$folder/tools.json" ;;
esac
