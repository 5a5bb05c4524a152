//! Asks at the terminal for the values that the file of an MCP client declares as `inputs`, before a server
//! starts. What is typed for a secret is not shown.

use super::terminal::open;
use ilo_asm::text::visible;
use ilo_host::tools::{Input, Prompt};
use std::fs::File;
use std::io::{Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// The longest value, in bytes.
const LONGEST: usize = 16 << 10;
/// How often a value that is none of the options is asked for again.
const TRIES: usize = 3;

/// A terminal at which somebody may answer.
#[derive(Debug)]
pub(super) struct Inputs(Mutex<(File, File)>);

impl Inputs {
    /// Opens the terminal, if there is one.
    pub(super) fn open() -> Option<Arc<dyn Prompt>> {
        Some(Arc::new(Inputs(Mutex::new(open()?))))
    }
}

impl Prompt for Inputs {
    fn value(&self, server: &str, input: &Input) -> Option<String> {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (keys, screen) = &mut *files;
        let line = |text: &str| visible(text).replace('\n', " ");
        let mut question = format!("server `{}` needs {}", line(server), line(&input.description));
        if !input.options.is_empty() {
            question.extend([" (one of ", &line(&input.options.join(", ")), ")"]);
        }
        if let Some(default) = input.default.as_deref().filter(|_| !input.is_secret) {
            question.extend([" [", &line(default), "]"]);
        }
        for _ in 0..TRIES {
            screen.write_all(format!("{question}: ").as_bytes()).ok()?;
            let given = if input.is_secret { secret(keys, screen) } else { read(keys, false) }?;
            let given = if given.is_empty() { input.default.clone()? } else { given };
            if input.options.is_empty() || input.options.contains(&given) {
                return Some(given);
            }
        }
        None
    }
}

/// Reads a line that is not shown. Interrupts are read as keys meanwhile, so that the terminal never stays
/// silent.
#[cfg(unix)]
fn secret(keys: &mut File, screen: &mut File) -> Option<String> {
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
    let before = tcgetattr(&*keys).ok()?;
    let mut silent = before.clone();
    silent.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
    tcsetattr(&*keys, OptionalActions::Flush, &silent).ok()?;
    let given = read(keys, true);
    // If the terminal is gone there is nothing to restore.
    let _ = tcsetattr(&*keys, OptionalActions::Now, &before);
    let _ = screen.write_all(b"\n");
    given
}

/// A terminal of this system shows what is typed, so a secret is not asked for.
#[cfg(not(unix))]
fn secret(_keys: &mut File, screen: &mut File) -> Option<String> {
    let _ = screen.write_all(b"it is a secret and would be shown here; set a variable in its place\n");
    None
}

/// Reads a line; `None` if there is none. If `raw` is set, keys that edit and interrupt are read here.
fn read(keys: &mut File, raw: bool) -> Option<String> {
    let (mut line, mut byte) = (Vec::new(), [0]);
    loop {
        match keys.read(&mut byte) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Ok(0) | Err(_) => return None,
            Ok(_) => {}
        }
        match byte {
            [b'\n' | b'\r'] => break,
            // Ctrl-C and Ctrl-D.
            [3 | 4] if raw => return None,
            [8 | 127] if raw => drop(line.pop()),
            [byte] if line.len() < LONGEST => line.push(byte),
            _ => {}
        }
    }
    Some(String::from_utf8_lossy(&line).trim().to_owned())
}
