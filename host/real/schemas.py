#!/usr/bin/env python3
"""Arguments made from the schemas of the published servers, held against what the check says of them; and a call of each
server in all five notations.

For each tool of the servers in servers.json, programs with literal arguments are checked, each made from the tool's
`inputSchema`: values that fit, and values that do not (a missing field, another type, a value beyond a bound or an enum,
a field too many). `jsonschema`, which others wrote, decides which fit. Prints a table for RESULTS.md; the exit code is
1 if something that fits is refused, or something that does not is accepted for another reason than a documented one.

usage: schemas.py [ROUNDS]    needs ILO_VM, and ilo-asm beside it; run.sh installs the servers first"""
import atexit, copy, json, os, pathlib, random, subprocess, sys
import jsonschema

VM = os.environ["ILO_VM"]
ASM = str(pathlib.Path(VM).with_name("ilo-asm"))
FILES = pathlib.Path("files")
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 12
# Keywords that the check leaves to the server; the format of a text is checked where it is certain.
LEFT = {"format", "pattern", "minItems", "maxItems", "minLength", "maxLength", "uniqueItems", "multipleOf", "not", "if",
        "minProperties", "maxProperties", "propertyNames", "contains", "dependentRequired", "patternProperties"}
TEXTS = ["a", "note.txt", "2026-01-05", "2026-01-05T10:00:00Z", "https://example.com/a", "ada@example.com", "", "long " * 30]
OTHERS = [None, True, 0, 1.5, "text", [], {}, [1], {"zz": 1}]


class Maker:
    """Makes values for a schema."""

    def __init__(self, root, seed):
        self.root, self.random = root, random.Random(seed)

    def resolved(self, schema):
        for _ in range(20):
            if not isinstance(schema, dict) or "$ref" not in schema:
                break
            at = self.root
            for part in schema["$ref"].lstrip("#/").split("/"):
                at = at[part.replace("~1", "/").replace("~0", "~")]
            schema = at
        return schema

    def value(self, schema, depth=0):
        schema, choose = self.resolved(schema), self.random.choice
        if not isinstance(schema, dict):
            return choose(["text", 1, True])
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return choose(schema["enum"])
        for word in ("anyOf", "oneOf"):
            if word in schema:
                return self.value({**{k: v for k, v in schema.items() if k != word}, **self.resolved(choose(schema[word]))}, depth)
        kind = schema.get("type")
        kind = choose(kind) if isinstance(kind, list) else kind
        if kind == "object" or (kind is None and "properties" in schema):
            return self.record(schema, depth)
        if kind == "array":
            least, most = schema.get("minItems", 0), schema.get("maxItems", schema.get("minItems", 0) + 2)
            return [self.value(schema.get("items", {}), depth + 1) for _ in range(self.random.randint(least, most))]
        if kind in ("integer", "number"):
            least = schema.get("minimum", schema.get("exclusiveMinimum", -3) + (1 if "exclusiveMinimum" in schema else 0))
            most = schema.get("maximum", least + 9)
            number = self.random.randint(int(least), max(int(least), int(most)))
            return number if kind == "integer" or self.random.random() < 0.5 else float(number)
        return {"boolean": True, "null": None}.get(kind, choose(TEXTS))

    def record(self, schema, depth):
        listed, needed = schema.get("properties", {}), schema.get("required", [])
        chance = self.random.choice([0.0, 0.5, 1.0]) if depth < 4 else 0.0
        made = {name: self.value(of, depth + 1) for name, of in listed.items() if name in needed or self.random.random() < chance}
        extra = schema.get("additionalProperties")
        if not listed and isinstance(extra, dict) and self.random.random() < 0.5:
            made["other"] = self.value(extra, depth + 1)
        return made

    def changed(self, args):
        """The arguments with one change, at any depth."""
        args = copy.deepcopy(args)
        places = []

        def walk(holder):
            for key in holder if isinstance(holder, dict) else range(len(holder)):
                places.append((holder, key))
                if isinstance(holder[key], (dict, list)):
                    walk(holder[key])

        walk(args)
        records = [args] + [holder[key] for holder, key in places if isinstance(holder[key], dict)]
        way = self.random.random()
        if way < 0.2:
            self.random.choice(records)["zzunlisted"] = 1
        elif way < 0.4 and args:
            del args[self.random.choice(list(args))]
        elif places:
            holder, key = self.random.choice(places)
            number = isinstance(holder[key], (int, float)) and not isinstance(holder[key], bool)
            holder[key] = self.random.choice([-10**6, 10**9]) if number and way < 0.6 else self.random.choice(OTHERS)
        return args


def errors_of(validator, args):
    """The keywords that do not hold, those of the arms of unions with them."""
    found = list(validator.iter_errors(args))
    words = set()
    while found:
        error = found.pop()
        words.add(error.validator)
        found.extend(error.context or [])
    return words


