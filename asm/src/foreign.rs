//! Foreign forms: the words of other languages and formats, in one table.
//!
//! A row has a place, the words there, what they mean or what to write instead, and an example: the case of
//! the corpus that shows a program with one of them, which is the row's test. A word that no program shows
//! has no row of its own. The readers and `steps::habits` ask this table; which forms are read, with a
//! warning or without, is theirs to say.

use Means::{Advice, Keys, Nothing, Word};

/// The place of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A key of a program, a step, a handler or an arm.
    Key,
    /// A key that holds words for people.
    Comment,
    /// A key of the formats in which models call functions, which is read without a warning.
    Calling,
    /// The key that holds the name of what is called.
    Callee,
    /// The key around a whole call.
    Wrapper,
    /// The value that marks a record as a call.
    CallMark,
    /// The key that says the kind of a record.
    Marker,
    /// The key that holds the name of what a call gives.
    Answer,
    /// The key that holds a command of a shell, an action of a build, and one that alone makes no data.
    Command,
    Action,
    Act,
    /// The keys that begin a loop, and hold its element.
    Loop,
    Element,
    /// The key that holds the value of a match, and one of a case.
    Subject,
    CaseKey,
    CaseValue,
    /// The key that binds a name, and the one that adds to a list.
    Binder,
    Grower,
    /// The keys of success and failure in a return, and those that tell how something ended.
    Success,
    Failure,
    Outcome,
    /// The key that holds the value of a step whose kind is a value.
    Held,
    /// Keys beside a call that say nothing about it.
    BesideCall,
    /// Keys that hold cases or a condition, and those that make a record more than data.
    Cases,
    Condition,
    Part,
    /// The keys of an operation with its operator under a key.
    Operator,
    Operands,
    /// The keys of a record that selects a value, makes one for each item, or refers to one.
    Choice,
    Each,
    Reference,
    /// The root of a reference to an input, or to the answer of a step, and the key of that answer.
    Root,
    OfStep,
    /// An operator or function that is one of ilo's, and one that differs from it in some cases.
    Operation,
    Nearly,
    /// A function that an expression of ilo's is, or a tool.
    Function,
    /// A method that is a function of ilo's, or differs between languages.
    Method,
    /// A test of whether a list has a value, and one of a single operand: the comparison that it is, of the
    /// operand, or of its length if `len` is before it.
    Membership,
    Question,
    /// A name that is there without being bound.
    Name,
    /// A case for everything else.
    Default,
    /// A further condition beside an `if`, with steps of its own.
    ElseIf,
    /// A group of steps.
    Group,
    /// A literal of JSON.
    Literal,
    /// The name of a type.
    Type,
    /// The kind of a state of a state machine.
    State,
    /// The key in a record for all fields of another one.
    Spread,
    /// The key of a document of another format.
    Document,
}

/// What a word means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Means {
    /// One of these keys, the most likely first; each by the first word that a notation has for it.
    Keys(&'static [&'static str]),
    /// A word of ilo or JSON.
    Word(&'static str),
    /// Nothing here: what to write instead.
    Advice(&'static str),
    /// What its place says.
    Nothing,
}

struct Row {
    place: Place,
    words: &'static [&'static str],
    means: Means,
    #[cfg_attr(not(test), allow(dead_code, reason = "read by tests"))]
    example: &'static str,
}

const fn row(place: Place, words: &'static [&'static str], means: Means, example: &'static str) -> Row {
    Row { place, words, means, example: if cfg!(test) { example } else { "" } }
}

/// What to write instead of an unbounded loop.
const LOOP: &str = "a loop has a bound: `while` or `until` with its condition, `max` passes at most, and `do` with the steps; a number of passes is `for` over `range(n)`";

use Place as At;

