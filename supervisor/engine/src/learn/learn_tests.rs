use std::collections::BTreeMap;

use glee_policy::layer::NoLibrary;
use glee_policy::{Host, Source, Walk, parse, resolve};
use proptest::prelude::*;

use super::*;

/// Files and directories that exist only here; a directory ends in `/`, and `a -> b` is a link.
struct Paper(BTreeMap<PathBuf, bool>, BTreeMap<PathBuf, PathBuf>);

impl Paper {
    fn new(paths: &[&str]) -> Self {
        let (mut all, mut links) = (BTreeMap::new(), BTreeMap::new());
        for text in paths {
            let (text, target) = text.split_once(" -> ").map_or((*text, None), |(at, to)| (at, Some(to)));
            if let Some(target) = target {
                links.insert(PathBuf::from(text), PathBuf::from(target));
            }
            let path = Path::new(text);
            all.insert(path.components().collect(), text.ends_with('/'));
            for above in path.ancestors().skip(1) {
                all.insert(above.to_owned(), true);
            }
        }
        Self(all, links)
    }

    /// Links say absolute paths here.
    fn follow(&self, path: &Path) -> Walk {
        let parts = |path: &Path| {
            let parts: Vec<_> = path.iter().skip(1).map(ToOwned::to_owned).collect();
            parts.into_iter().rev()
        };
        let mut rest: Vec<_> = parts(path).collect();
        let (mut here, mut links) = (PathBuf::from("/"), Vec::new());
        while let Some(part) = rest.pop() {
            here.push(part);
            if let Some(target) = self.1.get(&here) {
                links.push((here, target.clone()));
                here = PathBuf::from("/");
                rest.extend(parts(target));
            }
        }
        let exists = self.0.contains_key(&here);
        Walk {
            path: here,
            exists,
            links,
        }
    }
}

impl Yard for Paper {
    fn is_dir(&self, path: &Path) -> bool {
        self.0.get(path) == Some(&true)
    }

    fn exists(&self, path: &Path) -> bool {
        let dir = path.parent().map(|dir| self.follow(dir).path);
        self.0
            .contains_key(&dir.map_or(PathBuf::from("/"), |dir| dir.join(path.file_name().unwrap_or_default())))
    }

    fn walk(&self, path: &Path) -> Walk {
        self.follow(path)
    }

    fn head(&self, _: &Path) -> Option<Vec<u8>> {
        None
    }

    fn is_closed(&self, file: &Path) -> bool {
        file.extension().is_some_and(|kind| kind == "closed")
    }

    fn list(&self, dir: &Path) -> Option<Vec<PathBuf>> {
        let inside = self.0.keys().filter(|path| path.parent() == Some(dir));
        Some(inside.cloned().collect())
    }
}

impl Host for Paper {
    fn project(&self) -> &Path {
        Path::new("/w/project")
    }

    fn home(&self) -> Option<&Path> {
        Some(Path::new("/w/ann"))
    }

    fn walk(&self, path: &Path) -> Walk {
        self.follow(path)
    }
}

fn place() -> Place<'static> {
    Place {
        project: Path::new("/w/project"),
        home: Some(Path::new("/w/ann")),
    }
}

fn workspace(yard: &Paper) -> ResolvedPolicy {
    resolved(yard, "extends: workspace\n")
}

fn resolved(yard: &Paper, text: &str) -> ResolvedPolicy {
    let source = Source::File("learned.yml".into());
    let policy = parse(&source, text).unwrap_or_else(|error| panic!("{}", error.render(Some(text))));
    resolve(&policy, &NoLibrary, yard).unwrap_or_else(|error| panic!("{}", error.render(Some(text))))
}

fn denial(kind: &'static str, syscall: &str, path: &str, program: &str) -> Denial {
    let key = if kind == "fs.write" { "fs.write" } else { "fs.read" };
    Denial {
        kind,
        syscall: syscall.to_owned(),
        what: What::Path(path.to_owned()),
        path_hex: None,
        pid: 2,
        program: program.to_owned(),
        rule: "no grant covers the path".to_owned(),
        hint: format!("{key}: [\"{path}\"]"),
        count: 2,
    }
}

