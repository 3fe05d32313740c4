//! Two accounts of the same refusals, made one: what the listener foresaw, and what the kernel recorded.
//!
//! Pure. INVARIANT (once): a refusal that both know of is counted once. The kernel names the directory where a name was to be made
//! or removed, the listener the name in it; and a thread may have another name than its program. So they are compared by
//! call and place, and not by program.

use super::book::MOST;
use super::row::{Denied, DeniedKind, Refusals, Subject};

/// `recorded` adds what `noted` lacks.
pub(super) fn merge(noted: Refusals, recorded: Refusals) -> Refusals {
    let mut left: Vec<u64> = noted.list.iter().map(|row| row.count).collect();
    let mut all = Refusals {
        omitted: noted.omitted + recorded.omitted,
        lost: noted.lost + recorded.lost,
        ..noted
    };
    let known = all.list.len();
    for mut row in recorded.list {
        for (noted, left) in all.list.iter().take(known).zip(&mut left) {
            if is_same(noted, &row) {
                let taken = row.count.min(*left);
                *left -= taken;
                row.count -= taken;
            }
        }
        if row.count > 0 && all.list.len() < MOST {
            all.list.push(row);
        } else {
            all.omitted += row.count;
        }
    }
    all
}

/// Could both be about the same refusals?
fn is_same(noted: &Denied, recorded: &Denied) -> bool {
    let about = match (&noted.subject, &recorded.subject) {
        (Subject::Path(name), Subject::Path(place)) => {
            name == place || (recorded.kind == DeniedKind::Write && name.parent() == Some(place.as_path()))
        }
        (one, other) => one == other,
    };
    about && noted.kind == recorded.kind && noted.syscall == recorded.syscall
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
