//! From records of the whole machine to the refusals of one sandbox.
//!
//! Landlock names the domain that refused, and says once for each domain which process made it. Ours was made under a name that
//! nobody else knows, so a domain is ours if its maker bore it; records of all other domains are passed over.
//! INVARIANT (bounded): at most `MOST_OPEN` events wait for their end, whatever the machine does.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::parse::{self, Event, Record};
use crate::launch::denials::book::{Book, Details, Entry};
use crate::launch::denials::noise::is_noise;
use crate::launch::denials::people::People;
use crate::launch::denials::row::{Because, DeniedKind, Refusals, Subject};
use crate::seccomp::{Arch, Table};
use crate::sys::process::Pid;

const MOST_OPEN: usize = 1024;
/// Of one refusal: the access, the call, its command line and the end.
const RECORDS: u64 = 4;
/// Refusals of one call: it names few paths.
const MOST_OF_A_CALL: usize = 8;

pub(super) struct Collector<'a> {
    table: &'a Table,
    /// The name under which our domain was made.
    maker: Vec<u8>,
    domain: Option<String>,
    /// The sandbox's first process, whose pid namespace is the sandbox's.
    init: Option<Pid>,
    open: BTreeMap<Event, Open>,
    people: People,
    book: Book,
    recorded: u64,
    /// How many the kernel counted, once the domain is gone.
    counted: Option<u64>,
    /// Some records had no room.
    gap: bool,
}

/// An event whose end has not come.
#[derive(Debug, Default)]
struct Open {
    refused: Vec<Refused>,
    call: Option<Caller>,
}

#[derive(Debug)]
struct Refused {
    domain: String,
    kind: DeniedKind,
    subject: Subject,
    why: &'static str,
}

#[derive(Debug)]
struct Caller {
    nr: u32,
    pid: u32,
    program: String,
}

impl<'a> Collector<'a> {
    pub(super) fn new(table: &'a Table, maker: Vec<u8>) -> Self {
        Self {
            table,
            maker,
            domain: None,
            init: None,
            open: BTreeMap::new(),
            people: People::default(),
            book: Book::default(),
            recorded: 0,
            counted: None,
            gap: false,
        }
    }

    pub(super) fn inside(&mut self, init: Pid) {
        self.init = Some(init);
    }

    pub(super) fn take(&mut self, kind: u16, bytes: &[u8]) {
        let Some(record) = Record::parse(bytes) else {
            return;
        };
        match kind {
            parse::ACCESS => self.access(&record),
            parse::DOMAIN => self.domain(&record),
            parse::SYSCALL => {
                if let Some(open) = self.open.get_mut(&record.event) {
                    open.call = caller(&record);
                }
            }
            parse::END => self.close(record.event),
            _ => {}
        }
    }

    /// Some records were lost on the way to us. How many were ours the kernel's own count tells, if that came.
    pub(super) fn missed(&mut self) {
        self.gap = true;
    }

    /// Has the kernel said its last word about our domain, or has it none to say?
    pub(super) fn is_complete(&self) -> bool {
        self.counted.is_some() || self.domain.is_none()
    }

    /// `dropped`: records of the whole machine that the kernel lost meanwhile.
    pub(super) fn into_refusals(mut self, dropped: u64) -> Refusals {
        let open: Vec<Event> = self.open.keys().copied().collect();
        open.into_iter().for_each(|event| self.close(event));
        Refusals {
            lost: match self.counted {
                Some(counted) => counted.saturating_sub(self.recorded),
                // Its last word was lost, too. Of the machine's, ours are by far the most.
                None => dropped.div_ceil(RECORDS).max(self.gap.into()),
            },
            ..self.book.into_refusals()
        }
    }

    fn access(&mut self, record: &Record<'_>) {
        let (Some(domain), Some(blockers)) = (record.word("domain"), record.word("blockers")) else {
            return;
        };
        if self.domain.as_deref().is_some_and(|ours| ours != domain) {
            return;
        }
        let path = record
            .chosen("path")
            .map(|path| PathBuf::from(OsString::from_vec(path)));
        let (kind, subject, why) = about(blockers, path);
        if self.open.len() >= MOST_OPEN
            && let Some((oldest, _)) = self.open.first_key_value()
        {
            let oldest = *oldest;
            self.close(oldest);
        }
        let open = self.open.entry(record.event).or_default();
        if open.refused.len() < MOST_OF_A_CALL {
            open.refused.push(Refused {
                domain: domain.to_owned(),
                kind,
                subject,
                why,
            });
        }
    }

