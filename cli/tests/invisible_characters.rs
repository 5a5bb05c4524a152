//! Characters of tools files that could hide text or turn it around for a person or a model are shown as
//! escapes. Outcomes and traces are data, which is not changed.

use std::process::Command;
use tempfile::TempDir;

/// Direction marks, zero-width characters, a tag, and controls of terminals.
const BAD: [char; 8] =
    ['\u{202e}', '\u{2066}', '\u{200b}', '\u{200d}', '\u{feff}', '\u{e0041}', '\u{1b}', '\u{9b}'];

#[test]
fn what_would_hide_text_is_escaped() {
    let folder = TempDir::new().unwrap();
    let bad: String = BAD.iter().collect();
    let text = |name: &str| serde_json::to_string(&format!("{name}{bad}x")).unwrap();
    let tools = format!(
        r#"{{"tools": {{{}: {{"mock": {{"fails": {}}}, "description": {}, "input_schema": {{"type": "object",
            "properties": {{{}: {{"type": "string", "description": {}, "enum": [{}]}}}}}}}}, "get": {{"mock": {{"fails": {}}}}}}}}}"#,
        text("odd"),
        text("failure"),
        text("about"),
        text("argument"),
        text("of"),
        text("value"),
        text("failure"),
    );
    let program = "; fn f() -> any\n; Tools: 0=get\nRET CALL 0 0\n";
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("tools.json", &tools);
    write("p.ilo", program);
    let said = |program: &str, line: &str| {
        let output = Command::new(program).args(line.split(' ')).current_dir(folder.path()).output().unwrap();
        let said = [&output.stdout[..], &output.stderr].concat();
        (String::from_utf8(said).unwrap(), output.stdout)
    };
    let (vm, asm) = (env!("CARGO_BIN_EXE_ilo-vm"), env!("CARGO_BIN_EXE_ilo-asm"));
    let (_, catalogue) = said(vm, "tools --tools tools.json --json");
    std::fs::write(folder.path().join("catalogue.json"), catalogue).unwrap();
    for (program, line, words) in [
        (vm, "tools --tools tools.json", "odd"),
        (vm, "tools --tools tools.json --json", "about"),
        (vm, "plan p.ilo --tools tools.json", "get"),
        (vm, "check p.ilo --tools tools.json", ""),
        (asm, "prompt --notation id --catalog catalogue.json", "odd"),
        (asm, "prompt --notation workflow --catalog catalogue.json", "about"),
    ] {
        let (said, _) = said(program, line);
        assert!(said.contains(words), "{line}: {said}");
        let shown: Vec<char> = BAD.into_iter().filter(|&c| said.contains(c)).collect();
        assert!(shown.is_empty(), "{line} shows {shown:?}: {said:?}");
    }
}
