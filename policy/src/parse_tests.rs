use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::error::{NumberProblem, PathProblem};
use crate::resolved::Need;
use crate::testing::file;

fn ok(text: &str) -> Policy {
    match parse(&file(), text) {
        Ok(policy) => policy,
        Err(error) => panic!("{}", error.render(Some(text))),
    }
}

fn fails(text: &str) -> PolicyError {
    parse(&file(), text).unwrap_err()
}

fn message(text: &str) -> String {
    fails(text).to_string()
}

const EVERYTHING: &str = r#"
extends: workspace
why: because
mode: restricted
fs:
  read: [".", {path: /srv, why: data, need: preferred}]
  write: []
  deny: ["**/.env", "secrets", "src/{a,b}/*.pem"]
network: {allow: ["Example.ORG", "*.host", "h:443", {host: 10.0.0.0/8, why: lan}], deny: ["x.host"]}
env:
  allow: [PATH, "LC_*", {name: HOME, why: home}]
  set: {CI: "1"}
max_runtime_mins: 0.5
limits: {memory_mb: 4096, pids: 512, cpus: 1.5, open_files: 16, file_size_mb: 1, disk_mb: 2, output_kb: none}
isolation: landlock
backend: podman
image: registry.example/debian:13
key_command: [pass, show, key]
model_access: none
model_endpoint: http://127.0.0.1:8080/v1
auth: mount
unprotect: [".envrc", ".vscode/"]
examples: [{path: a, access: write, verdict: deny}, {net: "h:1", verdict: allow}, {env: X, verdict: deny}]
"#;

#[test]
fn every_key_of_the_contract_is_read() {
    let policy = ok(EVERYTHING);
    let read = policy.read.unwrap();
    assert_eq!(
        (read[1].written.as_str(), read[1].need, read[1].why.as_deref()),
        ("/srv", Need::Preferred, Some("data"))
    );
    assert_eq!((read[1].origin.line, read[1].origin.column), (6, 22));
    assert_eq!(policy.write, Some(vec![]));
    assert_eq!(policy.deny.len(), 3);
    let Some(Clause {
        value: NetworkRule::Names { allow, deny },
        ..
    }) = policy.network
    else {
        panic!()
    };
    let names: Vec<String> = allow.unwrap().iter().map(|c| c.value.to_string()).collect();
    assert_eq!(names, ["example.org", "*.host", "h:443", "10.0.0.0/8"]);
    assert_eq!(deny.len(), 1);
    assert_eq!(policy.max_runtime.unwrap().value, Some(Duration::from_secs(30)));
    assert_eq!(policy.limits.cpu_millis.unwrap().value, Some(1500));
    assert_eq!(policy.limits.output_kb.unwrap().value, None);
    assert_eq!(policy.isolation.unwrap().value, Isolation::Landlock);
    assert_eq!(policy.auth.unwrap().value, Auth::Mount);
    assert_eq!(policy.env_set["CI"].value, "1");
    assert_eq!(policy.unprotect.unwrap()[1].value, ".vscode");
    assert_eq!(policy.examples.len(), 3);
}

#[test]
fn keys_may_stand_under_their_full_name() {
    let under = ok("security:\n  subagent_permissions:\n    mode: inherit\n");
    assert_eq!(under.mode.unwrap().value, Mode::Inherit);
    assert_eq!(
        message("security: {subagent_permissions: {mode: inherit}}\nfs: {}\n"),
        "unknown key `fs`"
    );
    assert!(message("security: {require_approval: true}").starts_with("unknown key `require_approval` in `security`"));
    assert_eq!(
        message("security: {}"),
        "`security` must be a mapping with the key `subagent_permissions`, found an empty one"
    );
}

#[test]
fn extends_may_stand_beside_the_prefix_or_below_it_but_not_twice() {
    for text in [
        "extends: workspace\nsecurity: {subagent_permissions: {mode: restricted}}\n",
        "security: {subagent_permissions: {mode: restricted}}\nextends: workspace\n",
        "extends: workspace\nsecurity.subagent_permissions: {mode: restricted}\n",
        "security: {subagent_permissions: {extends: workspace, mode: restricted}}\n",
    ] {
        let policy = ok(text);
        let found = (policy.extends.unwrap().value, policy.mode.unwrap().value);
        assert_eq!(found, ("workspace".to_owned(), Mode::Restricted), "{text}");
    }
    let twice = fails("security: {subagent_permissions: {extends: a}}\nextends: b\n");
    assert_eq!(twice.to_string(), "the key `extends` is there twice");
    assert_eq!((twice.origin().line, twice.origin().column), (2, 10));
    assert!(message("extends: a\nsecurity: {}\n").starts_with("`security` must be"));
}

