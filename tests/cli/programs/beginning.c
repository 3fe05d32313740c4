// How a program begins: what it asks the processor, and which secrets it then has.
//
//   beginning PROGRAM [ARG]...
//
// Executes its first STEPS instructions one by one, far into its `main`, and ends it. Prints `ASKED STACK POINTERS`: how many times it
// executed `cpuid`, and whether the guard of the stack and that of stored pointers are what the kernel's random bytes say (0 or 1).
// The program's own output goes nowhere. x86_64 alone.
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 60000 };

static void fail(const char *what) {
    fprintf(stderr, "beginning: %s: %s\n", what, strerror(errno));
    exit(70);
}

static uint64_t word(pid_t pid, uint64_t at) {
    errno = 0;
    long value = ptrace(PTRACE_PEEKDATA, pid, (void *)at, 0);
    if (value == -1 && errno) fail("peek");
    return (uint64_t)value;
}

// Where the kernel has put sixteen random bytes for the program.
static uint64_t random_bytes(pid_t pid) {
    char path[64];
    Elf64_auxv_t entry;
    snprintf(path, sizeof path, "/proc/%d/auxv", pid);
    int fd = open(path, O_RDONLY);
    if (fd < 0) fail(path);
    while (read(fd, &entry, sizeof entry) == sizeof entry) {
        if (entry.a_type == AT_RANDOM) {
            close(fd);
            return entry.a_un.a_val;
        }
    }
    fail("AT_RANDOM");
    return 0;
}

static void start(char **argv) {
    int nowhere = open("/dev/null", O_RDWR);
    if (nowhere < 0 || dup2(nowhere, 1) < 0) fail("/dev/null");
    if (ptrace(PTRACE_TRACEME, 0, 0, 0)) fail("traceme");
    execv(argv[1], argv + 1);
    fail(argv[1]);
}

int main(int argc, char **argv) {
    if (argc < 2) return 64;
    pid_t pid = fork();
    if (pid < 0) fail("fork");
    if (pid == 0) start(argv);
    int status;
    if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) fail("wait");
    if (ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL)) fail("options");
    uint64_t bytes = random_bytes(pid);
    uint64_t wanted[2] = {word(pid, bytes) & ~0xffULL, word(pid, bytes + 8)};
    struct user_regs_struct regs;
    int asked = 0;
    for (long step = 0; step < STEPS; step++) {
        if (ptrace(PTRACE_GETREGS, pid, 0, &regs)) fail("registers");
        if ((uint16_t)word(pid, regs.rip) == 0xa20f) asked++;
        if (ptrace(PTRACE_SINGLESTEP, pid, 0, 0)) fail("step");
        if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) fail("ended too early");
    }
    printf("%d %d %d\n", asked, word(pid, regs.fs_base + 0x28) == wanted[0], word(pid, regs.fs_base + 0x30) == wanted[1]);
    return 0;
}
