//! The parts of the host that every sandbox sees: programs, libraries, and the few files of `/etc` programs need.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use glee_policy::resolved::FsAccess;

use super::gitconfig::Setting;
use super::{git_shown, kind};
use crate::plan::Kind;
use crate::sys::{fd, path};

/// How a system path is given to the sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    Dir,
    File,
    /// Small enough to be copied instead of mounted.
    SmallFile,
    /// The host's text, and what the sandbox adds to it.
    Made(Vec<u8>),
    Link(PathBuf),
    Device,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemPath {
    pub path: PathBuf,
    pub entry: Entry,
}

/// Programs and libraries. On a merged-/usr system all but the first are links.
const TREES: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Of `/etc`: the loader's cache and the directories it looks in (the linker does, too), certificates (by name: private keys lie beside them), time zone, names and services, alternatives,
/// what language run times link to from `/usr` (of Maven not its settings, which can hold passwords), where `man` finds
/// its pages and fontconfig its fonts. What git is told is made (`git_shown`). Nothing that tells about users, services or secrets of this machine.
const ETC: &[&str] = &[
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "ssl/certs",
    "ssl/cert.pem",
    "ssl/ca-bundle.pem",
    "ssl/openssl.cnf",
    "ssl/ct_log_list.cnf",
    "ssl/fips_local.cnf",
    "pki/ca-trust",
    "pki/trust",
    "pki/java",
    "pki/tls/certs",
    "pki/tls/cert.pem",
    "pki/tls/openssl.cnf",
    "pki/tls/openssl.d",
    "pki/tls/ct_log_list.cnf",
    "pki/tls/fips_local.cnf",
    "ca-certificates",
    "crypto-policies",
    "localtime",
    "timezone",
    "hosts",
    "host.conf",
    "nsswitch.conf",
    "resolv.conf",
    "gai.conf",
    "protocols",
    "services",
    "networks",
    "mime.types",
    "alternatives",
    "os-release",
    "lsb-release",
    "debian_version",
    "inputrc",
    "manpath.config",
    "man_db.conf",
    "groff/man.local",
    "groff/mdoc.local",
    "fonts",
    "java-8-openjdk",
    "java-11-openjdk",
    "java-17-openjdk",
    "java-21-openjdk",
    "java-25-openjdk",
    "maven/m2.conf",
    "maven/logging",
];

/// Kernel files that tell or do too much for anyone but the administrator. `/proc` is mounted read-only besides.
const PROC: &[&str] = &[
    "acpi",
    "asound",
    "kcore",
    "key-users",
    "keys",
    "kmsg",
    "latency_stats",
    "sched_debug",
    "scsi",
    "sysrq-trigger",
    "timer_list",
    "timer_stats",
];

const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

/// Files up to this size are copied: cheaper than a mount, and a host that rewrites them does not disturb the run.
const SMALL: u64 = 32 * 1024;

/// What the host calls itself means nothing inside, and what the sandbox is called nothing outside.
const HOSTS: &str = "/etc/hosts";
/// The sandbox's own name, as `uname` says it there.
const NAME: &str = "sandbox";
/// Longer ones block advertisements: they are shown as they are.
const LONG: usize = 1 << 20;

/// `identity` is what git says of the caller.
pub(super) fn find(identity: &[Setting]) -> Vec<SystemPath> {
    let trees = TREES.iter().map(PathBuf::from);
    let etc = ETC.iter().map(|name| Path::new("/etc").join(name));
    let devices = DEVICES.iter().map(|name| Path::new("/dev").join(name));
    let mut found: Vec<SystemPath> = trees
        .chain(etc)
        .filter_map(|path| look(&path).map(|entry| SystemPath { path, entry }))
        .filter(|system| system.path != Path::new(HOSTS))
        .collect();
    found.push(hosts());
    found.extend(git_shown::text(identity).map(|text| SystemPath {
        path: PathBuf::from(git_shown::FILE),
        entry: Entry::Made(text),
    }));
    found.extend(devices.map(|path| SystemPath {
        path,
        entry: Entry::Device,
    }));
    found
}

/// The host's table of names, in which the sandbox finds itself.
fn hosts() -> SystemPath {
    let path = PathBuf::from(HOSTS);
    let read = |real: PathBuf| path::read_file(&real, LONG);
    let entry = match fs::canonicalize(&path).and_then(read) {
        Ok(text) => Entry::Made(with_own_name(text)),
        Err(error) if error.raw_os_error() == Some(libc::EFBIG) => Entry::File,
        Err(_) => Entry::Made(with_own_name(Vec::new())),
    };
    SystemPath { path, entry }
}

fn with_own_name(mut text: Vec<u8>) -> Vec<u8> {
    let names = |name: &str| {
        text.split(|b| *b == b'\n').any(|line| {
            let line = line.split(|b| *b == b'#').next().unwrap_or_default();
            let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
            words.next().is_some() && words.any(|word| word == name.as_bytes())
        })
    };
    let mut more = String::new();
    if !names("localhost") {
        more.push_str("127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n");
    }
    if !names(NAME) {
        more.push_str(&format!("127.0.0.1 {NAME}\n"));
    }
    if text.last().is_some_and(|last| *last != b'\n') {
        text.push(b'\n');
    }
    text.extend(more.into_bytes());
    text
}

/// Those of the dangerous parts of `/proc` that this kernel has.
pub(super) fn proc_hidden() -> Vec<(PathBuf, Kind)> {
    PROC.iter()
        .map(|name| Path::new("/proc").join(name))
        .filter_map(|path| fs::symlink_metadata(&path).ok().map(|meta| (path, kind(&meta))))
        .collect()
}

fn look(path: &Path) -> Option<Entry> {
    let meta = fs::symlink_metadata(path).ok()?;
    if meta.is_symlink() {
        let target = fs::read_link(path).ok()?;
        if TREES.iter().any(|tree| Path::new(tree) == path) {
            return fs::metadata(path).is_ok().then_some(Entry::Link(target));
        }
        // A link into the sandbox's own view works as it is; one that leads elsewhere is replaced by what it shows.
        let shown = path.parent().unwrap_or(path).join(&target);
        let real = fs::canonicalize(&shown).ok()?;
        let is_shown = |name: &&str| real.starts_with(Path::new("/etc").join(name));
        if real.starts_with("/usr") || ETC.iter().any(is_shown) {
            return Some(Entry::Link(target));
        }
        let meta = fs::metadata(&real).ok()?;
        return (meta.is_file() && meta.len() <= SMALL).then_some(Entry::SmallFile);
    }
    if meta.is_dir() {
        return Some(Entry::Dir);
    }
    if !meta.is_file() {
        return None;
    }
    Some(if meta.size() <= SMALL {
        Entry::SmallFile
    } else {
        Entry::File
    })
}

/// Regular files, and the host's `/dev/null` and its kin, that the caller put behind 0, 1 and 2: programs open them again through
/// `/dev/stdout`.
pub(super) fn stdio() -> Vec<(i32, FsAccess)> {
    let opens_again = |stat: path::Stat| stat.is_file() || stat.is_plain_device();
    (0..3)
        .filter(|number| path::lstat_at(fd::borrow(*number), OsStr::new("")).is_ok_and(opens_again))
        .map(|number| {
            let access = if fd::is_writable(number) {
                FsAccess::ReadWrite
            } else {
                FsAccess::Read
            };
            (number, access)
        })
        .collect()
}

#[cfg(test)]
#[path = "system_tests.rs"]
mod tests;
