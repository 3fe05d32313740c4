//! What `policy learn` writes lets the same command pass, and nothing of a secret.

use std::fs;
use std::path::PathBuf;

use glee_tests::{Caller, Outcome, Policy, Run, World, binary};

/// Fails at the first thing that is denied, like most programs.
const CAREFUL: &str = "set -e
cat @OUT/sdk/lib/1 @OUT/sdk/lib/2 @OUT/sdk/lib/3 > /dev/null
cat @OUT/sdk/conf > /dev/null
cat link_out/file > /dev/null
@OUT/tools/run
echo new > @OUT/result/new
rm @OUT/result/old
mkdir @OUT/result/dir
echo done
";

/// Goes on after each denial.
fn careless(world: &World) -> String {
    world.fill(CAREFUL).replace("set -e\n", "").replace('\n', " || true\n")
        + "cat @OUT/sdk/id_rsa @HOME/.ssh/id; ls / /home; true\n"
}

fn fill(world: &World) {
    for file in [
        "sdk/lib/1",
        "sdk/lib/2",
        "sdk/lib/3",
        "sdk/conf",
        "sdk/id_rsa",
        "data/file",
        "result/old",
    ] {
        world.file(&format!("@OUT/{file}"), "text\n");
    }
    world.file("@HOME/.ssh/id", "secret\n");
    world.program("@OUT/tools/run", "#!/bin/sh\nexit 0\n");
    world.link("@OUT/data", "@PROJECT/link_out");
}

fn learn(world: &World, flags: &[&str], command: &[&str]) -> (Outcome, PathBuf) {
    let to = world.root().join("outside/learned.yml");
    let _ = fs::remove_file(&to);
    let program = binary().display().to_string();
    let to_text = to.display().to_string();
    let fixed = [program.as_str(), "policy", "learn", "--output", &to_text];
    let after = ["--"].into_iter().chain(command.iter().copied());
    let words = fixed.into_iter().chain(flags.iter().copied()).chain(after);
    let outcome = Run::bare(world).command(words).go();
    (outcome, to)
}

fn check(world: &World, file: &std::path::Path) {
    let words = [
        binary().display().to_string(),
        "policy".into(),
        "check".into(),
        file.display().to_string(),
    ];
    let outcome = Run::bare(world).command(words).go();
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
}

pub(crate) fn prove(caller: Caller) {
    let world = World::new(caller);
    fill(&world);
    let script = world.fill(&careless(&world));
    let before = Run::sandboxed(&world, Policy::Named("workspace"))
        .command(["sh", "-c", CAREFUL])
        .go();
    assert_ne!(
        before.code(),
        Some(0),
        "there was nothing to learn: {}",
        before.describe()
    );
    let (outcome, file) = learn(&world, &[], &["sh", "-c", &script]);
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    assert!(
        !outcome.says("done\n") || !world.path("@OUT/result/new").exists(),
        "learning allowed it: {}",
        outcome.describe()
    );
    check(&world, &file);
    let text = fs::read_to_string(&file).expect("the policy was written");
    assert!(text.contains("id_rsa"), "the secret is not even listed:\n{text}");
    let after = Run::sandboxed(&world, Policy::Yaml(text.clone()))
        .command(["sh", "-c", CAREFUL])
        .go();
    assert_eq!(
        (after.code(), after.out().as_str()),
        (Some(0), "done\n"),
        "{}\n{text}",
        after.describe()
    );
    for secret in ["@OUT/sdk/id_rsa", "@HOME/.ssh/id"] {
        let denied = Run::sandboxed(&world, Policy::Yaml(text.clone()))
            .command(["cat", secret])
            .go();
        assert_ne!(denied.code(), Some(0), "{secret} can be read: {text}");
    }
    let grants = text
        .lines()
        .filter(|line| line.starts_with("    - {path: "))
        .filter(|line| !line.contains("as in workspace"));
    assert!(grants.count() <= 7, "not the smallest:\n{text}");
}

