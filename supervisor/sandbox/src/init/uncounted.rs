//! Kernel memory that a command makes and that neither a control group nor a look at its processes counts: unread answers of netlink,
//! connections that nobody has accepted, what stays with a datagram socket, locks on files.
//!
//! INVARIANT: what is counted is the sandbox's own: sockets of our network namespace; locks of our processes, and of those that no
//! process owns (`F_OFD_SETLK`) the ones on files of the private space. What is left is in docs/threat-model.md.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::time::{Duration, Instant};

use super::Walls;
use crate::cgroup;
use crate::plan::{Containment, Namespace, SandboxPlan};

/// How often to look while there is next to nothing, and while there is something.
const SELDOM: Duration = Duration::from_millis(200);
const OFTEN: Duration = Duration::from_millis(20);

/// Pauses are as many times as long as looks, up to a second, or up to this after a look at what was others': the kernel's lists can be long.
const REST: u32 = 20;
const LONG: Duration = Duration::from_secs(2);

/// What a socket takes by itself, and what can wait in one that nobody has accepted.
const SOCKET: u64 = 2 << 10;
const MOST_QUEUED: u64 = 512 << 10;

/// What stays with a socket that is in no table, or that has no buffers of its own to be counted: options, filters, and a datagram that
/// was begun (`MSG_MORE`).
const UNSEEN: u64 = 192 << 10;

/// Looks at numbers that change while one adds them up, and how far apart. A closed socket is among those in use until the kernel has
/// freed it, which takes tens of milliseconds on a busy machine, but at once gone from its protocol's own number.
const COUNTS: u32 = 10;
const APART: Duration = Duration::from_millis(20);

/// What a lock takes, and the number for which no program has a use.
const LOCK: u64 = 200;
const TOO_MANY_LOCKS: u64 = 256 << 10;

/// The shortest line of `/proc/locks`, about.
const LINE: u64 = 44;

/// States of `/proc/net/tcp` in which a connection has little: SYN-RECEIVED, FIN-WAIT-2, TIME-WAIT, LISTEN, and the first again. Servers
/// under load leave thousands.
const SMALL: [&str; 5] = ["03", "05", "06", "0A", "0C"];

/// What the command may hold, and when to look again.
#[derive(Debug)]
pub(super) struct Uncounted {
    bound: u64,
    network: Option<Network>,
    locks: Option<Locks>,
    next: Instant,
}

impl Uncounted {
    /// `None` where nothing is to be bounded, or what is there is not known to be ours: without namespaces, or in an engine's.
    /// We have our own root by then.
    pub(super) fn watch(plan: &SandboxPlan, walls: Walls, namespaces: &[Namespace]) -> Option<Self> {
        let memory = plan.memory_bytes?;
        if plan.containment != Containment::Namespaces || walls != Walls::Ours {
            return None;
        }
        let has_own = namespaces.contains(&Namespace::Net);
        Some(Self {
            bound: cgroup::besides(memory),
            network: has_own.then_some(Network),
            locks: Locks::open(),
            next: Instant::now() + SELDOM,
        })
    }

    pub(super) fn pause(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    /// Does the command hold more than it may, if it is time to look?
    pub(super) fn exceeds(&mut self) -> bool {
        let begun = Instant::now();
        if begun < self.next {
            return false;
        }
        let sockets = self.network.as_ref().map_or(0, |network| network.held(self.bound));
        let unseen = self.network.as_ref().map_or(0, |network| network.unseen(self.bound));
        let exceed = sockets > self.bound
            || unseen > self.bound
            || self.locks.as_mut().is_some_and(|locks| locks.exceed(self.bound));
        let pause = if sockets > self.bound / 16 { OFTEN } else { SELDOM };
        let rest = begun.elapsed().saturating_mul(REST).min(Duration::from_secs(1));
        self.next = Instant::now() + pause.max(rest);
        exceed
    }
}

/// The tables of our network namespace, found anew each time: `/proc/net` is that of whoever asks.
#[derive(Debug)]
struct Network;

impl Network {
    fn held(&self, bound: u64) -> u64 {
        let netlink = sum("/proc/net/netlink", netlink, bound);
        let open: u64 = ["/proc/net/sockstat", "/proc/net/sockstat6"]
            .iter()
            .filter_map(|table| in_use(&fs::read_to_string(table).ok()?))
            .fold(0, u64::saturating_add);
        if open.saturating_mul(MOST_QUEUED) <= bound {
            return netlink;
        }
        ["/proc/net/tcp", "/proc/net/tcp6"]
            .iter()
            .map(|table| sum(table, unaccepted, bound))
            .fold(netlink, u64::saturating_add)
    }
}

impl Network {
    /// What may be held where no table tells it: by UDP sockets, and by those that are bound to nothing.
    fn unseen(&self, bound: u64) -> u64 {
        let most = |number: u64| number.saturating_mul(UNSEEN);
        let used = || Some(most(used(&fs::read_to_string("/proc/net/sockstat").ok()?)?));
        let Some(all) = used().filter(|all| *all > bound) else {
            return 0;
        };
        let others = || fs::read_to_string("/proc/net/protocols").map_or(0, |table| elsewhere(&table));
        let mut least = all;
        for _ in 0..COUNTS {
            // Sockets that are made or closed while both numbers are read are not among the unseen: so one of them is read twice.
            let (before, others) = (used().unwrap_or(0), most(others()));
            least = least.min(used().unwrap_or(0).min(before).saturating_sub(others));
            if least <= bound {
                break;
            }
            std::thread::sleep(APART);
        }
        least
    }
}

/// The number of all sockets, by `/proc/net/sockstat`.
fn used(table: &str) -> Option<u64> {
    let line = table.lines().find_map(|line| line.strip_prefix("sockets: used "))?;
    line.trim().parse().ok()
}

/// Of `/proc/net/protocols`, the number of sockets whose memory is counted, by a control group or by the other tables.
fn elsewhere(table: &str) -> u64 {
    let in_use = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let name = fields.next()?;
        let counted = name.starts_with("TCP") || name.starts_with("UNIX") || name == "NETLINK";
        fields.nth(1)?.parse::<u64>().ok().filter(|_| counted)
    };
    table.lines().filter_map(in_use).fold(0, u64::saturating_add)
}

