#!/usr/bin/env bash
# How long a whole `ilo-vm run` of a program of two lines takes over a tools file of 2,000 tools with schemas (1 MB),
# beside one tool and `--version`. `benches/many-tools.sh [ILO_VM]`, after `cargo build --profile dist -p ilo-cli`.
set -euo pipefail
cd "$(dirname "$0")/.."
vm=$(realpath "${1:-target/dist/ilo-vm}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

tools() {
    for number in $(seq 0 $(($1 - 1))); do
        [ "$number" = 0 ] || printf ','
        printf '"tool-%s":{"mock":{"returns":{"name":"a"}},"description":"Does the thing number %s","input_schema":' \
            "$number" "$number"
        printf '{"type":"object","properties":{"id":{"type":"string","description":"The id of it"},"limit":'
        printf '{"type":"integer","minimum":1,"maximum":100},"query":{"type":"string"},"status":{"enum":["open",'
        printf '"closed"]},"tags":{"type":"array","items":{"type":"string"}}},"required":["id"]},"output_schema":'
        printf '{"type":"object","properties":{"name":{"type":"string"},"email":{"type":"string"}},"required":["name"]}}'
    done
}
for count in 1 2000; do
    { printf '{"tools":{'; tools $count; printf '}}'; } > tools-$count.json
done
cat > program.ilo <<'ILO'
; fn f(id: text) -> any
; Vars: 0=id 1=user
; Tools: 0=tool-0
; Fields: 0=id
LET 1 CALL 0 1 0 REF 0
RET REF 1
ILO

# The least of five rounds of forty, in milliseconds each.
measure() {
    local name=$1 least=999999 begun took
    shift
    for _ in 1 2 3 4 5; do
        begun=$(date +%s%N)
        for _ in $(seq 40); do "$@" > out.txt; done
        took=$((($(date +%s%N) - begun) / 40000))
        [ "$took" -ge "$least" ] || least=$took
    done
    printf '%-14s %d.%d ms\n' "$name" $((least / 1000)) $((least % 1000 / 100))
}
measure '--version' "$vm" --version
measure '1 tool' "$vm" run program.ilo --input '{"id":"a"}' --tools tools-1.json
measure '2,000 tools' "$vm" run program.ilo --input '{"id":"a"}' --tools tools-2000.json
grep -q '"status":"ok"' out.txt
