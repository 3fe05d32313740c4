// A machine on which a lock does not hold, as a broken kernel or somebody's debugger would make it.
#include "attack.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

static void answer(pid_t pid, long value) {
    struct user_regs_struct regs;
    struct iovec io = {&regs, sizeof regs};
    if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &io)) return;
#if defined(__x86_64__)
    regs.rax = (unsigned long long)value;
#elif defined(__aarch64__)
    regs.regs[0] = (unsigned long long)value;
#endif
    ptrace(PTRACE_SETREGSET, pid, (void *)NT_PRSTATUS, &io);
}

// lie NUMBER VALUE PROGRAM ARG…: runs the program; in it and in all its descendants that system call returns VALUE.
ATTACK(lie) {
    long wanted = atol(need(argc, argv, 1)), value = atol(need(argc, argv, 2));
    char *program = need(argc, argv, 3);
    pid_t first = fork();
    if (first == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        execv(program, argv + 3);
        _exit(70);
    }
    int status, ended = 70;
    if (waitpid(first, &status, 0) != first) return 70;
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                   PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SETOPTIONS, first, 0, options)) return 70;
    ptrace(PTRACE_SYSCALL, first, 0, 0);
    static long call[1 << 22];
    for (;;) {
        pid_t pid = waitpid(-1, &status, __WALL);
        if (pid < 0) return ended;
        if (!WIFSTOPPED(status)) {
            if (pid == first) ended = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            continue;
        }
        int signal = WSTOPSIG(status), event = status >> 16, pass = 0;
        if (signal == (SIGTRAP | 0x80)) {
            struct __ptrace_syscall_info info;
            memset(&info, 0, sizeof info);
            ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info);
            if (info.op == PTRACE_SYSCALL_INFO_ENTRY) call[pid] = (long)info.entry.nr;
            if (info.op == PTRACE_SYSCALL_INFO_EXIT && call[pid] == wanted) answer(pid, value);
        } else if (!event && signal != SIGSTOP) {
            pass = signal;
        }
        ptrace(PTRACE_SYSCALL, pid, 0, pass);
    }
}
