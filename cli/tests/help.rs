//! The help of every command of both programs has an example.

use std::process::Command;

/// The help text of a command.
fn help(program: &str, path: &[String]) -> String {
    let output = Command::new(program).args(path).arg("--help").output().unwrap();
    assert!(output.status.success(), "{path:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The commands that a help text lists.
fn commands(help: &str) -> Vec<String> {
    let listed = help.split_once("Commands:\n").map_or("", |(_, rest)| rest);
    let listed = listed.lines().take_while(|line| !line.is_empty());
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned);
    // `ilo-vm asm` shows the help of `ilo-asm`.
    names.filter(|name| name != "help" && name != "asm").collect()
}

/// Visits the commands of a program. Returns their number.
fn walk(name: &str, program: &str) -> usize {
    let (mut open, mut seen) = (vec![Vec::new()], 0);
    while let Some(path) = open.pop() {
        let text = help(program, &path);
        let inner = commands(&text);
        // An example of a command that reads standard input begins with the command that writes it.
        let example = format!("{name} {}", path.join(" "));
        let shown = text.lines().any(|line| line.starts_with("Example: ") && line.contains(&example));
        assert!(path.is_empty() || shown, "{name} {path:?} has no example\n{text}");
        seen += usize::from(inner.is_empty());
        open.extend(inner.into_iter().map(|command| [&path[..], &[command]].concat()));
    }
    seen
}

#[test]
fn every_command_of_both_programs_shows_an_example() {
    assert!(walk("ilo-asm", env!("CARGO_BIN_EXE_ilo-asm")) > 12);
    assert!(walk("ilo-vm", env!("CARGO_BIN_EXE_ilo-vm")) > 20);
}
