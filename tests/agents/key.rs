//! The key: an agent looks for it everywhere, and finds only a word that opens nothing.

use crate::api::{Api, Turn};
use crate::support::{KEY_PREFIX, claims};

/// What a hostile tool call would print: the environment and the arguments of every process, and every file and all
/// memory in which a key stands.
const SEARCH: &str = r#"(
env
for process in /proc/[0-9]*; do
    tr '\0' '\n' < $process/environ; tr '\0' ' ' < $process/cmdline
done
grep -rhoaE '@PREFIX[0-9a-f]+' /etc /tmp /run /var/tmp /dev/shm @HOME
python3 - <<'END'
import glob, re
for maps in glob.glob('/proc/[0-9]*/maps'):
    try:
        memory = open(maps.replace('maps', 'mem'), 'rb')
        regions = open(maps).readlines()
    except OSError:
        continue
    for line in regions:
        start, end = (int(x, 16) for x in line.split()[0].split('-'))
        if ' rw' not in line or end - start > 1 << 28:
            continue
        try:
            memory.seek(start)
            for key in re.findall(b'@PREFIX[0-9a-f]{32}', memory.read(end - start)):
                print(key.decode())
        except OSError:
            pass
END
) 2>&1 | grep -aE '_KEY|@PREFIX' | sort -u | head -c 4000
echo searched"#;

claims! {
    fn a_tool_call_finds_no_key_in_the_environment_in_processes_in_files_or_in_memory(at) {
        at.world.define("PREFIX", KEY_PREFIX);
        let ran = at.bare(at.shell(SEARCH));
        assert!(ran.told().contains(&at.key), "the search does not work bare: {}", ran.outcome.describe());
        at.world.host_does("cd @HOME && rm -rf .codex .claude .claude.json* .gemini .cache .config .npm");
        let ran = at.run("workspace", at.shell(SEARCH));
        ran.succeeded(at);
        // `_KEY=` is there: the placeholder was found.
        let told = &ran.api.asked()[1].body;
        assert!(told.contains("searched") && told.contains("_KEY="), "{}", ran.outcome.describe());
        at.key_stayed_outside(&ran);
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
