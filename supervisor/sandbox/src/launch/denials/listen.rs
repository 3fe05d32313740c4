//! The listener: a process beside the sandbox that answers what the filter asks, and notes what the sandbox refused.
//!
//! A process of its own so that neither a flood nor a path that hangs holds up the supervisor, which keeps the time.
//! INVARIANT (fails closed): a call that the table does not allow is never told to go on. Its numbers are the kernel's copy,
//! which nobody inside can change; its paths are only ever noted.
//! INVARIANT (no oracle): the host is looked at after the call has gone on, so nobody inside can time what is there.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use super::arguments;
use super::attempts::Started;
use super::book::{Book, Details, Entry};
use super::clients::Clients;
use super::climbs::{Climbs, Held};
use super::full::{Files, Space};
use super::host::Host;
use super::inside::Inside;
use super::lookups::Lookups;
use super::loopback::Loopback;
use super::net::Bound;
use super::passed::Passed;
use super::people::{People, Person};
use super::row::{Because, DeniedKind, Refusals, Subject};
use super::turns::Turns;
use crate::plan::{Containment, MountStep, SandboxPlan};
use crate::seccomp::{Arch, Call, FilterSpec, Shape, Table, Verdict};
use crate::sys::look::{self, Last};
use crate::sys::seccomp::{self, Notice};

pub(super) struct Listener<'a> {
    pub(super) fd: OwnedFd,
    pub(super) plan: &'a SandboxPlan,
    spec: FilterSpec,
    table: &'a Table,
    pub(super) inside: Option<Inside<'a>>,
    host: Option<Host>,
    pub(super) people: People,
    book: Book,
    pub(super) passed: Passed,
    pub(super) bound: Bound,
    pub(super) lookups: Lookups,
    pub(super) loopback: Loopback,
    pub(super) climbs: Climbs,
    pub(super) started: Option<Started>,
    /// Calls that were looked at.
    seen: u64,
    pub(super) clients: Clients,
    pub(super) files: Files,
    space: Option<Space>,
    turns: Turns,
}

impl<'a> Listener<'a> {
    pub(super) fn new(fd: OwnedFd, plan: &'a SandboxPlan, spec: FilterSpec, table: &'a Table) -> Self {
        Self {
            fd,
            plan,
            spec,
            table,
            inside: None,
            host: None,
            people: People::default(),
            book: Book::default(),
            passed: Passed::default(),
            bound: Bound::default(),
            lookups: Lookups::default(),
            loopback: Loopback::default(),
            climbs: Climbs::default(),
            started: None,
            seen: 0,
            clients: Clients::default(),
            files: Files::new(plan),
            space: None,
            turns: Turns::default(),
        }
    }

    pub(super) fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    pub(super) fn into_refusals(mut self) -> Refusals {
        if self.space.as_ref().is_some_and(Space::is_full) {
            self.note_limit("disk_mb", (u32::MAX, ""), Person::default());
        }
        for held in std::mem::take(&mut self.climbs).into_held() {
            self.settle(held);
        }
        let mut refusals = self.book.into_refusals();
        self.lookups.settle(&mut refusals.list);
        Refusals {
            seen: self.seen,
            clients: self.clients.into_list(),
            ..refusals
        }
    }

    /// Waits for a call and answers it. False: there was none, because its caller died, or all have, or we were interrupted.
    pub(super) fn turn(&mut self) -> io::Result<bool> {
        self.turns.before_waiting(self.fd.as_fd());
        let Some(notice) = seccomp::receive(self.fd.as_fd())? else {
            return Ok(false);
        };
        self.turns.before_answering(self.fd.as_fd(), notice.pid);
        self.answer(&notice).map(|()| true)
    }

    fn answer(&mut self, notice: &Notice) -> io::Result<()> {
        let call = Call {
            nr: notice.nr.unsigned_abs(),
            args: notice.args,
        };
        self.seen += 1;
        match self.table.decide(&self.spec, Arch::NATIVE, &call) {
            Verdict::Observe => self.observe(notice, call.nr),
            Verdict::Deny(denial) => {
                let person = self.people.who(notice.pid);
                seccomp::refuse(self.fd.as_fd(), notice.id, denial.errno.into())?;
                self.note_call(call.nr, person, denial.why);
                Ok(())
            }
            Verdict::Errno(errno) => seccomp::refuse(self.fd.as_fd(), notice.id, errno.into()),
            // The filter asked although this code would not: refuse, it is the safe side.
            Verdict::Allow | Verdict::Kill => seccomp::refuse(self.fd.as_fd(), notice.id, libc::EPERM),
        }
    }

