//! Argument rules for files and terminals: no setuid or setgid bit, no device, no snapshot, nothing typed into a terminal.
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

/// How long the value of an attribute may be.
///
/// An access list in private space is kernel memory that nobody counts, half as large again as it is written, and the kernel takes the
/// same user in it thousands of times: with 64 KiB for each file a run held what it liked. Larger ones are hardly ever written (ext4
/// has room for 4 KiB of all of a file's attributes). The kernel reads the length whole, and refuses what has more than its low half.
const LONGEST_ATTRIBUTE: u32 = 1024;

pub(super) const SETXATTR: Body = unless(&[when(
    &[Test::Between {
        arg: 3,
        first: LONGEST_ATTRIBUTE + 1,
        last: u32::MAX,
    }],
    Verdict::Errno(libc::E2BIG as u16),
)]);

const NO_ROOM: Verdict = Verdict::Errno(libc::EOPNOTSUPP as u16);

/// Room without a greater length (`KEEP_SIZE` with all but `PUNCH_HOLE`, which only gives room back), and room in the middle
/// (`INSERT_RANGE`): the kernel holds none of it against `RLIMIT_FSIZE`. Programs know filesystems that have none of it.
pub(super) const FALLOCATE: Body = unless(&[
    when(
        &[Test::OneOf {
            arg: 1,
            mask: (libc::FALLOC_FL_KEEP_SIZE | libc::FALLOC_FL_PUNCH_HOLE) as u32,
            values: &[libc::FALLOC_FL_KEEP_SIZE as u32],
        }],
        NO_ROOM,
    ),
    when(
        &[Test::AnyBit {
            arg: 1,
            mask: libc::FALLOC_FL_INSERT_RANGE as u32,
        }],
        NO_ROOM,
    ),
]);

/// A lease by another number, on directories as well. Linux 6.19; libc does not know it.
const F_SETDELEG: u32 = 1040;

/// A lease needs no more than a file of the caller's own opened for reading, and holds up whoever opens it, outside too, for as
/// long as `fs.lease-break-time` (45 seconds).
pub(super) const FCNTL: Body = unless(&[when(
    &[is(1, &[libc::F_SETLEASE as u32, F_SETDELEG])],
    deny(libc::EPERM, "holds up other programs that open the file"),
)]);

/// The operation by its type and number. The size of its argument, which is in the upper half, differs between versions.
const fn operation(mask: u32, values: &'static [u32]) -> Test {
    Test::OneOf { arg: 1, mask, values }
}

/// FICLONE, FICLONERANGE and FIDEDUPERANGE: what `cp --reflink` and its kin need of the type that they share with btrfs.
const SHARES_EXTENTS: Test = is(1, &[0x4004_9409, 0x4020_940D, 0xC018_9436]);
/// Those of btrfs (0x94), bcachefs (0xBC) and SMB (0xCF). A snapshot shows what is covered, since covers are mounts and a snapshot
/// is of the file system; whoever owns a subvolume can also delete it and lock it against writing, and list those of others. SMB
/// tells of changes below a directory by name.
const OF_FILE_SYSTEMS: Test = operation(0xFF00, &[0x9400, 0xBC00, 0xCF00]);
/// FS_IOC_SET_ENCRYPTION_POLICY, ADD_ENCRYPTION_KEY, REMOVE_ENCRYPTION_KEY and REMOVE_ENCRYPTION_KEY_ALL_USERS: a key that is
/// removed locks the user's files in the whole file system.
const ENCRYPTION: Test = operation(0xFFFF, &[0x6613, 0x6617, 0x6618, 0x6619]);
/// What ordinary programs want of the types that follow: FS_IOC_FSGETXATTR and FSSETXATTR, FS_IOC_GETFLAGS and SETFLAGS,
/// EXT4_IOC_GETVERSION, FS_IOC_FIEMAP.
const OF_FILES: Test = operation(0xFFFF, &[0x581F, 0x5820, 0x6601, 0x6602, 0x6603, 0x660B]);
/// Those of XFS (0x58), ext4 and Lustre (0x66), and f2fs (0xF5). They exchange or move what two files hold: no date changes, setuid
/// bits stay, and the list of what was changed is empty. Others take room beyond the limit of a file. Programs know file systems
/// without them.
const OF_EXTENTS: Test = operation(0xFF00, &[0x5800, 0x6600, 0xF500]);

/// TIOCSCTTY stays: shells need it. `K` (0x4Bxx) and `V` (0x56xx) are the keyboard and screens of the Linux
/// console, where key bindings can be rewritten; video devices use other high bits.
pub(super) const IOCTL: Body = unless(&[
    when(&[SHARES_EXTENTS], Verdict::Allow),
    when(
        &[OF_FILE_SYSTEMS],
        deny(
            libc::EPERM,
            "snapshots and other powers of one file system reach past what is covered",
        ),
    ),
    when(
        &[ENCRYPTION],
        deny(libc::EPERM, "changes the keys of a file system for all who use it"),
    ),
    when(
        &[is(1, &[0x5412, 0x541C])],
        deny(libc::EPERM, "types into the terminal"),
    ), // TIOCSTI, TIOCLINUX
    // FS_IOC_SETVERSION of 64 and 32 bits, and what ext4 had before. By the number a file is known by its handle (`launch/witness`).
    when(
        &[is(1, &[0x4008_7602, 0x4004_7602, 0x4008_6604, 0x4004_6604])],
        deny(libc::EPERM, "changes the number by which a file is known to servers"),
    ),
    when(&[OF_FILES], Verdict::Allow),
    when(&[OF_EXTENTS], Verdict::Errno(libc::ENOTTY as u16)),
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
