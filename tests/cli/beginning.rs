//! Before `main`: nothing is asked of the processor where the C library's start is our own, and a process has its secrets either way.

use std::fs;
use std::process::Command;

use glee_tests::binary;

use crate::programs::compiled;

/// The release that `supervisor/sandbox/src/sys/start.rs` knows.
const KNOWN: &[u8] = b" stable release version 2.36.";

/// As the build asks for it.
fn is_known() -> bool {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let said = Command::new(compiler).arg("-print-file-name=libc.a").output();
    let path = String::from_utf8(said.expect("a compiler, as for every build").stdout).expect("a path");
    fs::read(path.trim()).is_ok_and(|archive| archive.windows(KNOWN.len()).any(|window| window == KNOWN))
}

#[test]
fn a_process_has_its_secrets_and_asks_the_processor_nothing() {
    let out = Command::new(compiled("cli/programs/beginning.c"))
        .arg(binary())
        .arg("--version")
        .output()
        .expect("it was just compiled");
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    let said: Vec<u32> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [asked, stack, pointers] = said[..] else {
        panic!("{said:?} {}", String::from_utf8_lossy(&out.stderr));
    };
    assert_eq!(
        (stack, pointers),
        (1, 1),
        "the guards are not the kernel's random bytes"
    );
    assert_eq!(asked == 0, is_known(), "asked {asked} times");
}