fn read(path: &str) -> Denial {
    denial("fs.hidden", "openat", path, "cc")
}

fn taught(yard: &Paper, denials: &[Denial], withheld: &[&str]) -> Learned {
    let policy = workspace(yard);
    let base = Base {
        name: "workspace",
        policy: &policy,
    };
    let withheld: Vec<String> = withheld.iter().map(|name| (*name).to_owned()).collect();
    let mut course = Course::default();
    course.take(denials, place(), yard);
    course.learned(&withheld, "make", base, place())
}

/// A yard into which nobody can look any more.
struct Closed(Paper);

impl Yard for Closed {
    fn is_dir(&self, path: &Path) -> bool {
        self.0.is_dir(path)
    }

    fn exists(&self, path: &Path) -> bool {
        self.0.exists(path)
    }

    fn walk(&self, path: &Path) -> Walk {
        self.0.follow(path)
    }

    fn head(&self, _: &Path) -> Option<Vec<u8>> {
        None
    }

    fn is_closed(&self, _: &Path) -> bool {
        false
    }

    fn list(&self, _: &Path) -> Option<Vec<PathBuf>> {
        None
    }
}

/// The yard as it is after each run, and what the run was denied.
fn taught_by(runs: &[(&dyn Yard, Vec<Denial>)]) -> Learned {
    let mut course = Course::default();
    for (yard, denials) in runs {
        course.take(denials, place(), *yard);
    }
    let policy = workspace(&Paper::new(&["/w/project/a"]));
    let base = Base {
        name: "workspace",
        policy: &policy,
    };
    course.learned(&[], "make", base, place())
}

#[test]
fn what_a_later_run_made_does_not_narrow_what_was_learned() {
    let write = |path: &str| denial("fs.write", "openat", path, "make");
    let before = || Paper::new(&["/w/project/a", "/w/ann/out/", "/w/ann/conf"]);
    let after = || Paper::new(&["/w/project/a", "/w/ann/out/new", "/w/ann/conf"]);
    let learned = taught_by(&[
        (&before(), vec![write("/w/ann/out/new")]),
        (&after(), vec![read("/w/ann/conf")]),
    ]);
    assert_eq!(learned.proposed, ["fs.read: [\"~/conf\"]", "fs.write: [\"~/out\"]"]);
    // Nor what it filled or closed.
    let closed = Closed(after());
    let learned = taught_by(&[
        (&before(), vec![write("/w/ann/out/new")]),
        (&closed, vec![read("/w/ann/conf")]),
    ]);
    assert_eq!(learned.proposed, ["fs.read: [\"~/conf\"]", "fs.write: [\"~/out\"]"]);
    assert_eq!(learned.listed, 0);
    let learned = taught_by(&[(&closed, vec![write("/w/ann/out")])]);
    assert_eq!((learned.proposed.len(), learned.listed), (0, 1));
}

#[test]
fn what_the_command_closes_to_others_is_no_secret_for_that() {
    let write = |path: &str| denial("fs.write", "openat", path, "make");
    let before = Paper::new(&["/w/project/a", "/w/ann/out/own.closed", "/w/ann/conf"]);
    let after = Paper::new(&[
        "/w/project/a",
        "/w/ann/out/own.closed",
        "/w/ann/out/tmp.closed",
        "/w/ann/out/id_rsa",
        "/w/ann/conf",
    ]);
    let learned = taught_by(&[
        (&before, vec![write("/w/ann/out/new")]),
        (&after, vec![read("/w/ann/conf")]),
    ]);
    assert_eq!(learned.proposed, ["fs.read: [\"~/conf\"]", "fs.write: [\"~/out\"]"]);
    let denied: Vec<&str> = learned.text.lines().filter(|line| line.contains("a secret")).collect();
    // What was there before, and what is one by its name.
    assert_eq!(
        denied,
        [
            "    - {path: \"~/out/id_rsa\", why: \"looks like a secret\"}",
            "    - {path: \"~/out/own.closed\", why: \"looks like a secret\"}",
        ]
    );
}

