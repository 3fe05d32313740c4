//! What a canary is called and what it says, for the report.

use super::{Answer, Attempt, Canary, Expected, Fact, Family, Tried};

impl Canary {
    #[must_use]
    pub fn name(&self) -> &'static str {
        match &self.attempt {
            Attempt::Read(_) => "read outside",
            Attempt::Write(_) => "write outside",
            Attempt::Unprotected(_) => "write a protected name",
            Attempt::Connect(_) => "connect out",
            Attempt::HostSocket => "unix socket of the host",
            Attempt::Socket(Family::Unix) => "unix socket",
            Attempt::Socket(Family::Internet) => "internet socket",
            Attempt::UserNamespace => "new user namespace",
            Attempt::ReadParent => "trace pid 1",
            Attempt::IoUring => "io_uring",
            Attempt::Mount => "mount",
            Attempt::BecomeRoot => "become root",
            Attempt::Fact(Fact::NoNewPrivs) => "no_new_privs",
            Attempt::Fact(Fact::SeccompMode) => "seccomp",
            Attempt::Fact(Fact::Capabilities) => "capabilities",
            Attempt::Fact(Fact::BoundingSet) => "bounding set",
            Attempt::Fact(Fact::Uid) => "uid",
        }
    }

    /// The call that was made.
    #[must_use]
    pub fn tried(&self) -> String {
        match &self.attempt {
            Attempt::Read(path) => format!("open `{}` for reading", path.display()),
            Attempt::Write(path) => format!("open `{}` for writing", path.display()),
            Attempt::Unprotected(path) => format!("look for a writable mount at `{}`", path.display()),
            Attempt::Connect(address) => format!("connect a datagram socket to {address}"),
            Attempt::HostSocket => "connect to an abstract socket that the supervisor holds".to_owned(),
            Attempt::Socket(Family::Unix) => "socket(AF_UNIX)".to_owned(),
            Attempt::Socket(Family::Internet) => "socket(AF_INET)".to_owned(),
            Attempt::UserNamespace => "unshare(CLONE_NEWUSER)".to_owned(),
            Attempt::ReadParent => "open its memory, as a tracer may".to_owned(),
            Attempt::IoUring => "io_uring_setup".to_owned(),
            Attempt::Mount => "fsopen".to_owned(),
            Attempt::BecomeRoot => "setresuid(0, 0, 0)".to_owned(),
            Attempt::Fact(Fact::NoNewPrivs) => "prctl(PR_GET_NO_NEW_PRIVS)".to_owned(),
            Attempt::Fact(Fact::SeccompMode) => "prctl(PR_GET_SECCOMP)".to_owned(),
            Attempt::Fact(Fact::Capabilities) => "capget".to_owned(),
            Attempt::Fact(Fact::BoundingSet) => "prctl(PR_CAPBSET_READ) on each capability".to_owned(),
            Attempt::Fact(Fact::Uid) => "geteuid".to_owned(),
        }
    }
}

impl Expected {
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Refused(errors) => errors.iter().map(|e| errno(*e)).collect::<Vec<_>>().join(" or "),
            Self::Is(value) => value.to_string(),
        }
    }
}

impl Tried {
    /// What came of it.
    #[must_use]
    pub fn got(&self) -> String {
        match (self.answer, &self.canary.expected) {
            (Some(Err(error)), _) => errno(error),
            (Some(Ok(_)), Expected::Refused(_)) => "it was allowed".to_owned(),
            (Some(Ok(value)), Expected::Is(_)) => value.to_string(),
            (None, _) => "no answer".to_owned(),
        }
    }
}

/// As the manual pages call it.
fn errno(number: i32) -> String {
    let name = match number {
        libc::EPERM => "EPERM",
        libc::ENOENT => "ENOENT",
        libc::EACCES => "EACCES",
        libc::EINVAL => "EINVAL",
        libc::EMFILE => "EMFILE",
        libc::ENFILE => "ENFILE",
        libc::EROFS => "EROFS",
        libc::ENOSYS => "ENOSYS",
        libc::EOPNOTSUPP => "EOPNOTSUPP",
        libc::EAFNOSUPPORT => "EAFNOSUPPORT",
        libc::EADDRNOTAVAIL => "EADDRNOTAVAIL",
        libc::ENETUNREACH => "ENETUNREACH",
        libc::EHOSTUNREACH => "EHOSTUNREACH",
        libc::ECONNREFUSED => "ECONNREFUSED",
        _ => return format!("error {number}"),
    };
    name.to_owned()
}

/// An answer as a number that fits a message: errors are negative.
pub(crate) fn encode(answer: Answer) -> i64 {
    match answer {
        Ok(value) => i64::try_from(value).unwrap_or(i64::MAX),
        Err(errno) => -i64::from(errno.max(1)),
    }
}

pub(crate) fn decode(number: i64) -> Answer {
    match u64::try_from(number) {
        Ok(value) => Ok(value),
        Err(_) => Err(i32::try_from(number.unsigned_abs()).unwrap_or(i32::MAX)),
    }
}
