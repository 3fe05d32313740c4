//! Which names an engine's API can say. Podman writes some of what it is told as one line, and parses that again: a name with the
//! line's own separators would be taken for options.
//!
//! Pure. INVARIANT: a name that passes here means itself to the engine, and nothing else.

use std::path::Path;

use crate::facts::Engine;
use crate::lower::Refused;
use crate::plan::{Mount, Source};

/// How a bind is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `from:to:options`, which can say `nosuid` and `nodev`.
    Line,
    /// With fields; Podman makes `source=…,target=…` of them.
    Fields,
}

pub(crate) fn form(engine: Engine, from: &str, to: &str) -> Form {
    match engine {
        Engine::Podman if !from.contains(':') && !to.contains(':') => Form::Line,
        Engine::Podman | Engine::Docker => Form::Fields,
    }
}

/// Refuses a mount whose names the engine would take for something else.
pub(crate) fn check(engine: Engine, at: &Path, mount: &Mount) -> Result<(), Refused> {
    let refused = |reason| {
        let path = at.to_owned();
        Err(Refused::Path { path, reason })
    };
    let from = match mount {
        Mount::Bind {
            source: Source::Host(from) | Source::Mapped { below: from, .. } | Source::Staged(from),
            ..
        } => from.as_path(),
        Mount::Bind {
            source: Source::Nothing(_) | Source::Program,
            ..
        }
        | Mount::Private { .. } => Path::new(""),
    };
    let (Some(to), Some(from)) = (at.to_str(), from.to_str()) else {
        return refused("its name is not UTF-8, and the engine's API has no other names");
    };
    match (engine, mount) {
        (Engine::Podman, Mount::Private { .. }) if to.contains(':') => {
            refused("it is private, and Podman would take what follows the colon in its name for options")
        }
        (Engine::Podman, Mount::Bind { .. })
            if form(engine, from, to) == Form::Fields && [from, to].iter().any(|name| name.contains(FIELD)) =>
        {
            refused("its name has a colon, and Podman would take the commas, quotes or line breaks in it for options")
        }
        (Engine::Podman | Engine::Docker, Mount::Bind { .. } | Mount::Private { .. }) => Ok(()),
    }
}

/// What ends a field, or a line of fields.
const FIELD: [char; 4] = [',', '"', '\n', '\r'];

/// Those are said as one list with colons between them.
pub(crate) fn check_masked(engine: Engine, at: &Path) -> Result<(), Refused> {
    match at.to_str() {
        Some(name) if engine == Engine::Docker || !name.contains(':') => Ok(()),
        Some(_) | None => Err(Refused::Path {
            path: at.to_owned(),
            reason: "Podman has no way to name it in its list of covered paths",
        }),
    }
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
