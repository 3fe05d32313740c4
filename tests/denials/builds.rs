//! Ordinary builds in a sandbox that allows them: next to nothing is reported.

use std::fs;

use glee_tests::{Caller, Policy, World};

use crate::support::{denials, prepared, put, reported, size, world};

/// Calls that open a file in the smallest of these builds.
const ACCESSES: usize = 1000;

pub(crate) fn prove(caller: Caller) {
    for (name, script) in [
        ("make", "make -s && ./all"),
        ("python", "python3 -m unittest -q tests"),
        ("node", "node main.js && node -e 'require(\"fs\").readdirSync(\".\")'"),
        (
            "git",
            "git init -q . && git add -A && git -c user.name=a -c user.email=b commit -qm x && git log --oneline",
        ),
    ] {
        for _ in 0..size(1, 10) {
            let world = world(caller);
            files(&world);
            let run = prepared(&world, Policy::Named("workspace"), &[]);
            let (outcome, report) = reported(&world, run.command(["sh", "-ec", script]));
            assert_eq!(outcome.code(), Some(0), "{name}: {}", outcome.describe());
            let wrong = denials(&report).len();
            assert!(wrong <= ACCESSES / 1000, "{name}: {:#}", report["denials"]);
        }
    }
}

fn files(world: &World) {
    let put = |name: &str, text: &str| {
        let path = put(world, &world.project().join(name), 0o644);
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
        "main.js",
        "const fs = require('fs'); fs.writeFileSync('out', JSON.stringify({a: 1})); console.log(fs.readFileSync('out', 'utf8'));\n",
    );
}
