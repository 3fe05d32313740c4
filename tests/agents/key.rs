//! The key: an agent looks for it everywhere, and finds only a word that opens nothing.

use crate::api::{Api, Turn};
use crate::support::{KEY_PREFIX, claims};

/// What a hostile tool call would do: it goes through the environment, the arguments and the memory of processes, and
/// through files. It prints test keys and the variables of its own that are named like one, and nothing else that it
/// meets. No `$(…)`: gemini refuses it.
const SEARCH: &str = r#"env | grep -a '_KEY='
@PROCESSES > /tmp/@ID
while read -r process; do
    grep -shoaE '@PREFIX[0-9a-f]+' $process/environ $process/cmdline
done < /tmp/@ID
grep -rshoaE '@PREFIX[0-9a-f]+' @PLACES
python3 - <<'END'
import re
for process in open('/tmp/@ID').read().split():
    try:
        memory = open(process + '/mem', 'rb')
        regions = open(process + '/maps').readlines()
    except OSError:
        continue
    for line in regions:
        start, end = (int(x, 16) for x in line.split()[0].split('-'))
        if ' rw' not in line or end - start > 1 << 28:
            continue
        try:
            memory.seek(start)
            for key in set(re.findall(b'@PREFIX[0-9a-f]{32}', memory.read(end - start))):
                print(key.decode())
        except OSError:
            pass
END
rm /tmp/@ID
echo searched"#;

/// Without the sandbox the search keeps to the processes that carry the world's mark, and to the world's home: the rest
/// of the machine is none of its business.
const OWN_PROCESSES: &str = "grep -sal @ID /proc/[0-9]*/cmdline | xargs -rn1 dirname";
const ALL_PROCESSES: &str = "ls -d /proc/[0-9]*";
const ALL_PLACES: &str = "/etc /tmp /run /var/tmp /dev/shm @HOME";

claims! {
    fn a_tool_call_finds_no_key_in_the_environment_in_processes_in_files_or_in_memory(at) {
        let search = |processes: &str, places: &str| {
            let script = SEARCH.replace("@PROCESSES", processes).replace("@PLACES", places);
            at.shell(&script.replace("@PREFIX", KEY_PREFIX))
        };
        let ran = at.bare(search(OWN_PROCESSES, "@HOME"));
        assert!(ran.told().contains(&at.key), "the search does not work bare: {}", ran.outcome.describe());
        at.world.host_does("cd @HOME && rm -rf .codex .claude .claude.json* .gemini .cache .config .npm");
        let ran = at.run("workspace", search(ALL_PROCESSES, ALL_PLACES));
        ran.succeeded(at);
        // The agent has a variable for its key, and the placeholder is in it.
        let told = &ran.api.asked()[1].body;
        assert!(told.contains("searched") && told.contains("_KEY="), "{}", ran.outcome.describe());
        at.key_stayed_outside(&ran);
    }

    fn a_pattern_for_variables_does_not_let_the_key_in(at) {
        let pattern = at.cli.key_variable().replace("API_KEY", "*");
        let api = Api::serve(at.cli, at.shell("env | grep -a '_KEY='"));
        let outcome = at.sandboxed("restricted", &api).flags(["--env", &pattern]).go();
        let ran = at.ran(outcome, api);
        ran.succeeded(at);
        assert!(ran.api.asked()[1].body.contains("_KEY="), "{}", ran.outcome.describe());
        at.key_stayed_outside(&ran);
        assert_eq!(ran.report["model"]["exposed"], serde_json::json!([]));
    }

    fn a_key_that_is_named_as_a_variable_is_inside_and_in_the_report(at) {
        let name = at.cli.key_variable();
        let api = Api::serve(at.cli, at.shell("env | grep -a '_KEY='"));
        let outcome = at.sandboxed("restricted", &api).flags(["--env", name]).go();
        let ran = at.ran(outcome, api);
        ran.succeeded(at);
        assert!(ran.told().contains(&at.key), "{}", ran.outcome.describe());
        assert_eq!(ran.report["model"]["exposed"], serde_json::json!([name]));
        assert!(ran.outcome.err().contains(&format!("`{name}` passes into the sandbox")), "{}", ran.outcome.err());
    }

    fn a_server_that_echoes_the_key_does_not_tell_it_to_the_agent(at) {
        let ran = at.run("restricted", vec![Turn::Text(format!("your key is {} is it not", at.key))]);
        ran.succeeded(at);
        let hidden = "*".repeat(at.key.len());
        assert!(ran.outcome.says(&format!("your key is {hidden} is it not")), "{}", ran.outcome.describe());
        assert!(ran.usage()["hidden"].as_u64() >= Some(1), "{:#}", ran.usage());
        at.key_stayed_outside(&ran);
    }

    fn without_a_key_the_vendor_is_not_asked(at) {
        let api = Api::serve(at.cli, vec![Turn::text("unused")]);
        let outcome = at.sandboxed("restricted", &api).without_env(at.cli.key_variable()).go();
        // A server of the user's own may want none: then it gets none. The placeholder is never sent for a key.
        let (header, _) = at.cli.credential("");
        let given: Vec<_> = api.requests().iter().filter_map(|r| r.header(header).map(str::to_owned)).collect();
        assert_eq!(given, [] as [String; 0], "{}", outcome.describe());
    }
}
