//! On which processor a new process begins.
//!
//! Nothing depends on it: whoever cannot be moved begins where the kernel has put it.

use super::check;
use super::process::Pid;

/// Room for 8,192 processors, as many as any kernel is built for.
const WORDS: usize = 128;

/// While this lives, a child that is made does not take its maker's place on the processor: the maker goes on, and can part from it.
///
/// The child's copy of this, dropped, makes it as it would have been. An errand that drops none keeps waiting for its turn.
#[derive(Debug)]
pub struct Courtesy(bool);

impl Courtesy {
    #[must_use]
    pub fn begin() -> Self {
        // SAFETY: takes a number; zero is this thread.
        let ordinary = unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) } == i64::from(libc::SCHED_OTHER);
        // Somebody's choice for us stays as it is.
        Self(ordinary && policy(libc::SCHED_BATCH))
    }
}

impl Drop for Courtesy {
    fn drop(&mut self) {
        if self.0 {
            policy(libc::SCHED_OTHER);
        }
    }
}

fn policy(policy: libc::c_int) -> bool {
    let priority: libc::c_int = 0;
    // SAFETY: the kernel reads one int behind the live pointer.
    check(unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) }).is_ok()
}

/// Gives up a real-time class: it stands above every share of the processors, and a v1 group that bounds one takes no such process.
pub fn leave_real_time() {
    // SAFETY: takes a number; zero is this thread.
    let class = unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) };
    let is = |known: libc::c_int| class & !i64::from(libc::SCHED_RESET_ON_FORK) == i64::from(known);
    if is(libc::SCHED_FIFO) || is(libc::SCHED_RR) || is(libc::SCHED_DEADLINE) {
        policy(libc::SCHED_OTHER);
    }
}

/// Lets a child that was just made begin on another processor than this one, if there is one.
///
/// A kernel that packs the tasks of a virtual machine together puts it behind us, and it would wait until we have nothing
/// more to do. Afterwards it may run wherever it could before; a processor that is added later is not among those.
pub fn part_from(child: Pid) {
    let mut all = [0_u64; WORDS];
    // SAFETY: `all` is live and of the size given; the kernel writes no more than that.
    let size = check(unsafe { libc::syscall(libc::SYS_sched_getaffinity, 0, size_of_val(&all), all.as_mut_ptr()) });
    let mut here: libc::c_uint = 0;
    let none = std::ptr::null_mut::<libc::c_uint>();
    // SAFETY: `here` is a live local; a null pointer says that the node is of no interest.
    let known = check(unsafe { libc::syscall(libc::SYS_getcpu, &raw mut here, none, none) });
    let (Ok(size), Ok(_)) = (size, known) else { return };
    let mut others = all;
    if let Some(word) = others.get_mut(here as usize / 64) {
        *word &= !(1 << (here % 64));
    }
    if others == [0; WORDS] {
        return;
    }
    for allowed in [&others, &all] {
        // SAFETY: the mask is live, and the kernel said that `size` is no more than its size.
        let _ = check(unsafe { libc::syscall(libc::SYS_sched_setaffinity, child.0, size, allowed.as_ptr()) });
    }
}

#[cfg(test)]
#[path = "processors_tests.rs"]
mod tests;
