//! Names that another run held first: this one holds them too, and they stay held when that one ends.

use std::fs;

use glee_tests::{Attempt, Leak, Outcome, World, attempt, binary};

/// The other run works under the same policy, and is over a second after the script has begun. Then the script plants, and the
/// host does its part.
fn outlived(
    before: &'static str,
    plants: &str,
    leak: fn(&World, &Outcome) -> Option<String>,
    yaml: &'static str,
) -> Attempt {
    let script = format!(
        "for i in $(seq 80); do [ -e sub/later ] || break; sleep 0.05; done; sleep 0.2; ({plants}) 2> /dev/null || :
         @A mark ready @ID; for i in $(seq 100); do [ -e go ] && break; sleep 0.05; done"
    );
    attempt(script, Leak::Seen(leak))
        .given(move |w| {
            w.git_init();
            w.dir("@PROJECT/sub");
            w.host_does(before);
            w.file("@OUT/other.yml", yaml);
            w.define("GLEE", binary().display());
            w.define("STATE", w.root().join("state").display());
            let run = "XDG_STATE_HOME=@STATE @GLEE run --policy @OUT/other.yml -- sleep 1.5 > @OUT/log 2>&1";
            w.host_does(&format!(
                "{run} & for i in $(seq 100); do [ -S sub/later ] && exit; sleep 0.02; done; cat @OUT/log >&2; exit 7"
            ));
        })
        .meanwhile_only(|w| w.host_tries("cd @PROJECT; git commit -q --allow-empty -m next"))
        .yaml(yaml)
}

fn hook_ran(w: &World, _: &Outcome) -> Option<String> {
    let ran = fs::exists(w.path("@OUT/pwned")).unwrap_or(false);
    ran.then(|| "the host ran a hook of the command's".into())
}

fn came_into_being(w: &World, _: &Outcome) -> Option<String> {
    let made = fs::exists(w.path("@PROJECT/sub/later/secret")).unwrap_or(false);
    made.then(|| "the command made a name that is denied".into())
}

claims! {
    hooks_directory_that_another_run_held_does_not_come_into_being => outlived("git config core.hooksPath sub/later/hooks",
        "cd sub && mkdir -p t/hooks && printf '#!/bin/sh\\ntouch @OUT/pwned\\n' > t/hooks/pre-commit && chmod 755 t/hooks/pre-commit && mv -T t later", hook_ran,
        "extends: workspace\n"),
    denied_name_below_one_that_another_run_held_does_not_come_into_being => outlived("true",
        "mkdir -p sub/later && echo x > sub/later/secret", came_into_being,
        "extends: workspace\nfs: {deny: ['sub/later/secret']}\n"),
}