#[test]
fn a_project_configuration_may_hold_other_things() {
    let read = |text: &str| parse_project_config(&file(), text.as_bytes());
    for text in [
        "",
        "# nothing\n",
        "subagents: [{a: b}]\n",
        "security: {require_approval: true}\n",
        "security:\n",
    ] {
        assert_eq!(read(text).unwrap(), None, "{text}");
    }
    let text = "subagents: {x: 1}\nsecurity:\n  require_approval: true\n  subagent_permissions:\n    network: true\n";
    let policy = read(text).unwrap().unwrap();
    assert_eq!(policy.network.unwrap().origin.line, 5);
    let error = read("security: {subagent_permissions: {netwrk: true}}").unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown key `netwrk` in `security.subagent_permissions`"
    );
    assert_eq!(error.help(), "did you mean `network`?");
    for text in [
        "security: {subagent_permissions: }",
        "security: 5",
        "[]",
        "security: {subagent_permissions: []}",
    ] {
        assert!(matches!(read(text), Err(PolicyError::WrongType { .. })), "{text}");
    }
}

#[test]
fn an_empty_file_says_nothing_and_a_list_is_no_policy() {
    for text in ["[]", "5", "text"] {
        assert!(matches!(fails(text), PolicyError::NotAMapping { .. }), "{text}");
    }
    for text in ["", "# only words\n", "null", "{}"] {
        assert!(ok(text).mode.is_none(), "{text}");
    }
}

#[test]
fn the_prefix_may_stand_in_one_word() {
    let text = "security.subagent_permissions:\n  mode: inherit\n";
    assert_eq!(ok(text).mode.map(|mode| mode.value), Some(Mode::Inherit));
    assert!(matches!(
        fails("security.subagent_permissions: {}\nmode: inherit"),
        PolicyError::UnknownKey { .. }
    ));
}

#[test]
fn an_unknown_key_has_a_hint() {
    for (text, hint) in [
        ("mod: x", "did you mean `mode`?"),
        ("max-runtime-mins: 1", "did you mean `max_runtime_mins`?"),
        (
            "limits: {memory: 5}",
            "known keys: `memory_mb`, `pids`, `cpus`, `open_files`, `file_size_mb`, `disk_mb`, `output_kb`",
        ),
        ("fs: {execute: []}", "known keys: `read`, `write`, `deny`"),
        ("env: {alow: []}", "did you mean `allow`?"),
        ("fs: {read: [{pth: x}]}", "did you mean `path`?"),
        ("a: [", "check the indentation, the quotes and the brackets here"),
    ] {
        assert_eq!(fails(text).help(), hint, "{text}");
    }
}