#[rustfmt::skip]
static ROWS: &[Row] = &[
    row(At::Key, &["tool", "function", "invoke", "run", "uses", "action"], Keys(&["call"]), "first-try/tool-calling/call-arguments"),
    row(At::Key, &["arguments", "params", "input", "kwargs", "tool-input", "action-input"], Keys(&["args"]), "first-try/mcp/arguments"),
    row(At::Key, &["parameters", "inputs"], Keys(&["args", "input"]), "first-try/workflow/inputs"),
    row(At::Key, &["onerror", "on-failure", "on-fail", "if-error", "handler", "except", "rescue"], Keys(&["on-error"]), "first-try/tool-calling/on-error-camel"),
    row(At::Key, &["error"], Keys(&["on-error", "error"]), "first-try/tool-calling/error-step"),
    row(At::Key, &["message", "msg"], Keys(&["error", "on-error"]), "first-try/tool-calling/error-message"),
    row(At::Key, &["undo", "compensation", "compensate-with", "on-rollback", "revert"],
        Keys(&["rollback", "compensate"]), "first-try/tool-calling/rollback-words"),
    row(At::Key, &["when", "condition"], Keys(&["if"]), "first-try/workflow/foreach"),
    row(At::Key, &["else"], Keys(&["default"]), "first-try/workflow/switch-else"),
    row(At::Key, &["foreach", "map", "loop", "each"], Keys(&["for"]), "first-try/workflow/foreach"),
    row(At::Key, &["of", "over", "items", "list"], Keys(&["in"]), "first-try/tool-calling/loop-as"),
    row(At::Key, &["steps"], Keys(&["do", "then"]), "first-try/tool-calling/loop-as"),
    row(At::Key, &["body"], Keys(&["do", "steps"]), "first-try/constrained/loop-record"),
    row(At::Key, &["var", "as", "assign", "name", "output", "store", "set", "update", "save-as", "store-as", "assign-to", "into", "register",
        "output-key"], Keys(&["let"]), "first-try/workflow/steps-list"),
    row(At::Key, &["id"], Keys(&["let", "function"]), "first-try/tool-calling/call-tool-use"),
    row(At::Key, &["case"], Keys(&["cases", "if", "match"]), "first-try/workflow/switch-case"),
    row(At::Key, &["on"], Keys(&["match"]), "first-try/workflow/of-a-build"),
    row(At::Key, &["object", "record"], Keys(&["obj"]), "first-try/tool-calling/input-schema"),
    row(At::Key, &["=", "compute"], Keys(&["expr"]), "cards/task-read-config"),
    row(At::Key, &["to", "be"], Keys(&["value", "expr"]), "first-try/tool-calling/missing-argument"),
    row(At::Key, &["fallback", "default", "or-else", "otherwise"], Keys(&["value"]), "first-try/tool-calling/handler-default"),
    row(At::Key, &["max-iterations", "limit"], Keys(&["max"]), "5-shared/while-words"),
    row(At::Key, &["on-success"], Keys(&["then"]), "5-shared/while-words"),
    row(At::Key, &["with"], Keys(&["set"]), "first-try/mcp/merge-with"),
    row(At::Key, &["result"], Keys(&["value", "output", "let"]), "first-try/tool-calling/handler-default"),
    row(At::Key, &["type", "outputs", "returns"], Keys(&["output"]), "first-try/constrained/type-schema"),
    row(At::Key, &["tools"], Keys(&["deps"]), "first-try/mcp/tools-described"),
    row(At::Key, &["workflow", "title"], Keys(&["function"]), "first-try/workflow/enclosed"),
    row(At::Key, &["retry", "retries", "max-retries"],
        Advice("each try is a pass of a loop: `for` over `range` of the most tries, in it the call with `{\"skip\": true}` \
                as its `{handler}`, then `break`, and `else` for when all tries failed; `{\"then\": [{\"let\": \"why\", \"value\": \
                \"${error}\"}, {\"skip\": true}]}` as its `{handler}` keeps the last failure, if `why` is bound before the loop"), "first-try/tool-calling/retry"),
    row(At::Key, &["collect", "emit"], Advice("a step of the loop with `yield` adds a value to its list"), "5-shared/words-without-key"),
    row(At::Key, &["finally"], Advice("write its steps behind this step, and in the handler before it returns"), "5-shared/words-without-key"),
    row(At::Key, &["unless"], Advice("write `if` with `not` before the condition"), "5-shared/words-without-key"),
    row(At::Key, &["break-if", "continue-if"], Advice("beside `if` with the condition write `break: true` or `skip: true`"), "5-shared/words-without-key"),
    row(At::Key, &["throw", "rethrow"], Advice("`raise` fails with a value"), "first-try/constrained/fail-step"),
    row(At::Key, &["continue"], Advice("`skip: true` ends a pass of a loop early, as a step or in a handler"), "first-try/tool-calling/continue"),
    row(At::Key, &["goto", "parallel", "next", "depends-on", "needs"],
        Advice("leave it out: steps run in the order of the file; the next pass of a loop begins with `skip: true`"), "first-try/tool-calling/parallel"),
    row(At::Key, &["sort"],
        Advice("a list is sorted by `{\"sort\": list}`, or `{\"sort\": [list, \"field\"]}`, in a value or under `expr`"), "12-functions/sort"),
    row(At::Key, &["append", "extend", "push"],
        Advice("a list grows by `push` beside its name: `{\"let\": \"list\", \"push\": value}`"), "first-try/tool-calling/append-in-a-loop"),
    row(At::Key, &["print", "log", "notify"],
        Advice("leave it out: what a function returns is its outcome, and tools do the rest"), "first-try/workflow/reference-call"),
    row(At::Key, &["repeat", "repeat-until", "do-while", "do-until", "forever"], Advice(LOOP), "5-shared/loop-without-bound"),
    row(At::Key, &["times", "from", "start", "upto", "up-to"],
        Advice("a loop runs over a list: `range` of a number is the list of the numbers from 0 to below it: beside `for`, `in: range(n)`"), "5-shared/loop-a-number-of-times"),
    row(At::Key, &["sleep", "wait", "delay", "pause"], Advice("what waits is a tool, in a step with `call`"), "5-shared/sleep-step"),
    row(At::Key, &["filter"], Advice("loop over the list with `for`, with an `if` in it around what is wanted"), "first-try/tool-calling/retry"),
    row(At::Key, &["elif", "else-if", "elseif"],
        Advice("put a step with `if` under `else`, with a `then` and an `else` of its own"), "first-try/tool-calling/else-if"),
    row(At::Key, &["continue-on-error", "allow-failure", "ignore-errors"],
        Advice("beside the call, `{handler}` with `ignore` goes on without its answer: {ignore}"),
        "first-try/workflow/continue-on-error"),
    row(At::Key, &["timeout-minutes", "timeout-seconds"],
        Advice("leave it out: `timeout_ms` of the tool in the tools file says how long its calls may take, and `--timeout` how long a run may"),
        "first-try/workflow/timeout-minutes"),
    row(At::Key, &["throw"], Keys(&["raise"]), "first-try/tool-calling/step-in-words"),
    row(At::Key, &["choose"], Advice("write `switch` with a list of arms, each with `if` and `then`, the last with `default`"), "first-try/workflow/record-for-a-step"),
    row(At::Key, &["filter"], Keys(&["where"]), "first-try/tool-calling/step-in-words"),
    row(At::Comment, &["comment", "note", "description", "-comment", "_comment", "//"], Nothing, "first-try/mcp/tools-described"),
    row(At::Calling, &["tool", "function", "arguments", "params", "parameters", "input", "inputs"], Nothing, "first-try/mcp/arguments"),
    row(At::Callee, &["uses", "tool", "function", "name", "method", "fn", "call", "Resource"], Nothing, "first-try/tool-calling/states"),
    row(At::Wrapper, &["function", "call", "tool", "params", "tool_use"], Nothing, "first-try/mcp/call-rpc"),
    row(At::CallMark, &["function", "tool_use", "call", "tool", "2.0", "Task"], Nothing, "first-try/tool-calling/call-tool-use"),
    row(At::Marker, &["type", "kind", "step", "jsonrpc", "Type"], Nothing, "first-try/tool-calling/call-tool-use"),
    row(At::Answer, &["id", "as", "result", "output", "store", "assign", "name"], Nothing, "first-try/tool-calling/call-tool-use"),
    row(At::Command, &["run", "shell", "script", "command"], Nothing, "first-try/tool-calling/shell"),
    row(At::Action, &["uses"], Nothing, "first-try/workflow/uses"),
    row(At::Act, &["continue", "throw", "fail", "rethrow", "notify", "log", "print", "retry", "sleep"], Nothing, "first-try/tool-calling/data-in-place-of-a-step"),
    row(At::Loop, &["for", "foreach", "forEach", "for_each", "map", "each", "loop"], Nothing, "first-try/tool-calling/loop-as"),
    row(At::Element, &["var", "item", "as", "each", "name", "let"], Nothing, "first-try/tool-calling/loop-as"),
    row(At::Subject, &["on", "value", "subject", "expr", "match", "input"], Nothing, "first-try/workflow/switch-match"),
    row(At::CaseKey, &["case", "when", "key", "if"], Nothing, "first-try/mcp/cases-list"),
    row(At::CaseValue, &["value", "then", "return", "result", "do"], Nothing, "first-try/mcp/cases-list"),
    row(At::Binder, &["let", "set", "assign", "var", "vars"], Nothing, "first-try/workflow/set-value"),
    row(At::Grower, &["push", "append", "extend"], Nothing, "first-try/shared/append-to-a-name"),
    row(At::Held, &["value", "result", "expr", "to"], Nothing, "first-try/id/return-nothing"),
    row(At::BesideCall, &["name", "id", "call_id", "tool_call_id", "description", "server", "server_name", "Next", "End",
        "Comment", "ResultPath"], Nothing, "first-try/tool-calling/states"),
    row(At::Cases, &["case", "arms", "when", "on", "branches", "options", "values", "with"], Nothing, "first-try/mcp/cases-list"),
    row(At::Condition, &["if", "when", "condition", "cond"], Nothing, "first-try/workflow/foreach"),
    row(At::Part, &["let", "args", "arguments", "parameters", "catch", "cases", "yield", "do"], Nothing, "first-try/mcp/arguments"),
    row(At::Outcome, &["ok", "err", "error", "status", "success", "code", "message"], Nothing, "first-try/tool-calling/success"),
    row(At::Success, &["success", "succeed", "Ok", "OK"], Nothing, "first-try/tool-calling/success"),
    row(At::Failure, &["failure", "fail", "failed", "Err", "Error", "exception"], Nothing, "first-try/tool-calling/success"),
    row(At::Operator, &["op", "operator", "operation", "fn"], Nothing, "first-try/tool-calling/other-op"),
    row(At::Operands, &["args", "operands", "values", "arguments", "params", "of"], Nothing, "first-try/mcp/arguments"),
    row(At::Choice, &["if", "cond", "ternary", "case", "switch", "iif"], Nothing, "first-try/tool-calling/choice-in-expr"),
    row(At::Each, &["map", "filter", "reduce", "for", "foreach", "forEach", "loop"], Nothing, "first-try/tool-calling/loop-as"),
    row(At::Reference, &["var", "ref", "$ref", "$var", "Ref"], Nothing, "first-try/tool-calling/variable-record"),
    row(At::Root, &["input", "inputs", "in", "params", "parameters", "args", "arguments", "workflow"],
        Word("input"), "first-try/constrained/reference-inputs"),
    row(At::Root, &["steps", "vars", "variables", "outputs", "results", "context"], Word("steps"),
        "first-try/tool-calling/reference-steps"),
    row(At::OfStep, &["output", "outputs", "result"], Nothing, "first-try/tool-calling/reference-steps"),
    row(At::Operation, &["&&", "&"], Word("and"), "first-try/tool-calling/condition-and"),
    row(At::Operation, &["||", "|"], Word("or"), "first-try/mcp/reference-filter"),
    row(At::Operation, &["!"], Word("not"), "first-try/id/concat-of-three"),
    row(At::Operation, &["===", "=", "is", "eq", "equals"], Word("=="), "first-try/id/prose-and-fence"),
    row(At::Operation, &["!==", "<>", "=!", "~=", "ne", "neq", "≠", "isnot", "is not", "not equals", "notequals", "noteq"], Word("!="), "first-try/shared/operator-turned"),
    row(At::Operation, &["=>", "gte", "ge", "≥"], Word(">="), "first-try/workflow/infix-no-exact"),
    row(At::Operation, &["=<", "lte", "le", "≤"], Word("<="), "1-values/compare-numbers"),
    row(At::Operation, &["gt"], Word(">"), "cards/example"),
    row(At::Operation, &["lt"], Word("<"), "cards/logic"),
    row(At::Operation, &["×", "mul", "multiply", "times"], Word("*"), "first-try/id/loop-not-bound"),
    row(At::Operation, &["÷", "div", "divide"], Word("/"), "first-try/id/return-of-a-failure"),
    row(At::Operation, &["−", "sub", "subtract", "minus"], Word("-"), "cards/lists"),
    row(At::Operation, &["add", "plus"], Word("+"), "first-try/constrained/op-word"),
    row(At::Operation, &["ceiling"], Word("ceil"), "first-try/workflow/functions-elsewhere"),
    row(At::Operation, &["uniq", "distinct", "dedupe", "uniqueby", "uniqby"], Word("unique"), "cards/task-dedupe"),
    row(At::Operation, &["pluck"], Word("column"), "first-try/workflow/functions-elsewhere"),
    row(At::Operation, &["startswith", "hasprefix", "beginswith"], Word("starts"), "12-functions/constrained-starts-with-elsewhere"),
    row(At::Operation, &["endswith", "hassuffix"], Word("ends"), "first-try/workflow/functions-elsewhere"),
    row(At::Operation, &["omit"], Word("without"), "first-try/workflow/functions-elsewhere"),
    row(At::Operation, &["length", "size", "strlen", "count"], Word("len"), "first-try/tool-calling/record-length"),
    row(At::Operation, &["contains", "includes", "haskey", "hasfield", "hasownproperty"], Word("has"), "first-try/mcp/contains"),
    row(At::Operation, &["tolowercase", "lowercase", "tolower", "downcase"], Word("lower"), "first-try/workflow/infix-other-forms"),
    row(At::Operation, &["touppercase", "uppercase", "toupper", "upcase"], Word("upper"), "first-try/constrained/other-forms"),
    row(At::Operation, &["strip"], Word("trim"), "first-try/workflow/functions-elsewhere"),
    row(At::Operation, &["sorted", "sortby", "orderby"], Word("sort"), "cards/task-dedupe"),
    row(At::Operation, &["reversed"], Word("reverse"), "first-try/workflow/functions-elsewhere"),
    row(At::Operation, &["tofixed"], Word("fixed"), "first-try/workflow/method"),
    row(At::Operation, &["stringify", "tojson", "json.stringify", "json.dumps", "dumps", "jsonencode", "jsonstringify"], Word("json"), "12-functions/json-stringify-elsewhere"),
    row(At::Operation, &["json.parse", "json.loads", "parsejson", "jsonparse", "fromjson", "jsondecode", "loads"], Word("parse"), "12-functions/infix-parse-elsewhere"),
    row(At::Operation, &["replaceall"], Word("replace"), "first-try/workflow/functions-elsewhere"),
    row(At::Nearly, &["mod", "rem"], Word("%"), "cards/task-assign-old"),
    row(At::Nearly, &["floordiv", "idiv", "intdiv"], Word("//"), "12-functions/floordiv"),
    row(At::Nearly, &["groupby"], Word("group"), "first-try/workflow/functions-nearly"),
    row(At::Nearly, &["fromentries"], Word("record"), "first-try/workflow/functions-nearly"),
    row(At::Nearly, &["push", "additem"], Word("append"), "5-shared/call-last-in-pass"),
    row(At::Nearly, &["cat", "++"], Word("concat"), "first-try/workflow/functions-nearly"),
    row(At::Nearly, &["substring", "substr"], Word("slice"), "12-functions/substring-elsewhere"),
    row(At::Nearly, &["daysbetween", "datediff"], Word("days"), "first-try/shared/function-words"),
    row(At::Nearly, &["parsefloat", "parseint", "float", "tonumber", "tofloat", "num"], Word("number"), "12-functions/id-words-elsewhere"),
    row(At::Nearly, &["date.parse", "parsedate", "parsetime", "totimestamp"], Word("time"), "12-functions/date-parse-elsewhere"),
    row(At::Nearly, &["date.toisostring", "toisostring", "isoformat", "toiso"], Word("iso"), "first-try/workflow/functions-nearly"),
    row(At::Function, &["avg", "average"], Advice("the average of a list is `sum(list) / len(list)`"), "cards/task-weather"),
    row(At::Function, &["first"], Advice("the first item of a list is `at(list, 0)`"), "first-try/mcp/index-in-text"),
    row(At::Function, &["last"], Advice("the last item of a list is `at(list, -1)`"), "first-try/workflow/infix-other-forms"),
    row(At::Function, &["indexof", "findindex"], Advice("where a text begins in another, or an item in a list, else nil, is `index(text, part)`"), "12-functions/index-of-elsewhere"),
    row(At::Function, &["maxby", "minby"], Advice("the record with the greatest field is `sort(list, '-field')[0]`, with the least `sort(list, 'field')[0]`"), "first-try/shared/function-words"),
    row(At::Function, &["lines", "splitlines"], Advice("the lines of a text are `split(text, '\\n')`"), "first-try/shared/function-words"),
    row(At::Function, &["neg", "negate", "negative"], Advice("a number with the other sign is `0 - x`"), "12-functions/id-neg-elsewhere"),
    row(At::Function, &["trunc", "truncate", "int", "toint"], Advice("a number from 0 on without its fraction is `floor(x)`, and a text as a number `number(x)`"), "first-try/workflow/functions-nearly"),
    row(At::Function, &["string", "str", "tostring"], Advice("a value as text is `concat(x, '')`"), "first-try/constrained/type-schema"),
    row(At::Function, &["any", "some", "all", "every"], Advice("how many items pass a test is `len(v)`, if a loop `v` over the list collects them with `where`"), "first-try/constrained/args-beside"),
    row(At::Function, &["list", "tuple"], Advice("`keys(r)`, `values(r)` and whatever gives several values give a list: leave `list` out"), "first-try/workflow/of-python"),
    row(At::Function, &["isinstance", "typeof"], Advice("the kind of a value is known from its schema; `x == null` asks whether there is one"), "first-try/workflow/of-python"),
    row(At::Function, &["zip", "enumerate"], Advice("an item of each list is `at(list, i)`, in a loop over one of them with `index: i`"), "5-shared/index-of-two-names"),
    row(At::Function, &["coalesce", "ifnull", "nvl", "default", "orelse", "defaultto", "withdefault", "??", "?:"], Advice("a value, or another where it is absent or nil, is `x ?? value`"), "first-try/constrained/case-steps"),
    row(At::Function, &["format"], Advice("a number with its places is `fixed(x, 2)`, and a text with values in it `'${a}: ${b}'`"), "first-try/workflow/functions-unlike"),
    row(At::Function, &["iff", "iif", "ifelse"], Advice("one of two values is `a if c else b`"), "first-try/workflow/functions-unlike"),
    row(At::Function, &["now", "today", "uuid", "random", "flatten", "sqrt", "pow"], Advice("a tool computes it, in a step with `call`"), "cards/task-assign-old"),
    row(At::Function, &["always", "success", "failure", "cancelled"], Advice("a step runs if all before it succeeded; after a failure the handler of a step with `try` runs, then what is behind it"), "first-try/workflow/if-always"),
    row(At::Method, &["size", "length"], Word("len"), "first-try/tool-calling/record-length"),
    row(At::Method, &["strip"], Word("trim"), "first-try/workflow/methods-elsewhere"),
    row(At::Method, &["toUpperCase"], Word("upper"), "first-try/constrained/other-forms"),
    row(At::Method, &["toLowerCase"], Word("lower"), "first-try/workflow/infix-other-forms"),
    row(At::Method, &["startsWith", "startswith"], Word("starts"), "12-functions/constrained-starts-with-elsewhere"),
    row(At::Method, &["endsWith", "endswith"], Word("ends"), "first-try/workflow/methods-elsewhere"),
    row(At::Method, &["includes", "contains", "hasOwnProperty"], Word("has"), "first-try/mcp/contains"),
    row(At::Method, &["items"], Word("entries"), "first-try/constrained/field-near-name"),
    row(At::Method, &["replaceAll"], Word("replace"), "first-try/workflow/methods-elsewhere"),
    row(At::Method, &["toFixed"], Word("fixed"), "first-try/workflow/method"),
    row(At::Method, &["indexOf", "index", "find", "rfind", "findIndex", "lastIndexOf"], Advice("`index(x, part)` gives the first position, or null (not -1), `find(list, 'field', value)` the first record, or null"), "first-try/workflow/methods-unlike"),
    row(At::Method, &["substr", "substring"], Advice("`slice(text, from, to)` is a part of a text"), "first-try/workflow/methods-unlike"),
    row(At::Method, &["sort", "sorted"], Advice("`sort(list)` and `sort(list, 'field')` give a sorted list"), "first-try/workflow/methods-unlike"),
    row(At::Method, &["pop"], Advice("`at(list, -1)` is the last item, and `slice(list, 0, -1)` the list without it"), "first-try/workflow/methods-unlike"),
    row(At::Method, &["replace"], Advice("`replace(text, old, new)` replaces each `old`"), "first-try/workflow/methods-unlike"),
    row(At::Method, &["push", "append", "add", "extend"], Advice("`append(list, x)` gives a longer list; as all of `expr`, `list.append(x)` changes the list, if a step has bound it"), "first-try/workflow/methods-unlike"),
    row(At::Method, &["isdigit", "isnumeric", "isdecimal"], Advice("`number(x)` fails where x is no number, which a handler beside it tells"), "first-try/workflow/of-python"),
    row(At::Method, &["charAt"], Advice("a character of a text is `x[i:i + 1]`"), "first-try/workflow/of-python"),
    row(At::Method, &["removeprefix", "lstrip"], Advice("a text without its beginning p is `x[len(p):] if starts(x, p) else x`"), "first-try/workflow/of-python"),
    row(At::Method, &["weekday", "getDay", "isoweekday"], Advice("`days('1900-01-01', x) % 7` is 0 on a Monday and 6 on a Sunday"), "first-try/workflow/of-python"),
    row(At::Method, &["map", "filter", "reduce", "flatMap", "forEach"], Advice("a field of each item is `column(list, 'field')`; any other value for each is a step with `for` before this one"), "first-try/workflow/infix-no-exact"),
    row(At::Method, &["reverse"], Advice("`reverse(list)` gives the list from its end"), "first-try/workflow/methods-unlike"),
    row(At::Membership, &["in", "isin", "member", "memberof", "anyof", "oneof"], Word("in"), "first-try/tool-calling/in-list"),
    row(At::Membership, &["contains", "includes"], Word("has"), "first-try/mcp/contains"),
    row(At::Membership, &["notin", "isnotin", "nin", "noneof"], Word("not in"), "5-shared/op-not-in"),
    row(At::Membership, &["notcontains", "excludes", "notincludes", "doesnotcontain", "nothas"], Word("not has"), "5-shared/op-not-contains"),
    row(At::Question, &["is_null", "isnull", "is_none", "is_nil", "null", "none", "missing", "absent"], Word("=="), "first-try/tool-calling/is-null"),
    row(At::Question, &["is_not_null", "not_null", "notnull", "exists", "present", "defined"], Word("!="), "12-functions/infix-is-empty-elsewhere"),
    row(At::Question, &["is_empty", "isempty", "empty"], Word("len =="), "first-try/tool-calling/is-null"),
    row(At::Question, &["is_not_empty", "not_empty", "notempty", "nonempty"], Word("len >"), "first-try/tool-calling/is-null"),
    row(At::Name, &["env", "ENV", "secrets", "secret", "process", "vault"],
        Advice("a program cannot read the environment: the tools file configures tools, and inputs hold all other values"), "5-workflow/seed-for"),
    row(At::Name, &["now", "today", "date", "uuid", "random"], Advice("a tool gives it, in a step with `call`, or an input"), "cards/task-assign-old"),
    row(At::Name, &["prev", "previous", "last", "result", "output", "it", "_"],
        Advice("name the step that gives it with `let`, and refer to that name"), "first-try/id/prose"),
    row(At::Name, &["index", "i", "loop"], Advice("the position of an item is named by `index` beside `for`"), "first-try/constrained/field-near-name"),
    row(At::Default, &["else", "otherwise", "*", "any", "fallback", "_default"], Nothing, "first-try/tool-calling/else-case"),
    row(At::ElseIf, &["elif", "elsif", "else-if", "elseif", "else if"], Nothing, "first-try/tool-calling/else-if"),
    row(At::Group, &["parallel", "sequence", "group", "block"], Nothing, "first-try/tool-calling/parallel"),
    row(At::Literal, &["True", "TRUE"], Word("true"), "first-try/tool-calling/python-true"),
    row(At::Literal, &["False", "FALSE"], Word("false"), "hostile/json-python-false"),
    row(At::Literal, &["None", "nil", "Null", "NULL", "undefined", "Nil", "NIL"], Word("null"), "first-try/tool-calling/python-none"),
    row(At::Literal, &["NaN", "nan", "Infinity", "inf", "Inf"], Word(""), "hostile/json-nan"),
    row(At::Type, &["string", "str"], Word("text"), "first-try/constrained/type-schema"),
    row(At::Type, &["boolean"], Word("bool"), "5-shared/synonyms"),
    row(At::Type, &["int", "integer", "float", "double", "decimal", "num"], Word("number"), "5-shared/op-condition-unknown"),
    row(At::Type, &["null", "none", "void", "unit", "undefined"], Word("nil"), "3-calls/optional-input-null"),
    row(At::State, &["Task"], Advice("write a step with `call`"), "first-try/tool-calling/states"),
    row(At::State, &["Choice"], Advice("write a step with `if` for each choice, one after the other"), "first-try/tool-calling/states"),
    row(At::State, &["Map"], Advice("write a loop, a step with `for`"), "first-try/tool-calling/states"),
    row(At::State, &["Pass"], Advice("name the value in a step with `let` and `value`"), "first-try/tool-calling/states"),
    row(At::State, &["Fail"], Advice("`raise` fails with a value"), "first-try/tool-calling/states"),
    row(At::State, &["Succeed"], Advice("return the value in a step of its own"), "first-try/tool-calling/states"),
    row(At::State, &["Wait", "Parallel"], Advice("leave it out: steps run one after the other"), "first-try/tool-calling/states"),
    row(At::Spread, &["...", "**", "$spread"], Nothing, "first-try/shared/spread-as-a-key"),
    row(At::Document, &["States"], Advice("each state becomes a step, in the order in which they run"), "first-try/tool-calling/state-machine"),
    row(At::Document, &["jobs"], Advice("its commands become calls of tools"), "first-try/workflow/of-a-build"),
];

