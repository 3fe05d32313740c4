//! What is left of connections to resolvers.

use super::*;
use crate::launch::denials::row::{Because, DeniedKind};

const RESOLVER: &str = "127.0.0.53:53";

fn row(to: &str, program: &str, count: u64) -> Denied {
    Denied {
        kind: DeniedKind::Network,
        syscall: "connect".to_owned(),
        subject: Subject::Address(to.parse().expect("an address")),
        because: Because::Unreachable,
        why: String::new(),
        pid: 2,
        program: program.to_owned(),
        count,
    }
}

fn person(program: &str, outside: u32) -> Person {
    Person {
        program: program.to_owned(),
        pid: 2,
        outside,
    }
}

#[test]
fn a_name_takes_back_its_own_connection_and_no_other() {
    let mut lookups = Lookups::default();
    let resolver = RESOLVER.parse().expect("an address");
    let (asks, silent) = (person("a", 10), person("b", 11));
    lookups.connect(&asks, 3, resolver);
    lookups.ask(&asks, 3);
    // Asked again on the same socket: still one connection.
    lookups.ask(&asks, 3);
    lookups.connect(&asks, 4, resolver);
    lookups.connect(&silent, 3, resolver);
    lookups.ask(&asks, 9);
    let mut rows = vec![
        row(RESOLVER, "a", 2),
        row(RESOLVER, "b", 1),
        row("192.0.2.53:53", "a", 1),
    ];
    lookups.settle(&mut rows);
    let left = [
        row(RESOLVER, "a", 1),
        row(RESOLVER, "b", 1),
        row("192.0.2.53:53", "a", 1),
    ];
    assert_eq!(rows, left);
}

#[test]
fn a_program_that_named_everything_leaves_no_row() {
    let mut lookups = Lookups::default();
    let asks = person("a", 10);
    for socket in 0..3 {
        lookups.connect(&asks, socket, RESOLVER.parse().expect("an address"));
        lookups.ask(&asks, socket);
    }
    let mut rows = vec![row(RESOLVER, "a", 3)];
    lookups.settle(&mut rows);
    assert_eq!(rows, []);
}

#[test]
fn what_is_remembered_is_bounded() {
    let mut lookups = Lookups::default();
    let to = RESOLVER.parse().expect("an address");
    for socket in 0..5 * MOST as u64 {
        lookups.connect(&person("a", 10), socket, to);
    }
    assert!(lookups.open.len() <= MOST);
}
