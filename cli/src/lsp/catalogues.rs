//! Finds the tools for a document: from the settings of the client, otherwise from the nearest `tools.json`
//! in a folder above the document.

use ilo_asm::catalog::{Catalog, CatalogError};
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

/// The name of the file.
const NAME: &str = "tools.json";
/// The maximum size of such a file.
const LARGEST: u64 = 16 << 20;
/// The most folders that are searched upwards.
const UPWARD: usize = 64;
/// The most files that are cached.
const REMEMBERED: usize = 64;

/// The known tools.
pub(super) struct Tools {
    pub(super) catalog: Catalog,
    /// Whether there may be more tools.
    pub(super) more: bool,
    /// The file with its text, unless the client sent the tools.
    pub(super) file: Option<(PathBuf, String)>,
}

/// A cached file.
struct Remembered {
    changed: Option<SystemTime>,
    length: u64,
    tools: Option<Rc<Tools>>,
}

/// The setting of a client.
enum Set {
    /// The tools themselves.
    Tools(Rc<Tools>),
    File(PathBuf),
}

/// The catalogues of a session.
#[derive(Default)]
pub(super) struct Catalogues {
    /// From the settings of the client, for all documents.
    set: Option<Set>,
    files: HashMap<PathBuf, Remembered>,
}

impl Catalogues {
    /// Applies the setting `catalog` of the client: the path of a file, or the content of such a file.
    ///
    /// # Errors
    /// A message about an unusable catalogue.
    pub(super) fn set(&mut self, given: &RawValue, root: Option<&Path>) -> Result<(), String> {
        if let Ok(path) = serde_json::from_str::<String>(given.get()) {
            let path = root.map_or_else(|| PathBuf::from(&path), |root| root.join(&path));
            let text = read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            parse(&text).map_err(|error| format!("{}: {error}", path.display()))?;
            self.set = Some(Set::File(path));
        } else {
            let tools = parse(given.get()).map_err(|error| format!("the setting `catalog`: {error}"))?;
            self.set = Some(Set::Tools(Rc::new(tools)));
        }
        Ok(())
    }

    /// The tools for a document; `None` if they are unknown.
    pub(super) fn of(&mut self, uri: &str) -> Option<Rc<Tools>> {
        let there =
            |file: PathBuf| fs::metadata(&file).ok().filter(fs::Metadata::is_file).map(|meta| (file, meta));
        let (file, meta) = match &self.set {
            Some(Set::Tools(tools)) => return Some(Rc::clone(tools)),
            Some(Set::File(file)) => there(file.clone())?,
            None => {
                let path = path(uri)?;
                let folders = path.ancestors().skip(1).take(UPWARD);
                folders.map(|folder| folder.join(NAME)).find_map(there)?
            }
        };
        let (changed, length) = (meta.modified().ok(), meta.len());
        if let Some(known) = self.files.get(&file).filter(|it| (it.changed, it.length) == (changed, length)) {
            return known.tools.clone();
        }
        if self.files.len() >= REMEMBERED {
            self.files.clear();
        }
        let tools = read(&file).ok().and_then(|text| {
            let tools = parse(&text).ok()?;
            Some(Rc::new(Tools { file: Some((file.clone(), text)), ..tools }))
        });
        self.files.insert(file, Remembered { changed, length, tools: tools.clone() });
        tools
    }
}

fn read(path: &Path) -> Result<String, std::io::Error> {
    let mut text = String::new();
    File::open(path)?.take(LARGEST).read_to_string(&mut text)?;
    Ok(text)
}

/// Reads a catalogue or a tools file.
fn parse(text: &str) -> Result<Tools, CatalogError> {
    match Catalog::from_json(text) {
        Ok(catalog) => Ok(Tools { catalog, more: false, file: None }),
        Err(CatalogError::ToolsFile) => {
            Catalog::from_tools_file(text).map(|(catalog, more)| Tools { catalog, more, file: None })
        }
        Err(error) => Err(error),
    }
}

/// The URI of a file.
pub(super) fn uri(path: &Path) -> String {
    let mut uri = String::from(if cfg!(windows) { "file:///" } else { "file://" });
    for byte in path.to_string_lossy().replace('\\', "/").bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~:".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

/// The path of a file URI.
pub(super) fn path(uri: &str) -> Option<PathBuf> {
    let encoded = uri.strip_prefix("file://")?;
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.as_bytes();
    while let [byte, after @ ..] = rest {
        let digits = after.get(..2).filter(|_| *byte == b'%').and_then(|two| std::str::from_utf8(two).ok());
        match digits.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(decoded) => {
                bytes.push(decoded);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    // `/c:/folder` on Windows.
    let drive = text.as_bytes().get(2) == Some(&b':') && cfg!(windows);
    let text = if drive { text.get(1..)? } else { &text };
    text.starts_with('/').then(|| PathBuf::from(text)).or_else(|| drive.then(|| PathBuf::from(text)))
}
