//! Children that make a few system calls on our behalf and end: one holds a user namespace, one makes a network namespace.
//!
//! They run on our memory, on a stack of their own, so that nothing is copied for them: a fork costs more than the errand.
//! INVARIANT (kept by each errand below): it allocates nothing and touches nothing but its argument. Descriptors and
//! credentials are its own. A failing call may spoil an `errno` of ours, so its failure must be one that ends the run.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use super::fd::own;
use super::process::{self, Pid};
use super::socket::{self, Wait};
use super::{check, net, processors};

/// Room for a few small frames.
const STACK: usize = 32 * 1024;

/// A child on an errand. Dropping it waits for its end.
#[derive(Debug)]
struct Child<A> {
    pid: Pid,
    /// Both in use until the end.
    _argument: Box<A>,
    _stack: Vec<u128>,
}

impl<A> Child<A> {
    /// The process must have one thread.
    fn start(
        namespaces: libc::c_int,
        errand: extern "C" fn(*mut libc::c_void) -> libc::c_int,
        argument: A,
    ) -> io::Result<Self> {
        let mut argument = Box::new(argument);
        // Its pages are touched by the child alone, and only those that it needs.
        let mut stack: Vec<u128> = Vec::with_capacity(STACK / size_of::<u128>());
        // SAFETY: one past the end of the allocation.
        let top = unsafe { stack.as_mut_ptr().add(stack.capacity()) }.cast();
        let flags = namespaces | libc::CLONE_VM | libc::SIGCHLD;
        let courtesy = processors::Courtesy::begin();
        // SAFETY: `top` is the aligned end of a live allocation; it and the argument are kept until the child has ended;
        // the errands of this module keep the invariant above.
        let pid = check(unsafe { libc::clone(errand, top, flags, (&raw mut *argument).cast()) }.into())?;
        let pid = Pid(libc::pid_t::try_from(pid).unwrap_or(-1));
        processors::part_from(pid);
        drop(courtesy);
        Ok(Self {
            pid,
            _argument: argument,
            _stack: stack,
        })
    }
}

impl<A> Drop for Child<A> {
    fn drop(&mut self) {
        // It is our child until we have waited for it, so this can only be it.
        let _ = process::wait(self.pid.0, libc::__WALL);
    }
}

/// A process in a user namespace of its own, which it holds until it is released.
#[derive(Debug)]
pub struct Holder {
    /// Closed first: that is what the child waits for.
    open: Option<OwnedFd>,
    child: Child<[RawFd; 2]>,
}

impl Holder {
    pub fn start() -> io::Result<Self> {
        let (read, write) = super::fd::pipe()?;
        let child = Child::start(libc::CLONE_NEWUSER, hold, [read.as_raw_fd(), write.as_raw_fd()])?;
        Ok(Self {
            open: Some(write),
            child,
        })
    }

    #[must_use]
    pub fn pid(&self) -> Pid {
        self.child.pid
    }

    /// Lets it end. Dropping this collects it.
    pub fn release(&mut self) {
        self.open = None;
    }
}

extern "C" fn hold(argument: *mut libc::c_void) -> libc::c_int {
    // SAFETY: `Holder::start` gave two live ints.
    let [read, write] = unsafe { argument.cast::<[RawFd; 2]>().read() };
    // Our own copy: the supervisor's is the one whose end we wait for, be it by a word or by its death.
    drop(own(write.into()));
    libc::c_int::from(super::fd::read(own(read.into()).as_fd(), &mut [0]).is_err())
}

/// A network namespace in the making. It will belong to our user namespace.
#[derive(Debug)]
pub struct NetworkMaker {
    answer: OwnedFd,
    child: Child<RawFd>,
}

impl NetworkMaker {
    pub fn start() -> io::Result<Self> {
        let (answer, theirs) = socket::pair()?;
        let child = Child::start(0, make_network, theirs.as_raw_fd())?;
        Ok(Self { answer, child })
    }

    /// Waits for the namespace and for the end of its maker.
    pub fn finish(self) -> io::Result<OwnedFd> {
        let answer = socket::receive(self.answer.as_fd(), Wait::Block);
        drop(self.child);
        match answer? {
            (_, Some(namespace)) => Ok(namespace),
            (errno, None) => Err(errno.try_into().map_or_else(
                |_| io::ErrorKind::BrokenPipe.into(),
                |errno| io::Error::from_raw_os_error(i32::from_le_bytes(errno)),
            )),
        }
    }
}

extern "C" fn make_network(argument: *mut libc::c_void) -> libc::c_int {
    // SAFETY: `NetworkMaker::start` gave a live int.
    let theirs = own(unsafe { argument.cast::<RawFd>().read() }.into());
    let made = process::unshare(libc::CLONE_NEWNET)
        .and_then(|()| net::loopback_up())
        // Not by a path: what paths lead to is being changed meanwhile.
        .and_then(|()| net::own_namespace());
    let told = match made {
        Ok(namespace) => socket::send(theirs.as_fd(), b"n", Some(namespace.as_fd())),
        Err(error) => {
            let errno = error.raw_os_error().unwrap_or(libc::EIO);
            socket::send(theirs.as_fd(), &errno.to_le_bytes(), None)
        }
    };
    libc::c_int::from(told.is_err())
}
