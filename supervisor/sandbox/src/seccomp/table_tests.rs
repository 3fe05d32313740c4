//! The list itself: it parses, it is complete, and its numbers are the kernel's.

use std::collections::BTreeSet;

use super::*;

#[test]
fn builtin_list_is_what_the_checked_text_says() {
    let text = include_str!("../../../../sandbox-profiles/syscalls.txt");
    assert_eq!(Table::builtin(), Table::parse(text));
    assert_eq!(Table::builtin().unwrap().iter().count(), 385);
}

#[test]
fn every_number_of_linux_6_18_is_listed() {
    let table = Table::builtin().unwrap();
    for nr in (0..=336).chain(424..=469) {
        assert!(table.name_of(nr, Arch::X86_64).is_some(), "{nr}");
    }
    for nr in (0..=243).chain(260..=294).chain(424..=469) {
        assert!(table.name_of(nr, Arch::Aarch64).is_some(), "{nr}");
    }
}

#[test]
fn names_are_unique() {
    let table = Table::builtin().unwrap();
    let names: BTreeSet<_> = table.iter().map(|syscall| syscall.name).collect();
    assert_eq!(names.len(), table.iter().count());
}

#[test]
fn newer_calls_have_the_same_number_everywhere() {
    for syscall in Table::builtin().unwrap().iter().filter(|syscall| syscall.x86_64 >= 424) {
        assert_eq!(syscall.aarch64, Some(syscall.x86_64), "{}", syscall.name);
    }
}

#[test]
fn every_refusal_says_why() {
    for syscall in Table::builtin()
        .unwrap()
        .iter()
        .filter(|syscall| syscall.action != Action::Allow)
    {
        assert!(!syscall.reason.is_empty(), "{}", syscall.name);
    }
}

/// The list may change; these may not slip through with a change.
#[test]
fn the_ways_out_are_never_simply_allowed() {
    let table = Table::builtin().unwrap();
    let ways_out = "mount umount2 pivot_root chroot unshare setns clone clone3 ptrace process_vm_readv process_vm_writev \
        pidfd_getfd kcmp bpf perf_event_open userfaultfd keyctl add_key request_key init_module finit_module kexec_load \
        kexec_file_load open_by_handle_at name_to_handle_at fanotify_init io_uring_setup io_uring_enter \
        io_uring_register open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr open_tree_attr socket \
        socketpair sendto sendmsg sendmmsg ioctl personality prctl seccomp chmod fchmod fchmodat fchmodat2 open openat \
        openat2 creat mkdir mkdirat mknod mknodat modify_ldt iopl ioperm syslog reboot swapon acct quotactl vmsplice \
        memfd_secret process_madvise move_pages migrate_pages file_setattr settimeofday clock_settime adjtimex";
    for name in ways_out.split_ascii_whitespace() {
        let nr = table.nr_of(name, Arch::X86_64).unwrap();
        assert_ne!(table.action_of(nr, Arch::X86_64), Action::Allow, "{name}");
    }
}

#[test]
fn name_and_number_lead_to_each_other() {
    let table = Table::builtin().unwrap();
    for arch in [Arch::X86_64, Arch::Aarch64] {
        for syscall in table.iter() {
            if let Some(nr) = syscall.nr(arch) {
                assert_eq!(table.name_of(nr, arch), Some(syscall.name));
                assert_eq!(table.nr_of(syscall.name, arch), Some(nr));
            }
        }
    }
    assert_eq!(table.nr_of("open", Arch::Aarch64), None);
    assert_eq!(table.nr_of("no_such_call", Arch::X86_64), None);
    assert_eq!(table.action_of(472, Arch::X86_64), Action::Enosys);
    assert_eq!(table.action_of(0x4000_0000, Arch::X86_64), Action::Kill);
    assert_eq!(table.action_of(0x4000_0000, Arch::Aarch64), Action::Enosys);
}

