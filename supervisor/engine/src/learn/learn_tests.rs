use std::collections::BTreeMap;

use glee_policy::layer::NoLibrary;
use glee_policy::{Host, Source, Walk, parse, resolve};
use proptest::prelude::*;

use super::*;

/// Files and directories that exist only here; a directory ends in `/`.
struct Paper(BTreeMap<PathBuf, bool>);

impl Paper {
    fn new(paths: &[&str]) -> Self {
        let mut all = BTreeMap::new();
        for text in paths {
            let path = Path::new(text);
            all.insert(path.components().collect(), text.ends_with('/'));
            for above in path.ancestors().skip(1) {
                all.insert(above.to_owned(), true);
            }
        }
        Self(all)
    }
}

impl Yard for Paper {
    fn is_dir(&self, path: &Path) -> bool {
        self.0.get(path) == Some(&true)
    }

    fn exists(&self, path: &Path) -> bool {
        self.0.contains_key(path)
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
        Walk {
            path: path.to_owned(),
            exists: self.exists(path),
            links: Vec::new(),
        }
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
    let expected = "# What one run of `make` was denied under `workspace`.
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
    ];
    let learned = taught(&yard, &rows, &[]);
    let allow = match resolved(&yard, &learned.text).network {
        Network::Names { allow, .. } => allow.into_iter().collect(),
        Network::Off | Network::Host => Vec::new(),
    };
    assert_eq!(allow, ["example.org", "example.org:8443"]);
    assert_eq!(learned.listed, 2);
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
            prop_assert!(before || !is_secret(path, place().home) || !asks(path, FsAccess::Read), "{path:?}\n{}", learned.text);
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
