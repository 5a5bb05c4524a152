//! Large sources in the JSON and YAML notations. It depends on no engine, so that workers outside the
//! workspace can use the file.

/// Bytes of a large source.
pub const LARGE: usize = 1_000_000;

/// A notation of JSON or YAML.
pub struct Notation {
    /// The name of its assembly among the items.
    pub item: &'static str,
    /// A program in it.
    example: &'static str,
    /// The text before the program's name, with the name and without.
    name: (&'static str, &'static str),
    /// The separator of two programs.
    between: &'static str,
}

/// Extended tool calling.
pub const TOOL_CALLING: Notation = Notation {
    item: "assemble-tool-calling",
    example: include_str!("../../asm/tests/document/notify.tool-calling.json"),
    name: ("\"function\": \"notify\"", "\"function\": "),
    between: "\n",
};
/// Minified JSON.
pub const CONSTRAINED: Notation = Notation {
    item: "assemble-constrained",
    example: include_str!("../../asm/tests/document/notify.constrained.json"),
    name: ("\"fn\":\"notify\"", "\"fn\":"),
    between: "",
};
/// MCP composition.
pub const MCP: Notation = Notation {
    item: "assemble-mcp",
    example: include_str!("../../asm/tests/document/notify.mcp.json"),
    name: ("\"meta\": {", "\"meta\": {\"name\": "),
    between: "\n",
};
/// Workflow.
pub const WORKFLOW: Notation = Notation {
    item: "assemble-workflow",
    example: include_str!("../../asm/tests/document/notify.workflow.yaml"),
    name: ("name: notify", "name: "),
    between: "---\n",
};

/// A source of about this number of bytes: programs that differ in their names.
pub fn source(notation: &Notation, bytes: usize) -> String {
    let mut out = String::with_capacity(bytes + 4_096);
    let (with, without) = notation.name;
    let mut number = 0;
    while out.len() < bytes {
        out.push_str(if number > 0 { notation.between } else { "" });
        let comma = if with.ends_with('{') { "," } else { "" };
        let named = format!("{without}\"notify-{number}\"{comma}");
        out.push_str(&notation.example.replacen(with, &named, 1));
        out.push_str(if out.ends_with('\n') { "" } else { "\n" });
        number += 1;
    }
    out
}