#[test]
fn a_broken_line_is_named() {
    let error = |text| Table::parse(text).unwrap_err();
    assert_eq!(error("read 0 63\n"), TableError::Fields { line: 1 });
    assert_eq!(
        error("# head\n\nread 0 63 allow more\n"),
        TableError::Fields { line: 3 }
    );
    assert_eq!(
        error("read zero 63 allow"),
        TableError::Number { line: 1, text: "zero" }
    );
    assert_eq!(error("read 0 -1 allow"), TableError::Number { line: 1, text: "-1" });
    assert_eq!(
        error("read 1024 63 allow"),
        TableError::Number { line: 1, text: "1024" }
    );
    assert_eq!(error("read 0 63 maybe"), TableError::Action { line: 1, text: "maybe" });
    assert_eq!(
        error("read 0 63 rule:none"),
        TableError::Action {
            line: 1,
            text: "rule:none"
        }
    );
    assert_eq!(
        error("write 1 64 allow\nread 0 63 allow"),
        TableError::Order { line: 2, number: 0 }
    );
    assert_eq!(
        error("write 1 64 allow\nread 1 63 allow"),
        TableError::Order { line: 2, number: 1 }
    );
    assert_eq!(
        error("write 1 64 allow\nread 2 64 allow"),
        TableError::Order { line: 2, number: 64 }
    );
    assert_eq!(
        error("read 0 63 maybe").to_string(),
        "line 1 of the system call list: `maybe` is not an action (`allow`, `enosys`, `absent`, `deny`, `rule:NAME`)"
    );
}

/// The numbers that libc has for the architecture under test.
macro_rules! assert_numbers {
    ($table:expr, $($constant:ident $name:literal)*) => {
        $(assert_eq!($table.nr_of($name, Arch::NATIVE), Some(libc::$constant as u32), $name);)*
    };
}

