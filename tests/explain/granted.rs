//! A tree that a policy grants for writing and denies as well: the sandbox is built, and the denial wins.

use glee_tests::{Caller, Policy, Run, World};

pub(crate) fn prove(caller: Caller) {
    let world = World::new(caller);
    world.file("@OUT/data/file", "text\n");
    for deny in ["@OUT/data", "@OUT/*"] {
        let yaml = format!("extends: workspace\nfs:\n  write: [., \"@OUT/data\"]\n  deny: [\"{deny}\"]\n");
        let script = "cat @OUT/data/file || echo x > @OUT/data/new || echo denied";
        let outcome = Run::sandboxed(&world, Policy::Yaml(yaml))
            .command(["sh", "-c", script])
            .go();
        assert_eq!(
            (outcome.code(), outcome.out().as_str()),
            (Some(0), "denied\n"),
            "{deny}: {}",
            outcome.describe()
        );
    }
    let left: Vec<_> = std::fs::read_dir(world.path("@OUT/data"))
        .expect("list it")
        .flatten()
        .collect();
    assert_eq!(left.len(), 1, "{left:?}");
}
