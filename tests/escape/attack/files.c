// Files: other ways to open, look at and change them than the shell has.
#include "attack.h"

#include <linux/openat2.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <time.h>

ATTACK(opath) {
    struct stat st;
    int fd = open(need(argc, argv, 1), O_PATH);
    return report("fstat of an O_PATH descriptor", fd < 0 ? -1 : fstat(fd, &st));
}

ATTACK(statx) {
    struct statx st;
    return report("statx", statx(AT_FDCWD, need(argc, argv, 1), 0, STATX_ALL, &st));
}

ATTACK(access) { return report("faccessat", access(need(argc, argv, 1), F_OK)); }
ATTACK(chdir) { return report("chdir", chdir(need(argc, argv, 1))); }

ATTACK(inotify) {
    return report("inotify_add_watch", inotify_add_watch(inotify_init(), need(argc, argv, 1), IN_ALL_EVENTS));
}

ATTACK(openat2) {
    struct open_how how = {.flags = O_RDONLY};
    long fd = syscall(SYS_openat2, AT_FDCWD, need(argc, argv, 1), &how, sizeof how);
    return fd < 0 ? report("openat2", -1) : spill((int)fd);
}

ATTACK(mmap) {
    int fd = open(need(argc, argv, 1), O_RDONLY);
    void *at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED) return report("mmap", -1);
    printf("%s\n", (char *)at);
    return 0;
}

// handle_of PATH: the kernel's handle of a file, as hexadecimal digits, for open_handle.
ATTACK(handle_of) {
    union { struct file_handle h; char room[sizeof(struct file_handle) + MAX_HANDLE_SZ]; } u = {.h.handle_bytes = MAX_HANDLE_SZ};
    int mount;
    if (name_to_handle_at(AT_FDCWD, need(argc, argv, 1), &u.h, &mount, 0)) return report("name_to_handle_at", -1);
    printf("%d:", u.h.handle_type);
    for (unsigned i = 0; i < u.h.handle_bytes; i++) printf("%02x", u.h.f_handle[i]);
    putchar('\n');
    return 0;
}

ATTACK(name_to_handle) {
    union { struct file_handle h; char room[sizeof(struct file_handle) + MAX_HANDLE_SZ]; } u = {.h.handle_bytes = MAX_HANDLE_SZ};
    int mount;
    return report("name_to_handle_at", name_to_handle_at(AT_FDCWD, need(argc, argv, 1), &u.h, &mount, 0));
}

// open_handle DIR HANDLE: opens by handle on DIR's filesystem, past all directories.
ATTACK(open_handle) {
    union { struct file_handle h; char room[sizeof(struct file_handle) + MAX_HANDLE_SZ]; } u = {.h.handle_bytes = 0};
    int where = open(need(argc, argv, 1), O_RDONLY | O_DIRECTORY);
    char *text = need(argc, argv, 2), *hex = strchr(text, ':') + 1;
    u.h.handle_type = atoi(text);
    for (; hex[0] && hex[1]; hex += 2) sscanf(hex, "%2hhx", &u.h.f_handle[u.h.handle_bytes++]);
    int fd = open_by_handle_at(where, &u.h, O_RDONLY);
    return fd < 0 ? report("open_by_handle_at", -1) : spill(fd);
}

// overwrite PATH: opens for writing in place.
ATTACK(overwrite) {
    int fd = open(need(argc, argv, 1), O_WRONLY | O_TRUNC);
    return report("write", fd < 0 ? -1 : write(fd, "evil\n", 5));
}

ATTACK(truncate) { return report("truncate", truncate(need(argc, argv, 1), 1)); }

// reopen PATH: opens to read, then the same file to write through /proc/self/fd.
ATTACK(reopen) {
    char link[64];
    int fd = open(need(argc, argv, 1), argc > 2 ? O_PATH : O_RDONLY);
    if (fd < 0) return report("open", -1);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int again = open(link, O_WRONLY | O_TRUNC);
    return report("write", again < 0 ? -1 : write(again, "evil\n", 5));
}

// shared_map PATH: writes through a shared mapping.
ATTACK(shared_map) {
    int fd = open(need(argc, argv, 1), O_RDWR);
    char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) return report("mmap", -1);
    at[0] = '!';
    return report("msync", msync(at, 4096, MS_SYNC));
}

// tmpfile_link DIR NAME: a file without a name, linked where it should not be.
ATTACK(tmpfile_link) {
    char link[64];
    int fd = open(need(argc, argv, 1), O_TMPFILE | O_RDWR, 0644);
    if (fd < 0) return report("O_TMPFILE", -1);
    if (write(fd, "evil\n", 5) != 5) return report("write", -1);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return report("linkat", linkat(AT_FDCWD, link, AT_FDCWD, need(argc, argv, 2), AT_SYMLINK_FOLLOW));
}

