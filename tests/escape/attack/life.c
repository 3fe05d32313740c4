// Processes that want to outlive the run. MARK is in their arguments, so that the harness finds them. All end by themselves.
#include "attack.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

static void ignore_all(void) {
    for (int s = 1; s < NSIG; s++) signal(s, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
}

static void forget_the_parent(void) {
    if (fork()) _exit(0);
    setsid();
    if (fork()) _exit(0);
}

// daemon SECONDS MARK: double fork, own session, its own end of the pipes closed.
ATTACK(daemon) {
    unsigned seconds = (unsigned)atoi(need(argc, argv, 1));
    pid_t child = fork();
    if (child) return waitpid(child, NULL, 0) < 0;
    forget_the_parent();
    for (int fd = 0; fd < 3; fd++) close(fd);
    sleep(seconds);
    return 0;
}

// holder SECONDS MARK: the same, but it keeps stdout.
ATTACK(holder) {
    unsigned seconds = (unsigned)atoi(need(argc, argv, 1));
    pid_t child = fork();
    if (child) return waitpid(child, NULL, 0) < 0;
    forget_the_parent();
    sleep(seconds);
    return 0;
}

static void *sleeper(void *seconds) {
    sleep((unsigned)atoi(seconds));
    _exit(0);
}

// headless SECONDS MARK: a daemon whose first thread has exited: the process looks dead, and another thread lives.
ATTACK(headless) {
    pthread_t thread;
    pid_t child = fork();
    if (child) {
        usleep(200000);
        return 0;
    }
    setsid();
    ignore_all();
    for (int fd = 0; fd < 3; fd++) close(fd);
    if (pthread_create(&thread, NULL, sleeper, need(argc, argv, 1))) _exit(1);
    syscall(SYS_exit, 0);
    return 0;
}

// stubborn SECONDS MARK: ignores every signal, and no parent's death can reach it.
ATTACK(stubborn) {
    time_t end = time(NULL) + atoi(need(argc, argv, 1));
    ignore_all();
    prctl(PR_SET_PDEATHSIG, 0);
    setsid();
    printf("stubborn\n");
    while (time(NULL) < end) sleep(1);
    return 0;
}

// stopped MARK: stops itself; the harness ends it if the supervisor does not.
ATTACK(stopped) {
    ignore_all();
    printf("stopping\n");
    raise(SIGSTOP);
    return 0;
}

// stop_group: stops its whole process group, the shell too.
ATTACK(stop_group) {
    printf("stopping\n");
    kill(0, SIGSTOP);
    return 0;
}

// hydra SECONDS MARK: each head lives 40 ms, and the next has been born by then.
ATTACK(hydra) {
    time_t end = time(NULL) + atoi(need(argc, argv, 1));
    ignore_all();
    setsid();
    signal(SIGCHLD, SIG_IGN);
    printf("hydra\n");
    while (time(NULL) < end) {
        if (fork()) {
            usleep(10000);
            _exit(0);
        }
        setsid();
        usleep(30000);
    }
    return 0;
}

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

// chain SECONDS MARK: two chains for a second, in which each link forks the next and exits at once; the last ones stay. No look
// through /proc is fast enough to see them all.
ATTACK(chain) {
    unsigned seconds = (unsigned)atoi(need(argc, argv, 1));
    double end = now() + 1;
    for (int chains = 0; chains < 2; chains++) {
        if (fork()) continue;
        setsid();
        ignore_all();
        for (int fd = 0; fd < 3; fd++) close(fd);
        for (int links = 0; links < 5000 && now() < end; links++) {
            if (fork() > 0) _exit(0);
            usleep(200);
        }
        sleep(seconds);
        _exit(0);
    }
    return 0;
}

// reaper SECONDS MARK: adopts orphans, so that they do not fall back to pid 1.
ATTACK(reaper) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!fork()) {
        setsid();
        ignore_all();
        if (fork()) _exit(0);
        sleep((unsigned)atoi(need(argc, argv, 1)));
        _exit(0);
    }
    printf("reaper\n");
    ignore_all();
    sleep((unsigned)atoi(need(argc, argv, 1)));
    return 0;
}

// burn SECONDS MARK: a busy loop.
ATTACK(burn) {
    time_t end = time(NULL) + atoi(need(argc, argv, 1));
    ignore_all();
    printf("burning\n");
    while (time(NULL) < end) {
    }
    return 0;
}

// flood SECONDS MARK: output without end, into a pipe that may be full.
ATTACK(flood) {
    char block[4096];
    time_t end = time(NULL) + atoi(need(argc, argv, 1));
    memset(block, 'x', sizeof block);
    block[sizeof block - 1] = '\n';
    ignore_all();
    while (time(NULL) < end && write(1, block, sizeof block) >= 0) usleep(1000);
    return 0;
}

// refused_calls SECONDS MARK: calls that a supervisor may have to answer, one after the other.
ATTACK(refused_calls) {
    time_t end = time(NULL) + atoi(need(argc, argv, 1));
    ignore_all();
    while (time(NULL) < end) syscall(SYS_pivot_root, "/nowhere", "/nowhere");
    return 0;
}

// crowd N SECONDS MARK: N processes that wait.
ATTACK(crowd) {
    int n = atoi(need(argc, argv, 1)), made = 0;
    for (int i = 0; i < n; i++) {
        pid_t child = fork();
        if (!child) {
            setsid();
            ignore_all();
            for (int fd = 0; fd < 3; fd++) close(fd);
            sleep((unsigned)atoi(need(argc, argv, 2)));
            _exit(0);
        }
        made += child > 0;
    }
    printf("made %d of %d\n", made, n);
    if (made == n) worked("fork");
    return 0;
}

// crash MARK: dies so that a core file would be written.
ATTACK(crash) {
    struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    getrlimit(RLIMIT_CORE, &all);
    all.rlim_cur = all.rlim_max;
    setrlimit(RLIMIT_CORE, &all);
    abort();
}
