//! The listener: a process beside the sandbox that answers what the filter asks, and notes what the sandbox refused.
//!
//! A process of its own so that neither a flood nor a path that hangs holds up the supervisor, which keeps the time.
//! INVARIANT (fails closed): a call that the table does not allow is never told to go on. Its numbers are the kernel's copy,
//! which nobody inside can change; its paths are only ever noted.
//! INVARIANT (no oracle): the host is looked at after the call has gone on, so nobody inside can time what is there.

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::address::{self, Address};
use super::arguments;
use super::book::{Book, Details, Entry};
use super::clients::{self, Clients};
use super::full::{Files, Space};
use super::host::Host;
use super::inside::{Inside, Judgement};
use super::noise::is_noise;
use super::passed::Passed;
use super::people::{People, Person};
use super::row::{Because, DeniedKind, Refusals, Subject};
use super::turns::Turns;
use super::want::{self, Want};
use crate::plan::{Containment, MountStep, Namespace, SandboxPlan};
use crate::seccomp::{Act, Arch, Call, FilterSpec, Shape, Table, Verdict};
use crate::sys::look::{self, Last};
use crate::sys::seccomp::{self, Notice};

/// Sockets without a file that were made inside.
const MOST_NAMES: usize = 4096;

pub(super) struct Listener<'a> {
    fd: OwnedFd,
    plan: &'a SandboxPlan,
    spec: FilterSpec,
    table: &'a Table,
    inside: Option<Inside<'a>>,
    host: Option<Host>,
    people: People,
    book: Book,
    passed: Passed,
    bound: HashSet<Vec<u8>>,
    /// Calls that were looked at.
    seen: u64,
    clients: Clients,
    files: Files,
    space: Option<Space>,
    turns: Turns,
}

/// A refusal foreseen, to be compared with what the caller could do outside.
struct Foreseen {
    path: PathBuf,
    because: Because,
    want: Want,
    /// The key under which to remember that it is no refusal of ours.
    key: Option<Vec<u8>>,
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
            bound: HashSet::new(),
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
        Refusals {
            seen: self.seen,
            clients: self.clients.into_list(),
            ..self.book.into_refusals()
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

    fn proceed(&self, notice: &Notice) -> io::Result<()> {
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
            Some(Shape::Path { act, place, second }) => {
                if matches!(act, Act::Open { .. } | Act::Create) && self.files.are_full(notice.pid) {
                    let person = self.people.who(notice.pid);
                    self.note_limit("open_files", (nr, name), person);
                }
                let wants = want::of(act, &notice.args);
                let places = [Some(place), second];
                let foreseen = wants.into_iter().zip(places).filter_map(|(want, place)| {
                    let ((want, last), place) = (want?, place?);
                    let path = arguments::path(notice, place)?;
                    self.foresee(notice, path, want, last)
                });
                let foreseen: Vec<Foreseen> = foreseen.collect();
                self.conclude(notice, nr, name, foreseen)
            }
            Some(Shape::Connect { address, length } | Shape::Send { address, length }) => {
                match arguments::socket_address(notice, address, length) {
                    Some(Address::File(path)) => {
                        let path = arguments::absolute(notice, None, path);
                        let foreseen = path.and_then(|path| self.foresee(notice, path, Want::Connect, Last::Follow));
                        self.conclude(notice, nr, name, foreseen.into_iter().collect())
                    }
                    Some(Address::Abstract(socket)) => self.connect_abstract(notice, nr, name, socket),
                    Some(Address::Internet(to)) => {
                        let closed = self.plan.namespaces.contains(&Namespace::Net)
                            && !address::is_local(to.ip(), &self.plan.doors);
                        if closed {
                            let person = self.people.who(notice.pid);
                            self.proceed(notice)?;
                            let subject = Subject::Address(to);
                            self.note(DeniedKind::Network, subject, Because::Unreachable, (nr, name), person);
                            return Ok(());
                        }
                        self.connect_to_door(notice)
                    }
                    None => self.proceed(notice),
                }
            }
            Some(Shape::Bind { address, length }) => match arguments::socket_address(notice, address, length) {
                Some(Address::File(path)) => {
                    let path = arguments::absolute(notice, None, path);
                    let foreseen = path.and_then(|path| self.foresee(notice, path, Want::Make, Last::Itself));
                    self.conclude(notice, nr, name, foreseen.into_iter().collect())
                }
                Some(Address::Abstract(socket)) => {
                    if self.bound.len() < MOST_NAMES {
                        self.bound.insert(socket);
                    }
                    self.proceed(notice)
                }
                Some(Address::Internet(_)) | None => self.proceed(notice),
            },
            None => seccomp::refuse(self.fd.as_fd(), notice.id, libc::EPERM),
        }
    }

