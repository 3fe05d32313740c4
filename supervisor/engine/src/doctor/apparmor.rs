//! The AppArmor profile that allows user namespaces to this program, where they are closed to everybody else.
//!
//! Pure but for `installed`, which looks at the paths of the binaries.

use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum ApparmorError {
    #[error("cannot find the path of this program: {0}")]
    Unknown(std::io::Error),
    #[error("AppArmor cannot name the path `{}`", crate::text::visible(&.0.to_string_lossy()))]
    Unnameable(PathBuf),
}

impl ApparmorError {
    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Unknown(_) => "is /proc mounted?",
            Self::Unnameable(_) => "install the program under a path of plain characters, such as /usr/local/bin",
        }
    }
}

/// The profile text for this program under both of its names.
pub fn profile() -> Result<String, ApparmorError> {
    text(&installed()?)
}

/// This binary, and the one of the other name beside it.
fn installed() -> Result<Vec<PathBuf>, ApparmorError> {
    let exe = std::env::current_exe().map_err(ApparmorError::Unknown)?;
    let dir = exe.parent().unwrap_or(Path::new("/"));
    let names = ["glee-supervisor", "glee"].map(|name| dir.join(name));
    let mut paths = vec![exe.clone()];
    // A link is no other program to the kernel.
    paths.extend(
        names
            .into_iter()
            .filter(|path| *path != exe && path.symlink_metadata().is_ok_and(|m| m.is_file())),
    );
    Ok(paths)
}

fn text(paths: &[PathBuf]) -> Result<String, ApparmorError> {
    let mut out = String::from(HEAD);
    for path in paths {
        let quoted = quote(path)?;
        let name: String = path
            .file_name()
            .and_then(|name| name.to_str())
            .filter(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'))
            .unwrap_or("glee-supervisor")
            .to_owned();
        out.push_str(&format!(
            "\nprofile {name} \"{quoted}\" flags=(unconfined) {{\n  userns,\n\n  include if exists <local/{name}>\n}}\n"
        ));
    }
    Ok(out)
}

const HEAD: &str = "\
# AppArmor profile for glee-supervisor: it may make user namespaces where the system closes them to other programs
# (kernel.apparmor_restrict_unprivileged_userns = 1, Ubuntu 23.10 and later). It confines nothing: the sandbox does.
#
# Install it once, as an administrator:
#   glee-supervisor doctor --apparmor | sudo tee /etc/apparmor.d/glee-supervisor
#   sudo apparmor_parser --replace /etc/apparmor.d/glee-supervisor
# Remove it:
#   sudo apparmor_parser --remove /etc/apparmor.d/glee-supervisor && sudo rm /etc/apparmor.d/glee-supervisor
#
# Whoever can replace the program at this path gets user namespaces too: keep it where only root can write.

abi <abi/4.0>,
include <tunables/global>
";

/// The path, if it holds nothing that AppArmor could read as a wildcard, a variable or the end of a quotation.
fn quote(path: &Path) -> Result<&str, ApparmorError> {
    path.to_str()
        .filter(|text| text.chars().all(|c| c.is_alphanumeric() || "/._-+=~: ".contains(c)))
        .ok_or_else(|| ApparmorError::Unnameable(path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_names_each_path_and_allows_user_namespaces_only() {
        let text = text(&["/usr/local/bin/glee-supervisor".into(), "/usr/local/bin/glee".into()]).unwrap();
        let rules: Vec<&str> = text
            .lines()
            .filter(|l| !l.starts_with('#') && !l.trim().is_empty())
            .collect();
        assert_eq!(
            rules,
            [
                "abi <abi/4.0>,",
                "include <tunables/global>",
                "profile glee-supervisor \"/usr/local/bin/glee-supervisor\" flags=(unconfined) {",
                "  userns,",
                "  include if exists <local/glee-supervisor>",
                "}",
                "profile glee \"/usr/local/bin/glee\" flags=(unconfined) {",
                "  userns,",
                "  include if exists <local/glee>",
                "}",
            ]
        );
    }

    #[test]
    fn a_path_that_could_be_read_as_something_else_is_refused() {
        assert_eq!(quote(Path::new("/a b/ü-1_2.x")).unwrap(), "/a b/ü-1_2.x");
        use std::os::unix::ffi::OsStrExt;
        for bytes in [
            &b"/a\nuserns,"[..],
            b"/\xff",
            b"/a*",
            b"/{a,b}",
            b"/\"",
            b"/@{HOME}",
            b"/\\x",
            b"/[a]",
            b"/a^",
        ] {
            assert!(
                quote(Path::new(std::ffi::OsStr::from_bytes(bytes))).is_err(),
                "{bytes:?}"
            );
        }
    }
}
