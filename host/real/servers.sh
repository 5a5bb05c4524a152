#!/usr/bin/env bash
# Lists, checks and calls a dozen published MCP servers through ilo-vm, and prints a table. run.sh installs them first;
# servers.tsv has a line for each: its name, its package, a tool, arguments, and words of the answer.
set -euo pipefail
cd "$(dirname "$0")"
: "${ILO_VM:?the path of ilo-vm}"
export MEMORY_FILE=$PWD/files/memory.json
mkdir -p files
python3 -m http.server 3905 --bind 127.0.0.1 --directory files > /dev/null 2>&1 &
trap "kill $!" EXIT

version() {
    local package=node_modules/$1/package.json
    if [ -f "$package" ]; then node -p "require('./$package').version"; return; fi
    for venv in venv venv-older; do
        "$venv/bin/python" -c "import importlib.metadata as m; print(m.version('$1'))" 2>/dev/null && return
    done
    echo '?'
}

failed=0
echo '| server | version | tools | called | answer |'
echo '|---|---|---|---|---|'
while IFS=$'\t' read -r name package tool arguments words; do
    arguments=${arguments//FOLDER/$PWD}
    program=files/program-$name.json
    cat > "$program" <<JSON
{"function": "f", "output": "any", "steps": [
  {"let": "answer", "call": "mcp://$name/$tool", "args": $arguments},
  {"return": {"json": "\$answer"}}]}
JSON
    # One server of the file alone is started: the others are not named.
    python3 - "$name" > one.json <<'PY'
import json, sys
server = json.load(open("servers.json"))["mcpServers"][sys.argv[1]]
print(json.dumps({"mcpServers": {sys.argv[1]: server}}))
PY
    tools=$("$ILO_VM" tools --tools one.json --json < /dev/null 2> files/errors | python3 -c 'import json,sys; print(len(json.load(sys.stdin)["tools"]))') || tools=0
    "$ILO_VM" check "$program" --tools one.json < /dev/null > /dev/null 2>> files/errors || tools="$tools, check failed"
    outcome=$("$ILO_VM" run "$program" --tools one.json < /dev/null 2>> files/errors) || true
    if grep -qF -- "$words" <<< "$outcome"; then answer=ok; else answer="FAILED"; failed=1; { echo "$name: $outcome"; tail -5 files/errors; } >&2; fi
    echo "| \`$package\` | $(version "$package") | $tools | \`$tool\` | $answer |"
done < servers.tsv
exit $failed