def checked(tools, calls):
    """For each call (tool, arguments), the first error of the check."""
    lines = [json.dumps({"let": f"a{n}", "call": tool, "args": args}) for n, (tool, args) in enumerate(calls)]
    program = '{"function": "f", "output": "any", "steps": [\n' + ",\n".join(lines) + ',\n{"return": 1}]}\n'
    (FILES / "many.tool-calling.json").write_text(program)
    (FILES / "catalog.json").write_text(json.dumps(tools))
    run = subprocess.run([ASM, "check", "--json", "--catalog", FILES / "catalog.json", FILES / "many.tool-calling.json"],
                         capture_output=True, text=True)
    found = {}
    for line in run.stdout.splitlines():
        one = json.loads(line)
        if one["severity"] == "error":
            found.setdefault(one["line"] - 2, f"{one['code']}: {one['message']}")
    return found


def tools_of(name):
    server = json.loads(pathlib.Path("servers.json").read_text())["mcpServers"][name]
    pathlib.Path("one.json").write_text(json.dumps({"mcpServers": {name: server}}))
    run = subprocess.run([VM, "tools", "--tools", "one.json", "--json"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return json.loads(run.stdout)["tools"]


def notations(name, tool, arguments, words):
    """The notations in which a program gets the answer."""
    program = {"function": "f", "output": "any", "steps": [
        {"let": "answer", "call": f"mcp://{name}/{tool}", "args": json.loads(arguments)}, {"return": {"json": "$answer"}}]}
    source = FILES / "call.tool-calling.json"
    source.write_text(json.dumps(program))
    good = []
    for notation in ("id", "tool-calling", "constrained", "workflow", "mcp"):
        made = subprocess.run([ASM, "convert", "--to", notation, source], capture_output=True, text=True)
        (FILES / "converted").write_text(made.stdout)
        # What an earlier call has made: each call makes it anew.
        for left in ("memory.json", "a.db", "book.xlsx"):
            (FILES / left).unlink(missing_ok=True)
        run = subprocess.run([VM, "run", FILES / "converted", "--tools", "one.json"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if words in run.stdout:
            good.append(notation)
        else:
            print(f"{name}, {notation}: {run.stdout}{run.stderr}{made.stderr}"[:600], file=sys.stderr)
    return good


def trial(name):
    tools, calls = tools_of(name), []
    for tool in tools:
        schema = tool["inputSchema"]
        validator = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)(schema)
        for turn in range(ROUNDS):
            maker = Maker(schema, f"{name} {tool['name']} {turn}")
            args = maker.value(schema)
            for one in (args, maker.changed(args), maker.changed(args)):
                calls.append((tool["name"], one, errors_of(validator, one)))
    found = checked({"tools": tools}, [(tool, args) for tool, args, _ in calls])
    counts = {"fits": 0, "misfits": 0, "left": 0, "closed": 0}
    wrong = []
    for number, (tool, args, errors) in enumerate(calls):
        refused = found.get(number)
        if errors:
            counts["misfits"] += 1
            if not refused and errors & LEFT:
                counts["left"] += 1
            elif not refused:
                wrong.append(f"accepted: {tool} {json.dumps(args)[:300]} ({', '.join(sorted(errors))})")
        elif refused and "zzunlisted" in refused:
            counts["closed"] += 1
        else:
            counts["fits"] += 1
            if refused:
                wrong.append(f"refused: {tool} {json.dumps(args)[:300]} ({refused})")
    return tools, counts, wrong


def main():
    failed = False
    # What mcp-server-fetch reads.
    (FILES / "note.txt").write_text("a note\n")
    web = subprocess.Popen([sys.executable, "-m", "http.server", "3905", "--bind", "127.0.0.1", "--directory", str(FILES)],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    atexit.register(web.kill)
    print("| server | tools | notations | fits, of these refused | does not fit, of these accepted | left to the server | unlisted field refused |")
    print("|---|---|---|---|---|---|---|")
    for row in pathlib.Path("servers.tsv").read_text().splitlines():
        name, package, tool, arguments, words = row.split("\t")
        tools, counts, wrong = trial(name)
        good = notations(name, tool, arguments.replace("FOLDER", str(pathlib.Path.cwd())), words)
        refused = sum(one.startswith("refused") for one in wrong)
        print(f"| `{package}` | {len(tools)} | {len(good)} | {counts['fits']}, {refused} | {counts['misfits']}, {len(wrong) - refused} | {counts['left']} | {counts['closed']} |", flush=True)
        failed = failed or bool(wrong) or len(good) < 5
        print("\n".join(f"{name} {one}" for one in wrong), file=sys.stderr)
    sys.exit(failed)


main()
