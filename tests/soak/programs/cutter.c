// Kills a program right after a chosen system call of its own, as if `kill -9` had come just then.
//
//   cutter COUNT UID GID PROGRAM [ARG]...
//
// Runs PROGRAM as UID and GID and kills it when its COUNTth system call has returned. Its children run free, except those
// born by that very call: they make their first step when their parent is dead, which is the worst moment for
// whoever relies on PR_SET_PDEATHSIG. Prints `PID CALLS LAST STATUS`: the program's pid, how many of its calls returned, the number
// of the last one, and its exit status, -1 if it was killed. The program's own output goes nowhere.
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_CHILDREN = 64 };
static pid_t held[MOST_CHILDREN];
static int holding;

static void fail(const char *what) {
    fprintf(stderr, "cutter: %s: %s\n", what, strerror(errno));
    exit(70);
}

// A child starts with a stop that we see; only then can it be let go.
static void release(void) {
    for (int i = 0; i < holding; i++) {
        int status;
        if (waitpid(held[i], &status, __WALL) == held[i] && WIFSTOPPED(status)) ptrace(PTRACE_DETACH, held[i], 0, 0);
    }
    holding = 0;
}

static void start(char **argv) {
    uid_t uid = (uid_t)atoi(argv[2]);
    gid_t gid = (gid_t)atoi(argv[3]);
    int nowhere = open("/dev/null", O_RDWR);
    if (nowhere < 0 || dup2(nowhere, 1) < 0 || dup2(nowhere, 2) < 0) fail("/dev/null");
    if (setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid)) fail("identity");
    if (ptrace(PTRACE_TRACEME, 0, 0, 0)) fail("traceme");
    raise(SIGSTOP);
    execv(argv[4], argv + 4);
    fail(argv[4]);
}

int main(int argc, char **argv) {
    if (argc < 5) return 64;
    long count = atol(argv[1]), calls = 0, last = -1;
    pid_t pid = fork();
    if (pid < 0) fail("fork");
    if (pid == 0) start(argv);
    int status;
    if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) fail("wait");
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
    if (ptrace(PTRACE_SETOPTIONS, pid, 0, options)) fail("options");
    // The calls before the exec are ours.
    int executed = 0, inside = 0, dead = 0;
    long pass = 0;
    for (;;) {
        if (ptrace(PTRACE_SYSCALL, pid, 0, pass)) break;
        pass = 0;
        if (waitpid(pid, &status, __WALL) != pid) fail("wait");
        if (!WIFSTOPPED(status)) {
            dead = 1;
            break;
        }
        int signal = WSTOPSIG(status), event = status >> 16;
        if (event == PTRACE_EVENT_EXEC) {
            executed = 1;
            inside = 1;
        } else if (event) {
            unsigned long child;
            ptrace(PTRACE_GETEVENTMSG, pid, 0, &child);
            if (holding < MOST_CHILDREN) held[holding++] = (pid_t)child;
        } else if (signal == (SIGTRAP | 0x80)) {
            inside = !inside;
            if (!executed) continue;
            if (inside) {
                struct __ptrace_syscall_info info;
                if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) > 0) last = (long)info.entry.nr;
                continue;
            }
            calls++;
            if (calls == count) {
                kill(pid, SIGKILL);
                continue;
            }
            release();
        } else {
            pass = signal;
        }
    }
    while (!dead && waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {}
    release();
    printf("%d %ld %ld %d\n", pid, calls, last, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return 0;
}