ATTACK(utimes) {
    struct timeval back[2] = {{1, 0}, {1, 0}};
    return report("utimes", utimes(need(argc, argv, 1), back));
}

ATTACK(setxattr) { return report("setxattr", setxattr(need(argc, argv, 1), "user.evil", "1", 1, 0)); }

// file_caps PATH: cap_sys_admin+ep on a file. Also used by the harness to make a privileged canary.
ATTACK(file_caps) {
    uint32_t caps[5] = {0x02000001, 1u << 21, 0, 0, 0};
    return report("setxattr security.capability", setxattr(need(argc, argv, 1), "security.capability", caps, sizeof caps, 0));
}

// exchange A B: swaps two names in one step.
ATTACK(exchange) {
    return report("renameat2", syscall(SYS_renameat2, AT_FDCWD, need(argc, argv, 1), AT_FDCWD, need(argc, argv, 2), 2));
}

// can_open PATH r|w: opens and does nothing more.
ATTACK(can_open) {
    return report(need(argc, argv, 1), open(argv[1], need(argc, argv, 2)[0] == 'w' ? O_WRONLY : O_RDONLY));
}

// can_read PATH: at least one byte comes out.
ATTACK(can_read) {
    char byte;
    int fd = open(need(argc, argv, 1), O_RDONLY | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : read(fd, &byte, 1);
    if (n == 0) errno = ENODATA;
    return report(argv[1], n == 1 ? 0 : -1);
}

// rewrite PATH: writes back the value that is there, which changes nothing but needs the right to write.
ATTACK(rewrite) {
    char value[4096];
    int in = open(need(argc, argv, 1), O_RDONLY);
    ssize_t n = read(in, value, sizeof value);
    int out = open(argv[1], O_WRONLY);
    return report(argv[1], out < 0 || n < 0 ? -1 : write(out, value, (size_t)n));
}

// stare PATH SECONDS MARK: says ready, then reads PATH again and again, and shows whatever is ever in it.
ATTACK(stare) {
    time_t end = time(NULL) + 1 + atoi(need(argc, argv, 2));
    char *nonce = need(argc, argv, 3), byte;
    printf("ready:");
    for (size_t n = strlen(nonce); n > 0; n--) putchar(nonce[n - 1]);
    putchar('\n');
    while (time(NULL) < end) {
        int fd = open(need(argc, argv, 1), O_RDONLY);
        if (fd >= 0 && pread(fd, &byte, 1, 0) == 1) spill(fd);
        if (fd >= 0) close(fd);
    }
    return 0;
}

// press PATH TEXT SECONDS MARK: the same, but appends TEXT whenever PATH can be opened for writing.
ATTACK(press) {
    time_t end = time(NULL) + 1 + atoi(need(argc, argv, 3));
    char *nonce = need(argc, argv, 4);
    printf("ready:");
    for (size_t n = strlen(nonce); n > 0; n--) putchar(nonce[n - 1]);
    putchar('\n');
    while (time(NULL) < end) {
        int fd = open(need(argc, argv, 1), O_WRONLY | O_APPEND);
        if (fd >= 0) return report("write", write(fd, need(argc, argv, 2), strlen(argv[2])));
    }
    return 0;
}

// churn DIR SECONDS MARK: makes and removes files as fast as it can, to drown whoever watches the directory.
ATTACK(churn) {
    time_t end = time(NULL) + 1 + atoi(need(argc, argv, 2));
    char name[4096];
    for (unsigned i = 0; time(NULL) < end; i++) {
        snprintf(name, sizeof name, "%s/churn-%d-%u", need(argc, argv, 1), getpid(), i % 64);
        close(open(name, O_CREAT | O_WRONLY, 0644));
        unlink(name);
    }
    return 0;
}

// deep N: directories in one another, deeper than any path can name.
ATTACK(deep) {
    for (int i = atoi(need(argc, argv, 1)); i > 0; i--)
        if (mkdir("d", 0755) || chdir("d")) return report("mkdir", -1);
    return 0;
}

// lease PATH SECONDS: whoever opens the file for writing meanwhile waits.
ATTACK(lease) {
    int fd = open(need(argc, argv, 1), O_RDONLY);
    signal(SIGIO, SIG_IGN);
    report("F_SETLEASE", fcntl(fd, F_SETLEASE, F_RDLCK));
    fflush(stdout);
    sleep((unsigned)atoi(need(argc, argv, 2)));
    return 0;
}
