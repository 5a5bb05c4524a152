# An MCP server whose tools repeat its arguments and its environment, each in a way of its own: as what it
# prints, as an answer, a failure, an error, and at its end.
all=$(printf '%s ' "$@"; env | tr '\n' ' '); all=$(printf %s "$all" | tr -d '\\"')
echo "begins with $all" >&2
while read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9][0-9]*\).*/\1/p')
  say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
  any='"inputSchema":{"type":"object"}'
  case "$line" in
  *'"initialize"'*) say '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}';;
  *tools/list*) say "\"result\":{\"tools\":[{\"name\":\"fine\",$any},{\"name\":\"fails\",$any},{\"name\":\"errs\",$any},
    {\"name\":\"misfits\",$any,\"outputSchema\":{\"type\":\"object\",\"properties\":{\"state\":{\"enum\":[\"on\"]}}}},
    {\"name\":\"prints\",$any},{\"name\":\"dies\",$any}]}" | tr -d '\n'; echo;;
  *'"fine"'*) say '"result":{"content":[{"type":"text","text":"fine"}]}';;
  *'"fails"'*) say "\"result\":{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"no $all\"}]}";;
  *'"errs"'*) say "\"error\":{\"code\":-1,\"message\":\"no $all\"}";;
  *'"misfits"'*) say "\"result\":{\"content\":[],\"structuredContent\":{\"state\":\"$all\"}}";;
  *'"prints"'*) echo "it is $all"; say "\"error\":{\"code\":-2,\"message\":\"$all\"}";;
  *'"dies"'*) echo "$all" >&2; exit 3;;
  *'"id"'*) say '"error":{"code":-32601,"message":"no"}';;
  esac
done