/// The sum over the lines of a table, as far as it matters: past `enough` nobody reads on.
fn sum(table: &str, of_line: fn(&str) -> Option<u64>, enough: u64) -> u64 {
    let Ok(file) = File::open(table) else { return 0 };
    let mut sum: u64 = 0;
    for line in BufReader::new(file).lines().map_while(Result::ok) {
        sum = sum.saturating_add(of_line(&line).unwrap_or(0));
        if sum > enough {
            break;
        }
    }
    sum
}

/// A line of `/proc/net/netlink`: what waits to be read, by the memory it takes. The kernel's own sockets have no number.
fn netlink(line: &str) -> Option<u64> {
    let mut fields = line.split_ascii_whitespace().skip(2);
    let number: u32 = fields.next()?.parse().ok()?;
    let unread: u64 = fields.nth(1)?.parse().ok()?;
    Some(if number == 0 {
        unread
    } else {
        unread.saturating_add(SOCKET)
    })
}

/// The number of TCP sockets, by `/proc/net/sockstat` or its sibling.
fn in_use(table: &str) -> Option<u64> {
    let line = table
        .lines()
        .find(|line| line.starts_with("TCP: ") || line.starts_with("TCP6: "))?;
    line.split(' ').nth(2)?.parse().ok()
}

/// A line of `/proc/net/tcp`: what a connection holds that no process has. The others' is counted with their process.
fn unaccepted(line: &str) -> Option<u64> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let [_, _, _, state, queues, _, _, _, _, inode, ..] = fields.as_slice() else {
        return None;
    };
    if *inode != "0" || SMALL.contains(state) {
        return None;
    }
    let (sent, received) = queues.split_once(':')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    Some(SOCKET.saturating_add(number(sent)?).saturating_add(number(received)?))
}

/// The kernel's list of locks, as our pid namespace sees it.
#[derive(Debug)]
struct Locks {
    list: File,
    /// How files of the private space begin there.
    private: String,
    /// Until then nobody asks whose they are.
    rest: Instant,
}

impl Locks {
    fn open() -> Option<Self> {
        let device = fs::metadata("/").ok()?.dev();
        Some(Self {
            list: File::open("/proc/locks").ok()?,
            private: format!("{:02x}:{:02x}:", libc::major(device), libc::minor(device)),
            rest: Instant::now(),
        })
    }

    /// More than `bound` allows, and more than any program has a use for?
    fn exceed(&mut self, bound: u64) -> bool {
        let most = (bound / LOCK).saturating_add(1).min(TOO_MANY_LOCKS);
        // One byte from far behind: the kernel goes through the list once. Read from its beginning, it starts anew for every page.
        if self.list.read_at(&mut [0], most.saturating_mul(LINE)).unwrap_or(0) == 0 {
            return false;
        }
        let begun = Instant::now();
        if begun < self.rest {
            return false;
        }
        let Ok(list) = File::open("/proc/locks") else {
            return false;
        };
        let whole = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        // Among as many of others: the list of a whole machine has no end.
        let lines = BufReader::new(list).lines().map_while(Result::ok);
        let ours = lines
            .take(whole(most.saturating_mul(2)))
            .filter(|line| self.is_ours(line));
        // Lines are longer than the shortest: whoever fills the list alone has at least so many by now, and gets no pause to make more.
        let enough = whole(most - most / 4);
        let exceed = ours.take(enough).count() >= enough;
        self.rest = Instant::now() + begun.elapsed().saturating_mul(REST).min(LONG);
        exceed
    }

    /// Processes that are not ours have no number here, and none of their locks is shown but those that nobody owns (-1).
    fn is_ours(&self, line: &str) -> bool {
        let mut fields = line.split_ascii_whitespace().skip(1).filter(|field| *field != "->");
        let owner = fields.nth(3).and_then(|pid| pid.parse::<i32>().ok());
        let file = fields.next();
        owner.is_some_and(|pid| pid > 0) || file.is_some_and(|file| file.starts_with(&self.private))
    }
}

#[cfg(test)]
#[path = "uncounted_tests.rs"]
mod tests;