/// Names that were refused are learned, although `workspace` has no network at all.
pub(crate) fn prove_network(caller: Caller) {
    let world = World::new(caller);
    world.join_lab();
    let ask = "import urllib.request as u; print(u.urlopen('http://allowed.test:8080/').read()[:5])";
    let (outcome, file) = learn(&world, &[], &["/usr/bin/python3", "-c", ask]);
    assert_ne!(outcome.code(), Some(0), "learning allowed it: {}", outcome.describe());
    check(&world, &file);
    let text = fs::read_to_string(&file).expect("the policy was written");
    let after = Run::sandboxed(&world, Policy::Yaml(text.clone()))
        .command(["/usr/bin/python3", "-c", ask])
        .go();
    assert_eq!(
        (after.code(), after.out().as_str()),
        (Some(0), "b'hello'\n"),
        "{}\n{text}",
        after.describe()
    );
}

/// A command that stops at its first denial is learned from in several runs, and at the end has passed. Secrets have not.
pub(crate) fn prove_permissive(caller: Caller) {
    let world = World::new(caller);
    fill(&world);
    let script = world.fill("cat @OUT/sdk/id_rsa @HOME/.ssh/id\n") + CAREFUL;
    let (outcome, file) = learn(&world, &["--permissive"], &["sh", "-c", &script]);
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    assert!(
        outcome.says("done\n") && !outcome.says("text\n") && !outcome.says("secret\n"),
        "{}",
        outcome.describe()
    );
    assert!(world.path("@OUT/result/new").exists(), "{}", outcome.describe());
    check(&world, &file);
    let text = fs::read_to_string(&file).expect("the policy was written");
    for secret in ["@OUT/sdk/id_rsa", "@HOME/.ssh/id"] {
        let denied = Run::sandboxed(&world, Policy::Yaml(text.clone()))
            .command(["cat", secret])
            .go();
        assert_ne!(denied.code(), Some(0), "{secret} can be read: {text}");
    }
}

/// What an earlier run made is not there when the policy is used: the directory was learned, and stays.
pub(crate) fn prove_made(caller: Caller) {
    let world = World::new(caller);
    fill(&world);
    let script = "set -e\necho new > @OUT/result/new\ncat @OUT/sdk/conf > /dev/null\necho done\n";
    let (outcome, file) = learn(&world, &["--permissive"], &["sh", "-c", script]);
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    fs::remove_file(world.path("@OUT/result/new")).expect("the command made it");
    let text = fs::read_to_string(&file).expect("the policy was written");
    let after = Run::sandboxed(&world, Policy::Yaml(text.clone()))
        .command(["sh", "-c", script])
        .go();
    assert_eq!(
        (after.code(), after.out().as_str()),
        (Some(0), "done\n"),
        "{}\n{text}",
        after.describe()
    );
}