#[test]
fn a_wrong_type_names_the_key_and_what_was_found() {
    for (text, expected) in [
        ("mode: 5", "`mode` must be text, found the number `5`"),
        ("mode: open", "`mode` cannot be `open`"),
        ("fs: []", "`fs` must be a mapping, found a list"),
        ("fs: {read: .}", "`fs.read` must be a list, found the text `.`"),
        ("fs: {read: }", "`fs.read` must be a list, found nothing"),
        (
            "fs: {read: [5]}",
            "`fs.read` must be text or a mapping, found the number `5`",
        ),
        ("fs: {read: [{why: x}]}", "`fs.read` needs the key `path`"),
        ("fs: {read: [{path: x, need: maybe}]}", "`fs.read` cannot be `maybe`"),
        (
            "network: yes",
            "`network` must be `false`, `true` or `{allow: [\"host\"]}`, found the text `yes`",
        ),
        (
            "network:",
            "`network` must be `false`, `true` or `{allow: [\"host\"]}`, found nothing",
        ),
        (
            "env: {set: {PORT: 8080}}",
            "`env.set.PORT` must be text, found the number `8080`",
        ),
        (
            "max_runtime_mins: '10'",
            "`max_runtime_mins` must be a number, found the text `10`",
        ),
        (
            "max_runtime_mins:",
            "`max_runtime_mins` must be a number, found nothing",
        ),
        ("image: [a]", "`image` must be text or `null`, found a list"),
        (
            "key_command: pass show key",
            "`key_command` must be a list of a program and its arguments, or `null`, found the text `pass show key`",
        ),
        (
            "key_command: []",
            "`key_command` must be a list of a program and its arguments, or `null`, found an empty list",
        ),
        ("image: ''", "`image`: `\"\"` is not a container image"),
        ("model_endpoint: ''", "`model_endpoint`: `\"\"` is not a base URL"),
        (
            "model_endpoint: https://h/?q=1",
            "`model_endpoint`: `https://h/?q=1` is not a base URL",
        ),
        (
            "model_endpoint: https://h/v1#x",
            "`model_endpoint`: `https://h/v1#x` is not a base URL",
        ),
        (
            "unprotect: ['']",
            "`unprotect`: `\"\"` names nothing that could be protected",
        ),
        (
            "unprotect: [../x]",
            "`unprotect`: `../x` names nothing that could be protected",
        ),
        ("unprotect: [.vscod/]", "`unprotect`: `.vscod` is not protected"),
        (
            "image: --privileged",
            "`image`: `--privileged` is not a container image",
        ),
        (
            "model_endpoint: file:///etc/passwd",
            "`model_endpoint`: `file:///etc/passwd` is not a base URL",
        ),
        (
            "model_endpoint: https://u:p@h/",
            "`model_endpoint`: `https://u:p@h/` is not a base URL",
        ),
        ("extends: ../x", "`extends`: `../x` is not the name of a profile"),
        ("examples: [{path: a}]", "`examples` needs the key `verdict`"),
        ("examples: [{verdict: deny}]", "`examples` needs the key `path`"),
    ] {
        assert_eq!(message(text), expected, "{text}");
    }
}

#[test]
fn the_hint_at_a_wrong_value_can_be_followed() {
    for (text, hint) in [
        ("mode: 5", "put the value in quotes"),
        ("mode: [restricted]", "write the value itself, without brackets or keys"),
        ("mode:", "write a value here, or leave the key out"),
        ("env: {set: [A]}", "write `{NAME: \"value\"}`, or leave the key out"),
        (
            "key_command: []",
            "write `[\"program\", \"argument\"]`, or leave the key out",
        ),
        (
            "fs: {deny: x}",
            "write `[\"item\"]`, `[]` for none, or leave the key out",
        ),
        (
            "image: ''",
            "write `registry/name:tag`, without spaces and not starting with `-`, or `null` for no image",
        ),
        ("unprotect: [.vscod]", "did you mean `.vscode`?"),
        ("examples: [{net: '*.h', verdict: deny}]", "write one host, as text"),
    ] {
        assert_eq!(fails(text).help(), hint, "{text}");
    }
    let error = fails("mode: restricted\nunprotect:\n  - .envrc\n  - {name: .vscod, why: x}\n");
    assert_eq!((error.origin().line, error.origin().column), (4, 12));
}

#[test]
fn numbers_that_bound_nothing_are_errors() {
    use NumberProblem::{Negative, NotFinite, NotWhole, TooLarge, TooSmall, Zero};
    for (text, expected) in [
        ("max_runtime_mins: 0", Zero),
        ("max_runtime_mins: -1", Negative),
        ("max_runtime_mins: .nan", NotFinite),
        ("max_runtime_mins: .inf", NotFinite),
        ("max_runtime_mins: 1e999", NotFinite),
        ("max_runtime_mins: 1e300", TooLarge),
        ("max_runtime_mins: 1e-300", TooSmall),
        ("limits: {memory_mb: 0}", Zero),
        ("limits: {memory_mb: -1}", Negative),
        ("limits: {memory_mb: 1.5}", NotWhole),
        ("limits: {memory_mb: 18446744073709551615}", TooLarge),
        ("limits: {memory_mb: 99999999999999999999999}", TooLarge),
        ("limits: {pids: 4194305}", TooLarge),
        ("limits: {cpus: 0.001}", TooSmall),
        ("limits: {cpus: -.inf}", NotFinite),
    ] {
        let error = fails(text);
        assert!(
            matches!(error, PolicyError::BadNumber { problem, .. } if problem == expected),
            "{text}: {error:?}"
        );
    }
}

