//! The file of a journal: whether it may be used, and creating it.

use super::schema;
use crate::error::{Error, ErrorCode, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

/// File systems that several machines share, by the number that the system gives: locks and the log of SQLite
/// do not work across machines.
const NETWORK: &[(i64, &str)] = &[
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xfe53_4d42, "SMB2"),
    (0xff53_4d42, "CIFS"),
    (0x5346_414f, "AFS"),
    (0x7375_7245, "Coda"),
    (0x564c, "NCP"),
    (0x0102_1997, "9P"),
    (0x00c3_6400, "Ceph"),
    (0x0bd0_0bd0, "Lustre"),
    (0x7461_636f, "OCFS2"),
    (0x0116_1970, "GFS2"),
    (0x4750_4653, "GPFS"),
    (0x2003_0528, "OrangeFS"),
];

/// FUSE: it may be a network file system, which only its name shows.
const FUSE: i64 = 0x6573_5546;
/// File systems on FUSE that keep their files on this machine.
const LOCAL: &[&str] = &[
    "fuseblk",
    "fuse.fuse-overlayfs",
    "fuse.mergerfs",
    "fuse.unionfs",
    "fuse.bindfs",
    "fuse.gocryptfs",
    "fuse.cryfs",
    "fuse.encfs",
    "fuse.securefs",
    "fuse.ntfs-3g",
    "fuse.exfat",
];

/// The name of the file system of a folder, in the words of `/proc/self/mountinfo`.
fn name_of<'m>(mounts: &'m str, folder: &Path) -> Option<&'m str> {
    let mut found: Option<(usize, &str)> = None;
    for line in mounts.lines() {
        let mut parts = line.splitn(2, " - ");
        let (Some(place), Some(kind)) = (parts.next(), parts.next()) else { continue };
        let Some(point) = place.split(' ').nth(4) else { continue };
        // The system writes some characters by their number.
        let point =
            point.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\");
        // What was mounted later lies above.
        if folder.starts_with(&point) && found.is_none_or(|(length, _)| length <= point.len()) {
            found = Some((point.len(), kind.split(' ').next().unwrap_or_default()));
        }
    }
    found.map(|(_, kind)| kind)
}

/// Rejects FUSE file systems that are not known to be local.
fn refuse_fuse(mounts: &str, folder: &Path, path: &Path) -> Result<()> {
    let name = name_of(mounts, folder).unwrap_or("FUSE");
    if LOCAL.contains(&name) {
        return Ok(());
    }
    let message = format!("`{}` is on a file system that may be on a network ({name})", path.display());
    Err(Error::new(ErrorCode::NetworkFileSystem, message))
}

/// The number of a file system's kind, cut to the 32 bits that kinds have.
#[cfg(target_os = "linux")]
fn kind_of(folder: &Path) -> Option<i64> {
    let found = rustix::fs::statfs(folder).ok()?;
    #[allow(
        clippy::unnecessary_fallible_conversions,
        clippy::useless_conversion,
        reason = "its width varies"
    )]
    i64::try_from(found.f_type).ok().map(|kind| kind & 0xffff_ffff)
}

#[cfg(not(target_os = "linux"))]
fn kind_of(_folder: &Path) -> Option<i64> {
    None
}

/// Rejects a file system of this kind if machines share it.
fn refuse_network(kind: Option<i64>, path: &Path) -> Result<()> {
    let found = NETWORK.iter().find(|(number, _)| Some(*number) == kind);
    found.map_or(Ok(()), |(_, name)| {
        let message = format!("`{}` is on a network file system ({name})", path.display());
        Err(Error::new(ErrorCode::NetworkFileSystem, message))
    })
}

/// The real path of a journal, whose folder exists. All processes that use it must agree on that path.
fn real(path: &Path) -> Result<PathBuf> {
    if let Ok(found) = path.canonicalize() {
        return Ok(found);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path
        .file_name()
        .ok_or_else(|| Error::new(ErrorCode::CannotOpen, format!("`{}` names no file", path.display())))?;
    Ok(folder.canonicalize().map_err(|error| Error::file(folder, &error))?.join(name))
}

/// Finds or creates the file of a journal; returns its real path.
pub(crate) fn prepare(path: &Path, create: bool) -> Result<PathBuf> {
    let path = real(path)?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    let kind = kind_of(folder);
    refuse_network(kind, &path)?;
    if kind == Some(FUSE) {
        refuse_fuse(&fs::read_to_string("/proc/self/mountinfo").unwrap_or_default(), folder, &path)?;
    }
    match fs::metadata(&path) {
        Ok(found) if !found.is_file() => {
            return Err(Error::new(ErrorCode::CannotOpen, format!("`{}` is not a file", path.display())));
        }
        Ok(found) => refuse_links(&found, &path)?,
        Err(error) if error.kind() == ErrorKind::NotFound && create => return new(&path),
        Err(error) => return Err(Error::file(&path, &error)),
    }
    let mut file =
        OpenOptions::new().read(true).write(true).open(&path).map_err(|error| Error::file(&path, &error))?;
    look(&mut file, &path)?;
    Ok(path)
}

/// Who has access to a journal, beside its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Access {
    /// Nobody; or there is no file yet, or the system has no such modes.
    Own,
    /// Others can read it, or a group can change it; its mode.
    Seen(u32),
    /// Every user of the machine can write to it, and so forge runs; its mode.
    Written(u32),
}