/// Links of the host give nothing that their end would not be given for, whoever asks and however often.
pub(crate) fn prove_links(caller: Caller) {
    let world = World::new(caller);
    world.file("@HOME/.ssh/id", "secret\n");
    world.file("@OUT/real/.env", "secret\n");
    world.file("@OUT/real/file", "text\n");
    for (target, at) in [
        ("@HOME/.ssh/id", "plain"),
        ("@HOME/.ssh", "keys"),
        ("/", "root"),
        ("@HOME", "home"),
        ("@OUT/real", "lr"),
    ] {
        world.dir("@OUT/data");
        world.link(target, &format!("@OUT/data/{at}"));
    }
    let asked = world.fill(
        "cat @OUT/data/plain; ls @OUT/data/keys/; cat @OUT/data/keys/id; ls @OUT/data/root/ @OUT/data/home/; echo x > @OUT/data/root@HOME/owned
         echo x > @OUT/data/home/owned; cat @OUT/data/lr/.env; ls @OUT/data/lr/ && cat @OUT/data/lr/file && false",
    );
    let outside = Run::bare(&world).command(["sh", "-c", &asked]).go();
    assert!(
        outside.says("secret\n"),
        "the links lead nowhere: {}",
        outside.describe()
    );
    fs::remove_file(world.path("@HOME/owned")).expect("it was made outside");
    for flags in [&[][..], &["--permissive"]] {
        let (outcome, file) = learn(&world, flags, &["sh", "-c", &asked]);
        let text = fs::read_to_string(&file).unwrap_or_else(|_| panic!("no policy: {}", outcome.describe()));
        assert!(!outcome.says("secret\n"), "{}\n{text}", outcome.describe());
        check(&world, &file);
        let after = Run::sandboxed(&world, Policy::Yaml(text.clone()))
            .command(["sh", "-c", &asked])
            .go();
        assert!(!after.says("secret\n"), "{}\n{text}", after.describe());
        assert!(after.says("text\n"), "{}\n{text}", after.describe());
        assert!(!world.path("@HOME/owned").exists(), "{text}");
    }
}

/// A link that leads to nothing yet is written through in the end, and what was learned can be used.
pub(crate) fn prove_dangling(caller: Caller) {
    let world = World::new(caller);
    world.dir("@OUT/into");
    world.dir("@OUT/links");
    world.link("@OUT/into/new", "@OUT/links/new");
    let script = "set -e\necho new > @OUT/links/new\necho done\n";
    let (outcome, file) = learn(&world, &["--permissive"], &["sh", "-c", script]);
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    assert!(world.path("@OUT/into/new").exists(), "{}", outcome.describe());
    check(&world, &file);
}

/// A file of settings that says a login is listed, whatever its name.
pub(crate) fn prove_content(caller: Caller) {
    let world = World::new(caller);
    world.file(
        "@HOME/.config/unheard-of/config.json",
        "{\"api_key\": \"0123456789\"}\n",
    );
    world.file(
        "@HOME/.config/unheard-of-too/config.json",
        "{\"colour\": \"blue-green\"}\n",
    );
    let script = "cat @HOME/.config/unheard-of/config.json @HOME/.config/unheard-of-too/config.json";
    let (outcome, file) = learn(&world, &["--permissive"], &["sh", "-c", script]);
    assert!(!outcome.says("0123456789"), "{}", outcome.describe());
    assert!(outcome.says("blue-green"), "{}", outcome.describe());
    let text = fs::read_to_string(&file).expect("the policy was written");
    assert!(text.contains("looks like it holds a secret"), "{text}");
}

/// A key, a token, and what its owner has closed to everybody else are listed, wherever they lie and whatever they are called.
pub(crate) fn prove_closed(caller: Caller) {
    let world = World::new(caller);
    world.file("@OUT/keys/work", "-----BEGIN OPENSSH PRIVATE KEY-----\nmarked-one\n");
    world.file(
        "@OUT/notes/list",
        "ghp_0123456789abcdefghijklmnopqrstuvwxyz marked-two\n",
    );
    world.file("@OUT/plain/own", "marked-three\n");
    world.mode("@OUT/plain/own", 0o600);
    world.file("@OUT/plain/open", "blue-green\n");
    let script = "cat @OUT/keys/work; cat @OUT/notes/list; cat @OUT/plain/own; ls @OUT/keys; cat @OUT/plain/open";
    let (outcome, file) = learn(&world, &["--permissive"], &["sh", "-c", script]);
    assert!(outcome.says("blue-green"), "{}", outcome.describe());
    for secret in ["marked-one", "marked-two", "marked-three"] {
        assert!(!outcome.says(secret), "{secret}: {}", outcome.describe());
    }
    check(&world, &file);
}

