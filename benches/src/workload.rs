//! Real work: a large git tree, a small cargo workspace, C files, a node script that reads many files, all generated; and a crate of
//! this project with what it depends on.
//!
//! Every workload has one directory per side. A shared one would let the two sides invalidate each other's caches:
//! git keeps owner and inode of every file in its index and hashes the file again when they differ.

use crate::BenchError;
use crate::place;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const FILES_PER_DIR: usize = 100;
const CRATES: usize = 4;
const FUNCTIONS: usize = 150;

/// One kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    GitStatus,
    CargoBuild,
    /// Of what people wait for: some fifty crates, from the user's store.
    CrateBuild,
    NodeRead,
}

impl Work {
    pub const ALL: [Work; 4] = [Work::GitStatus, Work::CargoBuild, Work::CrateBuild, Work::NodeRead];

    pub fn name(self) -> &'static str {
        match self {
            Work::GitStatus => "git",
            Work::CargoBuild => "cargo",
            Work::CrateBuild => "crate",
            Work::NodeRead => "node",
        }
    }

    pub fn describe(self, files: usize) -> String {
        match self {
            Work::GitStatus => format!("git status, {files} files"),
            Work::CargoBuild => format!("cargo build, {} small crates", CRATES + 1),
            Work::CrateBuild => "cargo build, glee-policy".to_owned(),
            Work::NodeRead => format!("node reads {files} files"),
        }
    }

    pub fn command(self) -> &'static [&'static str] {
        match self {
            Work::GitStatus => &["git", "status", "--porcelain"],
            Work::CargoBuild | Work::CrateBuild => &["cargo", "build", "--offline", "--quiet"],
            Work::NodeRead => &["node", "read.js"],
        }
    }

    /// What must not be there when the work begins.
    pub fn fresh(self, dir: &Path) -> Option<PathBuf> {
        match self {
            Work::CargoBuild | Work::CrateBuild => Some(dir.join("target")),
            Work::GitStatus | Work::NodeRead => None,
        }
    }

    /// Fills an empty directory.
    pub fn prepare(self, dir: &Path, files: usize) -> Result<(), BenchError> {
        match self {
            Work::GitStatus => {
                write_tree(dir, files, 1)?;
                git(dir, &["init", "--quiet"])?;
                git(dir, &["add", "--all"])?;
                git(dir, &["commit", "--quiet", "--message", "everything"])
            }
            Work::CargoBuild => write_workspace(dir),
            Work::CrateBuild => copy_crate(dir),
            Work::NodeRead => {
                write_tree(&dir.join("files"), files, 32)?;
                write(&dir.join("read.js"), READ_JS)
            }
        }
    }
}

const READ_JS: &str = r#"const fs = require("fs");
let bytes = 0;
for (const dir of fs.readdirSync("files")) {
  for (const name of fs.readdirSync(`files/${dir}`)) bytes += fs.readFileSync(`files/${dir}/${name}`).length;
}
if (bytes === 0) process.exit(1);
"#;

/// Files of some lines, no two alike, a hundred to a directory.
fn write_tree(dir: &Path, files: usize, lines: usize) -> Result<(), BenchError> {
    for number in 0..files {
        let sub = dir.join(format!("d{:04}", number / FILES_PER_DIR));
        if number % FILES_PER_DIR == 0 {
            fs::create_dir_all(&sub).map_err(BenchError::io("make", &sub))?;
        }
        write(&sub.join(format!("f{number:06}.txt")), &text(number, lines))?;
    }
    Ok(())
}

fn text(number: usize, lines: usize) -> String {
    let mut text = String::new();
    for line in 0..lines {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "line {line:02} of file {number:06}, thirty-two of which make two kibibytes"
        );
    }
    text
}

