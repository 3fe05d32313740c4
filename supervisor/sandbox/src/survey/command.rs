//! Finds the file that the caller named as the command, and the interpreter of a script.
//!
//! The caller's own PATH decides. The files found become readable because the caller said so; nothing beside them does.
//! A script's first line is not the caller's word: it opens a program (executable, and no script or text), by its path or,
//! through `env`, under a plain name that the caller's PATH finds. A key, a script or a directory it names stays closed.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

/// What will be executed, and every file and link that takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundCommand {
    /// As PATH found it: absolute, links and all.
    pub program: PathBuf,
    /// The real files: the program, its interpreter, the interpreter's interpreter.
    pub files: Vec<PathBuf>,
    /// Links on the way: (where, what they say).
    pub links: Vec<(PathBuf, PathBuf)>,
}

impl FoundCommand {
    /// The first interpreter that is no program, and so was not found.
    #[must_use]
    pub fn script_interpreter(&self) -> Option<PathBuf> {
        let first = |file: &PathBuf| interpreter(file).map(|(first, _)| first);
        self.files.iter().filter_map(first).find(|first| !is_program(first))
    }
}

/// Why there is nothing to execute, with the exit status the contract gives it.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum NotFound {
    #[error("command `{}` not found", .name.display())]
    Absent { name: OsString },
    #[error("`{}` is not executable", .path.display())]
    NotExecutable { path: PathBuf },
    #[error("`{}` is a directory", .path.display())]
    Directory { path: PathBuf },
    #[error("`{}/` is not a directory: without the slash it is a file", .path.display())]
    NotADirectory { path: PathBuf },
    #[error("the interpreter `{}` of `{}` is not there", .interpreter.display(), .path.display())]
    NoInterpreter { path: PathBuf, interpreter: PathBuf },
}

impl NotFound {
    /// 127 for what is not there, 126 for what cannot be executed.
    #[must_use]
    pub fn exit_status(&self) -> i32 {
        match self {
            Self::Absent { .. } | Self::NoInterpreter { .. } => 127,
            Self::NotExecutable { .. } | Self::Directory { .. } | Self::NotADirectory { .. } => 126,
        }
    }
}

/// Scripts whose interpreter is a script, and so on: the kernel gives up at five.
const DEPTH: u32 = 5;
/// Symlinks in one path: the kernel gives up at forty.
const LINKS: u32 = 40;

/// Looks for `name` as a shell would: with a slash it is a path, else PATH is searched.
pub fn find(name: &OsStr, cwd: &Path, path: Option<&OsStr>) -> Result<FoundCommand, NotFound> {
    let program = locate(name, cwd, path)?;
    let mut found = FoundCommand {
        program: program.clone(),
        files: Vec::new(),
        links: Vec::new(),
    };
    trace(&program, cwd, path, &mut found, DEPTH);
    if let Some((interpreter, _)) = found.files.first().and_then(|file| interpreter(file))
        && !interpreter.exists()
    {
        return Err(NotFound::NoInterpreter {
            path: program,
            interpreter,
        });
    }
    Ok(found)
}

