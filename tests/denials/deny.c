// Does what a sandbox refuses, as told. One static program; the first argument chooses.

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int try_connect_unix(const char *path) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int s = socket(AF_UNIX, SOCK_STREAM, 0), r;
    strncpy(to.sun_path, path, sizeof to.sun_path - 1);
    r = connect(s, (void *)&to, sizeof to);
    close(s);
    return r;
}

static int try_connect(char *where) {
    struct sockaddr_in to = {.sin_family = AF_INET};
    char *port = strrchr(where, ':');
    int s = socket(AF_INET, SOCK_STREAM, 0), r;
    *port++ = 0;
    to.sin_port = htons(atoi(port));
    inet_pton(AF_INET, where, &to.sin_addr);
    r = connect(s, (void *)&to, sizeof to);
    close(s);
    return r;
}

// Each must be refused; whatever is not is named on stdout.
static void perform(const char *op, char *arg) {
    char *nothing[] = {arg, NULL};
    int r = 0;
    if (!strcmp(op, "read")) r = syscall(SYS_openat, AT_FDCWD, arg, O_RDONLY);
    else if (!strcmp(op, "oldread")) r = syscall(SYS_open, arg, O_RDONLY);
    else if (!strcmp(op, "write")) r = syscall(SYS_openat, AT_FDCWD, arg, O_WRONLY | O_CREAT, 0600);
    else if (!strcmp(op, "append")) r = syscall(SYS_openat, AT_FDCWD, arg, O_RDWR | O_APPEND);
    else if (!strcmp(op, "mkdir")) r = syscall(SYS_mkdir, arg, 0700);
    else if (!strcmp(op, "unlink")) r = syscall(SYS_unlink, arg);
    else if (!strcmp(op, "unlinkat")) r = syscall(SYS_unlinkat, AT_FDCWD, arg, 0);
    else if (!strcmp(op, "symlink")) r = syscall(SYS_symlink, "x", arg);
    else if (!strcmp(op, "truncate")) r = syscall(SYS_truncate, arg, 0);
    else if (!strcmp(op, "chmod")) r = syscall(SYS_chmod, arg, 0600);
    else if (!strcmp(op, "exec")) r = execve(arg, nothing, nothing);
    else if (!strcmp(op, "unix")) r = try_connect_unix(arg);
    else if (!strcmp(op, "net")) r = try_connect(arg);
    else if (!strcmp(op, "call")) r = syscall(atoi(arg), 0, 0, 0, 0, 0);
    else r = 0;
    if (r >= 0) printf("not refused: %s %s\n", op, arg);
}

// Lines of program TAB operation TAB argument; each program is a process of its own.
static int list(void) {
    char line[8192], last[8192] = "";
    FILE *feed = NULL;
    while (fgets(line, sizeof line, stdin)) {
        char *op = strchr(line, '\t'), *arg;
        line[strcspn(line, "\n")] = 0;
        if (!op || !(arg = strchr(op + 1, '\t'))) return 2;
        *op++ = 0, *arg++ = 0;
        if (strcmp(last, line)) {
            int ends[2];
            if (feed) fclose(feed), wait(NULL);
            if (pipe(ends)) return 3;
            fflush(stdout);
            if (fork() == 0) {
                char work[8192];
                close(ends[1]);
                FILE *in = fdopen(ends[0], "r");
                prctl(PR_SET_NAME, line);
                while (fgets(work, sizeof work, in)) {
                    char *what = strchr(work, '\t');
                    work[strcspn(work, "\n")] = 0;
                    *what++ = 0;
                    perform(work, what);
                }
                fflush(stdout);
                _exit(0);
            }
            close(ends[0]);
            feed = fdopen(ends[1], "w");
            strcpy(last, line);
        }
        fprintf(feed, "%s\t%s\n", op, arg);
    }
    if (feed) fclose(feed), wait(NULL);
    puts("done");
    return 0;
}