/// The rows of each place, which are adjacent.
static RANGES: [(usize, usize); Place::Document as usize + 1] = {
    let mut ranges = [(0, 0); Place::Document as usize + 1];
    let mut at = 0;
    while at < ROWS.len() {
        let range = &mut ranges[ROWS[at].place as usize];
        range.0 = if range.1 == 0 { at } else { range.0 };
        range.1 = at + 1;
        at += 1;
    }
    ranges
};

/// The rows of a place.
fn rows(place: Place) -> impl Iterator<Item = &'static Row> {
    let (from, to) = RANGES.get(place as usize).copied().unwrap_or_default();
    ROWS.get(from..to).unwrap_or_default().iter()
}

/// All words of a place.
pub(crate) fn words_of(place: Place) -> impl Iterator<Item = &'static str> {
    rows(place).flat_map(|row| row.words).copied()
}

/// The words of a place, in order.
pub(crate) fn words(place: Place) -> &'static [&'static str] {
    rows(place).next().map_or(&[], |row| row.words)
}

/// Whether a word belongs to a place.
pub(crate) fn is(place: Place, word: &str) -> bool {
    rows(place).any(|row| row.words.contains(&word))
}

/// What a word means in a place.
pub(crate) fn meaning(place: Place, word: &str) -> Option<Means> {
    rows(place).find(|row| row.words.contains(&word)).map(|row| row.means)
}