#[test]
fn the_advice_about_a_number_has_both_bounds() {
    for key in ["memory_mb", "disk_mb", "file_size_mb", "output_kb"] {
        let most: u64 = 1 << 40;
        ok(&format!("limits: {{{key}: {most}}}"));
        let help = fails(&format!("limits: {{{key}: {}}}", most + 1)).help();
        assert!(help.contains(&format!("between 1 and {most},")), "{key}: {help}");
    }
}

#[test]
fn paths_that_mean_nothing_are_errors() {
    use PathProblem::{Empty, Nul, OtherUser, Pattern};
    for (text, expected) in [
        ("fs: {read: ['']}", Empty),
        ("fs: {deny: ['']}", Empty),
        ("fs: {read: [\"a\\0b\"]}", Nul),
        ("fs: {write: [~root/x]}", OtherUser),
        ("fs: {read: ['src/**']}", Pattern),
    ] {
        let error = fails(text);
        assert!(
            matches!(error, PolicyError::BadPath { problem, .. } if problem == expected),
            "{text}: {error:?}"
        );
    }
    assert!(
        ok("fs: {read: ['../up', '~', '~/x', './~root', 'pages/[id]', 'a//b/.']}")
            .read
            .is_some()
    );
    for text in [
        "fs: {deny: ['[a']}",
        "fs: {deny: ['{a']}",
        "fs: {deny: ['a**']}",
        "fs: {deny: ['*/../x']}",
    ] {
        assert!(matches!(fails(text), PolicyError::BadGlob { .. }), "{text}");
    }
}

#[test]
fn names_of_variables_are_checked() {
    for text in ["A*", "*", "_*", "__*", "A_*B", "LC_**"] {
        let error = fails(&format!("env: {{allow: ['{text}']}}"));
        assert!(matches!(error, PolicyError::BadEnvPattern { .. }), "{text}: {error:?}");
    }
    for text in ["", "1A", "A-B", "A=B", "Ä", "A B"] {
        let error = fails(&format!("env: {{allow: ['{text}']}}"));
        assert!(matches!(error, PolicyError::BadEnvName { .. }), "{text}: {error:?}");
    }
    assert!(matches!(fails("env: {set: {A-B: x}}"), PolicyError::BadEnvName { .. }));
    assert!(matches!(
        fails("env: {set: {A: \"\\0\"}}"),
        PolicyError::BadEnvValue { .. }
    ));
    let error = fails("env:\n  set:\n    A: x\n    LD_PRELOAD: /tmp/x.so\n");
    assert_eq!(
        error.to_string(),
        "`env.set`: `LD_PRELOAD` makes programs load or run code, and never passes"
    );
    assert_eq!(error.origin().line, 4);
}

fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let texts: Vec<&'static str> = crate::builtin::names()
        .filter_map(crate::builtin::text)
        .chain([EVERYTHING])
        .collect();
    let edits = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..8);
    (prop::sample::select(texts), edits).prop_map(|(text, edits)| {
        let mut bytes = text.as_bytes().to_vec();
        for (index, byte, kind) in edits {
            let at = index.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => {
                    bytes.remove(at);
                }
                _ => {
                    let end = (at + usize::from(byte)).min(bytes.len());
                    let piece = bytes[at..end].to_vec();
                    bytes.splice(at..at, piece);
                }
            }
        }
        bytes
    })
}

fn never_panics(bytes: &[u8]) {
    for error in [
        parse_bytes(&file(), bytes).err(),
        parse_project_config(&file(), bytes).err(),
    ]
    .into_iter()
    .flatten()
    {
        let text = String::from_utf8_lossy(bytes);
        assert!(!error.render(Some(&text)).is_empty());
    }
    if let Ok(policy) = parse_bytes(&file(), bytes) {
        let _ = crate::resolve(&policy, &crate::layer::NoLibrary, &crate::testing::FakeHost::new());
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        never_panics(&bytes);
    }

    #[test]
    fn arbitrary_text_never_panics(text in "[ -~\\n\\t\u{80}-\u{2fff}]{0,200}") {
        never_panics(text.as_bytes());
    }

    #[test]
    fn yaml_like_text_never_panics(text in "(\\PC|[\\[\\]{}:,&*!|>'\"%@#?\\- \\n]|: |- |\\n  ){0,80}") {
        never_panics(text.as_bytes());
    }

    #[test]
    fn mutated_policies_never_panic(bytes in mutated()) {
        never_panics(&bytes);
    }
}
