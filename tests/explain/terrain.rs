//! A home with a project in it, and a place outside: files, links of every kind, names that are protected.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use glee_tests::World;

use crate::chance::Chance;

const SCRIPT: &str = "#!/bin/sh\nexit 0\n";

/// Fills a world. What is optional is there by chance.
pub(crate) fn fill(world: &World, chance: &mut Chance) {
    let maybe = |chance: &mut Chance| chance.is(1, 2);
    for file in [
        "@PROJECT/readme",
        "@PROJECT/.env",
        "@PROJECT/src/main.c",
        "@PROJECT/src/.env",
        "@PROJECT/src/lib/util.c",
        "@PROJECT/a/b/c/d.txt",
        "@PROJECT/a/b/secret.key",
        "@PROJECT/a/x.key",
        "@PROJECT/deep/1/2/3/file",
        "@PROJECT/sub/.glee/note",
        "@HOME/.ssh/id",
        "@HOME/.cargo/credentials.toml",
        "@HOME/.cargo/registry/x",
        "@HOME/.config/app/conf",
        "@HOME/other/file",
        "@HOME/other/.env",
        "@OUT/data/file",
        "@OUT/data/.env",
        "@OUT/data/k.key",
        "@OUT/tree/a/b/leaf",
    ] {
        world.file(file, "text\n");
    }
    for program in [
        "@PROJECT/bin/tool",
        "@HOME/.cargo/bin/tool",
        "@HOME/.local/bin/mine",
        "@OUT/prog",
        "@OUT/tree/a/prog",
    ] {
        world.program(program, SCRIPT);
    }
    for (target, at) in [
        ("a/b", "@PROJECT/link_in"),
        ("@OUT/data", "@PROJECT/link_abs"),
        ("../other", "@PROJECT/link_up"),
        (".env", "@PROJECT/link_env"),
        ("nowhere", "@PROJECT/dangling"),
        ("src/new/er", "@PROJECT/dangling_deep"),
        ("/tmp/made", "@PROJECT/dangling_tmp"),
        ("loop2", "@PROJECT/loop1"),
        ("loop1", "@PROJECT/loop2"),
        ("/etc/passwd", "@PROJECT/link_passwd"),
        ("/etc/hostname", "@PROJECT/link_hostname"),
        ("/proc/self/cwd", "@PROJECT/link_cwd"),
        ("@OUT/tree", "@HOME/link_out"),
        ("project/a", "@HOME/link_project"),
        ("@PROJECT", "@OUT/link_back"),
        ("tree/a", "@OUT/link_tree"),
        ("readme/", "@PROJECT/link_slash"),
        ("/proc/1/environ", "@PROJECT/link_first"),
    ] {
        world.link(target, at);
    }
    world.host_does("mkfifo -m 755 @PROJECT/src/pipe");
    if maybe(chance) {
        world.git_init();
        // Git's objects are not even their owner's to write; permissions are not the question here.
        world.host_does("chmod -R u+w @PROJECT/.git");
    }
    if maybe(chance) {
        world.file("@PROJECT/.envrc", "text\n");
    }
    if maybe(chance) {
        world.file("@PROJECT/.vscode/settings.json", "{}\n");
    }
    if maybe(chance) {
        world.link("src", "@PROJECT/.claude");
    }
    if maybe(chance) {
        world.file("@PROJECT/.glee/policies/unused.yml", "extends: restricted\n");
        if maybe(chance) {
            world.dir("@PROJECT/.glee/agent_sessions");
        }
    }
    if maybe(chance) {
        // The file stays when nobody listens any more.
        drop(UnixListener::bind(world.path("@PROJECT/src/sock")).expect("make a socket"));
    }
}

/// Every path below these, links not followed.
pub(crate) fn entries(roots: &[&Path]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo: Vec<PathBuf> = roots.iter().map(|root| root.to_path_buf()).collect();
    while let Some(path) = todo.pop() {
        if fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_dir()) {
            let inside = fs::read_dir(&path).expect("list a directory of the world");
            todo.extend(inside.flatten().map(|entry| entry.path()));
        }
        found.push(path);
    }
    found.sort();
    found
}