/// A program and libraries, all local: nothing to fetch.
fn write_workspace(dir: &Path) -> Result<(), BenchError> {
    let names: Vec<String> = (0..CRATES).map(|number| format!("part{number}")).collect();
    let mut manifest = String::from("[workspace]\nmembers = [\"part*\"]\n\n[package]\nname = \"whole\"\n");
    manifest.push_str("version = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\n");
    let mut main = String::from("fn main() {\n    let mut sum = 0_u64;\n");
    for name in &names {
        let _ = writeln!(manifest, "{name} = {{ path = \"{name}\" }}");
        let _ = writeln!(main, "    sum ^= {name}::all();");
        let part = format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
        write(&dir.join(name).join("Cargo.toml"), &part)?;
        write(&dir.join(name).join("src/lib.rs"), &library())?;
    }
    main.push_str("    println!(\"{sum}\");\n}\n");
    write(&dir.join("Cargo.toml"), &manifest)?;
    write(&dir.join("src/main.rs"), &main)
}

/// The policy crate in a workspace of its own. What it depends on was fetched when this program was built.
fn copy_crate(dir: &Path) -> Result<(), BenchError> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let manifest = own.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).map_err(BenchError::io("read", &manifest))?;
    let alone = text.lines().map(|line| match line {
        line if line.starts_with("members = ") => "members = [\"policy\"]",
        line => line,
    });
    write(
        &dir.join("Cargo.toml"),
        &alone.flat_map(|line| [line, "\n"]).collect::<String>(),
    )?;
    for name in ["Cargo.lock", "policy", "sandbox-profiles"] {
        copy(&own.join(name), &dir.join(name))?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<(), BenchError> {
    if !from.is_dir() {
        return fs::copy(from, to).map(drop).map_err(BenchError::io("copy", from));
    }
    fs::create_dir_all(to).map_err(BenchError::io("make", to))?;
    for entry in fs::read_dir(from).map_err(BenchError::io("list", from))? {
        let name = entry.map_err(BenchError::io("list", from))?.file_name();
        copy(&from.join(&name), &to.join(&name))?;
    }
    Ok(())
}

fn library() -> String {
    let mut source = String::new();
    let mut all = String::from("pub fn all() -> u64 {\n    let mut sum = 0;\n");
    for number in 0..FUNCTIONS {
        let _ = writeln!(
            source,
            "fn f{number}(mut x: u64) -> u64 {{ for i in 0..{number}_u64 {{ x = x.rotate_left(7) ^ i; }} x }}"
        );
        let _ = writeln!(all, "    sum ^= f{number}(sum);");
    }
    source + &all + "    sum\n}\n"
}

/// Sources of a usual size, with the headers that C programs have.
pub fn write_c(dir: &Path, files: usize) -> Result<(), BenchError> {
    let mut body = String::from("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n");
    for number in 0..60 {
        body.push_str(&format!(
            "static int f{number}(const char *s, int n) {{ char b[64]; for (int i = 0; i < n; i++) \
             {{ snprintf(b, sizeof b, \"%d %s\", i, s); n += (int)strlen(b) % {}; }} return n; }}\n\
             int (*use{number}_FILE)(const char *, int) = f{number};\n",
            number + 2
        ));
    }
    for number in 0..files {
        let text = body.replace("FILE", &number.to_string());
        write(&dir.join(format!("part{number}.c")), &text)?;
    }
    let makefile =
        "all: $(patsubst %.c,$(OUT)/%.o,$(wildcard *.c))\n$(OUT)/%.o: %.c\n\t@mkdir -p $(OUT)\n\tcc -O2 -c -o $@ $<\n";
    write(&dir.join("Makefile"), makefile)
}

fn write(path: &Path, text: &str) -> Result<(), BenchError> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir).map_err(BenchError::io("make", dir))?;
    }
    fs::write(path, text).map_err(BenchError::io("write", path))
}

fn git(dir: &Path, args: &[&str]) -> Result<(), BenchError> {
    let program = place::program("git")?;
    let status = Command::new(&program)
        .args([
            "-c",
            "user.name=bench",
            "-c",
            "user.email=bench@example.com",
            "-c",
            "gc.auto=0",
        ])
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::null())
        .status()
        .map_err(BenchError::io("run", &program))?;
    if status.success() {
        return Ok(());
    }
    Err(BenchError::Failed {
        subject: "git".to_string(),
        how: status.to_string(),
    })
}

#[cfg(test)]
#[path = "workload_tests.rs"]
mod tests;