#[test]
fn a_link_that_is_hidden_itself_needs_its_directory() {
    let all = ["/w/project/a", "/srv/x", "/w/project/l -> /srv/x"];
    let hidden = Denial {
        hint: "fs.read: [\".\"]".to_owned(),
        ..read("/w/project/l")
    };
    let expected = ["fs.read: [\"/srv/x\"]", "fs.read: [\".\"]"];
    assert_eq!(proposed(&all, &[hidden]), (expected.map(str::to_owned).to_vec(), 0));
    let expected = vec!["fs.read: [\"/srv/x\"]".to_owned()];
    assert_eq!(proposed(&all, &[read("/w/project/l")]), (expected, 0));
}

#[test]
fn a_datagram_is_only_listed() {
    let yard = Paper::new(&["/w/project/a"]);
    let datagram = Denial {
        what: What::Host("192.0.2.2:9999".into()),
        hint: "no policy key allows datagrams: use TCP".into(),
        ..denial("network", "sendto", "", "make")
    };
    let learned = taught(&yard, &[datagram], &[]);
    assert_eq!((learned.proposed.len(), learned.listed), (0, 1));
}

#[test]
fn nothing_denied_is_nothing_proposed() {
    let yard = Paper::new(&["/w/project/a", "/w/ann/x"]);
    let learned = taught(&yard, &[], &[]);
    assert_eq!((learned.proposed.len(), learned.listed), (0, 0));
    assert_eq!(resolved(&yard, &learned.text).sha256(), workspace(&yard).sha256());
}

