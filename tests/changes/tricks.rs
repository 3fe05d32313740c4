//! A command that does not want its changes to be seen, or wants the one who looks to stumble.

use serde_json::json;

use crate::claims::claims;

/// Runs a Python program from a file outside, so that nothing needs quoting.
fn python(at: &crate::support::Place, program: &str) -> String {
    at.world.file("@OUT/program.py", program);
    "python3 @OUT/program.py".to_owned()
}

claims! {
    fn a_forged_time_hides_no_change(at) {
        at.given("echo 1 > f; touch -d '2001-02-03 04:05:06' f");
        let ran = at.run("printf '2\\n' > f; touch -d '2001-02-03 04:05:06' f").left();
        ran.says(&["changed file f"]);
        ran.is_exact();
    }

    fn a_write_through_a_mapping_is_seen(at) {
        at.given("echo program > f; echo program > untouched");
        let ran = at.run("@A m_map f; touch -d '2001-02-03' f").left();
        ran.says(&["changed file f"]);
        ran.is_exact();
    }

    fn a_mapping_whose_file_is_kept_open_by_nobody_that_lives_is_seen(at) {
        // The descriptor is in flight in a socket that only the sockets in it hold: the kernel closes it some time later.
        at.given("echo program > f");
        let program = "import os, mmap, socket, array\n\
            fd = os.open('f', os.O_RDWR)\n\
            a, b = socket.socketpair(socket.AF_UNIX)\n\
            a.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [fd, b.fileno(), a.fileno()]))])\n\
            m = mmap.mmap(fd, 7); m[0:1] = b'X'\n";
        let ran = at.run_with(&["--read", "@OUT/program.py"], &python(at, program)).left();
        ran.says(&["changed file f"]);
        ran.is_exact();
    }

    fn every_name_of_a_changed_file_is_listed(at) {
        at.given("mkdir a b; echo 1 > a/one; ln a/one b/two; echo 1 > b/other");
        let ran = at.run("echo 2 >> a/one").left();
        ran.says(&["changed file a/one", "changed file b/two"]);
        ran.is_exact();
    }

    fn a_second_name_made_inside_is_listed_with_the_first(at) {
        at.given("mkdir a b; echo 1 > a/one");
        let ran = at.run("ln a/one b/two; rm a/one; ln b/two a/one").left();
        ran.says(&["changed file a/one", "created file b/two"]);
        ran.is_exact();
    }

    fn a_file_swapped_for_another_is_seen(at) {
        at.given("echo 1 > f; echo 1 > g; touch -d 2001-01-01 f g; cp -p f same");
        let ran = at.run("mv g f; cp -p same tmp; mv tmp same").left();
        ran.says(&["changed file f", "deleted file g", "changed file same"]);
        ran.is_exact();
    }

    fn directories_that_change_places_are_seen(at) {
        at.given("mkdir -p a/x b/y; echo 1 > a/f; echo 1 > b/f; echo 1 > a/x/deep; echo 2 > b/y/deep");
        let ran = at.run("mv a t; mv b a; mv t b").left();
        ran.is_exact();
        assert_eq!(ran.told.len(), 12, "{:?}", ran.told);
    }

    fn a_directory_moved_out_and_back_is_what_it_was(at) {
        at.given("mkdir -p a/x; echo 1 > a/x/f");
        let ran = at.run("mv a/x out; mv out a/x; mkdir t; mv a t/a; mv t/a a; rmdir t").left();
        ran.says(&[]);
        ran.is_exact();
    }

    fn names_of_any_bytes_are_told_exactly(at) {
        let program = "import os\n\
            for n in [b'new\\nline', b'\\xff\\xfe', b'quote\"\\'', b' ', b'-rf', b'\\x1b[31m', b'\\xed\\xa0\\x80', b'a\\\\b', b'\\xc3\\xa4'*120, b'x'*255]:\n    open(n, 'w').close(); os.mkdir(b'd'+n[:200]); open(b'd'+n[:200]+b'/'+n, 'w').close()\n";
        let ran = at.run_with(&["--read", "@OUT/program.py"], &python(at, program)).left();
        ran.is_exact();
        assert_eq!(ran.told.len(), 30);
    }

    fn loops_of_links_and_pipes_stop_nobody(at) {
        at.given("mkfifo before; ln -s self self");
        let ran = at.run("ln -s b a; ln -s a b; ln -s . here; ln -s .. up; mkfifo p q; mkdir d; ln -s ../d d/d; touch before").left();
        ran.is_exact();
        assert_eq!(ran.told.len(), 9, "{:?}", ran.told);
    }

    fn a_closed_directory_is_named(at) {
        at.given("mkdir -p open/in; echo 1 > open/in/f");
        let ran = at.run("mkdir -p new/in; echo 1 > new/in/f; chmod 000 open new").left();
        let unsure: Vec<&str> = ran.report["changes"]["unsure"].as_array().expect("a list").iter()
            .filter_map(|one| one["path"].as_str()).collect();
        // Nothing is closed to root.
        if at.world.caller() == glee_tests::Caller::Root {
            ran.is_exact();
        } else {
            ran.says(&["changed dir open", "created dir new"]);
            assert_eq!(unsure, ["new", "open"]);
        }
        at.administrator("chmod -R u+rwX @PROJECT");
    }

    fn a_directory_that_was_closed_before_is_named(at) {
        at.given("mkdir -p shut; echo 1 > shut/f; chmod 000 shut");
        let ran = at.run("chmod 700 shut; echo 2 > shut/g; chmod 000 shut");
        if at.world.caller() == glee_tests::Caller::Root {
            ran.is_exact();
        } else {
            assert_eq!(ran.report["changes"]["unsure"][0]["path"], json!("shut"), "{}", ran.report["changes"]);
        }
        at.administrator("chmod -R u+rwX @PROJECT");
    }

    fn a_tree_deeper_than_a_path_is_long_stops_nobody(at) {
        let program = "import os\n\
            for i in range(3000): os.mkdir('dddd'); os.chdir('dddd')\n\
            open('bottom', 'w').close()\n";
        let command = format!("(mkdir deep; cd deep; {}); echo x > after", python(at, program));
        let ran = at.run_deep(&["--read", "@OUT/program.py"], &command);
        let changes = &ran["changes"];
        assert_eq!((&changes["created"], &changes["unsure"]), (&json!(3003), &json!([])));
        let rows = ran["changed_files"].as_array().expect("rows");
        assert!(rows.iter().any(|row| row["path"] == "after"));
        assert_eq!(changes["not_listed"].as_u64().map(|left| left + rows.len() as u64), Some(3003));
        // And the next run, which finds it there, too.
        let ran = at.run_deep(&[], "rm after");
        assert_eq!((&ran["changes"]["deleted"], &ran["changes"]["created"]), (&json!(1), &json!(0)));
    }

    fn a_hundred_thousand_new_files_are_counted(at) {
        let program = "import os\n\
            for d in range(100):\n    os.mkdir(f'd{d}')\n    for f in range(1000): os.close(os.open(f'd{d}/{f}', os.O_CREAT|os.O_WRONLY))\n";
        let ran = at.run_deep(&["--read", "@OUT/program.py"], &python(at, program));
        assert_eq!((&ran["changes"]["created"], &ran["changes"]["not_listed"]), (&json!(100_100), &json!(90_100)));
        let ran = at.run_deep(&[], "rm -r d7; echo x > d8/5");
        assert_eq!((&ran["changes"]["deleted"], &ran["changes"]["changed"]), (&json!(1001), &json!(1)));
    }

    fn a_tree_in_memory_says_what_it_cannot_see(at) {
        at.administrator("mount -t tmpfs -o mode=777 none @PROJECT");
        at.given("echo program > f");
        let ran = at.run("echo 1 > new; rm f");
        let seen = (ran.told.len(), ran.report["changes"]["unsure"][0]["path"].clone());
        at.administrator("umount -l @PROJECT");
        assert_eq!(seen, (2, json!(".")), "{}", ran.outcome.describe());
    }

    fn what_is_written_on_a_mount_in_the_project_is_listed(at) {
        at.given("mkdir -p m d/n ../data/deep; echo 1 > f; echo 1 > ../data/keep; echo 1 > ../data/gone; echo 1 > ../data/deep/old");
        at.administrator("mount --bind @PROJECT/../data @PROJECT/m; mount -t tmpfs -o mode=777 none @PROJECT/d/n");
        let ran = at.run("echo 2 > f; echo 3 > m/new; echo 4 >> m/deep/old; rm m/gone; mkdir d/n/dir; echo 5 > d/n/dir/file");
        at.administrator("umount -l @PROJECT/m @PROJECT/d/n");
        let told: Vec<String> = ran.told.iter().map(|(path, (change, _))| format!("{change} {}", String::from_utf8_lossy(path))).collect();
        assert_eq!(told, [
            "created d/n/dir", "created d/n/dir/file", "changed f", "changed m/deep/old", "deleted m/gone", "created m/new",
        ], "{}", ran.outcome.describe());
        // In memory a mapping leaves no trace.
        assert_eq!(ran.report["changes"]["unsure"].as_array().map(Vec::len), Some(1));
        assert_eq!(ran.report["changes"]["unsure"][0]["path"], "d/n");
    }

    fn a_mount_that_goes_during_the_run_is_named(at) {
        at.given("mkdir m");
        at.administrator("mount -t tmpfs -o mode=777 none @PROJECT/m");
        let ran = at.run_meanwhile("echo 1 > m/inside; echo up > started; until [ -e go ]; do sleep 0.02; done",
            "until [ -e @PROJECT/started ]; do sleep 0.02; done; umount -l @PROJECT/m; echo > @PROJECT/go");
        let unsure = ran["changes"]["unsure"].to_string();
        assert!(unsure.contains("\"m\"") && unsure.contains("unmounted"), "{unsure}");
    }

    fn a_mount_that_comes_during_the_run_is_named(at) {
        at.given("mkdir m");
        let ran = at.run_meanwhile("echo up > started; until [ -e go ]; do sleep 0.02; done; echo 1 > m/inside",
            "until [ -e @PROJECT/started ]; do sleep 0.02; done; mount -t tmpfs none @PROJECT/m; echo > @PROJECT/go");
        at.administrator("umount -l @PROJECT/m");
        let unsure = ran["changes"]["unsure"].to_string();
        assert!(unsure.contains("\"m\"") && unsure.contains("mounted"), "{unsure}");
    }
}
