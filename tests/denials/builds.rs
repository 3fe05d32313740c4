//! Ordinary builds in a sandbox that allows them: next to nothing is reported.

use std::fs;
use std::os::unix::fs::chown;

use glee_tests::{Caller, Policy, World};

use crate::rust;
use crate::support::{denials, prepared, put, reported, size, world};

/// One false report in this many accesses is allowed.
const ACCESSES: u64 = 1000;

/// An ordinary build: its name, how often it is done (small and full size), and how.
const BUILDS: &[(&str, (usize, usize), &str)] = &[
    ("make", (1, 10), "make -s && ./all"),
    (
        "cargo",
        (1, 10),
        "cargo build -q --offline && cargo test -q --offline > tests.log && ./target/debug/small",
    ),
    (
        "npm",
        (1, 10),
        "cd app && npm install --offline --no-audit --no-fund --silent ../dep && npm run --silent hello && npm pack --silent",
    ),
    (
        "python",
        (1, 10),
        "python3 -m unittest -q tests && python3 -m compileall -q .",
    ),
    (
        "git",
        (1, 10),
        "git init -q . && git add -A && git -c user.name=a -c user.email=b commit -qm x && git log --oneline",
    ),
];

pub(crate) fn prove(caller: Caller) {
    for (name, (small, full), script) in BUILDS {
        let (mut wrong, mut accesses) = (0, 0);
        for _ in 0..size(*small, *full) {
            let world = world(caller);
            files(&world);
            if *name == "cargo" {
                let (uid, gid) = (Some(caller.uid()), Some(caller.gid()));
                rust::install(&world.home(), &|path| {
                    chown(path, uid, gid).expect("give the toolchain away");
                });
            }
            let path = format!("{}/.cargo/bin:/usr/local/bin:/usr/bin:/bin", world.home().display());
            let run = prepared(&world, Policy::Named("workspace"), &[]).env("PATH", &path);
            let (outcome, report) = reported(&world, run.command(["sh", "-ec", script]));
            assert_eq!(outcome.code(), Some(0), "{name}: {}", outcome.describe());
            let seen = report["observed_calls"].as_u64().expect("a number");
            let here = denials(&report).len() as u64;
            assert!(
                here * ACCESSES <= seen,
                "{name}, {seen} accesses: {:#}",
                report["denials"]
            );
            wrong += here;
            accesses += seen;
        }
        println!(
            "{name} as {}: {wrong} false reports in {accesses} accesses",
            caller.name()
        );
        assert!(accesses > 0, "{name}: nothing was looked at");
    }
}

fn files(world: &World) {
    let put = |name: &str, text: &str| {
        let path = put(world, &world.project().join(name), 0o755);
        fs::write(path, text).expect("write a source");
    };
    for n in 0..10 {
        put(
            &format!("part{n}.c"),
            &format!(
                "#include <stdio.h>\n#include <math.h>\n#include <sys/stat.h>\nint part{n}(void) {{ return puts(\"{n}\"); }}\n"
            ),
        );
    }
    put("all.c", "int part0(void);\nint main(void) { return part0() < 0; }\n");
    put(
        "Makefile",
        "all: $(patsubst %.c,%.o,$(wildcard *.c))\n\tcc -o $@ $^\n%.o: %.c\n\tcc -O1 -c -o $@ $<\n",
    );
    put(
        "tests.py",
        "import unittest, json, subprocess, tempfile\nclass T(unittest.TestCase):\n    def test(self):\n        \
         with tempfile.TemporaryDirectory() as d:\n            self.assertEqual(subprocess.run(['true']).returncode, 0)\n",
    );
    put(
        "Cargo.toml",
        "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nlocal = { path = \"local\" }\n",
    );
    put(
        "local/Cargo.toml",
        "[package]\nname = \"local\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    );
    put("local/src/lib.rs", "pub fn answer() -> u32 { 42 }\n");
    put(
        "build.rs",
        "fn main() { println!(\"cargo:rustc-env=BUILT=script\"); }\n",
    );
    put(
        "src/main.rs",
        "fn main() { println!(\"{} {}\", env!(\"BUILT\"), local::answer()); }\n#[test]\nfn it_adds() { assert_eq!(local::answer(), 42); }\n",
    );
    put(
        "dep/package.json",
        "{\"name\":\"dep\",\"version\":\"1.2.3\",\"main\":\"index.js\",\"bin\":{\"dep\":\"cli.js\"}}",
    );
    put("dep/index.js", "module.exports = () => \"from dep\"\n");
    put(
        "dep/cli.js",
        "#!/usr/bin/env node\nconsole.log(\"cli \" + require(\"./index.js\")())\n",
    );
    put(
        "app/package.json",
        "{\"name\":\"app\",\"version\":\"0.0.1\",\"scripts\":{\"hello\":\"dep && node -p 40+2\"}}",
    );
}
