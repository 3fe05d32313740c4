//! Terminals: our own pseudo-terminal, raw mode, window size, the foreground group.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use super::fd::own;
use super::{check, done};

/// The modes of a terminal, to be put back.
#[derive(Clone, Copy)]
pub struct Modes(libc::termios);

impl Modes {
    /// What `raw` may change of them, for another process.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let modes = &self.0;
        let flags = [modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag];
        let flags = flags.into_iter().flat_map(libc::tcflag_t::to_ne_bytes);
        flags.chain(modes.c_cc).collect()
    }

    /// These modes with what such bytes say. `None` if they are not of modes.
    #[must_use]
    pub fn with_bytes(mut self, bytes: &[u8]) -> Option<Self> {
        let (flags, keys) = bytes.as_chunks().0.split_at_checked(4)?;
        let [input, output, control, local] = flags else {
            return None;
        };
        let number = |bytes: &[u8; 4]| libc::tcflag_t::from_ne_bytes(*bytes);
        let modes = &mut self.0;
        (modes.c_iflag, modes.c_oflag) = (number(input), number(output));
        (modes.c_cflag, modes.c_lflag) = (number(control), number(local));
        modes.c_cc = keys.as_flattened().try_into().ok()?;
        Some(self)
    }
}

impl std::fmt::Debug for Modes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Modes")
    }
}

pub fn is_terminal(fd: BorrowedFd<'_>) -> bool {
    // SAFETY: isatty takes an integer.
    unsafe { libc::isatty(fd.as_raw_fd()) == 1 }
}

/// A new pseudo-terminal's controlling side, from the devpts at `/dev/ptmx`.
pub fn open_master() -> io::Result<OwnedFd> {
    let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: the path is a NUL-terminated literal.
    let master = check(unsafe { libc::open(c"/dev/ptmx".as_ptr(), flags) }.into()).map(own)?;
    let unlock: libc::c_int = 0;
    // SAFETY: TIOCSPTLCK reads one int, a live local.
    done(unsafe { libc::ioctl(master.as_raw_fd(), libc::TIOCSPTLCK, &raw const unlock) })?;
    Ok(master)
}

/// The other side of `master`, opened through it, so that no path can be swapped.
pub fn open_slave(master: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: TIOCGPTPEER takes an integer and returns a new descriptor.
    check(unsafe { libc::ioctl(master.as_raw_fd(), libc::TIOCGPTPEER, flags) }.into()).map(own)
}

pub fn modes(fd: BorrowedFd<'_>) -> io::Result<Modes> {
    let mut modes = std::mem::MaybeUninit::<libc::termios>::zeroed();
    // SAFETY: `modes` has room for the answer.
    done(unsafe { libc::tcgetattr(fd.as_raw_fd(), modes.as_mut_ptr()) })?;
    // SAFETY: zeroed before and filled by the call.
    Ok(Modes(unsafe { modes.assume_init() }))
}

pub fn set_modes(fd: BorrowedFd<'_>, modes: &Modes) -> io::Result<()> {
    // SAFETY: `modes` is a live reference to an initialised structure.
    done(unsafe { libc::tcsetattr(fd.as_raw_fd(), libc::TCSADRAIN, &raw const modes.0) })
}

/// As `set_modes`, without waiting until what was written is shown.
pub fn set_modes_now(fd: BorrowedFd<'_>, modes: &Modes) -> io::Result<()> {
    // SAFETY: `modes` is a live reference to an initialised structure.
    done(unsafe { libc::tcsetattr(fd.as_raw_fd(), libc::TCSANOW, &raw const modes.0) })
}

/// Flags and keys of a terminal, for another process.
pub type Numbers = ([u32; 4], [u8; 32]);

/// What a terminal is doing at the moment, or what somebody beyond it does in its place.
const PASSING: u32 = libc::FLUSHO | libc::PENDIN | libc::EXTPROC;

impl Modes {
    #[must_use]
    pub fn numbers(&self) -> Numbers {
        let Self(modes) = self;
        ([modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag], modes.c_cc)
    }