    pub(super) fn proceed(&self, notice: &Notice) -> io::Result<()> {
        match seccomp::proceed(self.fd.as_fd(), notice.id) {
            // Interrupted meanwhile: it will ask again.
            Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => Ok(()),
            other => other,
        }
    }

    /// The call is allowed: see what it wants, let it go on, and only then look at the host.
    fn observe(&mut self, notice: &Notice, nr: u32) -> io::Result<()> {
        let name = self.table.name_of(nr, Arch::NATIVE).unwrap_or_default();
        match self.spec.observe.shape(name) {
            Some(Shape::Path { act, place, second }) => self.attempt(notice, (nr, name), act, [Some(place), second]),
            Some(Shape::Connect { address, length }) => {
                let to = arguments::socket_address(notice, address, length);
                self.connect(notice, (nr, name), to)
            }
            Some(Shape::Send { address, length }) => {
                let datagram = arguments::datagram(notice, address, length);
                self.send(notice, (nr, name), vec![datagram])
            }
            Some(Shape::Messages { list, count }) => {
                let datagrams = arguments::messages(notice, list, count);
                self.send(notice, (nr, name), datagrams)
            }
            Some(Shape::Bind { address, length }) => {
                let at = arguments::socket_address(notice, address, length);
                self.bind(notice, (nr, name), at)
            }
            Some(Shape::Attribute) => self.proceed(notice),
            None => seccomp::refuse(self.fd.as_fd(), notice.id, libc::EPERM),
        }
    }

    /// A limit of the policy, by its key.
    pub(super) fn note_limit(&mut self, key: &str, call: (u32, &str), person: Person) {
        let entry = Entry {
            kind: DeniedKind::Limit,
            subject: Subject::Call,
            program: person.program,
            nr: call.0,
        };
        let details = Details {
            because: Because::Full,
            why: key,
            syscall: call.1,
            pid: person.pid,
            count: 1,
        };
        self.book.add(entry, &details);
    }

    pub(super) fn note(
        &mut self,
        kind: DeniedKind,
        subject: Subject,
        because: Because,
        call: (u32, &str),
        who: Person,
    ) {
        self.book.note(kind, subject, because, call, who);
    }

    /// Nobody made what was missing above it: it was refused.
    pub(super) fn settle(&mut self, held: Held) {
        let (nr, name) = held.call;
        let entry = Entry {
            kind: DeniedKind::Write,
            subject: Subject::Path(held.path),
            program: held.person.program,
            nr,
        };
        let details = Details {
            because: Because::Absent,
            why: "",
            syscall: &name,
            pid: held.person.pid,
            count: held.count,
        };
        self.book.add(entry, &details);
    }

    fn note_call(&mut self, nr: u32, person: Person, why: &str) {
        let number = nr.to_string();
        let entry = Entry {
            kind: DeniedKind::Syscall,
            subject: Subject::Call,
            program: person.program,
            nr,
        };
        let details = Details {
            because: Because::Filter,
            why,
            syscall: self.table.name_of(nr, Arch::NATIVE).unwrap_or(&number),
            pid: person.pid,
            count: 1,
        };
        self.book.add(entry, &details);
    }

    /// The host, as the caller knows it. Only to be asked when the call has gone on.
    pub(super) fn host(&mut self) -> &Host {
        let plan = self.plan;
        self.host.get_or_insert_with(|| Host::new(plan))
    }

    /// The host, and the sandbox if it was looked at before.
    pub(super) fn both(&mut self) -> (&Host, Option<&Inside<'a>>) {
        let plan = self.plan;
        (self.host.get_or_insert_with(|| Host::new(plan)), self.inside.as_ref())
    }

    /// The sandbox, as the caller sees it: held open from the first caller on.
    pub(super) fn inside(&mut self, notice: &Notice) -> Option<&Inside<'a>> {
        if self.inside.is_none() {
            let root = match self.plan.containment {
                Containment::Namespaces => format!("/proc/{}/root", notice.pid),
                Containment::Landlock | Containment::Inherit => "/".to_owned(),
            };
            let root = look::directory(Path::new(&root)).ok()?;
            if !seccomp::is_waiting(self.fd.as_fd(), notice.id) {
                return None;
            }
            self.space = private_space(&root, self.plan);
            self.inside = Some(Inside::new(root, self.plan));
        }
        self.inside.as_ref()
    }
}

/// All private places are one space.
fn private_space(root: &OwnedFd, plan: &SandboxPlan) -> Option<Space> {
    let at = plan.mounts.iter().find_map(|step| {
        if let MountStep::Private { at, .. } = step {
            Some(at)
        } else {
            None
        }
    })?;
    look::in_root(root.as_fd(), at, Last::Itself).ok().map(Space::new)
}
