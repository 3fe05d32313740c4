// Other processes: reading, stopping and changing them.
#include "attack.h"

#include <sched.h>
#include <sys/fsuid.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>

// The victim is this same static program (`hold`), so its vault is at the same address.
extern char vault[256];

static pid_t victim(int argc, char **argv) { return atoi(need(argc, argv, 1)); }

static int show(const char *what, const char *bytes, ssize_t n) {
    if (n <= 0) return report(what, -1);
    printf("%s: %.*s\n", what, (int)n, bytes);
    return 0;
}

ATTACK(proc_mem) {
    char path[64], bytes[256];
    snprintf(path, sizeof path, "/proc/%d/mem", victim(argc, argv));
    int fd = open(path, O_RDONLY);
    return show("/proc/PID/mem", bytes, fd < 0 ? -1 : pread(fd, bytes, sizeof bytes, (off_t)(uintptr_t)vault));
}

ATTACK(process_vm_readv) {
    char bytes[256];
    struct iovec here = {bytes, sizeof bytes}, there = {vault, sizeof bytes};
    return show("process_vm_readv", bytes, process_vm_readv(victim(argc, argv), &here, 1, &there, 1, 0));
}

ATTACK(ptrace_peek) {
    long words[32] = {0};
    pid_t pid = victim(argc, argv);
    if (ptrace(PTRACE_ATTACH, pid, 0, 0)) return report("PTRACE_ATTACH", -1);
    waitpid(pid, NULL, __WALL);
    for (int i = 0; i < 16; i++) words[i] = ptrace(PTRACE_PEEKDATA, pid, vault + i * 8, 0);
    ptrace(PTRACE_DETACH, pid, 0, 0);
    return show("PTRACE_PEEKDATA", (char *)words, 128);
}

// ptrace_seize PID: only whether it is allowed.
ATTACK(ptrace_seize) { return report("PTRACE_SEIZE", ptrace(PTRACE_SEIZE, victim(argc, argv), 0, 0)); }
ATTACK(ptrace_traceme) { return report("PTRACE_TRACEME", ptrace(PTRACE_TRACEME, 0, 0, 0)); }

// ptrace_child: a debugger of one's own child, which would let it rewrite the child's calls after the filter looked.
ATTACK(ptrace_child) {
    pid_t child = fork();
    if (!child) {
        sleep(5);
        _exit(0);
    }
    long result = ptrace(PTRACE_SEIZE, child, 0, 0);
    int kept = errno;
    kill(child, SIGKILL);
    errno = kept;
    return report("PTRACE_SEIZE", result);
}

ATTACK(kill) { return report("kill", kill(victim(argc, argv), SIGKILL)); }
ATTACK(killpg) { return report("killpg", kill(-victim(argc, argv), SIGKILL)); }
ATTACK(tgkill) { return report("tgkill", syscall(SYS_tgkill, victim(argc, argv), victim(argc, argv), SIGKILL)); }
ATTACK(tkill) { return report("tkill", syscall(SYS_tkill, victim(argc, argv), SIGKILL)); }

ATTACK(sigqueue) {
    union sigval v = {0};
    return report("sigqueue", sigqueue(victim(argc, argv), SIGKILL, v));
}

ATTACK(pidfd_kill) {
    long pidfd = syscall(SYS_pidfd_open, victim(argc, argv), 0);
    return report("pidfd_send_signal", pidfd < 0 ? -1 : syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0));
}

// sigio_kill PID: lets the kernel send the signal, as the owner of a pipe's events.
ATTACK(sigio_kill) {
    int ends[2];
    if (pipe(ends)) return report("pipe", -1);
    if (fcntl(ends[0], F_SETOWN, victim(argc, argv)) || fcntl(ends[0], F_SETSIG, SIGKILL) ||
        fcntl(ends[0], F_SETFL, O_ASYNC))
        return report("F_SETOWN", -1);
    return report("write", write(ends[1], "x", 1));
}

ATTACK(prlimit) {
    struct rlimit low = {77, 77};
    return report("prlimit", prlimit(victim(argc, argv), RLIMIT_NOFILE, &low, NULL));
}

ATTACK(setpriority) { return report("setpriority", setpriority(PRIO_PROCESS, (id_t)victim(argc, argv), 7)); }