    /// Asks the sandbox. `None`: nothing of ours stands in the way, or it cannot be known.
    fn foresee(&mut self, notice: &Notice, path: PathBuf, want: Want, last: Last) -> Option<Foreseen> {
        if want == Want::Execute {
            self.people.forget(notice.pid);
        }
        let mut key = vec![want.letter(), u8::from(last == Last::Follow)];
        key.extend(path.as_os_str().as_bytes());
        if self.passed.contains(&key) {
            return None;
        }
        let inside = self.inside(notice)?;
        match inside.judge(&path, want, last) {
            Judgement::Passes { lasting } => {
                if lasting {
                    self.passed.insert(key);
                }
                None
            }
            Judgement::Refused { path, because, lasting } => Some(Foreseen {
                path,
                because,
                want,
                key: lasting.then_some(key),
            }),
        }
    }

    /// Lets the call go on, then notes what the caller could have done without the sandbox.
    fn conclude(&mut self, notice: &Notice, nr: u32, name: &str, foreseen: Vec<Foreseen>) -> io::Result<()> {
        if foreseen.is_empty() {
            return self.proceed(notice);
        }
        let person = self.people.who(notice.pid);
        let meant = seccomp::is_waiting(self.fd.as_fd(), notice.id);
        self.proceed(notice)?;
        if !meant {
            return Ok(());
        }
        for Foreseen {
            path,
            because,
            want,
            key,
        } in foreseen
        {
            // Some of what is in the way is there because of us; of the rest, only what the caller could have done.
            let ours = because == Because::Pinned
                || self.is_placeholder(&path)
                || self.host.get_or_insert_with(Host::new).could(&path, want);
            let kind = kind(want, because);
            if ours && !is_noise(kind, &path) {
                self.note(kind, Subject::Path(path), because, (nr, name), person.clone());
            } else if let Some(key) = key {
                self.passed.insert(key);
            }
        }
        Ok(())
    }

    fn is_placeholder(&self, path: &Path) -> bool {
        let ours = |p: &crate::plan::Placeholder| {
            path.parent() == Some(p.dir.as_path()) && path.file_name() == Some(p.name.as_os_str())
        };
        self.plan.placeholders.iter().any(ours)
    }

    fn connect_abstract(&mut self, notice: &Notice, nr: u32, name: &str, socket: Vec<u8>) -> io::Result<()> {
        if self.bound.contains(&socket) {
            return self.proceed(notice);
        }
        let person = self.people.who(notice.pid);
        self.proceed(notice)?;
        if self.host.get_or_insert_with(Host::new).has_abstract(&socket) {
            let subject = Subject::Abstract(socket);
            self.note(DeniedKind::Unix, subject, Because::Unreachable, (nr, name), person);
        }
        Ok(())
    }

    /// Perhaps to a door, which may refuse it without knowing who asks.
    fn connect_to_door(&mut self, notice: &Notice) -> io::Result<()> {
        if self.plan.doors.list.is_empty() {
            return self.proceed(notice);
        }
        let person = self.people.who(notice.pid);
        let [number, ..] = notice.args;
        let borrowed = clients::borrow(&person, number);
        let meant = seccomp::is_waiting(self.fd.as_fd(), notice.id);
        self.proceed(notice)?;
        if let Some(borrowed) = borrowed.filter(|_| meant) {
            self.clients.note(borrowed, &person);
        }
        Ok(())
    }

    /// A limit of the policy, by its key.
    fn note_limit(&mut self, key: &str, call: (u32, &str), person: Person) {
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
        };
        self.book.add(entry, &details);
    }

    fn note(&mut self, kind: DeniedKind, subject: Subject, because: Because, call: (u32, &str), person: Person) {
        let entry = Entry {
            kind,
            subject,
            program: person.program,
            nr: call.0,
        };
        let details = Details {
            because,
            why: "",
            syscall: call.1,
            pid: person.pid,
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
        };
        self.book.add(entry, &details);
    }

    /// The sandbox, as the caller sees it: held open from the first caller on.
    fn inside(&mut self, notice: &Notice) -> Option<&Inside<'a>> {
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

fn kind(want: Want, because: Because) -> DeniedKind {
    match want {
        Want::Connect => DeniedKind::Unix,
        Want::Write | Want::WriteOrMake | Want::Make | Want::MakeDir | Want::Replace | Want::Remove | Want::Change => {
            DeniedKind::Write
        }
        Want::Read | Want::ReadOrMake | Want::Look | Want::Execute if because == Because::Absent => DeniedKind::Hidden,
        Want::Read | Want::ReadOrMake | Want::Look => DeniedKind::Read,
        Want::Execute => DeniedKind::Execute,
    }
}