/// The rows of keys with a word, in any case, with `_`, blanks or nothing for its hyphens.
fn key_rows(word: &str) -> impl Iterator<Item = &'static Row> + '_ {
    let plain =
        move || word.bytes().filter(|byte| !b"_ -".contains(byte)).map(|byte| byte.to_ascii_lowercase());
    let first = plain().next();
    let is =
        move |own: &&str| own.bytes().next() == first && own.bytes().filter(|&byte| byte != b'-').eq(plain());
    rows(At::Key).filter(move |row| row.words.iter().any(&is))
}

/// The keys that a word means as a key.
pub(crate) fn keys(word: &str) -> &'static [&'static str] {
    key_rows(word).find_map(|it| if let Keys(keys) = it.means { Some(keys) } else { None }).unwrap_or(&[])
}

/// What to write instead of a key.
pub(crate) fn advice(word: &str) -> Option<&'static str> {
    key_rows(word).find_map(|row| if let Advice(help) = row.means { Some(help) } else { None })
}

/// What to write instead of a word of a place.
pub(crate) fn instead(place: Place, word: &str) -> Option<&'static str> {
    if let Some(Advice(help)) = meaning(place, word) { Some(help) } else { None }
}

/// The word of ilo or JSON that a word of a place means.
pub(crate) fn word(place: Place, word: &str) -> Option<&'static str> {
    if let Some(Word(meant)) = meaning(place, word) { Some(meant) } else { None }
}