ATTACK(sched_setaffinity) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    return report("sched_setaffinity", sched_setaffinity(victim(argc, argv), sizeof one, &one));
}

ATTACK(sched_setscheduler) {
    struct sched_param none = {0};
    return report("sched_setscheduler", sched_setscheduler(victim(argc, argv), SCHED_BATCH, &none));
}

ATTACK(ioprio_set) { return report("ioprio_set", syscall(SYS_ioprio_set, 1, victim(argc, argv), (3 << 13) | 5)); }

ATTACK(kcmp) { return report("kcmp", syscall(SYS_kcmp, getpid(), victim(argc, argv), 2, 0, 0)); }

ATTACK(process_madvise) {
    struct iovec there = {vault, 4096};
    long pidfd = syscall(SYS_pidfd_open, victim(argc, argv), 0);
    // 20 is MADV_COLD; the address is not aligned to a page, so EINVAL means that the process itself was granted.
    return report_past("process_madvise", pidfd < 0 ? -1 : syscall(SYS_process_madvise, pidfd, &there, 1, 20, 0), EINVAL);
}

ATTACK(move_pages) {
    return report("move_pages", syscall(SYS_move_pages, victim(argc, argv), 0, NULL, NULL, NULL, 0));
}

// realtime: a scheduling class that starves the host.
ATTACK(realtime) {
    struct sched_param top = {.sched_priority = 1};
    return report("SCHED_FIFO", sched_setscheduler(0, SCHED_FIFO, &top));
}

ATTACK(nice_up) { return report("setpriority", setpriority(PRIO_PROCESS, 0, -5)); }

// euid: says who we really are; `worked` if root.
ATTACK(euid) {
    uid_t r, e, s;
    getresuid(&r, &e, &s);
    printf("uid %u euid %u suid %u\n", r, e, s);
    if (!r || !e || !s) worked("uid 0");
    return 0;
}

ATTACK(setresuid) { return report("setresuid", setresuid(0, 0, 0)); }
ATTACK(setresgid) { return report("setresgid", setresgid(0, 0, 0)); }
ATTACK(setfsuid) {
    setfsuid(0);
    errno = EPERM;
    return report("setfsuid", setfsuid((uid_t)-1) == 0 ? 0 : -1);
}
ATTACK(setgroups) {
    gid_t zero = 0;
    return report("setgroups", syscall(SYS_setgroups, 1, &zero));
}

// capable: has any capability in effect.
ATTACK(capable) {
    char line[256];
    unsigned long long effective = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) sscanf(line, "CapEff: %llx", &effective);
    errno = EPERM;
    return report("capability", effective ? 0 : -1);
}

// frames: physical page numbers, which /proc/self/pagemap shows only to the privileged.
ATTACK(frames) {
    uint64_t entry = 0;
    int fd = open("/proc/self/pagemap", O_RDONLY);
    vault[0] = 1;
    if (fd < 0 || pread(fd, &entry, 8, (off_t)((uintptr_t)vault / 4096 * 8)) != 8) return report("pagemap", -1);
    errno = EPERM;
    return report("page frame", entry & ((1ull << 55) - 1) ? 0 : -1);
}

// tamper NAMESPACE: makes pid 1 as weak as its own uid allows, unless NAMESPACE says that it is the host's.
ATTACK(tamper) {
    char own[64] = "";
    struct rlimit none = {0, 0};
    struct sched_param idle = {0};
    cpu_set_t one;
    if (readlink("/proc/self/ns/pid", own, sizeof own - 1) < 0 || !strcmp(own, need(argc, argv, 1))) return 0;
    for (int what = 0; what < RLIM_NLIMITS; what++)
        if (what != RLIMIT_CPU) prlimit(1, (enum __rlimit_resource)what, &none, NULL);
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_setaffinity(1, sizeof one, &one);
    setpriority(PRIO_PROCESS, 1, 19);
    sched_setscheduler(1, SCHED_IDLE, &idle);
    syscall(SYS_ioprio_set, 1, 1, 3 << 13);
    // As a member of its group, and with everything of that.
    setpgid(0, 1);
    setpriority(PRIO_PGRP, 0, 19);
    syscall(SYS_ioprio_set, 2, 0, 3 << 13);
    return 0;
}
