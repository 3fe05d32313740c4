//! Argument rules for files and terminals: no setuid or setgid bit, no device, nothing typed into a terminal.
//!
//! Pure tables; `rules` says how they are read and which half of an argument counts.

use super::filter::Verdict;
use super::rules::{Body, Clause, Test, deny, is, unless, when};

const SET_ID: u32 = libc::S_ISUID | libc::S_ISGID;
/// Without one of these the kernel ignores the mode, and the register holds whatever was there.
const CREATES: u32 = libc::O_CREAT as u32 | 0o20_000_000; // __O_TMPFILE
const NO_SET_ID: Verdict = deny(
    libc::EPERM,
    "a setuid or setgid file would stay dangerous outside the sandbox",
);

const fn no_set_id(tests: &'static [Test]) -> Clause {
    when(tests, NO_SET_ID)
}

const fn no_device(tests: &'static [Test]) -> Clause {
    when(tests, deny(libc::EPERM, "makes a device"))
}

const DEVICES: &[u32] = &[libc::S_IFCHR, libc::S_IFBLK];

pub(super) const MODE_ARG1: Body = unless(&[no_set_id(&[Test::AnyBit { arg: 1, mask: SET_ID }])]);
pub(super) const MODE_ARG2: Body = unless(&[no_set_id(&[Test::AnyBit { arg: 2, mask: SET_ID }])]);
pub(super) const OPEN: Body = unless(&[no_set_id(&[
    Test::AnyBit { arg: 1, mask: CREATES },
    Test::AnyBit { arg: 2, mask: SET_ID },
])]);
pub(super) const OPENAT: Body = unless(&[no_set_id(&[
    Test::AnyBit { arg: 2, mask: CREATES },
    Test::AnyBit { arg: 3, mask: SET_ID },
])]);
pub(super) const MKNOD: Body = unless(&[
    no_device(&[Test::OneOf {
        arg: 1,
        mask: libc::S_IFMT,
        values: DEVICES,
    }]),
    no_set_id(&[Test::AnyBit { arg: 1, mask: SET_ID }]),
]);
pub(super) const MKNODAT: Body = unless(&[
    no_device(&[Test::OneOf {
        arg: 2,
        mask: libc::S_IFMT,
        values: DEVICES,
    }]),
    no_set_id(&[Test::AnyBit { arg: 2, mask: SET_ID }]),
]);

/// A whiteout is a device by its type, and hides a file where the directory is a layer of an overlay on the host.
pub(super) const RENAMEAT2: Body = unless(&[no_device(&[Test::AnyBit {
    arg: 4,
    mask: libc::RENAME_WHITEOUT,
}])]);

/// A lease needs no more than a file of the caller's own opened for reading, and holds up whoever opens it, outside too, for as
/// long as `fs.lease-break-time` (45 seconds).
pub(super) const FCNTL: Body = unless(&[when(
    &[is(1, &[libc::F_SETLEASE as u32])],
    deny(libc::EPERM, "holds up other programs that open the file"),
)]);

/// TIOCSCTTY stays: shells need it. `K` (0x4Bxx) and `V` (0x56xx) are the keyboard and screens of the Linux
/// console, where key bindings can be rewritten; video devices use other high bits.
pub(super) const IOCTL: Body = unless(&[
    when(
        &[is(1, &[0x5412, 0x541C])],
        deny(libc::EPERM, "types into the terminal"),
    ), // TIOCSTI, TIOCLINUX
    // FS_IOC_SETVERSION of 64 and 32 bits, and what ext4 had before. By the number a file is known by its handle (`launch/witness`).
    when(
        &[is(1, &[0x4008_7602, 0x4004_7602, 0x4008_6604, 0x4004_6604])],
        deny(libc::EPERM, "changes the number by which a file is known to servers"),
    ),
    when(&[is(1, &[0x541D])], deny(libc::EPERM, "takes over console output")), // TIOCCONS
    when(&[is(1, &[0x5423])], deny(libc::EPERM, "loads a line discipline")),   // TIOCSETD
    // VT_GETSTATE, KDGKBTYPE, KDGETMODE and KDGKBMODE ask whether this is a console (nano at each start): it never is, and any other
    // terminal says so in these words.
    when(
        &[is(1, &[0x5603, 0x4B33, 0x4B3B, 0x4B44])],
        Verdict::Errno(libc::ENOTTY as u16),
    ),
    when(
        &[Test::Between {
            arg: 1,
            first: 0x4B00,
            last: 0x4BFF,
        }],
        deny(libc::EPERM, "changes the console keyboard"),
    ),
    when(
        &[Test::Between {
            arg: 1,
            first: 0x5600,
            last: 0x56FF,
        }],
        deny(libc::EPERM, "switches virtual terminals"),
    ),
]);
