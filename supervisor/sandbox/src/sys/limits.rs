//! Resource limits of the process.

use std::io;

use super::done;

/// The limits we set, by the kernel's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum Resource {
    Core,
    Fsize,
    Memlock,
    Msgqueue,
    Nofile,
    Nproc,
    Sigpending,
}

impl Resource {
    fn number(self) -> libc::__rlimit_resource_t {
        match self {
            Self::Core => libc::RLIMIT_CORE,
            Self::Fsize => libc::RLIMIT_FSIZE,
            Self::Memlock => libc::RLIMIT_MEMLOCK,
            Self::Msgqueue => libc::RLIMIT_MSGQUEUE,
            Self::Nofile => libc::RLIMIT_NOFILE,
            Self::Nproc => libc::RLIMIT_NPROC,
            Self::Sigpending => libc::RLIMIT_SIGPENDING,
        }
    }
}

/// The hard limit in force.
pub fn hard(resource: Resource) -> io::Result<u64> {
    let mut now = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `now` is a live local the kernel fills.
    done(unsafe { libc::getrlimit(resource.number(), &raw mut now) })?;
    Ok(now.rlim_max)
}

/// Sets soft and hard limit to `value`, or to the hard limit in force if that is lower.
pub fn lower(resource: Resource, value: u64) -> io::Result<()> {
    let mut now = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `now` is a live local the kernel fills.
    done(unsafe { libc::getrlimit(resource.number(), &raw mut now) })?;
    let value = value.min(now.rlim_max);
    let new = libc::rlimit {
        rlim_cur: value,
        rlim_max: value,
    };
    // SAFETY: `new` is a live, fully initialised local.
    done(unsafe { libc::setrlimit(resource.number(), &raw const new) })
}