    fn domain(&mut self, record: &Record<'_>) {
        match (record.word("status"), record.word("domain")) {
            (Some("allocated"), Some(domain)) if record.chosen("comm").as_deref() == Some(&self.maker) => {
                self.domain = Some(domain.to_owned());
            }
            (Some("deallocated"), Some(domain)) if self.domain.as_deref() == Some(domain) => {
                self.counted = record.number("denials");
            }
            _ => {}
        }
    }

    fn close(&mut self, event: Event) {
        let Some(open) = self.open.remove(&event) else {
            return;
        };
        let call = open.call;
        for refused in open.refused {
            if self.domain.as_deref() != Some(&refused.domain) {
                continue;
            }
            self.recorded += 1;
            let quiet = match &refused.subject {
                Subject::Path(path) => is_noise(refused.kind, path),
                Subject::Call
                | Subject::Abstract(_)
                | Subject::Address(_)
                | Subject::Datagram(_)
                | Subject::Host(_) => false,
            };
            // Under the maker's name are the canaries, before the command.
            if quiet || call.as_ref().is_some_and(|call| call.program.as_bytes() == self.maker) {
                continue;
            }
            let pid = call.as_ref().map_or(0, |call| self.pid_inside(call.pid));
            let nr = call.as_ref().map_or(u32::MAX, |call| call.nr);
            let entry = Entry {
                kind: refused.kind,
                subject: refused.subject,
                program: call.as_ref().map(|call| call.program.clone()).unwrap_or_default(),
                nr,
            };
            let details = Details {
                because: Because::NotGranted,
                why: refused.why,
                syscall: self.table.name_of(nr, Arch::NATIVE).unwrap_or_default(),
                pid,
                count: 1,
            };
            self.book.add(entry, &details);
        }
    }

    /// 0 if it cannot be known: it has ended, and its number may be another's by now.
    fn pid_inside(&mut self, outside: u32) -> u32 {
        let namespace = |pid: &dyn std::fmt::Display| fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
        let ours = self.init.and_then(|init| namespace(&init.0));
        if ours.is_none() || ours != namespace(&outside) {
            return 0;
        }
        self.people.who(outside).pid
    }
}

fn caller(record: &Record<'_>) -> Option<Caller> {
    Some(Caller {
        nr: u32::try_from(record.number("syscall")?).ok()?,
        pid: u32::try_from(record.number("pid")?).ok()?,
        program: String::from_utf8_lossy(&record.chosen("comm")?).into_owned(),
    })
}

/// What the rights that were missing say about an attempt.
fn about(blockers: &str, path: Option<PathBuf>) -> (DeniedKind, Subject, &'static str) {
    let any = |starts: &[&str]| {
        blockers
            .split(',')
            .any(|one| starts.iter().any(|start| one.starts_with(start)))
    };
    let Some(path) = path else {
        let why = if any(&["scope.signal"]) {
            "Landlock keeps signals inside the sandbox"
        } else if any(&["scope.", "net."]) {
            "Landlock keeps connections inside the sandbox"
        } else if any(&["ptrace"]) {
            "Landlock keeps tracing inside the sandbox"
        } else {
            "Landlock refuses it"
        };
        return (DeniedKind::Syscall, Subject::Call, why);
    };
    let writes = [
        "fs.write",
        "fs.trunc",
        "fs.make",
        "fs.remove",
        "fs.refer",
        "fs.ioctl",
        "fs.change",
    ];
    let kind = if any(&["scope.", "fs.resolve_unix"]) {
        DeniedKind::Unix
    } else if any(&writes) {
        DeniedKind::Write
    } else if any(&["fs.execute"]) {
        DeniedKind::Execute
    } else {
        DeniedKind::Read
    };
    (kind, Subject::Path(path), "")
}

#[cfg(test)]
#[path = "collect_tests.rs"]
mod tests;
