//! Numbers beyond the list, and the other ways into the kernel.

use glee_tests::{Caller, Policy};

use crate::probe::{Answer, Call, How, arguments, bare, inside, no_difference};

const X32: u64 = 0x4000_0000;

fn all_answer(caller: Caller, calls: &[Call], expected: impl Fn(Answer) -> Answer) {
    let without = bare(calls);
    let within = inside(calls, caller, Policy::Named("restricted"));
    let rows: Vec<[String; 4]> = calls
        .iter()
        .filter_map(|call| {
            let (seen, bare) = (*within.answers.get(&call.tag)?, *without.get(&call.tag)?);
            let expected = expected(bare);
            (seen != expected).then(|| {
                [
                    call.tag.clone(),
                    expected.to_string(),
                    seen.to_string(),
                    bare.to_string(),
                ]
            })
        })
        .collect();
    no_difference(&format!("as {}", caller.name()), &rows);
    assert_eq!(
        within.reported.len(),
        0,
        "nothing of this is in the report: {:?}",
        within.reported
    );
}

fn call(how: How, number: u64, words: &[&str]) -> Call {
    Call {
        tag: format!("{how:?}:{number:#x}"),
        how,
        number,
        arguments: arguments(words),
    }
}

pub(crate) fn prove_beyond(caller: Caller) {
    let numbers = (601..1100).chain([0xffff, 0x10000, 0x3fff_ffff, 0xffff_ffff]);
    let calls: Vec<Call> = numbers.map(|number| call(How::Call, number, &["-1"; 6])).collect();
    all_answer(caller, &calls, |_| Answer::Errno(libc::ENOSYS));
    // The kernel looks at the low half of the number only, and so must the filter.
    if let Some(getpid) = crate::list::number_of("getpid") {
        all_answer(caller, &[call(How::Call, (1 << 32) | getpid, &[])], |bare| bare);
    }
}

/// Bare, the kernel knows most of them or says ENOSYS; the sandbox ends whoever tries.
pub(crate) fn prove_killed(caller: Caller) {
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    let x32 = [0, 1, 2, 39, 59, 165, 512, 520, 547, 0xffff, 0x3fff_ffff].map(|number| X32 | number);
    let others = [0x8000_0000, 0x8000_0027, 0xc000_0000, 0xffff_fffe, (1 << 32) | X32 | 39];
    let mut calls: Vec<Call> = x32
        .into_iter()
        .chain(others)
        .map(|number| call(How::Call, number, &["-1"; 6]))
        .collect();
    // write, getpid, execve, mount, clone of the 32-bit interface, and a number that it does not have.
    calls.extend([4, 20, 11, 21, 120, 9999].map(|number| call(How::Int80, number, &[])));
    all_answer(caller, &calls, |_| Answer::Signal(libc::SIGSYS));
}
