//! Every kind of change, and nothing else.

use serde_json::json;

use crate::claims::claims;

claims! {
    fn a_run_that_changes_nothing_lists_nothing(at) {
        at.given("mkdir a; echo 1 > a/f; ln -s a l");
        let ran = at.run("cat a/f; ls -lR; touch /tmp/x ~/y").left();
        ran.says(&[]);
        ran.is_exact();
    }

    fn files_are_created_changed_and_deleted(at) {
        at.given("mkdir a; echo 1 > a/old; echo 1 > a/gone; echo 1 > keep; mkdir empty");
        let ran = at.run("echo 2 >> a/old; rm a/gone; mkdir -p b/c; echo 3 > b/c/new; rmdir empty").left();
        ran.says(&[
            "changed file a/old", "deleted file a/gone", "created dir b", "created dir b/c", "created file b/c/new",
            "deleted dir empty",
        ]);
        ran.is_exact();
    }

    // It is hidden from the command, and the supervisor writes in it meanwhile.
    fn the_state_of_this_program_is_not_listed(at) {
        at.run("true").left();
        let state = at.world.root().join("state").display().to_string();
        let script = format!("echo 1 > {state}/new; ! ls {state}/glee");
        let told = at.run_with(&["--write", &state], &script).left().told;
        let row = ("created".to_owned(), "file".to_owned());
        assert_eq!(told, [(format!("{state}/new").into_bytes(), row)].into());
    }

    fn what_comes_and_goes_within_a_run_is_not_listed(at) {
        at.given("echo 1 > f");
        let ran = at.run("echo x > t; rm t; mkdir -p d/e; echo x > d/e/f; rm -r d").left();
        ran.says(&[]);
        ran.is_exact();
    }

    fn links_pipes_and_sockets_are_told_by_their_kind(at) {
        at.given("echo 1 > f; ln -s f old");
        let ran = at.run("ln -s f new; ln -sfn / old; mkfifo pipe; \
            python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")'").left();
        ran.says(&["created symlink new", "changed symlink old", "created fifo pipe", "created socket sock"]);
        ran.is_exact();
    }

    fn a_moved_directory_is_gone_there_and_new_here(at) {
        at.given("mkdir -p a/b/c; echo 1 > a/b/f; echo 2 > a/b/c/g");
        let ran = at.run("mv a/b moved").left();
        ran.says(&[
            "deleted dir a/b", "deleted dir a/b/c", "deleted file a/b/f", "deleted file a/b/c/g",
            "created dir moved", "created dir moved/c", "created file moved/f", "created file moved/c/g",
        ]);
        ran.is_exact();
    }

    fn a_name_that_becomes_another_kind_has_changed(at) {
        at.given("mkdir -p d/e; echo 1 > d/e/f; echo 2 > file; ln -s x link");
        let ran = at.run("rm -r d file link; echo 1 > d; mkdir file; echo 2 > file/in; mkfifo link").left();
        ran.says(&[
            "changed file d", "deleted dir d/e", "deleted file d/e/f", "changed dir file", "created file file/in",
            "changed fifo link",
        ]);
        ran.is_exact();
    }

    fn permissions_of_files_and_directories_count(at) {
        at.given("mkdir d; echo 1 > d/f; mkdir e");
        let ran = at.run("chmod 600 d/f; chmod 700 e; chmod 711 .").left();
        ran.says(&["changed file d/f", "changed dir e", "changed dir ."]);
        ran.is_exact();
    }

    fn a_directory_made_anew_under_its_name_has_changed(at) {
        at.given("mkdir d; echo 1 > d/f; echo 1 > d/g");
        let ran = at.run("mv d aside; mkdir d; cp aside/f d/f; rm -r aside").left();
        ran.says(&["changed dir d", "changed file d/f", "deleted file d/g"]);
        ran.is_exact();
    }

    fn a_row_says_size_and_target(at) {
        let ran = at.run("printf 12345 > five; ln -s some/where link").left();
        let rows = &ran.report["changed_files"];
        let five = json!({"path": "five", "change": "created", "kind": "file", "executes": null, "size": 5});
        let link = json!({"path": "link", "change": "created", "kind": "symlink", "executes": null, "target": "some/where"});
        assert_eq!(rows, &json!([five, link]));
    }

    fn what_was_written_outside_the_project_has_its_whole_path(at) {
        at.world.dir("@OUT/tree");
        at.world.file("@OUT/single", "1\n");
        at.world.file("@OUT/untouched", "1\n");
        let flags = ["--write", "@OUT/tree", "--write", "@OUT/single", "--write", "@OUT/untouched"];
        let ran = at.run_with(&flags, "echo 1 > @OUT/tree/new; echo 2 >> @OUT/single").left();
        let rows = [("created", "@OUT/tree/new"), ("changed", "@OUT/single")];
        let expected = rows.map(|(change, path)| format!("{change} file {}", at.world.fill(path)));
        ran.says(&expected.each_ref().map(String::as_str));
    }

    fn restricted_lists_nothing_and_looks_at_nothing(at) {
        at.given("mkdir d; echo 1 > d/f");
        let run = glee_tests::Run::sandboxed(&at.world, glee_tests::Policy::Named("restricted"));
        let outcome = run.flags(["--report", "@OUT/r.json"]).script("cat d/f").go();
        assert!(outcome.left(), "{}", outcome.describe());
        let text = std::fs::read_to_string(at.world.path("@OUT/r.json")).expect("a report");
        let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!((&report["changed_files"], &report["changes"]), (&json!([]), &json!(null)));
    }
}
