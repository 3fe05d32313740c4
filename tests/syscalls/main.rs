//! Every system call really tried inside: what comes of it is what `sandbox-profiles/syscalls.txt` says.
//!
//! Each call is made by `prober` inside and, as an ordinary user, bare. A refused call returns the promised errno and is in the
//! report; an allowed one returns what it returns bare and is not.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod arguments;
mod cases;
mod cases_landlock;
mod doors;
mod explained;
mod list;
mod probe;
#[path = "../soak/programs.rs"]
mod programs;
mod rules;
mod sweep;

glee_tests::claims! {
    every_number_from_0_to_600_does_what_the_list_says => crate::sweep::prove;
    numbers_beyond_the_list_do_not_exist => crate::doors::prove_beyond;
    x32_and_32_bit_calls_kill => crate::doors::prove_killed;
    each_rule_refuses_and_allows_by_its_arguments => crate::rules::prove;
    what_explain_says_of_each_call_is_what_happens => crate::explained::prove;
    ping_sockets_come_with_the_network_of_the_host => crate::rules::prove_network;
}

/// `isolation: landlock` is refused to root.
mod without_namespaces {
    #[test]
    fn every_number_from_0_to_600_does_what_the_list_says() {
        crate::sweep::prove_landlock();
    }

    #[test]
    fn what_explain_says_of_each_call_is_what_happens() {
        crate::explained::prove_landlock();
    }

    #[test]
    fn each_rule_that_stands_in_for_a_namespace_refuses_and_allows() {
        crate::rules::prove_landlock();
    }
}

#[test]
fn every_rule_of_the_list_has_a_refused_and_an_allowed_case() {
    rules::prove_complete();
}
