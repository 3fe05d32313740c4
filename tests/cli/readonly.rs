//! A project that cannot be written to: by its modes, and by a read-only mount.

use crate::claims::claims;

claims! {
    fn a_pipe_of_the_project_is_not_written_to_where_the_project_is_only_read(at) {
        at.host("mkfifo pipe");
        for (call, heard) in [("sh -c", "evil\n"), ("@BIN run --policy restricted -- sh -c", "")] {
            let script = "timeout 5 cat pipe > @OUT/heard & CALL 'timeout 1 sh -c \"echo evil > pipe\"' 2> /dev/null || true
                sleep 0.2; kill $! 2> /dev/null || true; cat @OUT/heard";
            assert_eq!(at.host(&script.replace("CALL", call)), heard, "{call}");
        }
    }

    fn a_project_without_write_permission_can_be_worked_in(at) {
        at.host("echo content > file && chmod 444 file && mkdir sub && chmod 555 sub .");
        for policy in ["restricted", "workspace"] {
            let seen = at.run(policy, "cat file; ls; cd sub; pwd -P > /dev/null");
            assert_eq!(seen.whole(), (0, "content\nfile\nsub\n", ""), "{policy}");
        }
        let seen = at.run("restricted", "echo x > new || echo kept");
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "kept\n"), "{}", seen.stderr);
        assert_eq!(at.host("ls -A; chmod 755 . sub"), "file\nsub\n");
    }

    fn a_project_on_a_read_only_mount_can_be_worked_in(at) {
        at.world.file("@PROJECT/file", "content\n");
        at.world.dir("@PROJECT/.glee");
        let seen = at.in_mount_namespace(
            "mount --bind @PROJECT @PROJECT && mount -o remount,ro,bind @PROJECT && cd @PROJECT
             for policy in restricted workspace; do
                 as_caller @BIN run --policy $policy -- sh -c 'cat file; echo x 2> /dev/null > new || echo kept'
             done",
        );
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "content\nkept\ncontent\nkept\n"), "{}", seen.stderr);
        assert_eq!(at.host("ls -A"), ".glee\nfile\n");
    }

    fn a_project_on_a_nosuid_nodev_noexec_mount_can_be_worked_in(at) {
        let seen = at.in_mount_namespace(
            "mount -t tmpfs -o nosuid,nodev,noexec,mode=1777 tmpfs @PROJECT && cd @PROJECT
             as_caller sh -c 'echo content > file'
             as_caller @BIN run --policy workspace -- sh -c 'cat file; echo written > new
                 printf \"#!/bin/sh\" > x; chmod +x x; ./x || echo noexec kept'
             cat new",
        );
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "content\nnoexec kept\nwritten\n"), "{}", seen.stderr);
    }

    fn a_full_disk_is_told_to_the_command_and_to_nobody_else(at) {
        let seen = at.in_mount_namespace(
            "mount -t tmpfs -o size=64k,mode=1777 tmpfs @PROJECT && cd @PROJECT
             as_caller sh -c 'head -c 100000 /dev/zero > filler 2> /dev/null || :'
             as_caller @BIN run --policy workspace -- sh -c 'echo more 2> /dev/null > new || echo full; echo status $?'",
        );
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "full\nstatus 0\n"), "{}", seen.stderr);
    }
}
