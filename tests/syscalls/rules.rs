//! Each rule on arguments, with arguments on both of its sides.

use std::collections::{BTreeMap, BTreeSet};

use glee_tests::{Caller, Policy};

use crate::cases::{Case, Expected, case, restricted};
use crate::cases_landlock::landlock;
use crate::list::{Action, list, number_of};
use crate::probe::{Answer, Call, bare, inside, no_difference, report_rows};

pub(crate) fn prove(caller: Caller) {
    judge(caller, Policy::Named("restricted"), &restricted());
}

pub(crate) fn prove_landlock() {
    let policy = "extends: restricted\nisolation: landlock\n".to_owned();
    judge(Caller::User, Policy::Yaml(policy), &landlock());
}

pub(crate) fn prove_network(caller: Caller) {
    let cases = [
        case("socket", "2 2 1", Expected::Allowed),
        case("socket", "10 2 58", Expected::Allowed),
        case("socket", "2 1 0", Expected::Allowed),
        case("socket", "2 3 1", Expected::Refused(libc::EPERM)),
        case("socket", "2 1 262", Expected::Refused(libc::EPERM)),
        case("socket", "17 3 0", Expected::Refused(libc::EAFNOSUPPORT)),
    ];
    judge(
        caller,
        Policy::Yaml("extends: restricted\nnetwork: true\n".to_owned()),
        &cases,
    );
}

fn judge(caller: Caller, policy: Policy, cases: &[Case]) {
    let known: Vec<(&Case, Call)> = cases
        .iter()
        .filter_map(|case| {
            let number = number_of(case.call)?;
            let tag = format!("{}({})", case.call, case.words.join(","));
            Some((
                case,
                Call {
                    tag,
                    how: case.how,
                    number,
                    arguments: case.arguments(),
                },
            ))
        })
        .collect();
    let calls: Vec<Call> = known.iter().map(|(_, call)| call.clone()).collect();
    let tags: BTreeSet<&str> = calls.iter().map(|call| call.tag.as_str()).collect();
    assert_eq!(tags.len(), calls.len(), "a case is there twice");
    let without = bare(&calls);
    let within = inside(&calls, caller, policy);
    let mut rows = Vec::new();
    let mut expected_report: BTreeMap<String, u64> = BTreeMap::new();
    for (case, call) in &known {
        let (Some(seen), Some(bare)) = (within.answers.get(&call.tag), without.get(&call.tag)) else {
            continue;
        };
        let expected = match case.expected {
            Expected::Allowed => *bare,
            Expected::Refused(errno) | Expected::Quiet(errno) => Answer::Errno(errno),
        };
        if let Expected::Refused(_) = case.expected {
            *expected_report.entry(case.call.to_owned()).or_default() += 1;
        }
        if *seen != expected {
            let said = format!("{:?}: {expected}", case.expected);
            rows.push([call.tag.clone(), said, seen.to_string(), bare.to_string()]);
        }
    }
    rows.extend(report_rows(&within.reported, &expected_report));
    no_difference(&format!("as {}", caller.name()), &rows);
    let refused: u64 = expected_report.values().sum();
    println!(
        "as {}: {} cases, {refused} refused and reported",
        caller.name(),
        known.len()
    );
}

/// A new rule, or a new call under an old one, must come with its cases.
pub(crate) fn prove_complete() {
    let cases = [restricted(), landlock()].concat();
    let mut lacking = Vec::new();
    for entry in list().values() {
        let Action::Rule(rule) = entry.action else { continue };
        let mut of_call = cases.iter().filter(|case| case.call == entry.name);
        let refused = of_call.clone().any(|case| case.expected != Expected::Allowed);
        let allowed = of_call.any(|case| case.expected == Expected::Allowed);
        // Nothing in a policy allows a call of this rule yet.
        if !refused || (!allowed && rule != "debug") {
            lacking.push(format!(
                "{} (rule:{rule}): refused {refused}, allowed {allowed}",
                entry.name
            ));
        }
    }
    assert_eq!(lacking, Vec::<String>::new());
}
