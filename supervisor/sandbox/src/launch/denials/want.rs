//! What a call wants, read off its arguments.
//!
//! Pure.

use crate::seccomp::Act;
use crate::sys::look::Last;

/// What is wanted of one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    Read,
    /// Write to what is there.
    Write,
    /// Write to it, made if it is not there.
    WriteOrMake,
    /// Read it, made if it is not there.
    ReadOrMake,
    /// Make a name that is not there.
    Make,
    /// Make a directory, and those above it if they are not there: programs begin with the last.
    MakeDir,
    /// Put something under a name, whatever is there.
    Replace,
    Remove,
    /// Change its mode or length.
    Change,
    Execute,
    /// Know whether it is there.
    Look,
    /// Connect to a socket.
    Connect,
}

impl Want {
    /// Its letter in keys of what is remembered.
    pub(super) fn letter(self) -> u8 {
        match self {
            Self::Read => b'r',
            Self::Write => b'w',
            Self::WriteOrMake => b'W',
            Self::ReadOrMake => b'R',
            Self::Make => b'm',
            Self::MakeDir => b'M',
            Self::Replace => b'p',
            Self::Remove => b'd',
            Self::Change => b'c',
            Self::Execute => b'x',
            Self::Look => b'l',
            Self::Connect => b's',
        }
    }

    /// Is it the directory that must allow it, and not the file?
    pub(super) fn is_about_the_name(self) -> bool {
        match self {
            Self::Make | Self::MakeDir | Self::Replace | Self::Remove => true,
            Self::Read
            | Self::Write
            | Self::WriteOrMake
            | Self::ReadOrMake
            | Self::Change
            | Self::Execute
            | Self::Look
            | Self::Connect => false,
        }
    }
}

/// What a call wants of its first and second path. `None` where a path does not matter.
pub(super) fn of(act: Act, args: &[u64; 6]) -> [Option<(Want, Last)>; 2] {
    match act {
        Act::Open { flags } => [
            open(args.get(usize::from(flags)).map_or(0, |v| *v as libc::c_int)),
            None,
        ],
        Act::Create => [Some((Want::WriteOrMake, Last::Follow)), None],
        Act::Execute => [Some((Want::Execute, Last::Follow)), None],
        Act::Remove => [Some((Want::Remove, Last::Itself)), None],
        Act::Make => [Some((Want::Make, Last::Itself)), None],
        Act::MakeDir => [Some((Want::MakeDir, Last::Itself)), None],
        Act::Rename => [Some((Want::Remove, Last::Itself)), Some((Want::Replace, Last::Itself))],
        Act::Link => [Some((Want::Look, Last::Itself)), Some((Want::Make, Last::Itself))],
        Act::Change => [Some((Want::Change, Last::Follow)), None],
        Act::Look => [Some((Want::Look, Last::Itself)), None],
    }
}

fn open(flags: libc::c_int) -> Option<(Want, Last)> {
    let last = if flags & libc::O_NOFOLLOW != 0 {
        Last::Itself
    } else {
        Last::Follow
    };
    if flags & libc::O_PATH != 0 {
        // No more than a look.
        return None;
    }
    if flags & libc::O_TMPFILE == libc::O_TMPFILE {
        return Some((Want::WriteOrMake, last));
    }
    let writes = flags & libc::O_ACCMODE != libc::O_RDONLY || flags & libc::O_TRUNC != 0;
    let want = match (writes, flags & libc::O_CREAT != 0) {
        (true, true) if flags & libc::O_EXCL != 0 => Want::Make,
        (true, true) => Want::WriteOrMake,
        (true, false) => Want::Write,
        (false, true) => Want::ReadOrMake,
        (false, false) => Want::Read,
    };
    Some((want, last))
}
