//! Calls about paths: what the sandbox will refuse of them, and whether the caller could have done the same without it.
//!
//! INVARIANT (no oracle): the host is looked at after the call has gone on, so nobody inside can time what is there.

use std::ffi::CString;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::arguments;
use super::climbs::Climb;
use super::host::Host;
use super::inside::{Inside, Judgement};
use super::interpreter::{self, LEVELS, Needed};
use super::listen::Listener;
use super::noise::is_noise;
use super::people::Person;
use super::row::{Because, DeniedKind, Subject};
use super::thing::{Deed, Thing};
use super::tree::{has_dots, without_dots};
use super::want::{self, Ending, Look, Want};
use crate::seccomp::{Act, Place};
use crate::sys::look::Last;
use crate::sys::seccomp::{self, Notice};

/// A refusal foreseen, to be compared with what the caller could do outside.
#[derive(Debug)]
pub(super) struct Foreseen {
    path: PathBuf,
    because: Because,
    want: Want,
    last: Last,
    ending: Ending,
    /// The name of the attribute that was to be read, set or removed.
    attribute: Option<CString>,
    /// The key under which to remember that it is no refusal of ours.
    key: Option<Vec<u8>>,
    /// As it was asked for, if it leads through a name that is not there and out of it again.
    asked: Option<PathBuf>,
}

/// What is wanted of one path.
struct Asked {
    path: PathBuf,
    want: Want,
    last: Last,
}

/// A program that nothing keeps from being started, as far as it itself goes.
#[derive(Debug)]
pub(super) struct Started {
    path: PathBuf,
    /// The key under which to remember that it needs no second look.
    key: Option<Vec<u8>>,
}

/// Two names that one call is about.
pub(super) struct Pair {
    deed: Deed,
    from: Side,
    to: Side,
}

/// What lies at a name is asked where the call would find it.
enum Side {
    /// Inside nothing stands in the way.
    Inside(PathBuf, Option<Thing>),
    Outside(PathBuf),
}

impl Pair {
    fn is_possible(&self, host: &Host) -> bool {
        let [from, to] = [&self.from, &self.to].map(|side| match side {
            Side::Inside(path, thing) => (path.as_path(), *thing),
            Side::Outside(path) => (path.as_path(), host.thing(path)),
        });
        self.deed.is_possible(from, to)
    }
}

