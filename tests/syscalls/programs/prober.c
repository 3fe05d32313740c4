// Makes system calls, each in a process of its own, and says what came of it.
//
// One call per line of stdin: `TAG HOW NUMBER ARG ARG ARG ARG ARG ARG`. One answer per line of stdout: the tag, then `ok`, `errno N`,
// `signal N` (the process was killed), `exit N` or `hung`. How:
//   call       as it is
//   spawn      a fork: the new process ends at once
//   vfork      the same for vfork, whose new process shares our stack
//   interrupt  a signal comes after 30 ms, for calls that wait for one
//   sigreturn  by returning from a signal handler
//   int80      through the 32-bit interface
// An argument is a number, or the name of something that is made for it: see `argument`.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 10000, BROKEN = 99 };

static char scratch[64], existing[96], missing[96];
static char page[4096] __attribute__((aligned(4096)));

static void fail(const char *what) {
    fprintf(stderr, "prober: %s: %s\n", what, strerror(errno));
    _exit(BROKEN);
}

static int good(int fd, const char *what) {
    if (fd < 0) fail(what);
    return fd;
}

static int pair_end(int type) {
    int ends[2];
    if (socketpair(AF_UNIX, type, 0, ends)) fail("socketpair");
    return ends[0];
}

static long argument(const char *name) {
    static struct sock_filter allow = {.code = BPF_RET | BPF_K, .k = SECCOMP_RET_ALLOW};
    static struct sock_fprog filter = {.len = 1, .filter = &allow};
    static struct iovec one = {.iov_base = page, .iov_len = 1};
    static struct mmsghdr message = {.msg_hdr = {.msg_iov = &one, .msg_iovlen = 1}};
    static int on = 1;
    if (!strcmp(name, "page")) return (long)page;        // zeros
    if (!strcmp(name, "filter")) return (long)&filter;   // a seccomp program that allows everything
    if (!strcmp(name, "message")) return (long)&message; // one byte, for sendmsg and sendmmsg
    if (!strcmp(name, "on")) return (long)&on;           // the int 1
    if (!strcmp(name, "smc")) return (long)"smc";
    if (!strcmp(name, "self")) return getpid();
    if (!strcmp(name, "dir")) return (long)scratch;      // a directory of this call's own
    if (!strcmp(name, "file")) return (long)existing;    // an empty file in it
    if (!strcmp(name, "new")) return (long)missing;      // a name in it that is free
    if (!strcmp(name, "fd")) return good(open(existing, O_RDWR), "open");
    if (!strcmp(name, "tcp")) return good(socket(AF_INET, SOCK_STREAM, 0), "tcp socket");
    if (!strcmp(name, "unix")) return pair_end(SOCK_STREAM);
    if (!strcmp(name, "pty")) return good(posix_openpt(O_RDWR | O_NOCTTY), "pseudo-terminal");
    char *end;
    long value = (long)strtoull(name, &end, 0);
    if (*end || end == name) {
        errno = EINVAL;
        fail(name);
    }
    return value;
}

static void noticed(int signal) {
    (void)signal;
}

static void handle_alarm(void) {
    struct sigaction action = {.sa_handler = noticed};
    sigaction(SIGALRM, &action, NULL);
}

static long through_vfork(void) {
#ifdef __x86_64__
    long result;
    // The new process must not touch the stack: it ends within these lines.
    __asm__ volatile("syscall\n test %%rax, %%rax\n jnz 1f\n mov %[exit], %%eax\n xor %%edi, %%edi\n syscall\n 1:"
                     : "=a"(result)
                     : "a"((long)SYS_vfork), [exit] "i"(SYS_exit)
                     : "rcx", "r11", "rdi", "memory");
    if (result < 0) {
        errno = (int)-result;
        return -1;
    }
    return result;
#else
    errno = ENOSYS;
    return -1;
#endif
}

static long through_int80(long number) {
#ifdef __x86_64__
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(0L), "c"(0L), "d"(0L) : "memory", "r8", "r9", "r10", "r11");
    if (result < 0) {
        errno = (int)-result;
        return -1;
    }
    return result;
#else
    (void)number;
    errno = ENOSYS;
    return -1;
#endif
}

static long make(const char *how, long number, const long *a) {
    if (!strcmp(how, "vfork")) return through_vfork();
    if (!strcmp(how, "int80")) return through_int80(number);
    if (!strcmp(how, "sigreturn")) {
        handle_alarm();
        return raise(SIGALRM);
    }
    if (!strcmp(how, "interrupt")) {
        handle_alarm();
        struct itimerval soon = {.it_value = {.tv_usec = 30000}};
        setitimer(ITIMER_REAL, &soon, NULL);
    }
    long result = syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (!strcmp(how, "spawn") && result == 0) _exit(0);
    return result;
}

static void prepare(void) {
    strcpy(scratch, "/tmp/glee-probe-XXXXXX");
    // Not every policy has a /tmp; a call that needs it says so when it opens its file.
    if (!mkdtemp(scratch)) return;
    snprintf(existing, sizeof existing, "%s/file", scratch);
    snprintf(missing, sizeof missing, "%s/new", scratch);
    int fd = open(existing, O_CREAT | O_WRONLY, 0644);
    if (fd >= 0) close(fd);
}

static void tidy(void) {
    unlink(existing);
    if (unlink(missing)) rmdir(missing);
    rmdir(scratch);
}

static void probe(const char *tag, const char *how, long number, char names[6][32]) {
    int answer[2], status, code;
    prepare();
    fflush(stdout);
    if (pipe2(answer, O_CLOEXEC)) fail("pipe");
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        long a[6];
        for (int i = 0; i < 6; i++) a[i] = argument(names[i]);
        errno = 0;
        code = make(how, number, a) == -1 ? errno : 0;
        // Whatever the call did to us, these numbers are as they were.
        if (write(answer[1], &code, sizeof code) != sizeof code) _exit(BROKEN);
        _exit(0);
    }
    close(answer[1]);
    struct pollfd done = {.fd = answer[0], .events = POLLIN};
    int hung = poll(&done, 1, PATIENCE_MS) == 0;
    if (hung) kill(child, SIGKILL);
    int answered = read(answer[0], &code, sizeof code) == sizeof code;
    close(answer[0]);
    waitpid(child, &status, 0);
    if (hung) printf("%s hung\n", tag);
    else if (answered && code) printf("%s errno %d\n", tag, code);
    else if (answered) printf("%s ok\n", tag);
    else if (WIFSIGNALED(status)) printf("%s signal %d\n", tag, WTERMSIG(status));
    else printf("%s exit %d\n", tag, WEXITSTATUS(status));
    fflush(stdout);
    tidy();
}

int main(void) {
    char tag[64], how[16], names[6][32];
    unsigned long number;
    // As in the sandbox, so that the same calls fail for the same reasons.
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) fail("no_new_privs");
    umask(022);
    while (scanf("%63s %15s %lu %31s %31s %31s %31s %31s %31s", tag, how, &number, names[0], names[1], names[2], names[3],
                 names[4], names[5]) == 9)
        probe(tag, how, (long)number, names);
    printf("end\n");
    return 0;
}
