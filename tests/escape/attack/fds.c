// Descriptors that the supervisor inherited and must not hand on, and those of other processes.
#include "attack.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <sys/socket.h>

enum { INHERITED = 200 };

// hand_down PATH r|w|d PROGRAM ARG…: opens PATH as descriptor 200 and becomes the program.
ATTACK(hand_down) {
    char how = need(argc, argv, 2)[0];
    int flags = how == 'w' ? O_WRONLY | O_APPEND : how == 'd' ? O_RDONLY | O_DIRECTORY : O_RDONLY;
    int fd = open(need(argc, argv, 1), flags);
    if (fd < 0 || dup2(fd, INHERITED) < 0) return report("hand_down", -1);
    execv(need(argc, argv, 3), argv + 3);
    return report("execv", -1);
}

// hand_down_socket PORT PROGRAM ARG…: the same with a connection to the host's loopback.
ATTACK(hand_down_socket) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(need(argc, argv, 1)))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (void *)&to, sizeof to) || dup2(fd, INHERITED) < 0) return report("hand_down_socket", -1);
    close(fd);
    execv(need(argc, argv, 2), argv + 2);
    return report("execv", -1);
}

// openat_inherited NAME: opens NAME below the inherited directory. Tries every descriptor, in case it was moved.
ATTACK(openat_inherited) {
    for (int dir = 3; dir < 1024; dir++) {
        int fd = openat(dir, need(argc, argv, 1), O_RDONLY);
        if (fd >= 0) return spill(fd);
    }
    return report("openat", -1);
}

ATTACK(fchdir_inherited) {
    for (int dir = 3; dir < 1024; dir++)
        if (!fchdir(dir)) {
            int fd = open(need(argc, argv, 1), O_RDONLY);
            if (fd >= 0) return spill(fd);
        }
    return report("fchdir", -1);
}

ATTACK(read_inherited) {
    for (int fd = 3; fd < 1024; fd++) {
        if (fcntl(fd, F_GETFD) < 0) continue;
        lseek(fd, 0, SEEK_SET);
        spill(fd);
    }
    return 0;
}

ATTACK(write_inherited) {
    char *text = need(argc, argv, 1);
    for (int fd = 3; fd < 1024; fd++)
        if (write(fd, text, strlen(text)) > 0) worked("write to an inherited descriptor");
    return 0;
}

// count_inherited: anything above 2 is one too many.
ATTACK(count_inherited) {
    for (int fd = 3; fd < 65536; fd++)
        if (fcntl(fd, F_GETFD) >= 0) {
            printf("descriptor %d: ", fd);
            worked("inherited");
        }
    return 0;
}

// hold PATH MARK: keeps PATH open as descriptor 9, and its content in memory at `vault`. A victim.
char vault[256];
ATTACK(hold) {
    int fd = open(need(argc, argv, 1), O_RDONLY);
    if (fd < 0 || read(fd, vault, sizeof vault - 1) < 0 || dup2(fd, 9) < 0) return report("hold", -1);
    sleep(60);
    return 0;
}

// proc_fds: reads every small file that any visible process holds open, through /proc.
ATTACK(proc_fds) {
    DIR *proc = opendir("/proc");
    for (struct dirent *p; proc && (p = readdir(proc));) {
        char dir[300], file[600];
        if (p->d_name[0] < '0' || p->d_name[0] > '9') continue;
        snprintf(dir, sizeof dir, "/proc/%s/fd", p->d_name);
        DIR *fds = opendir(dir);
        for (struct dirent *f; fds && (f = readdir(fds));) {
            struct stat st;
            snprintf(file, sizeof file, "%s/%s", dir, f->d_name);
            if (stat(file, &st) || !S_ISREG(st.st_mode) || st.st_size > 4096) continue;
            int fd = open(file, O_RDONLY | O_NONBLOCK);
            if (fd >= 0) spill(fd);
            close(fd);
        }
        if (fds) closedir(fds);
    }
    return 0;
}

// pidfd_getfd PID: takes descriptor 9 out of another process.
ATTACK(pidfd_getfd) {
    long pidfd = syscall(SYS_pidfd_open, atoi(need(argc, argv, 1)), 0);
    long fd = pidfd < 0 ? -1 : syscall(SYS_pidfd_getfd, pidfd, argc > 2 ? atoi(argv[2]) : 9, 0);
    if (fd < 0) return report("pidfd_getfd", -1);
    if (argc > 2) return report("pidfd_getfd", fd);
    lseek((int)fd, 0, SEEK_SET);
    return spill((int)fd);
}

// openat_fd FD NAME
ATTACK(openat_fd) {
    int fd = openat(atoi(need(argc, argv, 1)), need(argc, argv, 2), O_RDONLY);
    return fd < 0 ? report("openat", -1) : spill(fd);
}

// A socket whose connection has ended: it can begin another.
static int once_connected(void) {
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t size = sizeof at;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(server, (void *)&at, size) || listen(server, 1) || getsockname(server, (void *)&at, &size)) return -1;
    if (connect(client, (void *)&at, size)) return -1;
    close(server);
    return client;
}

// as_stdin udp|tcp|unix_datagram|unix PROGRAM ARG…: makes such a socket standard input and becomes the program.
ATTACK(as_stdin) {
    char *kind = need(argc, argv, 1);
    int fd = !strcmp(kind, "udp")             ? socket(AF_INET, SOCK_DGRAM, 0)
             : !strcmp(kind, "tcp")           ? once_connected()
             : !strcmp(kind, "unix_datagram") ? socket(AF_UNIX, SOCK_DGRAM, 0)
                                              : socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0 || dup2(fd, 0) < 0) return report("as_stdin", -1);
    if (fd > 0) close(fd);
    execv(need(argc, argv, 2), argv + 2);
    return report("execv", -1);
}

// from_stdin PORT TEXT: sends from standard input to the host's loopback, after ending what it was connected to.
ATTACK(from_stdin) {
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(need(argc, argv, 1)))};
    char *text = need(argc, argv, 2);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connect(0, &none, sizeof none);
    if (connect(0, (void *)&to, sizeof to)) return report("connect", -1);
    return report("send", send(0, text, strlen(text), 0));
}

// sendto_from_stdin PORT TEXT: the same without connecting.
ATTACK(sendto_from_stdin) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(need(argc, argv, 1)))};
    char *text = need(argc, argv, 2);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return report("sendto", sendto(0, text, strlen(text), 0, (void *)&to, sizeof to));
}
