//! Capabilities: all of them gone, in every set, for good.

use std::io;

use super::{check, done};

const VERSION_3: u32 = 0x2008_0522;

#[repr(C)]
struct Header {
    version: u32,
    pid: libc::c_int,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Data {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Empties the bounding and ambient sets. Needs `CAP_SETPCAP`; ends at the first number the kernel does not know.
pub fn drop_bounding() -> io::Result<()> {
    // SAFETY: takes integers only.
    done(unsafe { libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) })?;
    for cap in 0..64 as libc::c_ulong {
        // SAFETY: takes integers only.
        match done(unsafe { libc::prctl(libc::PR_CAPBSET_DROP, cap, 0, 0, 0) }) {
            Err(e) if e.raw_os_error() == Some(libc::EINVAL) => break,
            other => other?,
        }
    }
    Ok(())
}

/// Empties the effective, permitted and inheritable sets.
pub fn drop_all() -> io::Result<()> {
    let header = Header {
        version: VERSION_3,
        pid: 0,
    };
    let data = [Data::default(); 2];
    // SAFETY: version 3 reads one header and two data structures, both live locals.
    check(unsafe { libc::syscall(libc::SYS_capset, &raw const header, data.as_ptr()) }).map(drop)
}

fn sets() -> io::Result<[Data; 2]> {
    let mut header = Header {
        version: VERSION_3,
        pid: 0,
    };
    let mut data = [Data::default(); 2];
    // SAFETY: version 3 writes two data structures, a live local array.
    check(unsafe { libc::syscall(libc::SYS_capget, &raw mut header, data.as_mut_ptr()) })?;
    Ok(data)
}

/// The effective set, as a bit mask.
pub fn effective() -> io::Result<u64> {
    sets().map(|[low, high]| u64::from(low.effective) | (u64::from(high.effective) << 32))
}

/// Whatever is in the effective, the permitted or the inheritable set, as a bit mask.
pub fn held() -> io::Result<u64> {
    let any = |data: Data| u64::from(data.effective | data.permitted | data.inheritable);
    sets().map(|[low, high]| any(low) | (any(high) << 32))
}
