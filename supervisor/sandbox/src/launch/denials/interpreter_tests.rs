//! What a script and a program need.

use std::fs;
use std::os::fd::AsFd;

use super::*;

fn of(text: &[u8]) -> Option<Needed> {
    let path = std::env::temp_dir().join(format!("glee-needed-{}-{}", std::process::id(), text.len()));
    fs::write(&path, text).expect("write a file");
    let needed = needed(File::open(&path).expect("open a file").as_fd());
    fs::remove_file(&path).expect("remove a file");
    needed
}

#[test]
fn a_script_names_its_program_as_the_kernel_reads_it() {
    let program = |path: &str| Some(Needed::Program(path.into()));
    assert_eq!(of(b"#!/bin/sh\nexit\n"), program("/bin/sh"));
    assert_eq!(of(b"#! \t/usr/bin/env -S python3\n"), program("/usr/bin/env"));
    assert_eq!(of(b"#!/no/newline"), program("/no/newline"));
    for nothing in [
        &b"#!\n"[..],
        b"#!   \n/bin/sh",
        b"#!sh\n",
        b"# !/bin/sh\n",
        b"text",
        b"",
    ] {
        assert_eq!(of(nothing), None, "{nothing:?}");
    }
    let long = [&b"#!/"[..], &[b'x'; 300], b"\n"].concat();
    assert_eq!(of(&long), None);
    let argument = [&b"#!/bin/sh "[..], &[b'x'; 301]].concat();
    assert_eq!(of(&argument), program("/bin/sh"));
}

#[test]
fn a_program_names_its_loader_and_nonsense_names_nothing() {
    let mut elf = b"\x7fELF\x02\x01".to_vec();
    elf.resize(HEADER, 0);
    elf[32..40].copy_from_slice(&64_u64.to_le_bytes());
    elf[54..58].copy_from_slice(&[56, 0, 1, 0]);
    let mut entry = vec![0; ENTRY];
    entry[..4].copy_from_slice(&PT_INTERP.to_le_bytes());
    entry[8..16].copy_from_slice(&120_u64.to_le_bytes());
    entry[32..40].copy_from_slice(&11_u64.to_le_bytes());
    let whole = [&elf[..], &entry, b"/lib/ld.so\0"].concat();
    assert_eq!(of(&whole), Some(Needed::Loader("/lib/ld.so".into())));
    // Cut off anywhere, or with tables that lead nowhere, it names nothing.
    for length in 0..whole.len() {
        assert_eq!(of(&whole[..length]), None, "{length}");
    }
    let mut far = whole.clone();
    far[32..40].copy_from_slice(&u64::MAX.to_le_bytes());
    let mut many = whole;
    many[56..58].copy_from_slice(&[255, 255]);
    assert_eq!([of(&far), of(&many)], [None, None]);
}
