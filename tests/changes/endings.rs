//! However a run ends, its report is complete.

use std::time::Duration;

use glee_tests::{Policy, Run};

use crate::claims::claims;
use crate::support::{difference, tree};

const MANY: &str = "mkdir made; i=0; while [ $i -lt 300 ]; do echo $i > made/$i; i=$((i+1)); done; rm -r given; ";

claims! {
    fn a_run_that_reaches_its_deadline_is_listed_whole(at) {
        at.given("mkdir given; echo 1 > given/f; echo 1 > old");
        let ran = at.run_with(&["--timeout", "2s"], &format!("{MANY} echo 2 > old; trap '' TERM; sleep 100; sleep 100"));
        assert_eq!(ran.report["outcome"], "timeout", "{}", ran.outcome.describe());
        assert_eq!(ran.told.len(), 304);
        ran.is_exact();
    }

    fn a_run_that_is_killed_while_it_writes_is_listed_whole(at) {
        at.given("mkdir given; echo 1 > given/f");
        let ran = at.run_with(&["--timeout", "1500ms"],
            "trap '' TERM; i=0; while :; do mkdir -p d$((i%50)); echo $i > d$((i%50))/f$i; rm -f d$((i%50))/f$((i-40)); i=$((i+1)); done");
        assert_eq!(ran.report["outcome"], "timeout", "{}", ran.outcome.describe());
        assert!(ran.told.len() > 50, "{}", ran.told.len());
        ran.is_exact();
    }

    fn a_command_that_kills_itself_is_listed_whole(at) {
        at.given("mkdir given; echo 1 > given/f");
        let ran = at.run(&format!("{MANY} kill -9 $$"));
        assert_eq!(ran.told.len(), 303);
        ran.is_exact();
    }

    fn a_supervisor_that_is_told_twice_to_end_still_reports(at) {
        at.given("mkdir given; echo 1 > given/f");
        std::thread::sleep(Duration::from_millis(60));
        let before = tree(&at.world.project());
        let running = Run::sandboxed(&at.world, Policy::Named("workspace"))
            .flags(["--report", "@OUT/r.json"])
            .script(&format!("trap '' INT; {MANY} @A mark ready @ID; sleep 100"))
            .spawn();
        assert!(running.wait_for_mark("ready"), "the command did not get so far");
        running.signal("INT");
        std::thread::sleep(Duration::from_millis(100));
        running.signal("INT");
        let outcome = running.finish();
        let text = std::fs::read_to_string(at.world.path("@OUT/r.json")).expect("a report");
        let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let changes = difference(&before, &tree(&at.world.project()));
        assert_eq!(report["changed_files"].as_array().map(Vec::len), Some(changes.len()), "{}", outcome.describe());
    }
}