/// Whether a word, in any case, is one of other languages.
pub(crate) fn knows(word: &str) -> bool {
    ROWS.iter().any(|row| row.words.iter().any(|other| other.eq_ignore_ascii_case(word)))
}

/// Whether a word begins an unbounded loop.
pub(crate) fn is_unbounded(word: &str) -> bool {
    advice(word) == Some(LOOP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_has_a_program_that_shows_it() {
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../spec/corpus/");
        if crate::is_package() {
            return;
        }
        for row in ROWS {
            let case = std::fs::read_to_string(format!("{corpus}{}.case", row.example)).unwrap_or_default();
            let case = case.to_lowercase();
            let shows = |word: &&&str| {
                let word = word.to_lowercase();
                let shown = |before: &str, after: &str| case.contains(&format!("{before}{word}{after}"));
                shown("\"", "\"")
                    || shown(" ", ":")
                    || shown("\n", ":")
                    || shown("{", ":")
                    || shown(" ", ",")
                    || shown("[", "]")
                    || shown(" ", "}")
                    || shown("\"", ".")
                    || shown(".", ".")
                    || shown(" ", " ")
                    || shown("{", ".")
                    || ["(", ".", "\"", " ", "{"].iter().any(|before| shown(before, "("))
            };
            assert!(row.words.iter().any(|word| shows(&word)), "{}: {:?}", row.example, row.words);
        }
    }

    #[test]
    fn the_rows_of_a_place_are_adjacent() {
        for row in ROWS {
            assert!(rows(row.place).all(|other| other.place == row.place), "{:?}", row.words);
        }
    }

    #[test]
    fn an_operator_means_one_that_is_there() {
        let is_of = |row: &&Row| matches!(row.place, At::Operation | At::Nearly);
        for row in ROWS.iter().filter(is_of) {
            let Word(own) = row.means else { panic!("{:?}", row.words) };
            assert!(crate::dialect::operator::find(own).is_some(), "{own}");
        }
    }

    #[test]
    fn a_word_means_one_thing_in_a_place() {
        for (at, row) in ROWS.iter().enumerate() {
            for word in row.words {
                let again = |other: &&Row| {
                    let same = other.place == row.place && other.words.contains(word);
                    same && matches!(other.means, Advice(_)) == matches!(row.means, Advice(_))
                };
                assert_eq!(ROWS.iter().skip(at + 1).find(again).map(|row| row.words), None, "{word}");
            }
        }
    }
}