#[test]
fn a_file_is_granted_as_itself_with_who_wanted_it() {
    let yard = Paper::new(&["/w/project/a", "/opt/sdk/lib/x.so", "/w/ann/.cargo/bin/x"]);
    let learned = taught(&yard, &[read("/opt/sdk/lib/x.so")], &[]);
    let expected = "# What `make` was denied under `workspace`.
# Read it before you use it: a command asks for what it likes, and this only writes it down.
extends: \"workspace\"
why: \"what make needs besides workspace\"

fs:
  read:
    - {path: \"~/.cargo\", need: preferred, why: \"as in workspace: cargo, its programs and the sources it has downloaded\"}
    - {path: \"/opt/sdk/lib/x.so\", why: \"cc, 2 times\"}
";
    // What the base has in case it is there is kept, whether or not it is.
    let (there, absent): (Vec<&str>, Vec<&str>) = learned
        .text
        .lines()
        .partition(|line| !line.contains("need: preferred") || line.contains("\"~/.cargo\""));
    assert_eq!(there.join("\n") + "\n", expected);
    let names = ["\"~/.nvm\"", "\"~/go\""];
    assert!(
        names.iter().all(|name| absent.iter().any(|line| line.contains(name))),
        "{absent:?}"
    );
}

#[test]
fn three_files_of_a_directory_are_the_directory_but_never_something_wide() {
    let files = |dir: &str| ["a", "b", "c"].map(|name| format!("{dir}/{name}"));
    for (dir, whole) in [
        ("/opt/sdk/lib", true),
        ("/w/ann/data", true),
        ("/w/ann", false),
        ("/w", false),
        ("/opt", false),
        ("/usr/lib", false),
        ("/var/lib", false),
        ("/home/bob", false),
        ("/w/ann/.config", false),
    ] {
        let files = files(dir);
        let paths: Vec<&str> = files.iter().map(String::as_str).collect();
        let yard = Paper::new(&[&paths[..], &["/w/project/x"]].concat());
        let denials: Vec<Denial> = paths.iter().map(|path| read(path)).collect();
        let learned = taught(&yard, &denials, &[]);
        assert_eq!(learned.proposed.len(), if whole { 1 } else { 3 }, "{}", learned.text);
        let grants = resolved(&yard, &learned.text).grants;
        assert_eq!(
            grants.iter().any(|grant| grant.path.as_path() == Path::new(dir)),
            whole,
            "{dir}"
        );
    }
}

#[test]
fn a_directory_with_a_secret_is_not_granted_for_its_files_and_a_wanted_one_comes_without_it() {
    let all = [
        "/srv/app/a",
        "/srv/app/b",
        "/srv/app/c",
        "/srv/app/.env",
        "/w/project/x",
    ];
    let yard = Paper::new(&all);
    let files: Vec<Denial> = ["/srv/app/a", "/srv/app/b", "/srv/app/c"].map(read).into();
    assert_eq!(taught(&yard, &files, &[]).proposed.len(), 3);
    let learned = taught(&yard, &[read("/srv/app")], &[]);
    assert_eq!(learned.proposed.len(), 1);
    let policy = resolved(&yard, &learned.text);
    assert!(
        policy.denied_by(Path::new("/srv/app/.env")).is_some(),
        "{}",
        learned.text
    );
}

#[test]
fn secrets_and_what_is_wide_are_listed() {
    let all = ["/w/ann/.ssh/id", "/srv/app/.env", "/opt/x/y", "/w/project/x"];
    let yard = Paper::new(&all);
    let rows = [
        read("/w/ann/.ssh/id"),
        read("/srv/app/.env"),
        read("/opt"),
        read("/w/ann"),
        read("/"),
    ];
    let learned = taught(&yard, &rows, &["EDITOR", "GITHUB_TOKEN"]);
    assert_eq!((learned.proposed.len(), learned.listed), (0, 5));
    for line in [
        "#   looks like a secret: /w/ann/.ssh/id (read by cc)",
        "#   looks like a secret: /srv/app/.env (read by cc)",
        "#   too wide to be granted: /opt (read by cc)",
        "#   EDITOR",
        "#   look like secrets: GITHUB_TOKEN",
    ] {
        assert!(
            learned.text.lines().any(|known| known == line),
            "{line}\n{}",
            learned.text
        );
    }
}

#[test]
fn what_is_made_or_removed_needs_its_directory() {
    let yard = Paper::new(&["/srv/out/old", "/w/project/x"]);
    let grant = |syscall: &str, path: &str| {
        let learned = taught(&yard, &[denial("fs.write", syscall, path, "sh")], &[]);
        let policy = resolved(&yard, &learned.text);
        let new = policy.grants.into_iter().find(|g| g.path.as_path().starts_with("/srv"));
        new.map(|g| (g.path.as_path().to_owned(), g.access))
    };
    let whole = Some((PathBuf::from("/srv/out"), FsAccess::ReadWrite));
    assert_eq!(grant("openat", "/srv/out/new"), whole);
    assert_eq!(grant("unlinkat", "/srv/out/old"), whole);
    assert_eq!(grant("mkdir", "/srv/out/new"), whole);
    assert_eq!(
        grant("openat", "/srv/out/old"),
        Some((PathBuf::from("/srv/out/old"), FsAccess::ReadWrite))
    );
}

#[test]
fn hosts_are_written_as_rules() {
    let yard = Paper::new(&["/w/project/x"]);
    let host = |host: &str, hint: &str| Denial {
        what: What::Host(host.to_owned()),
        hint: hint.to_owned(),
        ..denial("network", "connect", "", "curl")
    };
    let rows = [
        host("example.org:443", "network: {allow: [\"example.org\"]}"),
        host("example.org", "network: {allow: [\"example.org\"]}"),
        host("example.org:8443", "network: {allow: [\"example.org:8443\"]}"),
        host("10.0.0.1:53", "network: {allow: [\"NAME\"]}"),
        host("evil\nname:443", "network: {allow: [\"x\"]}"),
        host("192.0.2.1:0", "port 0 cannot be allowed"),
    ];
    let learned = taught(&yard, &rows, &[]);
    let allow = match resolved(&yard, &learned.text).network {
        Network::Names { allow, .. } => allow.into_iter().collect(),
        Network::Off | Network::Host => Vec::new(),
    };
    assert_eq!(allow, ["example.org", "example.org:8443"]);
    assert_eq!(learned.listed, 3);
}

#[test]
fn a_host_that_nobody_is_known_to_have_asked_for_says_whose_run_it_was() {
    let host = |host: &str| Denial {
        what: What::Host(host.to_owned()),
        hint: format!("network: {{allow: [\"{host}\"]}}"),
        ..denial("network", "connect", "", "")
    };
    let yard = Paper::new(&["/w/project/x"]);
    let text = taught(&yard, &[host("example.org"), host("metadata")], &[]).text;
    assert!(text.contains("why: \"make or what it starts, 2 times\""), "{text}");
    assert!(text.ends_with("this machine: metadata\n"), "{text}");
}

#[test]
fn what_gives_out_the_credentials_of_a_machine_is_listed() {
    let yard = Paper::new(&["/w/project/x"]);
    let hosts = [
        "169.254.169.254:80",
        "169.254.1.2:8080",
        "100.100.100.200:80",
        "[fe80::1]:80",
        "[fd00:ec2::254]:80",
        "[::ffff:169.254.169.254]:80",
        "metadata.google.internal",
        "Metadata.Google.Internal:80",
        "instance-data.ec2.internal:80",
        "metadata",
    ];
    let rows = hosts.map(|host| Denial {
        what: What::Host(host.to_owned()),
        hint: format!("network: {{allow: [\"{host}\"]}}"),
        ..denial("network", "connect", "", "curl")
    });
    let learned = taught(&yard, &rows, &[]);
    assert_eq!(
        (learned.proposed, learned.listed),
        (vec![], hosts.len()),
        "{}",
        learned.text
    );
}

#[test]
fn where_all_programs_keep_their_own_is_too_wide() {
    let dirs = [
        "/w/ann/.config",
        "/w/ann/.local/share",
        "/w/ann/.cache",
        "/home/bob/.config",
    ];
    let files = dirs.map(|dir| format!("{dir}/app/x"));
    let mut all: Vec<&str> = files.iter().map(String::as_str).collect();
    all.push("/w/project/x");
    let yard = Paper::new(&all);
    let made = denial("fs.write", "mkdir", "/w/ann/.config/new", "sh");
    let rows: Vec<Denial> = dirs.map(read).into_iter().chain([made]).collect();
    let learned = taught(&yard, &rows, &[]);
    assert_eq!((learned.proposed, learned.listed), (vec![], 5), "{}", learned.text);
    assert_eq!(taught(&yard, &[read("/w/ann/.config/app")], &[]).proposed.len(), 1);
}

/// What was proposed for a yard with links, and how many were listed.
fn proposed(paths: &[&str], rows: &[Denial]) -> (Vec<String>, usize) {
    let yard = Paper::new(&[paths, &["/w/project/x"]].concat());
    let learned = taught(&yard, rows, &[]);
    // It can be used.
    resolved(&yard, &learned.text);
    (learned.proposed, learned.listed)
}

#[test]
fn a_link_to_a_secret_or_to_something_wide_is_listed() {
    let all = [
        "/w/ann/.ssh/id_rsa",
        "/w/ann/data/plain -> /w/ann/.ssh/id_rsa",
        "/w/ann/data/keys -> /w/ann/.ssh",
        "/w/ann/data/twice -> /w/ann/data/keys",
        "/w/ann/data/root -> /",
        "/w/ann/data/home -> /w/ann",
        "/w/ann/data/above -> /w",
        "/w/ann/data/opt -> /opt",
        "/w/ann/.ssh/link -> /opt/sdk/x",
        "/w/ann/data/out -> /w/ann/.ssh/link",
        "/w/project/in -> /w/ann/data/keys",
        "/opt/sdk/x",
    ];
    for path in [
        "/w/ann/data/plain",
        "/w/ann/data/keys",
        "/w/ann/data/keys/x",
        "/w/ann/data/twice/id_rsa",
        "/w/ann/data/root",
        "/w/ann/data/home",
        "/w/ann/data/above",
        "/w/ann/data/opt",
        "/w/ann/data/root/w/ann",
        "/w/ann/data/home/.ssh/id_rsa",
        // The link itself is in a place of secrets.
        "/w/ann/data/out",
        "/w/project/in/id_rsa",
    ] {
        assert_eq!(proposed(&all, &[read(path)]), (vec![], 1), "{path}");
    }
    for path in [
        "/w/ann/data/root/w/ann/owned",
        "/w/ann/data/keys/new",
        "/w/ann/data/home/new",
    ] {
        let rows = [denial("fs.write", "openat", path, "sh")];
        assert_eq!(proposed(&all, &rows), (vec![], 1), "{path}");
    }
}

#[test]
fn a_directory_behind_a_link_keeps_its_denies_and_its_files_are_no_more_than_that() {
    let all = [
        "/w/ann/real/.env",
        "/w/ann/real/a",
        "/w/ann/real/b",
        "/w/ann/real/c",
        "/w/ann/lr -> /w/ann/real",
    ];
    let yard = Paper::new(&[&all[..], &["/w/project/x"]].concat());
    let learned = taught(&yard, &[read("/w/ann/lr")], &[]);
    assert_eq!(learned.proposed, ["fs.read: [\"~/lr\"]"]);
    let policy = resolved(&yard, &learned.text);
    assert!(
        policy.denied_by(Path::new("/w/ann/real/.env")).is_some(),
        "{}",
        learned.text
    );
    let rows = ["/w/ann/lr/a", "/w/ann/lr/b", "/w/ann/lr/c"].map(read);
    assert_eq!(proposed(&all, &rows).0.len(), 3);
}

#[test]
fn three_links_are_not_the_directory_that_they_lie_in() {
    let all = [
        "/srv/x/a",
        "/srv/y/b",
        "/srv/z/c",
        "/srv/links/a -> /srv/x/a",
        "/srv/links/b -> /srv/y/b",
        "/srv/links/c -> /srv/z/c",
    ];
    let rows = ["/srv/links/a", "/srv/links/b", "/srv/links/c"].map(read);
    let expected = ["a", "b", "c"].map(|name| format!("fs.read: [\"/srv/links/{name}\"]"));
    assert_eq!(proposed(&all, &rows), (expected.to_vec(), 0));
}

#[test]
fn a_link_to_nothing_needs_the_directory_that_it_leads_into() {
    let all = [
        "/srv/out/x",
        "/srv/links/new -> /srv/out/new",
        "/srv/links/far -> /nowhere/x",
    ];
    let rows = [denial("fs.write", "openat", "/srv/links/new", "sh")];
    let expected = ["fs.read: [\"/srv/links\"]", "fs.write: [\"/srv/out\"]"];
    assert_eq!(proposed(&all, &rows), (expected.map(str::to_owned).to_vec(), 0));
    assert_eq!(proposed(&all, &[read("/srv/links/new")]), (vec![], 1));
    let rows = [denial("fs.write", "openat", "/srv/links/far", "sh")];
    assert_eq!(proposed(&all, &rows), (vec![], 1));
}

#[test]
fn a_link_that_is_changed_itself_needs_its_directory() {
    let all = ["/srv/real/x", "/srv/links/l -> /srv/real/x"];
    for call in ["utimensat", "lchown", "lsetxattr", "fchownat"] {
        let row = |path: &str| [denial("fs.write", call, path, "touch")];
        let expected = vec!["fs.write: [\"/srv/links\"]".to_owned()];
        assert_eq!(proposed(&all, &row("/srv/links/l")), (expected, 0), "{call}");
        let expected = vec!["fs.write: [\"/srv/real/x\"]".to_owned()];
        assert_eq!(proposed(&all, &row("/srv/real/x")), (expected, 0), "{call}");
    }
}

#[test]
fn no_policy_passes_through_a_link_that_the_command_could_replace() {
    let all = [
        "/srv/real/x",
        "/srv/other/y",
        "/w/project/l -> /srv/links/l",
        "/srv/links/l -> /srv/real",
        "/srv/back -> /w/project/l",
    ];
    // What is shown is left out, what is not is passed through.
    let expected = vec!["fs.read: [\"/srv/links/l/x\"]".to_owned()];
    assert_eq!(proposed(&all, &[read("/w/project/l/x")]), (expected, 0));
    assert_eq!(proposed(&all, &[read("/srv/back/x")]), (vec![], 1));
    let rows = [
        denial("fs.write", "openat", "/srv/links/new", "sh"),
        read("/srv/links/l/x"),
    ];
    let expected = ["fs.write: [\"/srv/links\"]", "fs.read: [\"/srv/real/x\"]"];
    assert_eq!(proposed(&all, &rows), (expected.map(str::to_owned).to_vec(), 0));
}

#[test]
fn what_leads_elsewhere_by_now_is_not_granted_any_more() {
    let rows = || vec![read("/srv/data/a")];
    let before = Paper::new(&["/w/project/a", "/srv/data/a"]);
    let after = Paper::new(&["/w/project/a", "/w/ann/.ssh/id", "/srv/data/a -> /w/ann/.ssh/id"]);
    let learned = taught_by(&[(&before, rows()), (&after, vec![])]);
    assert_eq!((learned.proposed, learned.listed), (vec![], 1));
}

#[test]
fn a_name_that_is_no_text_is_listed() {
    let rows = [read("/srv/data/caf\u{fffd}")];
    assert_eq!(proposed(&["/srv/data/x"], &rows), (vec![], 1));
}

const DIRS: &[&str] = &[
    "/w/project",
    "/w/ann",
    "/w/ann/.ssh",
    "/w/ann/.config/app",
    "/opt/sdk",
    "/opt/sdk/lib",
    "/srv/x",
    "/etc",
    "/var/lib/x",
    "/w/ann/odd \"name\"",
    "/srv/[x]{y}?",
    "/srv/#: - ",
];
const NAMES: &[&str] = &[
    "a",
    "b",
    "c",
    "d",
    ".env",
    "id_rsa",
    "x.key",
    "tokens",
    "new\nline",
    "ü\u{202e}",
    "st*r",
];
const PROGRAMS: &[&str] = &["cc", "ld", "evil\n- {path: /}", "\"]}"];

fn row() -> impl Strategy<Value = Denial> {
    let path = (
        prop::sample::select(DIRS),
        prop::option::of(prop::sample::select(NAMES)),
    )
        .prop_map(|(dir, name)| name.map_or_else(|| dir.to_owned(), |name| format!("{dir}/{name}")));
    let kind = prop::sample::select(vec!["fs.read", "fs.hidden", "fs.exec", "fs.write"]);
    let call = prop::sample::select(vec!["openat", "unlink", "execve"]);
    (kind, call, path, prop::sample::select(PROGRAMS))
        .prop_map(|(kind, call, path, program)| denial(kind, call, &path, program))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_was_learned_parses_grants_what_was_denied_and_never_a_secret(rows in prop::collection::vec(row(), 0..24)) {
        let all: Vec<String> = DIRS.iter().flat_map(|dir| NAMES.iter().map(move |name| format!("{dir}/{name}"))).collect();
        let yard = Paper::new(&all.iter().map(String::as_str).collect::<Vec<_>>());
        let learned = taught(&yard, &rows, &[]);
        let policy = resolved(&yard, &learned.text);
        let asks = |path: &Path, access| policy.decide(&glee_policy::decide::Question::Path { path, access }).allowed;
        let base = workspace(&yard);
        for path in all.iter().map(Path::new) {
            let before = base.decide(&glee_policy::decide::Question::Path { path, access: FsAccess::Read }).allowed;
            prop_assert!(before || !is_secret_at(path, &homes(place(), &yard)) || !asks(path, FsAccess::Read), "{path:?}\n{}", learned.text);
        }
        for wide in ["/", "/w", "/w/ann", "/opt", "/etc", "/srv", "/var/lib"] {
            prop_assert!(!asks(Path::new(wide), FsAccess::Read), "{wide}\n{}", learned.text);
        }
        // Each denial is allowed now, or listed.
        for row in &rows {
            let What::Path(path) = &row.what else { continue };
            let access = if row.kind == "fs.write" { FsAccess::ReadWrite } else { FsAccess::Read };
            let shown = crate::text::visible(path);
            prop_assert!(asks(Path::new(path), access) || learned.text.contains(&format!(": {shown}")), "{path:?}\n{}", learned.text);
        }
        // Smallest: no grant lies within another.
        let new: Vec<_> = policy.grants.iter().filter(|grant| !base.grants.iter().any(|known| known.path == grant.path)).collect();
        for grant in &new {
            let other = |g: &&&glee_policy::resolved::Grant| {
                g.path != grant.path && grant.path.as_path().starts_with(g.path.as_path()) && g.access >= grant.access
            };
            prop_assert!(new.iter().find(other).is_none(), "{}", learned.text);
        }
    }
}