#[test]
fn numbers_are_those_of_libc() {
    let table = Table::builtin().unwrap();
    assert_numbers! { table,
        SYS_accept "accept" SYS_accept4 "accept4" SYS_acct "acct" SYS_add_key "add_key" SYS_adjtimex "adjtimex"
        SYS_bind "bind" SYS_bpf "bpf" SYS_brk "brk" SYS_capget "capget" SYS_capset "capset" SYS_chdir "chdir"
        SYS_chroot "chroot" SYS_clock_adjtime "clock_adjtime" SYS_clock_getres "clock_getres"
        SYS_clock_gettime "clock_gettime" SYS_clock_nanosleep "clock_nanosleep" SYS_clock_settime "clock_settime"
        SYS_clone "clone" SYS_clone3 "clone3" SYS_close "close" SYS_close_range "close_range" SYS_connect "connect"
        SYS_copy_file_range "copy_file_range" SYS_delete_module "delete_module" SYS_dup "dup" SYS_dup3 "dup3"
        SYS_epoll_create1 "epoll_create1" SYS_epoll_ctl "epoll_ctl" SYS_epoll_pwait "epoll_pwait"
        SYS_epoll_pwait2 "epoll_pwait2" SYS_eventfd2 "eventfd2" SYS_execve "execve" SYS_execveat "execveat"
        SYS_exit "exit" SYS_exit_group "exit_group" SYS_faccessat "faccessat" SYS_faccessat2 "faccessat2"
        SYS_fadvise64 "fadvise64" SYS_fallocate "fallocate" SYS_fanotify_init "fanotify_init"
        SYS_fanotify_mark "fanotify_mark" SYS_fchdir "fchdir" SYS_fchmod "fchmod" SYS_fchmodat "fchmodat"
        SYS_fchown "fchown" SYS_fchownat "fchownat" SYS_fcntl "fcntl" SYS_fdatasync "fdatasync"
        SYS_fgetxattr "fgetxattr" SYS_finit_module "finit_module" SYS_flistxattr "flistxattr" SYS_flock "flock"
        SYS_fremovexattr "fremovexattr" SYS_fsconfig "fsconfig" SYS_fsetxattr "fsetxattr" SYS_fsmount "fsmount"
        SYS_fsopen "fsopen" SYS_fspick "fspick" SYS_fstat "fstat" SYS_fstatfs "fstatfs" SYS_fsync "fsync"
        SYS_ftruncate "ftruncate" SYS_futex "futex" SYS_futex_waitv "futex_waitv" SYS_get_mempolicy "get_mempolicy"
        SYS_get_robust_list "get_robust_list" SYS_getcpu "getcpu" SYS_getcwd "getcwd" SYS_getdents64 "getdents64"
        SYS_getegid "getegid" SYS_geteuid "geteuid" SYS_getgid "getgid" SYS_getgroups "getgroups"
        SYS_getitimer "getitimer" SYS_getpeername "getpeername" SYS_getpgid "getpgid" SYS_getpid "getpid"
        SYS_getppid "getppid" SYS_getpriority "getpriority" SYS_getrandom "getrandom" SYS_getresgid "getresgid"
        SYS_getresuid "getresuid" SYS_getrlimit "getrlimit" SYS_getrusage "getrusage" SYS_getsid "getsid"
        SYS_getsockname "getsockname" SYS_getsockopt "getsockopt" SYS_gettid "gettid" SYS_gettimeofday "gettimeofday"
        SYS_getuid "getuid" SYS_getxattr "getxattr" SYS_init_module "init_module"
        SYS_inotify_add_watch "inotify_add_watch" SYS_inotify_init1 "inotify_init1"
        SYS_inotify_rm_watch "inotify_rm_watch" SYS_io_cancel "io_cancel" SYS_io_destroy "io_destroy"
        SYS_io_getevents "io_getevents" SYS_io_setup "io_setup" SYS_io_submit "io_submit"
        SYS_io_uring_enter "io_uring_enter" SYS_io_uring_register "io_uring_register"
        SYS_io_uring_setup "io_uring_setup" SYS_ioctl "ioctl" SYS_ioprio_get "ioprio_get" SYS_ioprio_set "ioprio_set"
        SYS_kcmp "kcmp" SYS_kexec_file_load "kexec_file_load" SYS_kexec_load "kexec_load" SYS_keyctl "keyctl"
        SYS_kill "kill" SYS_landlock_add_rule "landlock_add_rule"
        SYS_landlock_create_ruleset "landlock_create_ruleset" SYS_landlock_restrict_self "landlock_restrict_self"
        SYS_lgetxattr "lgetxattr" SYS_linkat "linkat" SYS_listen "listen" SYS_listxattr "listxattr"
        SYS_llistxattr "llistxattr" SYS_lookup_dcookie "lookup_dcookie" SYS_lremovexattr "lremovexattr"
        SYS_lseek "lseek" SYS_lsetxattr "lsetxattr" SYS_madvise "madvise" SYS_mbind "mbind"
        SYS_membarrier "membarrier" SYS_memfd_create "memfd_create" SYS_memfd_secret "memfd_secret"
        SYS_migrate_pages "migrate_pages" SYS_mincore "mincore" SYS_mkdirat "mkdirat" SYS_mknodat "mknodat"
        SYS_mlock "mlock" SYS_mlock2 "mlock2" SYS_mlockall "mlockall" SYS_mmap "mmap" SYS_mount "mount"
        SYS_mount_setattr "mount_setattr" SYS_move_mount "move_mount" SYS_move_pages "move_pages"
        SYS_mprotect "mprotect" SYS_mq_getsetattr "mq_getsetattr" SYS_mq_notify "mq_notify" SYS_mq_open "mq_open"
        SYS_mq_timedreceive "mq_timedreceive" SYS_mq_timedsend "mq_timedsend" SYS_mq_unlink "mq_unlink"
        SYS_mremap "mremap" SYS_mseal "mseal" SYS_msgctl "msgctl" SYS_msgget "msgget" SYS_msgrcv "msgrcv"
        SYS_msgsnd "msgsnd" SYS_msync "msync" SYS_munlock "munlock" SYS_munlockall "munlockall" SYS_munmap "munmap"
        SYS_name_to_handle_at "name_to_handle_at" SYS_nanosleep "nanosleep" SYS_newfstatat "newfstatat"
        SYS_nfsservctl "nfsservctl" SYS_open_by_handle_at "open_by_handle_at" SYS_open_tree "open_tree"
        SYS_openat "openat" SYS_openat2 "openat2" SYS_perf_event_open "perf_event_open" SYS_personality "personality"
        SYS_pidfd_getfd "pidfd_getfd" SYS_pidfd_open "pidfd_open" SYS_pidfd_send_signal "pidfd_send_signal"
        SYS_pipe2 "pipe2" SYS_pivot_root "pivot_root" SYS_pkey_alloc "pkey_alloc" SYS_pkey_free "pkey_free"
        SYS_pkey_mprotect "pkey_mprotect" SYS_ppoll "ppoll" SYS_prctl "prctl" SYS_pread64 "pread64"
        SYS_preadv "preadv" SYS_preadv2 "preadv2" SYS_prlimit64 "prlimit64" SYS_process_madvise "process_madvise"
        SYS_process_mrelease "process_mrelease" SYS_process_vm_readv "process_vm_readv"
        SYS_process_vm_writev "process_vm_writev" SYS_pselect6 "pselect6" SYS_ptrace "ptrace" SYS_pwrite64 "pwrite64"
        SYS_pwritev "pwritev" SYS_pwritev2 "pwritev2" SYS_quotactl "quotactl" SYS_quotactl_fd "quotactl_fd"
        SYS_read "read" SYS_readahead "readahead" SYS_readlinkat "readlinkat" SYS_readv "readv" SYS_reboot "reboot"
        SYS_recvfrom "recvfrom" SYS_recvmmsg "recvmmsg" SYS_recvmsg "recvmsg" SYS_remap_file_pages "remap_file_pages"
        SYS_removexattr "removexattr" SYS_renameat "renameat" SYS_renameat2 "renameat2" SYS_request_key "request_key"
        SYS_restart_syscall "restart_syscall" SYS_rseq "rseq" SYS_rt_sigaction "rt_sigaction"
        SYS_rt_sigpending "rt_sigpending" SYS_rt_sigprocmask "rt_sigprocmask" SYS_rt_sigqueueinfo "rt_sigqueueinfo"
        SYS_rt_sigreturn "rt_sigreturn" SYS_rt_sigsuspend "rt_sigsuspend" SYS_rt_sigtimedwait "rt_sigtimedwait"
        SYS_rt_tgsigqueueinfo "rt_tgsigqueueinfo" SYS_sched_get_priority_max "sched_get_priority_max"
        SYS_sched_get_priority_min "sched_get_priority_min" SYS_sched_getaffinity "sched_getaffinity"
        SYS_sched_getattr "sched_getattr" SYS_sched_getparam "sched_getparam"
        SYS_sched_getscheduler "sched_getscheduler" SYS_sched_rr_get_interval "sched_rr_get_interval"
        SYS_sched_setaffinity "sched_setaffinity" SYS_sched_setattr "sched_setattr"
        SYS_sched_setparam "sched_setparam" SYS_sched_setscheduler "sched_setscheduler" SYS_sched_yield "sched_yield"
        SYS_seccomp "seccomp" SYS_semctl "semctl" SYS_semget "semget" SYS_semop "semop" SYS_semtimedop "semtimedop"
        SYS_sendfile "sendfile" SYS_sendmmsg "sendmmsg" SYS_sendmsg "sendmsg" SYS_sendto "sendto"
        SYS_set_mempolicy "set_mempolicy" SYS_set_mempolicy_home_node "set_mempolicy_home_node"
        SYS_set_robust_list "set_robust_list" SYS_set_tid_address "set_tid_address" SYS_setdomainname "setdomainname"
        SYS_setfsgid "setfsgid" SYS_setfsuid "setfsuid" SYS_setgid "setgid" SYS_setgroups "setgroups"
        SYS_sethostname "sethostname" SYS_setitimer "setitimer" SYS_setns "setns" SYS_setpgid "setpgid"
        SYS_setpriority "setpriority" SYS_setregid "setregid" SYS_setresgid "setresgid" SYS_setresuid "setresuid"
        SYS_setreuid "setreuid" SYS_setrlimit "setrlimit" SYS_setsid "setsid" SYS_setsockopt "setsockopt"
        SYS_settimeofday "settimeofday" SYS_setuid "setuid" SYS_setxattr "setxattr" SYS_shmat "shmat"
        SYS_shmctl "shmctl" SYS_shmdt "shmdt" SYS_shmget "shmget" SYS_shutdown "shutdown"
        SYS_sigaltstack "sigaltstack" SYS_signalfd4 "signalfd4" SYS_socket "socket" SYS_socketpair "socketpair"
        SYS_splice "splice" SYS_statfs "statfs" SYS_statx "statx" SYS_swapoff "swapoff" SYS_swapon "swapon"
        SYS_symlinkat "symlinkat" SYS_sync "sync" SYS_sync_file_range "sync_file_range" SYS_syncfs "syncfs"
        SYS_sysinfo "sysinfo" SYS_syslog "syslog" SYS_tee "tee" SYS_tgkill "tgkill" SYS_timer_create "timer_create"
        SYS_timer_delete "timer_delete" SYS_timer_getoverrun "timer_getoverrun" SYS_timer_gettime "timer_gettime"
        SYS_timer_settime "timer_settime" SYS_timerfd_create "timerfd_create" SYS_timerfd_gettime "timerfd_gettime"
        SYS_timerfd_settime "timerfd_settime" SYS_times "times" SYS_tkill "tkill" SYS_truncate "truncate"
        SYS_umask "umask" SYS_umount2 "umount2" SYS_uname "uname" SYS_unlinkat "unlinkat" SYS_unshare "unshare"
        SYS_userfaultfd "userfaultfd" SYS_utimensat "utimensat" SYS_vhangup "vhangup" SYS_vmsplice "vmsplice"
        SYS_wait4 "wait4" SYS_waitid "waitid" SYS_write "write" SYS_writev "writev"
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn numbers_that_only_x86_64_has_are_those_of_libc() {
    let table = Table::builtin().unwrap();
    assert_numbers! { table,
        SYS__sysctl "_sysctl" SYS_access "access" SYS_afs_syscall "afs_syscall" SYS_alarm "alarm"
        SYS_arch_prctl "arch_prctl" SYS_chmod "chmod" SYS_chown "chown" SYS_creat "creat" SYS_dup2 "dup2"
        SYS_epoll_create "epoll_create" SYS_epoll_ctl_old "epoll_ctl_old" SYS_epoll_wait "epoll_wait"
        SYS_epoll_wait_old "epoll_wait_old" SYS_eventfd "eventfd" SYS_fchmodat2 "fchmodat2" SYS_fork "fork"
        SYS_futimesat "futimesat" SYS_get_thread_area "get_thread_area" SYS_getdents "getdents" SYS_getpgrp "getpgrp"
        SYS_getpmsg "getpmsg" SYS_inotify_init "inotify_init" SYS_ioperm "ioperm" SYS_iopl "iopl" SYS_lchown "lchown"
        SYS_link "link" SYS_lstat "lstat" SYS_mkdir "mkdir" SYS_mknod "mknod" SYS_modify_ldt "modify_ldt"
        SYS_open "open" SYS_pause "pause" SYS_pipe "pipe" SYS_poll "poll" SYS_putpmsg "putpmsg"
        SYS_readlink "readlink" SYS_rename "rename" SYS_rmdir "rmdir" SYS_security "security" SYS_select "select"
        SYS_set_thread_area "set_thread_area" SYS_signalfd "signalfd" SYS_stat "stat" SYS_symlink "symlink"
        SYS_sysfs "sysfs" SYS_time "time" SYS_tuxcall "tuxcall" SYS_unlink "unlink" SYS_uselib "uselib"
        SYS_ustat "ustat" SYS_utime "utime" SYS_utimes "utimes" SYS_vfork "vfork" SYS_vserver "vserver"
    }
}