/// What programs of the host would run or obey is not learned for writing.
pub(crate) fn prove_later(caller: Caller) {
    let world = World::new(caller);
    for dir in [
        "@OUT/other/.git/hooks",
        "@HOME/.config/autostart",
        "@HOME/bin",
        "@OUT/result",
    ] {
        world.dir(dir);
    }
    world.file("@OUT/other/.git/config", "[core]\n");
    let script = "echo planted >> @OUT/other/.git/config; echo planted > @OUT/other/.git/hooks/post-checkout
        echo planted > @HOME/.config/autostart/a.desktop; echo planted > @HOME/bin/ls; echo planted > @OUT/result/new";
    let (outcome, file) = learn(&world, &["--permissive"], &["sh", "-c", script]);
    let text = fs::read_to_string(&file).unwrap_or_else(|_| panic!("no policy: {}", outcome.describe()));
    for safe in [
        "@OUT/other/.git/hooks/post-checkout",
        "@HOME/.config/autostart/a.desktop",
        "@HOME/bin/ls",
    ] {
        assert!(!world.path(safe).exists(), "{safe} was written: {text}");
    }
    assert_eq!(
        fs::read_to_string(world.path("@OUT/other/.git/config")).ok().as_deref(),
        Some("[core]\n"),
        "{text}"
    );
    assert!(world.path("@OUT/result/new").exists(), "{text}");
    assert!(text.contains("programs outside would run or obey it"), "{text}");
}

/// What somebody has written stays, unless they say otherwise.
pub(crate) fn prove_kept(caller: Caller) {
    let world = World::new(caller);
    let (outcome, file) = learn(&world, &[], &["true"]);
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    world.file("@OUT/kept.yml", "mine\n");
    let call = |flags: &[&str]| {
        let program = binary().display().to_string();
        let to = world.path("@OUT/kept.yml").display().to_string();
        let fixed = [program.as_str(), "policy", "learn", "-o", &to];
        let words = fixed.into_iter().chain(flags.iter().copied()).chain(["--", "true"]);
        Run::bare(&world).command(words).go().code()
    };
    assert_eq!(call(&[]), Some(125));
    assert_eq!(
        fs::read_to_string(world.path("@OUT/kept.yml")).ok().as_deref(),
        Some("mine\n")
    );
    assert_eq!(call(&["--force"]), Some(0));
    assert_eq!(fs::read(world.path("@OUT/kept.yml")).ok(), fs::read(file).ok());
}

/// A round that cannot be started does not lose what the rounds before it taught.
pub(crate) fn prove_refused(caller: Caller) {
    let world = World::new(caller);
    world.file("@OUT/file", "text\n");
    let script = world.fill("#!/bin/sh\ncat @OUT/file\nrm ./once\nexit 3\n");
    world.program("@PROJECT/once", &script);
    let (outcome, file) = learn(&world, &["--permissive"], &["./once"]);
    assert_eq!(outcome.code(), Some(3), "{}", outcome.describe());
    let text = fs::read_to_string(&file).unwrap_or_else(|_| panic!("no policy: {}", outcome.describe()));
    assert!(text.contains("outside/file"), "{text}");
}

/// A file that is made closed to everybody else and then renamed, in a lesson of several rounds.
pub(crate) fn prove_temporary(caller: Caller) {
    let world = World::new(caller);
    fill(&world);
    let script = "set -e
f=$(mktemp @OUT/result/new.XXXXXX); echo new > $f; mv $f @OUT/result/new
cat @OUT/sdk/conf > /dev/null
f=$(mktemp @OUT/result/again.XXXXXX); echo new > $f; mv $f @OUT/result/again
cat @OUT/data/file > /dev/null
echo done
";
    let (outcome, file) = learn(&world, &["--permissive"], &["sh", "-c", script]);
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    assert!(outcome.says("done\n"), "{}", outcome.describe());
    let text = fs::read_to_string(&file).expect("the policy was written");
    assert!(!text.contains("deny:") && !text.contains("/proc/self"), "{text}");
}
