//! Every number from 0 to 600.

use std::collections::BTreeMap;

use glee_tests::{Caller, Policy};

use crate::arguments::harmless;
use crate::list::{Action, list};
use crate::probe::{Answer, Call, How, arguments, bare, inside, no_difference, report_rows};

const LAST: u64 = 600;

/// Rules that say no to every argument under each policy that can be written.
const NEVER: &[&str] = &["debug"];
/// Rules that stand in for a namespace and then say no to every argument.
const NEVER_WITHOUT_NAMESPACES: &[&str] = &["address", "debug", "ipc", "shmctl", "socket"];

pub(crate) fn prove(caller: Caller) {
    sweep(caller, Policy::Named("restricted"), NEVER);
}

pub(crate) fn prove_landlock() {
    let policy = "extends: restricted\nisolation: landlock\n".to_owned();
    sweep(Caller::User, Policy::Yaml(policy), NEVER_WITHOUT_NAMESPACES);
}

fn sweep(caller: Caller, policy: Policy, never: &[&str]) {
    let list = list();
    let calls: Vec<Call> = (0..=LAST)
        .map(|number| {
            let known = list.get(&number).map(|entry| entry.name);
            let (how, arguments) = known.map_or((How::Call, arguments(&["-1"; 6])), harmless);
            Call {
                tag: format!("{number}:{}", known.unwrap_or("?")),
                how,
                number,
                arguments,
            }
        })
        .collect();
    let without = bare(&calls);
    let within = inside(&calls, caller, policy);
    let mut rows = Vec::new();
    let mut expected_report = BTreeMap::new();
    for call in &calls {
        let (Some(seen), Some(bare)) = (within.answers.get(&call.tag), without.get(&call.tag)) else {
            continue;
        };
        let action = list.get(&call.number).map_or(Action::Enosys, |entry| entry.action);
        let expected = match action {
            Action::Enosys | Action::Absent => Answer::Errno(libc::ENOSYS),
            Action::Deny => Answer::Errno(libc::EPERM),
            Action::Rule("socket") if never.contains(&"socket") => Answer::Errno(libc::EAFNOSUPPORT),
            Action::Rule(rule) if never.contains(&rule) => Answer::Errno(libc::EPERM),
            Action::Allow | Action::Rule(_) => *bare,
        };
        let refused = match action {
            Action::Deny | Action::Absent => true,
            Action::Rule(rule) => never.contains(&rule),
            Action::Allow | Action::Enosys => false,
        };
        if let (true, Some(entry)) = (refused, list.get(&call.number)) {
            expected_report.insert(entry.name.to_owned(), 1);
        }
        if *seen != expected {
            rows.push([
                call.tag.clone(),
                format!("{action:?}: {expected}"),
                seen.to_string(),
                bare.to_string(),
            ]);
        }
    }
    rows.extend(report_rows(&within.reported, &expected_report));
    no_difference(&format!("as {}", caller.name()), &rows);
    let unclear: Vec<&str> = calls
        .iter()
        .filter(|call| without.get(&call.tag) == Some(&Answer::Errno(libc::ENOSYS)))
        .filter(|call| {
            list.get(&call.number)
                .is_some_and(|entry| matches!(entry.action, Action::Allow | Action::Rule(_)))
        })
        .map(|call| call.tag.as_str())
        .collect();
    println!("allowed, but this kernel has no such call, so nothing was seen: {unclear:?}");
    println!(
        "as {}: {} numbers, {} refused and reported",
        caller.name(),
        calls.len(),
        expected_report.len()
    );
}
