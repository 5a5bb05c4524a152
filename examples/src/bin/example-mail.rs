//! Writes a mail to a new file in the folder that the first argument names.

use ilo_examples::{serve, text};
use serde_json::json;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

/// The most mails in the folder.
const MOST: u32 = 10_000;

fn main() -> ExitCode {
    serve(|arguments| {
        let folder = std::env::args().nth(1).ok_or("usage: example-mail FOLDER")?;
        let to = text(arguments, "email").or_else(|_| text(arguments, "to"))?;
        let subject = text(arguments, "subject")?;
        let body = text(arguments, "body")?;
        if !to.contains('@') {
            return Err(format!("not an address: {to}"));
        }
        let mail = format!("To: {to}\nSubject: {subject}\n\n{body}\n");
        let id = write(Path::new(&folder), &mail)?;
        Ok(json!({ "message-id": id }))
    })
}

/// Writes to the first free name, so that two senders never share a file.
fn write(folder: &Path, mail: &str) -> Result<String, String> {
    let cannot = |e: std::io::Error| format!("{}: {e}", folder.display());
    fs::create_dir_all(folder).map_err(cannot)?;
    for number in 1..=MOST {
        let id = format!("mail-{number}");
        match File::create_new(folder.join(format!("{id}.txt"))) {
            Ok(mut file) => return file.write_all(mail.as_bytes()).map(|()| id).map_err(cannot),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            Err(e) => return Err(cannot(e)),
        }
    }
    Err(format!("{} is full", folder.display()))
}