static int flood(long count, const char *dir) {
    char path[4096];
    for (long n = 0; n < count; n++) {
        switch (n % 4) {
        case 0: snprintf(path, sizeof path, "%s/secret", dir), open(path, O_RDONLY); break;
        case 1: syscall(SYS_ptrace, 0, 0, 0, 0); break;
        // Names that never repeat.
        case 2: snprintf(path, sizeof path, "new-%ld", n), open(path, O_WRONLY | O_CREAT, 0600); break;
        default: snprintf(path, sizeof path, "%s/nothing-%ld", dir, n), open(path, O_RDONLY); break;
        }
    }
    puts("done");
    return 0;
}

static char shared_path[4096];
static const char *good, *secret;
static volatile int over;

static void *flip(void *unused) {
    (void)unused;
    while (!over) {
        memcpy(shared_path, good, strlen(good) + 1);
        memcpy(shared_path, secret, strlen(secret) + 1);
    }
    return NULL;
}

static void *use(void *unused) {
    (void)unused;
    char text[16];
    for (int n = 0; n < 200 && !over; n++) {
        int f = open(shared_path, O_RDONLY);
        if (f < 0) continue;
        ssize_t r = read(f, text, sizeof text);
        if (r >= 6 && !memcmp(text, "secret", 6)) puts("escaped");
        close(f);
    }
    return NULL;
}

static int race(void) {
    pthread_t users[56], flippers[8];
    memcpy(shared_path, good, strlen(good) + 1);
    for (int n = 0; n < 8; n++) pthread_create(&flippers[n], NULL, flip, NULL);
    for (int n = 0; n < 56; n++) pthread_create(&users[n], NULL, use, NULL);
    for (int n = 0; n < 56; n++) pthread_join(users[n], NULL);
    over = 1;
    for (int n = 0; n < 8; n++) pthread_join(flippers[n], NULL);
    puts("done");
    return 0;
}

// Processes that vanish, stop and share memory while their calls are being looked at.
static int awkward(void) {
    for (int n = 0; n < 200; n++) {
        pid_t child = fork();
        if (child == 0) {
            for (;;) open(secret, O_RDONLY);
        }
        usleep(200);
        if (n % 2) kill(child, SIGSTOP), usleep(200), kill(child, SIGCONT);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    for (int n = 0; n < 50; n++) {
        pid_t child = vfork();
        if (child == 0) {
            char *argv[] = {"x", NULL};
            execve(secret, argv, argv);
            _exit(7);
        }
        waitpid(child, NULL, 0);
    }
    // A path at the very end of what is mapped, one beyond it, and none at all.
    open((char *)1, O_RDONLY);
    open((char *)-1, O_RDONLY);
    syscall(SYS_open, NULL, O_RDONLY);
    puts("done");
    return 0;
}

static int place;

static void *open_beside(void *unused) {
    char way[4096];
    (void)unused;
    openat(place, secret, O_RDONLY);
    snprintf(way, sizeof way, "/proc/self/fd/%d/%s", place, secret);
    open(way, O_RDONLY);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    good = argc > 2 ? argv[2] : "", secret = argc > 3 ? argv[3] : "";
    if (!strcmp(argv[1], "list")) return list();
    if (!strcmp(argv[1], "flood")) return flood(atol(argv[2]), argv[3]);
    if (!strcmp(argv[1], "race")) return race();
    if (!strcmp(argv[1], "awkward")) return awkward();
    if (!strcmp(argv[1], "signal")) {
        for (long n = atol(argv[2]); n > 0; n--) kill(1, 0);
        // Long enough to be asked who it is.
        usleep(100000);
        return 0;
    }
    if (!strcmp(argv[1], "undumpable")) {
        prctl(PR_SET_DUMPABLE, 0);
        open(secret, O_RDONLY);
        puts("done");
        return 0;
    }
    if (!strcmp(argv[1], "beside")) {
        pthread_t other;
        place = open(good, O_RDONLY | O_DIRECTORY);
        prctl(PR_SET_DUMPABLE, 0);
        open_beside(NULL);
        pthread_create(&other, NULL, open_beside, NULL);
        pthread_join(other, NULL);
        puts("done");
        return 0;
    }
    if (!strcmp(argv[1], "ready")) {
        puts("ready");
        fflush(stdout);
        for (;;) open(good, O_RDONLY), usleep(1000);
    }
    return 2;
}