/// Who has access to the journal at a path, by the modes of its file and of the log beside it.
pub fn access(path: &Path) -> Access {
    let log = {
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        PathBuf::from(log)
    };
    let mode = mode_of(path) | mode_of(&log);
    match mode {
        mode if mode & 0o002 != 0 => Access::Written(mode),
        mode if mode & 0o077 != 0 => Access::Seen(mode),
        _ => Access::Own,
    }
}

/// The mode of a file; none of a file that is not there.
#[cfg(unix)]
fn mode_of(path: &Path) -> u32 {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(path).map_or(0, |found| found.mode() & 0o777)
}

#[cfg(not(unix))]
fn mode_of(_path: &Path) -> u32 {
    0
}

/// Two paths of one file would have two folders of owners.
#[cfg(unix)]
fn refuse_links(found: &fs::Metadata, path: &Path) -> Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    if found.nlink() > 1 {
        let message = format!("`{}` has {} hard links", path.display(), found.nlink());
        return Err(Error::new(ErrorCode::CannotOpen, message).remedy("leave one path to the journal"));
    }
    Ok(())
}

#[cfg(not(unix))]
fn refuse_links(_found: &fs::Metadata, _path: &Path) -> Result<()> {
    Ok(())
}

fn new(path: &Path) -> Result<PathBuf> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        // Another process may have been faster.
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(Error::file(path, &error)),
        _ => Ok(path.to_owned()),
    }
}

/// Checks the first bytes before SQLite opens the file: the file of another application is not changed.
fn look(file: &mut File, path: &Path) -> Result<()> {
    let mut head = Vec::new();
    file.take(100).read_to_end(&mut head).map_err(|error| Error::file(path, &error))?;
    if head.is_empty() {
        // It is as private as one that was created here.
        #[cfg(unix)]
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .map_err(|error| Error::file(path, &error))?;
        return Ok(());
    }
    let other = |what: &str| Error::new(ErrorCode::NotAJournal, format!("`{}` is {what}", path.display()));
    let number =
        |at: usize| head.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(i32::from_be_bytes);
    if !head.starts_with(b"SQLite format 3\0") {
        return Err(other("no journal"));
    }
    let (Some(version), Some(application)) = (number(60), number(68)) else {
        return Err(Error::damaged("its first page is cut off"));
    };
    // A process that was killed while it created the file leaves a database without tables.
    let empty = application == 0 && version == 0 && number(28) == Some(1);
    if application != schema::APPLICATION && !empty {
        return Err(other("the database of another application"));
    }
    if empty { Ok(()) } else { schema::check_version(version) }
}

#[cfg(test)]
mod tests {
    use super::{NETWORK, refuse_fuse, refuse_network};
    use crate::error::ErrorCode;
    use std::path::Path;

    #[test]
    fn network_file_systems_are_refused_by_name_and_local_ones_are_not() {
        for &(kind, name) in NETWORK {
            let error = refuse_network(Some(kind), Path::new("j")).unwrap_err();
            assert_eq!(error.code, ErrorCode::NetworkFileSystem);
            assert!(error.message.contains(name));
        }
        // ext4, xfs, btrfs, tmpfs, overlayfs, zfs.
        let local = [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0x2fc1_2fc1];
        assert!(local.into_iter().all(|kind| refuse_network(Some(kind), Path::new("j")).is_ok()));
        assert!(refuse_network(None, Path::new("j")).is_ok());
    }

    #[test]
    fn fuse_is_refused_unless_it_is_known_to_be_local() {
        let mounts = "21 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n\
            30 21 0:40 / /far/ann rw - fuse.sshfs ann@host:/ rw\n\
            31 21 0:41 / /data rw shared:7 - fuseblk /dev/sdb1 rw\n\
            32 21 0:42 / /data/my\\040bucket rw - fuse.s3fs bucket rw\n\
            33 21 0:43 / /over rw - fuse.sshfs a rw\n\
            34 21 0:44 / /over rw - fuse.fuse-overlayfs b rw\n";
        let told = |folder: &str| match refuse_fuse(mounts, Path::new(folder), Path::new("j")) {
            Ok(()) => "local".to_owned(),
            Err(error) => {
                assert_eq!(error.code, ErrorCode::NetworkFileSystem);
                error.message.rsplit_once('(').unwrap().1.trim_end_matches(')').to_owned()
            }
        };
        for (folder, expected) in [
            ("/far/ann/x", "fuse.sshfs"),
            ("/far/anna", "ext4"),
            ("/data/x", "local"),
            ("/data/my bucket", "fuse.s3fs"),
            ("/over/x", "local"),
        ] {
            assert_eq!(told(folder), expected, "{folder}");
        }
        assert!(refuse_fuse("", Path::new("/"), Path::new("j")).is_err(), "what is unknown may be a network");
    }
}
