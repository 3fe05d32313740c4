//! Another process's memory: read, and compared.

use std::io;

use super::check;

/// The smallest page there is: what does not cross a multiple of it does not cross a page.
const PAGE: u64 = 4096;

/// Copies bytes from `address` of process `pid` into `to`, as far as they are mapped. Returns how many.
///
/// `process_vm_readv`, Linux 3.2: needs the right to trace that process. Split at the page's end, so that what lies before an
/// unmapped page still arrives.
pub fn read(pid: u32, address: u64, to: &mut [u8]) -> io::Result<usize> {
    let local = libc::iovec {
        iov_base: to.as_mut_ptr().cast(),
        iov_len: to.len(),
    };
    let whole = to.len() as u64;
    let first = whole.min(PAGE - address % PAGE);
    let part = |at: u64, length: u64| libc::iovec {
        iov_base: at as *mut libc::c_void,
        iov_len: usize::try_from(length).unwrap_or(0),
    };
    let next = address.checked_add(first).unwrap_or(0);
    let remote = [part(address, first), part(next, whole - first)];
    let count = if whole > first { 2 } else { 1 };
    let pid = libc::pid_t::try_from(pid).map_err(|_| io::Error::from_raw_os_error(libc::ESRCH))?;
    // SAFETY: `local` covers `to`, which is live and writable; the remote addresses are the other process's and only
    // checked by the kernel.
    let ret = unsafe { libc::process_vm_readv(pid, &raw const local, 1, remote.as_ptr(), count, 0) };
    check(ret as libc::c_long).map(|n| usize::try_from(n).unwrap_or(0))
}

/// Do two processes live in one memory? `kcmp`, Linux 3.5, where it is built in: needs the right to trace both.
pub fn is_shared(one: libc::pid_t, other: libc::pid_t) -> bool {
    const KCMP_VM: libc::c_int = 1;
    // SAFETY: `kcmp` takes numbers only.
    one != other && unsafe { libc::syscall(libc::SYS_kcmp, one, other, KCMP_VM, 0, 0) } == 0
}
