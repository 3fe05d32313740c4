//! Resource limits of the process.

use std::io;

use super::done;

/// The limits we set, by the kernel's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum Resource {
    Core,
    /// Private writable memory, stacks and all. Linux 4.7.
    Data,
    Fsize,
    Memlock,
    Msgqueue,
    Nice,
    Nofile,
    Nproc,
    Rtprio,
    Sigpending,
}

/// Queued signals and timers of a command's: the kernel counts them for the user as well, whose own programs need some.
pub const PENDING: u64 = 1024;

impl Resource {
    fn number(self) -> libc::__rlimit_resource_t {
        match self {
            Self::Core => libc::RLIMIT_CORE,
            Self::Data => libc::RLIMIT_DATA,
            Self::Fsize => libc::RLIMIT_FSIZE,
            Self::Memlock => libc::RLIMIT_MEMLOCK,
            Self::Msgqueue => libc::RLIMIT_MSGQUEUE,
            Self::Nice => libc::RLIMIT_NICE,
            Self::Nofile => libc::RLIMIT_NOFILE,
            Self::Nproc => libc::RLIMIT_NPROC,
            Self::Rtprio => libc::RLIMIT_RTPRIO,
            Self::Sigpending => libc::RLIMIT_SIGPENDING,
        }
    }
}

fn get(resource: Resource) -> io::Result<libc::rlimit> {
    let mut now = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `now` is a live local the kernel fills.
    done(unsafe { libc::getrlimit(resource.number(), &raw mut now) })?;
    Ok(now)
}

fn set(resource: Resource, new: libc::rlimit) -> io::Result<()> {
    // SAFETY: `new` is a live, fully initialised local.
    done(unsafe { libc::setrlimit(resource.number(), &raw const new) })
}

/// The hard limit in force.
pub fn hard(resource: Resource) -> io::Result<u64> {
    Ok(get(resource)?.rlim_max)
}

/// Sets soft and hard limit to `value`, or to the hard limit in force if that is lower.
pub fn lower(resource: Resource, value: u64) -> io::Result<()> {
    let value = value.min(get(resource)?.rlim_max);
    set(
        resource,
        libc::rlimit {
            rlim_cur: value,
            rlim_max: value,
        },
    )
}

/// Sets the soft limit alone, if it is not lower: whoever is started later can be freed of it.
pub fn soften(resource: Resource, value: u64) -> io::Result<()> {
    let now = get(resource)?;
    set(
        resource,
        libc::rlimit {
            rlim_cur: value.min(now.rlim_cur),
            ..now
        },
    )
}

/// Raises the soft limit to the hard limit.
pub fn raise(resource: Resource) -> io::Result<()> {
    let now = get(resource)?;
    set(
        resource,
        libc::rlimit {
            rlim_cur: now.rlim_max,
            ..now
        },
    )
}

/// Raises a soft limit that is exactly this to the hard limit.
pub fn lift(resource: Resource, value: u64) -> io::Result<()> {
    let now = get(resource)?;
    match now.rlim_cur == value {
        true => set(
            resource,
            libc::rlimit {
                rlim_cur: now.rlim_max,
                ..now
            },
        ),
        false => Ok(()),
    }
}
