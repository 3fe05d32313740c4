//! A program is started by another one: a script by its interpreter, an ELF file by its loader.

use std::path::Path;
use std::process::Command;

use glee_tests::{Caller, World};
use serde_json::Value;

use crate::ask::{Use, about, explain};

fn ask(world: &World, policy: &Path, name: &str) -> (bool, Value, Value) {
    let path = world.project().join(name);
    let said = explain(world, policy, &about(Use::Exec, &[path]), &["/bin/sh"]).expect("the policy can be used");
    let said = &said[0];
    (said.allowed, said.all["hint"].clone(), said.all["note"].clone())
}

pub(crate) fn prove(caller: Caller) {
    let world = World::new(caller);
    let tool = |name: &str| world.home().join("tools").join(name).display().to_string();
    world.program("@HOME/tools/sh", "#!/bin/sh\n");
    world.program("@HOME/tools/ld.so", "");
    world.program("@PROJECT/script", &format!("#!{} -x\n", tool("sh")));
    world.program("@PROJECT/twice", &format!("#! {}/script\n", world.project().display()));
    world.program("@PROJECT/broken", "#!/nowhere/sh\n");
    world.program("@PROJECT/whole", "#!/bin/sh\n");
    world.file("@PROJECT/main.c", "int main(void) { return 0; }\n");
    let built = Command::new("cc")
        .arg(format!("-Wl,--dynamic-linker={}", tool("ld.so")))
        .arg("-o")
        .args([world.project().join("loaded"), world.project().join("main.c")])
        .status();
    assert!(built.is_ok_and(|status| status.success()));
    let policy = world.file("@OUT/../policy.yml", "extends: workspace\n");
    for (name, needed) in [("script", "sh"), ("twice", "sh"), ("loaded", "ld.so")] {
        let expected = (
            false,
            format!("fs.read: [\"~/tools/{needed}\"]").into(),
            format!("it is started by `{}`, which is not allowed", tool(needed)).into(),
        );
        assert_eq!(ask(&world, &policy, name), expected, "{name}");
    }
    for name in ["whole", "broken"] {
        assert!(ask(&world, &policy, name).0, "{name}");
    }
}
