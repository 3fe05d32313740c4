//! Worlds are the caller's, apart from each other, and gone afterwards.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::{Caller, Run, World, setid_files};

#[test]
fn a_world_belongs_to_its_caller_and_is_removed_with_its_strays() {
    let w = World::new(Caller::User);
    let inner = w.secret_at("@HOME/.ssh/id_ed25519");
    let stray = w.secret_at("/var/tmp/glee-@ID/deep/secret");
    assert_eq!(fs::metadata(&inner).expect("stat").uid(), Caller::User.uid());
    let (root, top) = (
        w.root().to_path_buf(),
        stray.ancestors().nth(2).expect("parent").to_path_buf(),
    );
    assert!(root.exists() && top.exists());
    drop(w);
    assert!(!root.exists() && !top.exists() && top != std::path::Path::new("/var/tmp"));
}

#[test]
fn templates_fill_longer_words_first() {
    let w = World::new(Caller::Root);
    w.define("AB", "long");
    assert_eq!(w.fill("@AB @UID"), "long 0");
}

#[test]
fn a_bare_script_is_marked_at_both_ends_and_runs_as_the_caller() {
    for caller in [Caller::Root, Caller::User] {
        let w = World::new(caller);
        let outcome = Run::bare(&w).script("id -u").go();
        assert!(outcome.entered() && outcome.left(), "{}", outcome.describe());
        assert!(outcome.says(&format!("\n{}\n", caller.uid())), "{}", outcome.describe());
        let broken = Run::bare(&w).script("exit 3").go();
        assert!(broken.entered() && !broken.left() && broken.code() == Some(3));
    }
}

#[test]
fn setid_files_and_devices_are_found() {
    let w = World::new(Caller::Root);
    assert_eq!(setid_files(w.root()), Vec::<std::path::PathBuf>::new());
    let file = w.file("@PROJECT/deep/tool", "");
    w.mode("@PROJECT/deep/tool", 0o4755);
    assert_eq!(setid_files(w.root()), vec![file]);
}