    /// These, but as the terminal of the caller of whom they are told.
    ///
    /// Where that one takes keys and not lines, somebody has made it so for himself, and may go on: then only how characters are
    /// erased is carried over, and the keys that he has not disabled.
    #[must_use]
    pub fn like(&self, ([input, output, control, local], keys): Numbers) -> Self {
        let Self(mut modes) = *self;
        if local & libc::ICANON == 0 {
            modes.c_iflag |= input & libc::IUTF8;
            for (number, (own, key)) in modes.c_cc.iter_mut().zip(keys).enumerate() {
                if key != 0 && ![libc::VMIN, libc::VTIME].contains(&number) {
                    *own = key;
                }
            }
        } else {
            (modes.c_iflag, modes.c_oflag, modes.c_cflag) = (input, output, control);
            (modes.c_lflag, modes.c_cc) = (local & !PASSING, keys);
        }
        Self(modes)
    }
}

/// `modes` with every translation off: bytes pass as they are.
#[must_use]
pub fn raw(modes: &Modes) -> Modes {
    let mut raw = modes.0;
    // SAFETY: `raw` is a live, initialised local.
    unsafe { libc::cfmakeraw(&raw mut raw) };
    Modes(raw)
}

/// As `raw`, but for the output, which the terminal goes on translating.
#[must_use]
pub fn raw_input(modes: &Modes) -> Modes {
    let mut raw = raw(modes);
    raw.0.c_oflag = modes.0.c_oflag;
    raw
}

/// Does the caller's terminal translate output itself, and the command's own not? So it is unless all that is typed and shown there is
/// the command's: in a pipeline others write to it, too.
#[must_use]
pub fn is_translated(terminals: [bool; 3]) -> bool {
    let [input, output, _] = terminals;
    !(input && output)
}

/// A window's rows and columns, in characters and pixels.
#[derive(Clone, Copy)]
pub struct Size(libc::winsize);

impl Size {
    /// Rows and columns, in characters and pixels, for another process.
    #[must_use]
    pub fn numbers(self) -> [u16; 4] {
        [self.0.ws_row, self.0.ws_col, self.0.ws_xpixel, self.0.ws_ypixel]
    }

    #[must_use]
    pub fn of_numbers([ws_row, ws_col, ws_xpixel, ws_ypixel]: [u16; 4]) -> Self {
        Self(libc::winsize {
            ws_row,
            ws_col,
            ws_xpixel,
            ws_ypixel,
        })
    }
}

impl std::fmt::Debug for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}", self.0.ws_col, self.0.ws_row)
    }
}

pub fn size(of: BorrowedFd<'_>) -> io::Result<Size> {
    let mut size = libc::winsize {
        ws_row: 0,
        ws_col: 0,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    // SAFETY: `size` is a live local the kernel fills.
    done(unsafe { libc::ioctl(of.as_raw_fd(), libc::TIOCGWINSZ, &raw mut size) })?;
    Ok(Size(size))
}

/// Sets the window size. The foreground group of the terminal gets SIGWINCH if it changed.
pub fn set_size(of: BorrowedFd<'_>, size: Size) -> io::Result<()> {
    // SAFETY: `size` is a live, initialised local.
    done(unsafe { libc::ioctl(of.as_raw_fd(), libc::TIOCSWINSZ, &raw const size.0) })
}

/// `modes` with output passed as it is: the caller's own terminal, left in its modes, still translates.
#[must_use]
pub fn plain_output(modes: &Modes) -> Modes {
    let mut plain = modes.0;
    plain.c_oflag &= !libc::OPOST;
    Modes(plain)
}

/// Makes `fd` the controlling terminal of this session leader.
pub fn make_controlling(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: TIOCSCTTY takes an integer.
    done(unsafe { libc::ioctl(fd.as_raw_fd(), libc::TIOCSCTTY, 0) })
}

/// The process group that the terminal talks to.
pub fn set_foreground(fd: BorrowedFd<'_>, group: libc::pid_t) -> io::Result<()> {
    // SAFETY: tcsetpgrp takes two integers.
    done(unsafe { libc::tcsetpgrp(fd.as_raw_fd(), group) })
}

/// Is this process in the foreground of the terminal?
pub fn in_foreground(fd: BorrowedFd<'_>) -> bool {
    // SAFETY: tcgetpgrp takes an integer.
    let foreground = unsafe { libc::tcgetpgrp(fd.as_raw_fd()) };
    // SAFETY: getpgrp takes nothing.
    foreground == unsafe { libc::getpgrp() }
}