impl Listener<'_> {
    /// A call that opens, makes, changes, moves or removes.
    pub(super) fn attempt(
        &mut self,
        notice: &Notice,
        (nr, name): (u32, &str),
        act: Act,
        places: [Option<Place>; 2],
    ) -> io::Result<()> {
        if matches!(act, Act::Open { .. } | Act::Create) && self.files.are_full(notice.pid) {
            let person = self.people.who(notice.pid);
            self.note_limit("open_files", (nr, name), person);
        }
        let [first, second] = want::of(act, &notice.args);
        let [place, other] = places;
        let asked = |want: Option<(Want, Last)>, place: Option<Place>| {
            let ((want, last), place) = (want?, place?);
            let path = arguments::path(notice, place)?;
            Some(Asked { path, want, last })
        };
        let (first, second) = (asked(first, place), asked(second, other));
        let mut foresee = |asked: &Option<Asked>| {
            let asked = asked.as_ref()?;
            self.foresee(notice, asked.path.clone(), asked.want, asked.last)
        };
        let mut foreseen = [foresee(&first), foresee(&second)];
        if let ([Some(foreseen), _], Some(name)) = (&mut foreseen, want::attribute(act)) {
            foreseen.attribute = arguments::name(notice, name);
            foreseen.key = None;
        }
        // What is moved onto itself stays, whatever is mounted there.
        if let [Some(from), Some(to)] = &foreseen
            && (from.because, &from.path) == (Because::Pinned, &to.path)
        {
            foreseen = [None, None];
        }
        let pair = match (&first, &second) {
            (Some(from), Some(to)) => self.pair(notice, [from, to], &foreseen),
            (Some(_) | None, _) => None,
        };
        let climb = self.climbs.begun().map(|climb| (climb, self.people.who(notice.pid)));
        let started = self.started.take().map(|started| {
            let person = self.people.who(notice.pid);
            // It most likely becomes another program now.
            self.people.forget(notice.pid);
            (started, person)
        });
        self.conclude(notice, (nr, name), foreseen.into_iter().flatten().collect(), pair)?;
        if let (Some((climb, person)), Some(asked)) = (climb, first) {
            self.hold(climb, &asked.path, (nr, name), person);
        }
        if let Some((started, person)) = started {
            self.start(started, (nr, name), person);
        }
        Ok(())
    }

    /// Of a call about two names of which one is refused: what it takes of both. Looked up before the call goes on.
    fn pair(&mut self, notice: &Notice, asked: [&Asked; 2], foreseen: &[Option<Foreseen>; 2]) -> Option<Pair> {
        if foreseen.iter().all(Option::is_none) {
            return None;
        }
        let [from, to] = asked;
        let bare = asked.iter().all(|asked| Ending::of(&asked.path) == Ending::Name);
        let deed = if let Want::Replace(over) = to.want {
            if bare { Deed::Move(over) } else { Deed::MoveDir(over) }
        } else if bare {
            Deed::Link
        } else {
            Deed::LinkDir
        };
        let inside = self.inside(notice);
        let side = |asked: &Asked, foreseen: &Option<Foreseen>| match foreseen {
            Some(foreseen) => Side::Outside(foreseen.path.clone()),
            None => {
                let thing = inside.and_then(|inside| inside.thing(&asked.path));
                Side::Inside(without_dots(&asked.path), thing)
            }
        };
        let [first, second] = foreseen;
        Some(Pair {
            deed,
            from: side(from, first),
            to: side(to, second),
        })
    }

    /// Asks the sandbox. `None`: nothing of ours stands in the way, or it cannot be known.
    pub(super) fn foresee(&mut self, notice: &Notice, path: PathBuf, want: Want, last: Last) -> Option<Foreseen> {
        if want == Want::Execute {
            self.people.forget(notice.pid);
        }
        let ending = Ending::of(&path);
        if !want.is_possible(ending) {
            return None;
        }
        let mut key = vec![want.letter(), u8::from(last == Last::Follow)];
        key.extend(path.as_os_str().as_bytes());
        if self.passed.contains(&key) {
            return None;
        }
        let inside = self.inside(notice)?;
        match inside.judge(&path, want, last) {
            Judgement::Climbs { path, above } => {
                self.climbs.begin(path, above);
                None
            }
            Judgement::Passes { lasting } => {
                if want == Want::MakeDir {
                    self.climbs.made(&path);
                }
                let key = lasting.then_some(key);
                if want == Want::Execute {
                    self.started = Some(Started { path, key });
                } else if let Some(key) = key {
                    self.passed.insert(key);
                }
                None
            }
            Judgement::Refused {
                path: found,
                because,
                lasting,
            } => Some(Foreseen {
                asked: (because == Because::Absent && has_dots(&path)).then_some(path),
                path: found,
                because,
                want,
                last,
                ending,
                attribute: None,
                key: (lasting && want.is_all()).then_some(key),
            }),
        }
    }

    /// A directory that could not be made for want of those above it, and could have been without the sandbox.
    fn hold(&mut self, mut climb: Climb, asked: &Path, call: (u32, &str), person: Person) {
        let host = self.host();
        if has_dots(asked) {
            let Some(path) = host.led(asked) else {
                return;
            };
            climb.path = path;
        }
        if host.could(&climb.path, Want::MakeDir, Last::Itself) {
            let oldest = self.climbs.hold(climb, call, person);
            oldest.into_iter().for_each(|held| self.settle(held));
        }
    }

    /// The call that starts it has gone on: is what it needs besides itself there, too? A script without its interpreter is
    /// refused like one that is not there.
    fn start(&mut self, started: Started, call: (u32, &str), person: Person) {
        let Started { mut path, mut key } = started;
        for _ in 0..LEVELS {
            let Some((program, real)) = self.inside.as_ref().and_then(|inside| inside.program(&path)) else {
                return;
            };
            let needed = if self.host().is_elsewhere(&real) {
                None
            } else {
                interpreter::needed(program.as_fd())
            };
            let (Some(needed), Some(inside)) = (needed, &self.inside) else {
                break;
            };
            match inside.judge(needed.path(), Want::Execute, Last::Follow) {
                Judgement::Passes { lasting } => key = key.filter(|_| lasting),
                Judgement::Refused { path, because, .. } => {
                    let kind = kind(Want::Execute, because);
                    if self.host().could(&path, Want::Execute, Last::Follow) {
                        self.note(kind, Subject::Path(path), because, call, person);
                    }
                    return;
                }
                Judgement::Climbs { .. } => return,
            }
            match needed {
                Needed::Program(next) => path = next,
                Needed::Loader(_) => break,
            }
        }
        if let Some(key) = key {
            self.passed.insert(key);
        }
    }

    /// Lets the call go on, then notes what the caller could have done without the sandbox.
    pub(super) fn conclude(
        &mut self,
        notice: &Notice,
        (nr, name): (u32, &str),
        mut foreseen: Vec<Foreseen>,
        pair: Option<Pair>,
    ) -> io::Result<()> {
        if foreseen.is_empty() {
            return self.proceed(notice);
        }
        let person = self.people.who(notice.pid);
        let meant = seccomp::is_waiting(self.fd.as_fd(), notice.id);
        self.proceed(notice)?;
        if !meant {
            return Ok(());
        }
        let (host, inside) = self.both();
        for foreseen in &mut foreseen {
            foreseen.spell_out(host, inside);
            foreseen.want = host.meant(&foreseen.path, foreseen.want, foreseen.last);
        }
        // What fails by the other name says nothing about this one.
        let alone = pair.is_none();
        // Only what would have succeeded whole.
        let ours = foreseen.iter().all(|foreseen| foreseen.was_possible(host))
            && pair.is_none_or(|pair| pair.is_possible(host));
        for foreseen in foreseen {
            let kind = kind(foreseen.want, foreseen.because);
            if ours && !is_noise(kind, &foreseen.path) {
                let subject = Subject::Path(foreseen.path);
                self.note(kind, subject, foreseen.because, (nr, name), person.clone());
            } else if let Some(key) = foreseen.key.filter(|_| alone) {
                self.passed.insert_for_now(key);
            }
        }
        Ok(())
    }
}

