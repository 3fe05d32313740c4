//! Devices, System V and POSIX memory, and what belongs to the run alone: HOME, `/tmp`, the user it runs as.

use crate::claims::claims;
use crate::seen::told;

claims! {
    fn device_files_behave(at) {
        at.needs(&["python3"]);
        at.prints(
            "echo gone > /dev/null && cat /dev/null && head -c 4 /dev/zero | od -An -tx1
             test $(head -c 100 /dev/urandom | wc -c) = 100 && test $(head -c 16 /dev/random | wc -c) = 16 && echo random
             sh -c 'echo x > /dev/full' 2> /dev/null || echo full
             python3 -c 'import os; os.write(os.open(\"/dev/full\", os.O_WRONLY), b\"x\")' 2>&1 | grep -c 'No space left'
             echo piped | cat /dev/stdin && echo fd | cat /dev/fd/0 && echo out | tee /dev/fd/1 | sort",
            " 00 00 00 00\nrandom\nfull\n1\npiped\nfd\nout\nout\n",
        );
    }

    fn the_callers_own_pipes_can_be_opened_by_name(at) {
        let run = at.inside("echo out > /dev/stdout; echo err > /dev/stderr; cat /dev/stdin");
        // A pipe belongs to who made it: the caller's shell, not this test.
        let seen = run.through(["sh", "-c", "echo in | \"$@\" 2>&1 | cat", "sh"]).go();
        assert_eq!((told(&seen), seen.out().as_str(), seen.err().as_str()), (0, "out\nerr\nin\n", ""));
    }

    fn the_callers_dev_null_can_be_opened_by_name(at) {
        let run = at.inside("echo x > /dev/stderr && echo x > /proc/self/fd/2 && cat /dev/stdin && cat /proc/self/fd/0 && echo done");
        let seen = run.through(["sh", "-c", "exec \"$@\" < /dev/null 2> /dev/null", "sh"]).go();
        assert_eq!((told(&seen), seen.out().as_str()), (0, "done\n"));
    }

    fn dev_tty_without_a_terminal_says_so(at) {
        let told = "No such device or address";
        at.prints(&format!("setsid -w sh -c 'echo x > /dev/tty' 2>&1 | grep -o '{told}'"), &format!("{told}\n"));
    }

    fn openpty_makes_a_working_pair(at) {
        at.needs(&["python3"]);
        at.prints(
            "python3 -c 'import os, pty; a, b = pty.openpty(); os.write(b, b\"x\"); print(os.read(a, 9), os.ttyname(b)[:9])'",
            "b'x' /dev/pts/\n",
        );
    }

    fn sysv_shared_memory_is_shared_with_a_child(at) {
        at.needs(&["perl"]);
        at.prints(
            r#"perl -e 'my $id = shmget(0, 64, 01600) // die "shmget: $!"; my $pid = fork // die;
                        if (!$pid) { shmwrite($id, "hello", 0, 5) or exit 1; exit 0 } waitpid $pid, 0;
                        shmread($id, my $seen, 0, 5) or die; shmctl($id, 0, 0); print "$? $seen\n"'"#,
            "0 hello\n",
        );
    }

    fn sysv_semaphores_and_queues_work(at) {
        at.needs(&["perl"]);
        at.prints(
            r#"perl -e 'my $q = msgget(0, 01600) // die "msgget: $!"; msgsnd($q, pack("l! a*", 1, "queued"), 0) or die;
                        msgrcv($q, my $m, 64, 1, 0) or die; msgctl($q, 0, 0); print((unpack "l! a*", $m)[1], "\n");
                        my $s = semget(0, 1, 01600) // die "semget: $!"; semop($s, pack("s3", 0, 1, 0)) or die;
                        print semctl($s, 0, 12, 0), "\n"; semctl($s, 0, 0, 0)'"#,
            "queued\n1\n",
        );
    }

    fn dev_shm_tmp_and_var_tmp_are_writable(at) {
        at.prints(
            "for dir in /dev/shm /tmp /var/tmp; do
                 f=$dir/glee-compat-$$ && echo $dir > $f && cat $f && rm $f
             done",
            "/dev/shm\n/tmp\n/var/tmp\n",
        );
    }

    fn a_program_in_tmp_can_be_executed(at) {
        at.prints(
            "f=$(mktemp /tmp/glee-compat-XXXXXX) && printf '#!/bin/sh\\necho ran\\n' > $f
             chmod 700 $f && $f && cp /bin/echo $f && $f binary; rm $f",
            "ran\nbinary\n",
        );
    }

    fn tmpdir_is_honoured(at) {
        at.needs(&["python3"]);
        at.prints(
            "mkdir t && export TMPDIR=$PWD/t && dirname \"$(mktemp)\" | sed \"s,$PWD,.,\"
             python3 -c 'import tempfile; print(tempfile.gettempdir() == __import__(\"os\").environ[\"TMPDIR\"])'
             unset TMPDIR; python3 -c 'import tempfile; print(tempfile.gettempdir())'",
            "./t\nTrue\n/tmp\n",
        );
    }

    fn home_keeps_its_value_and_is_writable(at) {
        let home = at.home().display().to_string();
        at.prints(
            "echo $HOME && cd && pwd -P && mkdir -p .cache/x && echo kept > .cache/x/y
             cat ~/.cache/x/y && rm -r .cache/x",
            &format!("{home}\n{home}\nkept\n"),
        );
    }

    fn the_user_has_a_name_a_group_and_a_home(at) {
        at.needs(&["python3"]);
        at.prints(
            "test \"$(whoami)\" = \"$(id -un)\" && test -n \"$(id -gn)\" && echo named
             test \"$(getent passwd $(id -u) | cut -d: -f1)\" = \"$(whoami)\" && echo listed
             getent group $(id -g) > /dev/null && echo grouped
             python3 -c 'import getpass, os, pwd; print(getpass.getuser() == pwd.getpwuid(os.getuid()).pw_name)'
             node -p 'os.userInfo().username.length > 0'
             touch mine && test \"$(stat -c %U:%G mine)\" = \"$(id -un):$(id -gn)\" && echo mine",
            "named\nlisted\ngrouped\nTrue\ntrue\nmine\n",
        );
    }

    fn the_tilde_of_the_users_name_is_home(at) {
        at.needs(&["python3"]);
        at.prints_as_bare("python3 -c 'import os; print(os.path.expanduser(\"~\"))'");
    }

    fn the_time_zone_and_clock_are_the_hosts(at) {
        at.prints_as_bare("date +%Z%z; TZ=America/New_York date -d @0 '+%F %T %Z'; date +%Y-%m");
    }

    fn tls_certificates_are_readable(at) {
        at.needs(&["python3", "openssl"]);
        at.prints_as_bare(
            "sha256sum /etc/ssl/certs/ca-certificates.crt; ls /etc/ssl/certs | wc -l
             python3 -c 'import ssl; print(ssl.create_default_context().cert_store_stats())'
             openssl verify -CApath /etc/ssl/certs \"$(ls /etc/ssl/certs/*.pem | head -n 1)\"",
        );
    }

    fn the_loader_cache_and_alternatives_lead_to_the_same_files(at) {
        at.prints_as_bare(
            "/sbin/ldconfig -p | wc -l; ldd /bin/ls | wc -l; readlink -f /usr/bin/awk /usr/bin/cc; cc --version | head -n 1",
        );
    }

    fn the_distribution_is_known(at) {
        at.needs(&["python3"]);
        at.prints_as_bare(
            "head -n 1 /etc/os-release
             python3 -c 'import platform; print(platform.freedesktop_os_release()[\"ID\"])'",
        );
    }

    fn locale_settings_reach_the_command(at) {
        at.needs(&["python3"]);
        at.prints(
            "echo $LANG; locale charmap; python3 -c 'import sys; print(sys.stdout.encoding, \"é\")'",
            "C.UTF-8\nUTF-8\nutf-8 é\n",
        );
    }
}