fn locate(name: &OsStr, cwd: &Path, path: Option<&OsStr>) -> Result<PathBuf, NotFound> {
    let absent = || NotFound::Absent { name: name.to_owned() };
    if name.is_empty() {
        return Err(absent());
    }
    if name.as_bytes().contains(&b'/') {
        let full = tidy(&cwd.join(name));
        if name.as_bytes().ends_with(b"/") && full.is_file() {
            return Err(NotFound::NotADirectory { path: full });
        }
        return check(&full).and_then(|ok| if ok { Ok(full) } else { Err(absent()) });
    }
    let mut refused = None;
    for dir in path
        .unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"))
        .as_bytes()
        .split(|b| *b == b':')
    {
        let dir = if dir.is_empty() {
            cwd.to_owned()
        } else {
            cwd.join(OsStr::from_bytes(dir))
        };
        let full = tidy(&dir.join(name));
        match check(&full) {
            Ok(true) => return Ok(full),
            Ok(false) => {}
            // A directory into which the caller cannot look has not shown anything.
            Err(_) if full.symlink_metadata().is_err() => {}
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(refused.unwrap_or_else(absent))
}

/// Without `.` and doubled slashes; `..` stays, for it may follow a link.
fn tidy(path: &Path) -> PathBuf {
    path.components().filter(|c| !matches!(c, Component::CurDir)).collect()
}

fn check(path: &Path) -> Result<bool, NotFound> {
    let meta = match fs::metadata(path) {
        Ok(meta) => meta,
        // It may be there: we are not let in to see.
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            return Err(NotFound::NotExecutable { path: path.to_owned() });
        }
        Err(_) => return Ok(false),
    };
    if meta.is_dir() {
        return Err(NotFound::Directory { path: path.to_owned() });
    }
    if !meta.is_file() || meta.permissions().mode() & 0o111 == 0 {
        return Err(NotFound::NotExecutable { path: path.to_owned() });
    }
    Ok(true)
}

/// Notes the real file and the links that lead to it, then does the same for its interpreter.
fn trace(program: &Path, cwd: &Path, path: Option<&OsStr>, found: &mut FoundCommand, depth: u32) {
    let Some(real) = follow(program, &mut found.links) else {
        return;
    };
    let interpreter = interpreter(&real);
    if !found.files.contains(&real) {
        found.files.push(real);
    }
    let (Some((first, second)), true) = (interpreter, depth > 0) else {
        return;
    };
    if !is_program(&first) {
        return;
    }
    trace(&first, cwd, path, found, depth - 1);
    // `#!/usr/bin/env NAME`: the interpreter meant is NAME, wherever the caller's PATH finds it.
    if let Some(name) = second.filter(|name| is_plain(name) && first.file_name() == Some(OsStr::new("env")))
        && let Ok(program) = locate(&name, cwd, path)
        && is_program(&program)
    {
        trace(&program, cwd, path, found, depth - 1);
    }
}

fn is_plain(name: &OsStr) -> bool {
    !name.as_bytes().contains(&b'/')
}

/// A file that the kernel itself could execute.
fn is_program(path: &Path) -> bool {
    let executable = fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0);
    let mut head = [0; 4];
    executable
        && fs::File::open(path)
            .and_then(|mut file| file.read_exact(&mut head))
            .is_ok()
        && head == *b"\x7fELF"
}

/// The real path, with every link met on the way noted.
fn follow(path: &Path, links: &mut Vec<(PathBuf, PathBuf)>) -> Option<PathBuf> {
    let mut rest: Vec<OsString> = path.components().rev().map(|c| c.as_os_str().to_owned()).collect();
    let mut here = PathBuf::from("/");
    let mut budget = LINKS;
    while let Some(part) = rest.pop() {
        if part == "/" {
            here = PathBuf::from("/");
            continue;
        }
        if part == ".." {
            here.pop();
            continue;
        }
        let next = here.join(&part);
        match fs::read_link(&next) {
            Ok(target) => {
                budget = budget.checked_sub(1)?;
                if !links.iter().any(|(at, _)| *at == next) {
                    links.push((next, target.clone()));
                }
                rest.extend(target.components().rev().map(|c| c.as_os_str().to_owned()));
            }
            Err(_) => here = next,
        }
    }
    here.exists().then_some(here)
}

/// The interpreter line of a script: the program and its first word of argument.
fn interpreter(file: &Path) -> Option<(PathBuf, Option<OsString>)> {
    let mut head = [0; 256];
    let got = open_regular(file)?.read(&mut head).ok()?;
    let line = head.get(..got)?.strip_prefix(b"#!")?;
    let line = line.split(|b| *b == b'\n').next()?;
    let mut words = line.split(|b| *b == b' ' || *b == b'\t').filter(|w| !w.is_empty());
    let program = PathBuf::from(OsString::from_vec(words.next()?.to_vec()));
    // `env NAME`, `env -S [VARIABLE=value…] NAME`. After any other option a word may mean anything, and with another PATH
    // the name means another file.
    let first = words.next();
    let name = if first == Some(b"-S") {
        words.find(|w| !w.contains(&b'=') || w.starts_with(b"PATH="))
    } else {
        first
    };
    let name = name.filter(|w| !w.starts_with(b"-") && !w.contains(&b'='));
    program
        .is_absolute()
        .then(|| (program, name.map(|w| OsString::from_vec(w.to_vec()))))
}

/// Opens a regular file. Opening a pipe would wait for somebody to write, and opening a device may do anything.
fn open_regular(file: &Path) -> Option<fs::File> {
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(file)
        .ok()?;
    file.metadata().is_ok_and(|meta| meta.is_file()).then_some(file)
}