impl Foreseen {
    /// Names it as it would have been found without the sandbox. What is found nowhere keeps `asked`.
    fn spell_out(&mut self, host: &Host, inside: Option<&Inside>) {
        let Some(asked) = &self.asked else {
            return;
        };
        let passes = |path: &Path| {
            inside.is_some_and(|inside| matches!(inside.judge(path, self.want, self.last), Judgement::Passes { .. }))
        };
        match host.led(asked) {
            // It can be reached, but not by this way: what is wanting is the directory that the way leads through.
            Some(path) if passes(&path) && host.could(&path, self.want, self.last) && host.is_dir(&self.path) => {
                (self.want, self.last) = (Want::Enter, Last::Follow);
            }
            // A link there may lead on to what is hidden.
            Some(path) => match inside.map(|inside| inside.judge(&path, self.want, self.last)) {
                Some(Judgement::Refused { path, because, .. }) => (self.path, self.because) = (path, because),
                Some(Judgement::Passes { .. } | Judgement::Climbs { .. }) | None => self.path = path,
            },
            None => return,
        }
        self.asked = None;
    }

    fn was_possible(&self, host: &Host) -> bool {
        let is_dir = || self.ending == Ending::Name || self.want.is_about_the_name() || host.is_dir(&self.path);
        let named = || match (self.want, &self.attribute) {
            (Want::Change(part), Some(name)) => host.could_attribute(&self.path, part, name, self.last),
            (Want::Look(_), Some(name)) => host.has_attribute(&self.path, name, self.last),
            (_, Some(_) | None) => true,
        };
        self.asked.is_none() && host.could(&self.path, self.want, self.last) && is_dir() && named()
    }
}

fn kind(want: Want, because: Because) -> DeniedKind {
    match want {
        Want::Connect => DeniedKind::Unix,
        Want::Write
        | Want::WriteOrMake
        | Want::MakeIn
        | Want::Make
        | Want::MakeDir
        | Want::Replace(_)
        | Want::Remove(_)
        | Want::Change(_) => DeniedKind::Write,
        Want::Read | Want::ReadOrMake | Want::List | Want::Enter | Want::Look(_) | Want::Execute
            if because == Because::Absent =>
        {
            DeniedKind::Hidden
        }
        Want::Look(_) if because == Because::ReadOnly => DeniedKind::Write,
        Want::Look(Look::May(mode)) if because == Because::NotGranted && i32::from(mode) & libc::X_OK != 0 => {
            DeniedKind::Execute
        }
        Want::Read | Want::ReadOrMake | Want::List | Want::Enter | Want::Look(_) => DeniedKind::Read,
        Want::Execute => DeniedKind::Execute,
    }
}
