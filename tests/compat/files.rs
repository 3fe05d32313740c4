//! Files in the project: big, linked, locked, mapped, watched, oddly named.

use crate::claims::claims;

claims! {
    fn a_500_mb_file_is_written_and_read_in_the_project(at) {
        at.prints(
            "yes 0123456789abcde | head -c 500000000 > big && wc -c < big
             yes 0123456789abcde | head -c 500000000 | cmp - big && echo equal; rm big",
            "500000000\nequal\n",
        );
    }

    fn hard_links_and_symlinks_work_across_directories(at) {
        at.stage("mkdir a b && echo data > a/file");
        at.prints(
            "ln a/file b/hard && ln -s ../a/file b/soft && ln -s \"$PWD/a\" dir && stat -c %h a/file
             cat b/hard b/soft dir/file && readlink b/soft && mv a/file b/moved && cat b/moved
             test -e b/soft || echo dangling",
            "2\ndata\ndata\ndata\n../a/file\ndata\ndangling\n",
        );
    }

    fn rename_replaces_files_and_moves_directories(at) {
        at.prints(
            "mkdir -p from/deep to && echo 1 > from/deep/x && echo 2 > y && mv -f y from/deep/x
             mv from/deep to/ && cat to/deep/x
             rmdir from && rm -r to && ls",
            "2\n",
        );
    }

    fn walking_the_project_finds_its_own_files_and_no_others(at) {
        at.needs(&["git", "rg", "tar"]);
        at.stage("git init -q -b main . && mkdir src && echo needle > src/a && echo x > .hidden");
        at.prints(
            "find . -path ./.git -prune -o -type f -print | sort; rg -uu --files -g '!.git' | sort; grep -rl needle .
             git add -A && git status --porcelain && git clean -ndx
             cp -a . /tmp/copy-$$ && diff -r src /tmp/copy-$$/src && rm -rf /tmp/copy-$$
             tar cf - --exclude .git . | tar t | grep -v '/$' | sort",
            concat!(
                "./.hidden\n./src/a\n.hidden\nsrc/a\n./src/a\n",
                "A  .hidden\nA  src/a\n./.hidden\n./src/a\n",
            ),
        );
    }

    fn long_names_and_deep_paths_are_usable(at) {
        at.needs(&["python3"]);
        at.stage("cat > main.py <<'PY'
import os
long, step = 'n' * 255, 'd' * 250
open(long, 'w').write('long'); print(open(long).read())
for _ in range(30): os.mkdir(step); os.chdir(step)
open('x', 'w').write('deep'); print(open('x').read(), len(os.getcwd()) > 7500)
PY");
        at.prints("python3 main.py", "long\ndeep True\n");
        at.finds("find . -name x | wc -c", "7534\n");
    }

    fn unicode_and_odd_names_are_kept(at) {
        at.stage("mkdir odd");
        at.prints(
            "cd odd && touch 'naïve 文件 🎉' 'a b' \"q'u\\\"o\" -- '-dash' 'tab\tx' && ls -1 -N | sort",
            "-dash\na b\nnaïve 文件 🎉\nq'u\"o\ntab\tx\n",
        );
        at.finds("ls -1 -N odd | wc -l", "5\n");
    }

    fn a_fifo_passes_bytes_between_processes(at) {
        at.prints("mkfifo pipe && (echo through > pipe &) && cat pipe && rm pipe", "through\n");
    }

    fn inotify_tells_of_a_new_file(at) {
        at.needs(&["python3"]);
        at.stage("mkdir watched; cat > main.py <<'PY'
import ctypes, os, struct
libc = ctypes.CDLL(None, use_errno=True)
fd = libc.inotify_init1(0)
assert libc.inotify_add_watch(fd, b'watched', 0x100) > 0, os.strerror(ctypes.get_errno())
open('watched/new', 'w').close()
_, mask, _, length = struct.unpack('iIII', (event := os.read(fd, 4096))[:16])
print(hex(mask), event[16:16 + length].rstrip(b'\\0'))
PY");
        at.prints("python3 main.py", "0x100 b'new'\n");
    }

    fn flock_excludes_a_second_holder(at) {
        at.needs(&["flock"]);
        at.prints(
            "flock lock sh -c 'flock -n lock true || echo busy; echo held'; flock -n lock echo free",
            "busy\nheld\nfree\n",
        );
    }

    fn record_locks_exclude_another_process(at) {
        at.needs(&["python3"]);
        at.stage("cat > main.py <<'PY'
import fcntl, os
file = open('locked', 'w')
fcntl.lockf(file, fcntl.LOCK_EX)
if os.fork() == 0:
    try: fcntl.lockf(open('locked', 'w'), fcntl.LOCK_EX | fcntl.LOCK_NB); os._exit(1)
    except OSError as error: os._exit(error.errno)
print(os.waitstatus_to_exitcode(os.wait()[1]))
PY");
        at.prints("python3 main.py", "11\n");
    }

    fn a_shared_mapping_is_seen_by_the_child_and_on_disk(at) {
        at.needs(&["python3"]);
        at.stage("head -c 4096 /dev/zero > mapped; cat > main.py <<'PY'
import mmap, os
with open('mapped', 'r+b') as file, mmap.mmap(file.fileno(), 4096) as shared:
    if os.fork() == 0: shared[:5] = b'child'; os._exit(0)
    os.wait(); print(shared[:5]); shared.flush()
print(open('mapped', 'rb').read(5))
PY");
        at.prints("python3 main.py", "b'child'\nb'child'\n");
        at.finds("head -c 5 mapped", "child");
    }

    fn sparse_files_times_and_modes_are_kept(at) {
        at.prints(
            "truncate -s 1G sparse && fallocate -l 1M solid && stat -c '%n %s' sparse solid
             test $(stat -c %b sparse) -lt 100 && echo sparse
             touch -d '2001-02-03 04:05:06 UTC' dated && TZ=UTC stat -c %y dated | cut -c1-19
             umask 077; echo > private && stat -c %a private && chmod 755 private && stat -c %a private
             cp -a dated copy && TZ=UTC stat -c %y copy | cut -c1-10
             install -m 640 dated installed && stat -c %a installed",
            concat!(
                "sparse 1073741824\nsolid 1048576\nsparse\n2001-02-03 04:05:06\n",
                "600\n755\n2001-02-03\n640\n"
            ),
        );
    }

    fn unnamed_files_memfds_and_sendfile_work(at) {
        at.needs(&["python3"]);
        at.stage("cat > main.py <<'PY'
import os, tempfile
fd = os.open('.', os.O_TMPFILE | os.O_RDWR)
os.write(fd, b'unnamed'); os.link(f'/proc/self/fd/{fd}', 'named', src_dir_fd=fd)
print(open('named', 'rb').read())
memory = os.memfd_create('m'); os.write(memory, b'memory'); os.lseek(memory, 0, 0)
target = open('copy', 'wb'); print(os.sendfile(target.fileno(), memory, 0, 6), open('copy', 'rb').read())
source = open('named', 'rb'); print(os.copy_file_range(source.fileno(), target.fileno(), 7))
os.setxattr('named', 'user.note', b'value'); print(os.getxattr('named', 'user.note'))
print(tempfile.TemporaryFile().write(b'12345'), os.statvfs('.').f_bavail > 0)
PY");
        at.prints("python3 main.py", "b'unnamed'\n6 b'memory'\n7\nb'value'\n5 True\n");
    }

    fn eventfd_timerfd_signalfd_and_epoll_work(at) {
        at.needs(&["gcc"]);
        at.stage(r#"cat > main.c <<'C'
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>
int main(void) {
    sigset_t set;
    sigemptyset(&set); sigaddset(&set, SIGUSR1); sigprocmask(SIG_BLOCK, &set, 0);
    int fds[3] = { eventfd(0, 0), timerfd_create(CLOCK_MONOTONIC, 0), signalfd(-1, &set, 0) };
    int poll = epoll_create1(0), ready = 0;
    struct itimerspec soon = { .it_value = { .tv_nsec = 1000000 } };
    struct epoll_event edge = { .events = EPOLLIN | EPOLLET };
    for (int n = 0; n < 3; n++) epoll_ctl(poll, EPOLL_CTL_ADD, fds[n], &edge);
    eventfd_write(fds[0], 1); timerfd_settime(fds[1], 0, &soon, 0); kill(getpid(), SIGUSR1);
    while (ready < 3) {
        struct epoll_event events[3];
        int n = epoll_wait(poll, events, 3, 5000);
        if (n <= 0) break;
        ready += n;
    }
    printf("%d ready\n", ready);
}
C"#);
        at.prints("gcc main.c -o main && ./main", "3 ready\n");
    }
}
