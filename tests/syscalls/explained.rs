//! What `policy explain --syscall` says of every call in the list, compared with what comes of it inside.

use glee_tests::{Caller, Policy, Run, World, binary};
use serde_json::Value;

use crate::arguments::harmless;
use crate::list::list;
use crate::probe::{Answer, Call, bare, inside, no_difference};

pub(crate) fn prove(caller: Caller) {
    compare(caller, "extends: restricted\n");
    compare(caller, "extends: restricted\nnetwork: true\n");
}

pub(crate) fn prove_landlock() {
    compare(Caller::User, "extends: restricted\nisolation: landlock\n");
}

fn compare(caller: Caller, yaml: &str) {
    let calls: Vec<Call> = list()
        .into_iter()
        .map(|(number, entry)| {
            let (how, arguments) = harmless(entry.name);
            Call {
                tag: entry.name.to_owned(),
                how,
                number,
                arguments,
            }
        })
        .collect();
    let said = said(caller, yaml, &calls);
    assert_eq!(said.len(), calls.len());
    let without = bare(&calls);
    let within = inside(&calls, caller, Policy::Yaml(yaml.to_owned()));
    let mut rows = Vec::new();
    for (call, answer) in calls.iter().zip(&said) {
        let (Some(seen), Some(bare)) = (within.answers.get(&call.tag), without.get(&call.tag)) else {
            continue;
        };
        let allowed = answer.get("allowed").and_then(Value::as_bool) == Some(true);
        let missing = answer
            .get("note")
            .and_then(Value::as_str)
            .is_some_and(|note| note.contains("ENOSYS"));
        let agrees = match (allowed, missing) {
            (true, _) => seen == bare,
            (false, true) => *seen == Answer::Errno(libc::ENOSYS),
            (false, false) => within.reported.contains_key(&call.tag) && matches!(seen, Answer::Errno(_)),
        };
        if !agrees {
            rows.push([call.tag.clone(), answer.to_string(), seen.to_string(), bare.to_string()]);
        }
    }
    println!("as {}: {} calls explained", caller.name(), calls.len());
    no_difference(&format!("as {}, {yaml}", caller.name()), &rows);
}

fn said(caller: Caller, yaml: &str, calls: &[Call]) -> Vec<Value> {
    let world = World::new(caller);
    let policy = world.file("@OUT/policy.yml", yaml).display().to_string();
    let program = binary().display().to_string();
    let fixed = [program.as_str(), "policy", "explain", &policy, "--json"];
    let asked = calls.iter().flat_map(|call| ["--syscall", call.tag.as_str()]);
    let outcome = Run::bare(&world).command(fixed.into_iter().chain(asked)).go();
    serde_json::from_str(&outcome.out()).unwrap_or_else(|e| panic!("{e}: {}", outcome.describe()))
}
