//! The small programs that every agent reaches for: search, archives, editors of streams, databases, keys.

use crate::claims::claims;

claims! {
    fn the_sandboxs_own_name_leads_to_itself(at) {
        at.needs(&["hostname", "python3", "getent"]);
        at.prints("hostname; hostname -f; getent hosts localhost > /tmp/found", "sandbox\nsandbox\n");
        at.prints(
            "python3 -c 'import socket; print(socket.gethostbyname(socket.gethostname()), socket.gethostbyname(\"localhost\"))'",
            "127.0.0.1 127.0.0.1\n",
        );
    }

    fn man_shows_a_page(at) {
        at.needs(&["man"]);
        at.prints("printf '.TH X 1\\n.SH NAME\\nx - y\\n' > x.1; MANPAGER=cat man ./x.1 | grep -c 'x - y'", "1\n");
    }

    fn fontconfig_finds_its_configuration(at) {
        at.needs(&["fc-match"]);
        at.prints_as_bare("fc-match sans 2>&1");
    }

    fn ripgrep_searches_the_tree_and_honours_gitignore(at) {
        at.needs(&["rg", "git"]);
        at.stage("git init -q . && mkdir a && echo needle > a/found && echo needle > ignored && echo ignored > .gitignore");
        at.prints("rg --sort path -n needle; rg -j2 --files | sort", "a/found:1:needle\na/found\n");
    }

    fn grep_find_and_xargs_walk_the_tree(at) {
        at.stage("mkdir -p a/b c && echo needle > a/b/one && echo hay > c/two && touch -d '2001-01-01' c/old");
        at.prints(
            "grep -rl needle . && find . -type f -newermt 2002-01-01 | sort
             find . -name 'o*' -print0 | sort -z | xargs -0 ls -d",
            "./a/b/one\n./a/b/one\n./c/two\n./a/b/one\n./c/old\n",
        );
    }

    fn xargs_p_runs_its_commands_in_parallel(at) {
        at.prints("seq 1 40 | xargs -P 8 -n 1 sh -c 'sleep 0.01; echo $0' | sort -n | tr '\\n' ' '", &numbers(40));
    }

    fn perl_edits_files_in_place_and_forks(at) {
        at.needs(&["perl"]);
        at.stage("printf 'a=1\\nb=2\\n' > file");
        at.prints(
            r#"perl -pi -e 's/(\d)/$1*2/e' file && cat file
               perl -e 'my $pid = fork // die; if (!$pid) { exit 7 } waitpid $pid, 0; print $? >> 8, "\n"'
               perl -MPOSIX -MFile::Temp -e 'print -w File::Temp->new ? "temp\n" : "no\n"; print `echo child`'"#,
            "a=2\nb=4\n7\ntemp\nchild\n",
        );
    }

    fn perl_reads_itself_in_proc(at) {
        at.needs(&["perl"]);
        at.prints(
            r#"perl -e 'open my $f, "<", "/proc/self/status" or die; my ($pid) = map { /^Pid:\s+(\d+)/ } <$f>;
                        print $pid == $$ ? "same\n" : "other\n"; print readlink("/proc/$$/exe") =~ /perl/ ? "perl\n" : "?\n"'"#,
            "same\nperl\n",
        );
    }

    fn tar_and_gzip_carry_a_tree_there_and_back(at) {
        at.needs(&["tar", "gzip"]);
        at.stage(
            "mkdir -p tree/sub && echo data > tree/sub/file && chmod 750 tree/sub && ln -s sub/file tree/link
             echo x > tree/run && chmod 755 tree/run",
        );
        at.prints(
            "tar czf tree.tgz tree && gzip -t tree.tgz && mkdir out && tar xzf tree.tgz -C out
             diff -r tree out/tree && cd out && find tree -printf '%P %m %l\\n' | sort
             cd .. && gzip -k tree/run && gunzip -c tree/run.gz",
            " 755 \nlink 777 sub/file\nrun 755 \nsub 750 \nsub/file 644 \nx\n",
        );
    }

    fn sed_i_awk_sort_and_diff_work_on_files(at) {
        at.stage("printf 'b 2\\na 1\\n' > file");
        at.prints(
            "sed -i.bak 's/a/c/' file && cat file && sort -o file file && awk '{ n += $2 } END { print n }' file
             diff file file.bak || echo differs $?",
            "b 2\nc 1\n3\n2c2\n< c 1\n---\n> a 1\ndiffers 1\n",
        );
    }

    fn sort_spills_to_temporary_files(at) {
        at.prints("seq 200000 -1 1 | sort -n -S 1M | head -n 2", "1\n2\n");
    }

    fn sqlite3_program_keeps_a_database(at) {
        at.needs(&["sqlite3"]);
        at.prints(
            "sqlite3 data.db 'create table t (a); insert into t values (1), (2); select sum(a) from t'
             sqlite3 data.db .dump | wc -l",
            "3\n6\n",
        );
    }

    fn jq_and_openssl_compute(at) {
        at.needs(&["jq", "openssl"]);
        at.prints(
            "echo '{\"a\":[1,2,3]}' | jq -c '.a | map(. * 2)'
             openssl rand 64 | wc -c && printf abc | openssl dgst -sha256 -r | cut -c1-16
             openssl genpkey -algorithm ed25519 -out key.pem && openssl pkey -in key.pem -pubout | head -n 1",
            "[2,4,6]\n64\nba7816bf8f01cfea\n-----BEGIN PUBLIC KEY-----\n",
        );
    }

    fn ssh_keygen_makes_a_key_for_the_sandboxs_user(at) {
        at.needs(&["ssh-keygen"]);
        at.prints("ssh-keygen -q -t ed25519 -N '' -f ./key && cut -d' ' -f1 key.pub", "ssh-ed25519\n");
    }

    fn curl_reads_a_file_and_a_server_inside(at) {
        at.needs(&["curl", "python3"]);
        at.stage("echo page > page");
        at.prints(
            "curl -sS \"file://$PWD/page\"
             python3 -u -m http.server --bind 127.0.0.1 0 > log 2>&1 & server=$!
             until port=$(grep -o 'port [0-9]*' log | cut -d' ' -f2) && [ -n \"$port\" ]; do sleep 0.05; done
             curl -sS http://127.0.0.1:$port/page; kill $server",
            "page\npage\n",
        );
    }

    fn tmux_runs_a_session_of_its_own(at) {
        at.needs(&["tmux"]);
        at.prints(
            "tmux -L glee-$$ -f /dev/null new-session -d 'echo in-tmux > out; sleep 20'
             for _ in $(seq 100); do test -s out && break; sleep 0.1; done; cat out; tmux -L glee-$$ kill-server",
            "in-tmux\n",
        );
    }
}

fn numbers(last: u32) -> String {
    (1..=last).map(|n| format!("{n} ")).collect()
}
