// The kernel's own surface. Where a call would do harm, its arguments are nonsense that is noticed after the permission check.
#include "attack.h"

#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <sys/personality.h>
#include <sys/timex.h>

ATTACK(bpf) {
    union bpf_attr attr = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
    return report("bpf", syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof attr));
}

ATTACK(bpf_prog) {
    union bpf_attr attr = {.prog_type = 9999, .insn_cnt = 1};
    return report_past("bpf", syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof attr), EFAULT);
}

ATTACK(perf) {
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_TASK_CLOCK,
                                   .exclude_kernel = 1, .exclude_hv = 1};
    return report("perf_event_open", syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
}

ATTACK(io_uring) {
    struct io_uring_params params = {0};
    return report("io_uring_setup", syscall(SYS_io_uring_setup, 4, &params));
}

ATTACK(userfaultfd) { return report("userfaultfd", syscall(SYS_userfaultfd, 1)); }
ATTACK(add_key) { return report("add_key", syscall(SYS_add_key, "user", need(argc, argv, 1), "x", 1, -2)); }
ATTACK(request_key) { return report_past("request_key", syscall(SYS_request_key, "user", "glee:none", NULL, -2), ENOKEY); }
ATTACK(keyctl_session) { return report("keyctl", syscall(SYS_keyctl, 0, -3, 0)); }

// plant_key NAME FILE: puts FILE's content into the user's keyring for a minute. For the harness.
ATTACK(plant_key) {
    char value[256];
    int fd = open(need(argc, argv, 2), O_RDONLY);
    ssize_t n = read(fd, value, sizeof value);
    long key = syscall(SYS_add_key, "user", need(argc, argv, 1), value, n, -4);
    syscall(SYS_keyctl, 5, key, 0x3f3f0000);
    return report("keyctl", syscall(SYS_keyctl, 15, key, 60));
}

// read_key NAME: out of the keyring that all processes of one user share.
ATTACK(read_key) {
    char value[256] = "";
    long key = syscall(SYS_keyctl, 10, -4, "user", need(argc, argv, 1), 0);
    if (key < 0 || syscall(SYS_keyctl, 11, key, value, sizeof value - 1) < 0) return report("keyctl", -1);
    return printf("%s\n", value) < 0;
}

ATTACK(kexec_load) { return report_past("kexec_load", syscall(SYS_kexec_load, 0, 9999, NULL, 0), EINVAL); }
ATTACK(kexec_file_load) { return report_past("kexec_file_load", syscall(SYS_kexec_file_load, -1, -1, 0, NULL, 0), EBADF); }
ATTACK(init_module) { return report_past("init_module", syscall(SYS_init_module, "x", 1, ""), ENOEXEC); }
ATTACK(finit_module) { return report_past("finit_module", syscall(SYS_finit_module, -1, "", 0), EBADF); }
ATTACK(delete_module) { return report_past("delete_module", syscall(SYS_delete_module, "glee_no_such", O_NONBLOCK), ENOENT); }
ATTACK(reboot) { return report_past("reboot", syscall(SYS_reboot, 0, 0, 0, NULL), EINVAL); }
ATTACK(swapon) { return report_past("swapon", syscall(SYS_swapon, "/nowhere/at/all", 0), ENOENT); }
ATTACK(swapoff) { return report_past("swapoff", syscall(SYS_swapoff, "/nowhere/at/all"), ENOENT); }
ATTACK(acct) { return report_past("acct", syscall(SYS_acct, "/nowhere/at/all"), ENOENT); }
ATTACK(quotactl) { return report_past("quotactl", syscall(SYS_quotactl, 0x80000300, "/nowhere/at/all", 0, NULL), ENOENT); }
ATTACK(syslog) {
    char text[256];
    return report("syslog", syscall(SYS_syslog, 3, text, sizeof text));
}

ATTACK(settime) {
    struct timex now = {.modes = 0};
    if (adjtimex(&now) < 0) return report("adjtimex", -1);
    now.modes = ADJ_TICK;  // the tick that is already set
    return report("adjtimex", adjtimex(&now));
}

ATTACK(sethostname) {
    char name[256];
    gethostname(name, sizeof name);
    return report("sethostname", sethostname(name, strlen(name)));
}

ATTACK(page_at_zero) { return report("personality", personality(MMAP_PAGE_ZERO)); }
ATTACK(read_implies_exec) { return report("personality", personality(READ_IMPLIES_EXEC)); }
ATTACK(fanotify) { return report("fanotify_init", syscall(SYS_fanotify_init, 0x200, O_RDONLY)); }
ATTACK(memfd_secret) { return report("memfd_secret", syscall(SYS_memfd_secret, 0)); }
ATTACK(mbind) { return report("set_mempolicy", syscall(SYS_set_mempolicy, 0, NULL, 0)); }
ATTACK(lsm_attr) {
    uint64_t ids[16];
    uint32_t size = sizeof ids;
    return report("lsm_list_modules", syscall(461, ids, &size, 0));
}

#ifdef __x86_64__
ATTACK(int80) {
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory", "r8", "r9", "r10", "r11");
    errno = result < 0 ? (int)-result : 0;
    return report("int 0x80", result < 0 ? -1 : 0);
}

ATTACK(x32) { return report("x32 getpid", syscall(0x40000000 + SYS_getpid)); }

ATTACK(modify_ldt) {
    char table[64];
    return report("modify_ldt", syscall(SYS_modify_ldt, 0, table, sizeof table));
}

ATTACK(iopl) { return report("iopl", syscall(SYS_iopl, 3)); }
ATTACK(ioperm) { return report("ioperm", syscall(SYS_ioperm, 0x80, 1, 1)); }
#endif
