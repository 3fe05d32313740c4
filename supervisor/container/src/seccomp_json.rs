//! The system call filter as an OCI profile, from the same list and the same argument rules as the compiled one.
//!
//! Pure. An engine knows fewer tests than we do, and no order among rules. What it cannot say is left open here, for the
//! compiled filter, which our pid 1 installs in every process of the command in addition to this one.
//! INVARIANT (never narrower): whatever the compiled filter allows, this allows.
//! INVARIANT (reported): what the compiled filter asks the supervisor about, this never answers with an error. The kernel takes the
//! strictest answer of all filters, an error is stricter than a question, and the refusal would be in no report. So what is refused
//! is given to a tracer, of which there is none: the call fails all the same where no other filter has a word.

use glee_sandbox::seccomp::{Arch, Fate, FilterSpec, Table};
use serde_json::{Value, json};

/// What pid 1 needs before it installs the other filter: its listener.
const FOR_INIT: [&str; 1] = ["seccomp"];

/// The profile. Calls that are decided by other tests than bits are open here and closed by the filter inside.
#[must_use]
pub fn profile(table: &Table, spec: &FilterSpec) -> Value {
    let (mut allowed, mut refused, mut tested) = (Vec::new(), Vec::new(), Vec::new());
    for (name, fate) in table.fates(spec, Arch::NATIVE) {
        match fate {
            _ if FOR_INIT.contains(&name) => allowed.push(name),
            Fate::Allowed | Fate::ByArguments => allowed.push(name),
            Fate::WithoutBits(bits) => {
                let tests: Vec<Value> = bits.iter().map(|(arg, mask)| without(*arg, *mask)).collect();
                tested.push(json!({ "names": [name], "action": "SCMP_ACT_ALLOW", "args": tests }));
                // What no test allows is refused, not unknown.
                let any = bits.iter().map(|(arg, mask)| with(*arg, *mask));
                tested.extend(
                    any.flatten()
                        .map(|test| json!({ "names": [name], "action": "SCMP_ACT_TRACE", "args": [test] })),
                );
            }
            Fate::Refused => refused.push(name),
            // As everything that is not listed.
            Fate::Unknown => {}
        }
    }
    let architecture = match Arch::NATIVE {
        Arch::X86_64 => "SCMP_ARCH_X86_64",
        Arch::Aarch64 => "SCMP_ARCH_AARCH64",
    };
    let mut syscalls = vec![
        json!({ "names": allowed, "action": "SCMP_ACT_ALLOW", "args": [] }),
        json!({ "names": refused, "action": "SCMP_ACT_TRACE", "args": [] }),
    ];
    syscalls.extend(tested);
    json!({
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": libc::ENOSYS,
        "architectures": [architecture],
        "syscalls": syscalls,
    })
}

/// None of the bits.
fn without(arg: u8, mask: u32) -> Value {
    json!({ "index": arg, "value": mask, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ" })
}

/// Each of the bits by itself.
fn with(arg: u8, mask: u32) -> impl Iterator<Item = Value> {
    (0..32)
        .map(|bit| 1u32 << bit)
        .filter(move |bit| mask & bit != 0)
        .map(move |bit| json!({ "index": arg, "value": bit, "valueTwo": bit, "op": "SCMP_CMP_MASKED_EQ" }))
}

#[cfg(test)]
#[path = "seccomp_json_tests.rs"]
#[allow(clippy::expect_used, clippy::indexing_slicing, reason = "a test fails by panicking")]
mod tests;
