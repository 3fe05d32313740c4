//! Where a CLI may be installed. The rest of the suite runs it from a local `node_modules`.

use std::fs;
use std::path::{Path, PathBuf};

use glee_tests::Caller;

use crate::api::{Api, Turn};
use crate::cli::Cli;
use crate::support::{Place, claims};

/// A tree like this one, of links to the same files where that can be.
fn plant(from: &Path, to: &Path) {
    let meta = fs::symlink_metadata(from).expect("what is installed can be seen");
    if meta.is_dir() {
        fs::create_dir_all(to).expect("make a directory");
        for entry in fs::read_dir(from).expect("list a directory").flatten() {
            plant(&entry.path(), &to.join(entry.file_name()));
        }
    } else if meta.is_symlink() {
        std::os::unix::fs::symlink(fs::read_link(from).expect("a link"), to).expect("make a link");
    } else if fs::hard_link(from, to).is_err() {
        fs::copy(from, to).expect("copy a file");
    }
}

/// A tool call works when the CLI is called by this path.
#[track_caller]
fn works(at: &Place, program: &Path) {
    let api = Api::serve(at.cli, at.shell("echo from the agent > made"));
    let command = at.cli.command(program, at.world.nonce());
    let outcome = at.sandboxed("workspace", &api).command(command).go();
    let ran = at.ran(outcome, api);
    ran.succeeded(at);
    let made = fs::read_to_string(at.world.project().join("made"));
    assert_eq!(
        made.ok().as_deref(),
        Some("from the agent\n"),
        "{}",
        ran.outcome.describe()
    );
}

fn real(at: &Place) -> PathBuf {
    fs::canonicalize(at.cli.program()).expect("the program is there")
}

claims! {
    fn a_global_installation_in_the_home_works(at) {
        let program = real(at);
        let package = program.ancestors().find(|dir| dir.join("package.json").is_file()).expect("a package");
        let modules = package.ancestors().find(|dir| dir.ends_with("node_modules")).expect("modules");
        let global = at.world.dir("@HOME/.nvm/versions/node/v22/lib/node_modules");
        let home = global.join(package.strip_prefix(modules).expect("below"));
        plant(package, &home);
        // npm puts what a global package depends on into the package.
        if let Some(platform) = at.cli.platform_package(modules) {
            let name = platform.strip_prefix(modules).expect("below");
            plant(&platform, &home.join("node_modules").join(name));
        }
        at.world.dir("@HOME/.nvm/versions/node/v22/bin");
        let link = format!("@HOME/.nvm/versions/node/v22/bin/{}", at.cli.name());
        at.world.link(&home.join(program.strip_prefix(package).expect("below")).display().to_string(), &link);
        works(at, &at.world.path(&link));
    }

    fn a_cli_that_is_found_through_a_link_in_the_home_works(at) {
        at.world.dir("@HOME/.local/bin");
        at.world.link(&at.cli.program().display().to_string(), &format!("@HOME/.local/bin/{}", at.cli.name()));
        let api = Api::serve(at.cli, vec![Turn::text("a word from the model")]);
        let command = at.cli.command(Path::new(at.cli.name()), at.world.nonce());
        let run = at.sandboxed("restricted", &api).command(command);
        let outcome = run.env("PATH", "@HOME/.local/bin:/usr/local/bin:/usr/bin:/bin").go();
        at.ran(outcome, api).succeeded(at);
    }
}

/// The native program with its helpers beside it and no npm: a tool call needs one of the helpers.
fn a_standalone_codex_finds_its_helpers(caller: Caller) {
    let at = Place::of(Cli::Codex, caller);
    let modules = real(&at).ancestors().nth(4).expect("modules").to_path_buf();
    let platform = at.cli.platform_package(&modules).expect("codex has one");
    let vendor = fs::read_dir(platform.join("vendor"))
        .expect("its programs")
        .flatten()
        .next()
        .expect("one target");
    let home = at.world.dir("@HOME/.local/share").join("codex");
    plant(&vendor.path(), &home);
    works(&at, &home.join("bin/codex"));
}

/// The native program alone, as its own installer puts it.
fn a_standalone_claude_works(caller: Caller) {
    let at = Place::of(Cli::Claude, caller);
    let versions = at.world.dir("@HOME/.local/share/claude/versions");
    plant(&real(&at), &versions.join("2"));
    at.world.dir("@HOME/.local/bin");
    at.world
        .link("@HOME/.local/share/claude/versions/2", "@HOME/.local/bin/claude");
    works(&at, &at.world.path("@HOME/.local/bin/claude"));
}

mod standalone {
    use glee_tests::Caller;

    #[test]
    fn a_codex_of_roots_finds_its_helpers() {
        super::a_standalone_codex_finds_its_helpers(Caller::Root);
    }

    #[test]
    fn a_codex_of_a_users_finds_its_helpers() {
        super::a_standalone_codex_finds_its_helpers(Caller::User);
    }

    #[test]
    fn a_claude_of_roots_works() {
        super::a_standalone_claude_works(Caller::Root);
    }

    #[test]
    fn a_claude_of_a_users_works() {
        super::a_standalone_claude_works(Caller::User);
    }
}
