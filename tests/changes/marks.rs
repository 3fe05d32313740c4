//! What the host would run later is marked, and what only looks like it is not.

use crate::claims::claims;

claims! {
    fn what_the_host_would_run_is_marked(at) {
        // A project of its own profile leaves these open: the point here is the mark, not the cover.
        let files = "package.json Makefile makefile.d/GNUmakefile build.rs sub/conftest.py setup.py pyproject.toml \
            Dockerfile justfile .gitlab-ci.yml sub/.envrc deep/er/.bashrc vite.config.ts x/lib.mk sub/package.json \
            sub/.vscode/tasks.json sub/.github/workflows/ci.yml";
        let script = format!("for f in {files}; do mkdir -p \"$(dirname $f)\" && echo x > $f || echo lost $f; done");
        let ran = at.run(&script).left();
        let made = files.split_whitespace().filter(|file| at.world.project().join(file).exists());
        let unmarked: Vec<&str> = made.clone().filter(|file| ran.reason(file).is_none()).collect();
        assert_eq!(unmarked, Vec::<&str>::new());
        assert!(made.count() >= 12, "too much was refused: {}", ran.outcome.describe());
    }

    fn ordinary_files_are_not_marked(at) {
        let ran = at.run("mkdir src; echo x > src/main.rs; echo x > notes.txt; echo x > Makefiles; echo x > a.json; \
            mkdir build; echo x > build/out.o; echo x > hooks; ln -s src/main.rs near").left();
        let marked = ran.report["changed_files"].as_array().expect("rows").iter().filter(|row| !row["executes"].is_null());
        assert_eq!(marked.count(), 0, "{}", ran.report["changed_files"]);
    }

    fn an_executable_bit_is_marked(at) {
        at.given("echo x > tool; echo x > old; chmod +x old");
        let ran = at.run("chmod +x tool; echo y >> old; printf '#!/bin/sh\\n' > new; chmod 755 new; echo x > plain").left();
        let reasons = ["tool", "old", "new", "plain"].map(|file| ran.reason(file).is_some());
        assert_eq!(reasons, [true, true, true, false]);
    }

    fn links_that_leave_the_project_are_marked(at) {
        at.given("mkdir -p a/b; echo x > a/f");
        let ran = at.run("ln -s /etc/passwd out; ln -s ../../../x up; cd a/b; ln -s ../f near; ln -s ../../.. above; \
            ln -s ../b/../../../x round; ln -s @PROJECT/a/f whole; ln -s @PROJECT/../x lies; ln -s nowhere dangling; \
            ln -s loop loop").left();
        let names = ["out", "up", "a/b/near", "a/b/above", "a/b/round", "a/b/whole", "a/b/lies", "a/b/dangling", "a/b/loop"];
        let marked = names.map(|name| ran.reason(name).is_some());
        assert_eq!(marked, [true, true, false, true, true, false, true, false, false]);
        ran.is_exact();
    }

    fn a_link_in_the_place_of_a_directory_that_is_run_is_marked(at) {
        let ran = at.run("mkdir -p sub/ci/workflows; echo x > sub/ci/workflows/c.yml; ln -s ci sub/.github; ln -s ci sub/.husky").left();
        let reasons = ["sub/.github", "sub/.husky"].map(|name| ran.reason(name).is_some());
        assert_eq!(reasons, [true, true]);
    }

    fn what_is_deleted_is_not_marked(at) {
        at.given("echo x > Makefile");
        let ran = at.run("rm Makefile").left();
        assert_eq!(ran.reason("Makefile"), None);
        ran.is_exact();
    }

    fn git_objects_are_counted_and_the_rest_of_git_is_listed(at) {
        at.given("git init -q -b main; git config user.name a; git config user.email a@b; echo 1 > f; git add f; git commit -qm one");
        let ran = at.run("echo 2 > f; git commit -qam two; git tag t").left();
        // A commit, a tree and a blob, with the directories that they lie in.
        let objects = ran.report["changes"]["git_objects"].as_u64().expect("a number");
        assert!((3..=6).contains(&objects), "{objects}");
        let told = |path: &str| ran.told.contains_key(path.as_bytes());
        let seen = ["f", ".git/refs/heads/main", ".git/refs/tags/t", ".git/logs/HEAD", ".git/index"].map(told);
        assert_eq!(seen, [true; 5], "{:?}", ran.told.keys().map(|k| String::from_utf8_lossy(k)).collect::<Vec<_>>());
        assert!(!ran.told.keys().any(|path| path.starts_with(b".git/objects/")), "{:?}", ran.told);
        // Nothing of the sandbox's own making.
        assert!(!told(".git/commondir") && !told(".envrc") && !told(".git/config.lock"), "{:?}", ran.told);
    }

    fn what_only_pretends_to_be_an_object_is_listed(at) {
        at.given("git init -q; mkdir -p .git/objects/ab");
        let ran = at.run("cd .git/objects; echo x > ab/Makefile; echo x > ab/abcdef; ln -s /etc ab/cd; \
            echo x > ab/11111111111111111111111111111111111111; chmod +x ab/11111111111111111111111111111111111111; \
            mkdir -p info; echo /x > info/alternates").left();
        let names = ["ab/Makefile", "ab/abcdef", "ab/cd", "ab/11111111111111111111111111111111111111", "info/alternates"];
        let marked = names.map(|name| ran.reason(&format!(".git/objects/{name}")).is_some());
        assert_eq!(marked, [true, false, true, true, true]);
    }

    fn a_repository_made_inside_is_listed_with_what_was_set_aside(at) {
        let ran = at.run("git init -q; echo 'echo pwned' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit").left();
        assert!(ran.told.contains_key(b".git/HEAD".as_slice()), "{:?}", ran.told);
        let aside = ran.told.keys().filter(|path| String::from_utf8_lossy(path).contains("set-aside")).count();
        assert!(aside > 0, "{:?}", ran.told);
        ran.is_exact_but_for_objects();
    }

    fn what_is_marked_keeps_its_place_in_a_flood(at) {
        let flood = "import os\nos.mkdir('a')\nfor i in range(12000): open(f'a/{i}','w').close()\nos.mkdir('z'); open('z/Makefile','w').close()";
        let ran = at.run(&format!("python3 -c \"{flood}\"")).left();
        assert_eq!(ran.told.len(), 10_000);
        assert_eq!(ran.reason("z/Makefile"), Some("a build runs it"));
        assert_eq!((&ran.report["changes"]["created"], &ran.report["changes"]["not_listed"]), (&12_003.into(), &2_003.into()));
    }
}
