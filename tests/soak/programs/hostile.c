// Process trees that do not want to end. MARK is in the arguments of each process, so that the harness finds them.
//
//   hostile tree MARK     double-forks, sets sessions, ignores every signal, stops in part, and keeps forking
//   hostile brief MARK    leaves four such processes behind and ends
//   hostile guard MARK    tries to plant files in the working directory until the file `stop-MARK` is there
//   hostile swarm MARK    eight processes that try the same without a pause, until they are killed
//
// Bounded: at most MOST processes at a time, and SIGKILL from a timer of its own ends each after LIFE seconds, stopped or not.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 60, LIFE = 60 };

// Shared by the whole tree; lost by those that exec, which breed no more.
struct shared {
    atomic_int living;
    atomic_uint born;
};
static struct shared *shared;
static time_t end;
static char *self, *mark;

static time_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

// Not inherited by fork and lost by exec: each process sets its own first.
static void end_in_time(void) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    struct itimerspec at = {.it_value = {.tv_sec = end, .tv_nsec = 1}};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, TIMER_ABSTIME, &at, NULL)) _exit(70);
}

static void ignore_everything(void) {
    for (int s = 1; s < NSIG; s++) signal(s, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, 0);
}

static void nap(long ms) {
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static void breed(void);

_Noreturn static void live(unsigned role) {
    switch (role % 6) {
    case 0:
        for (;;) raise(SIGSTOP);
    case 1:
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        for (;;) breed();
    case 2: {
        char until[32];
        snprintf(until, sizeof until, "%lld", (long long)end);
        execl(self, self, "again", mark, until, (char *)NULL);
        _exit(71);
    }
    case 3:
        for (;;) nap(1000);
    default:
        nap(5 + role % 40);
        atomic_fetch_sub(&shared->living, 1);
        _exit(0);
    }
}

// A grandchild in a session of its own whose parent is gone, if there is room for it.
static void breed(void) {
    nap(2);
    if (atomic_fetch_add(&shared->living, 2) + 2 > MOST) {
        atomic_fetch_sub(&shared->living, 2);
        return;
    }
    unsigned role = atomic_fetch_add(&shared->born, 1);
    if (role >= MOST / 2) role = role / 2 * 6 + 4 + role % 2; // only short lives, so that there is room to go on
    pid_t middle = fork();
    if (middle < 0) {
        atomic_fetch_sub(&shared->living, 2);
        return;
    }
    if (middle > 0) return;
    end_in_time();
    prctl(PR_SET_PDEATHSIG, 0);
    setsid();
    pid_t grandchild = fork();
    if (grandchild == 0) {
        end_in_time();
        prctl(PR_SET_PDEATHSIG, 0);
        if (role % 2) setsid();
        live(role);
    }
    atomic_fetch_sub(&shared->living, grandchild < 0 ? 2 : 1);
    _exit(0);
}

static void say(const char *word) {
    if (write(1, word, strlen(word)) < 0) _exit(72);
}

_Noreturn static void tree(void) {
    for (int i = 0; i < 20; i++) breed();
    say("up\n");
    for (;;) breed();
}

static int brief(void) {
    for (unsigned i = 0; i < 4; i++) {
        pid_t child = fork();
        if (child == 0) {
            end_in_time();
            setsid();
            live(i);
        }
    }
    say("up\n");
    nap(5);
    return 0;
}

// What a later `cd`, `git` or editor of the host would obey.
static const char *const TARGETS[] = {
    ".envrc", ".gitmodules", ".mcp.json", ".vscode", ".claude", ".git/hooks/pre-commit", ".git/commondir", ".bashrc",
};

static void planted(const char *how, const char *target) {
    printf("PLANTED %s by %s\n", target, how);
    fflush(stdout);
}

// Without a pause, and without anything that would have to be cleaned up.
_Noreturn static void swarm(void) {
    for (int i = 0; i < 7; i++)
        if (fork() == 0) {
            end_in_time();
            break;
        }
    say("up\n");
    for (unsigned i = 0;; i++) {
        const char *t = TARGETS[i % (sizeof TARGETS / sizeof *TARGETS)];
        int fd = open(t, O_CREAT | O_WRONLY | O_EXCL, 0644);
        if (fd >= 0) close(fd);
    }
}

static int guard(void) {
    char stop[256], own[256];
    snprintf(stop, sizeof stop, "stop-%s", mark);
    snprintf(own, sizeof own, "own-%s", mark);
    long rounds = 0;
    say("up\n");
    for (; access(stop, F_OK) && now() < end; rounds++) {
        for (size_t i = 0; i < sizeof TARGETS / sizeof *TARGETS; i++) {
            const char *t = TARGETS[i];
            int fd = open(t, O_CREAT | O_WRONLY | O_TRUNC, 0644);
            if (fd >= 0) planted("open", t), close(fd);
            if (mkdir(t, 0755) == 0) planted("mkdir", t);
            if (symlink("/etc/passwd", t) == 0) planted("symlink", t);
            if (unlink(t) == 0) planted("unlink", t);
            fd = open(own, O_CREAT | O_WRONLY, 0644);
            if (fd < 0) return 73;
            close(fd);
            if (link(own, t) == 0) planted("link", t);
            if (rename(own, t) == 0) planted("rename", t);
        }
        nap(1);
    }
    unlink(own);
    printf("tried %ld times\n", rounds);
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 3) return 64;
    self = argv[0];
    mark = argv[2];
    end = argc > 3 ? (time_t)atoll(argv[3]) : now() + LIFE;
    end_in_time();
    if (!strcmp(argv[1], "guard")) return guard();
    ignore_everything();
    if (!strcmp(argv[1], "again"))
        for (;;) nap(1000);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 74;
    atomic_store(&shared->living, 1);
    if (!strcmp(argv[1], "tree")) tree();
    if (!strcmp(argv[1], "swarm")) swarm();
    if (!strcmp(argv[1], "brief")) return brief();
    return 64;
}
