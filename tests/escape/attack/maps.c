// Every way to change a file that has a setuid bit and leave it the bit. Each takes the path of the file.
#include "attack.h"

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/xattr.h>

// A store through a shared mapping. Read first: then some filesystems see nothing.
static int store(int fd) {
    volatile char *at = fd < 0 ? MAP_FAILED : mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) return report("map", -1);
    char before = at[0];
    at[0] = before == 'X' ? 'Y' : 'X';
    return report("map", 0);
}

// The descriptor is closed, the mapping is there until the end.
ATTACK(map_closed) {
    int fd = open(need(argc, argv, 1), O_RDWR);
    volatile char *at = fd < 0 ? MAP_FAILED : mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED) return report("map", -1);
    at[0] = 'X';
    return report("map", 0);
}
// When we are killed, the descriptor is in a socket that only the message itself refers to: the kernel closes it some time later.
ATTACK(map_in_flight) {
    int fd = open(need(argc, argv, 1), O_RDWR), ends[2];
    if (store(fd) || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends)) return report("socketpair", -1);
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(2 * sizeof(int))];
    } control = {.head = {.cmsg_len = CMSG_LEN(2 * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    memcpy(CMSG_DATA(&control.head), (int[]){ends[0], fd}, 2 * sizeof(int));
    struct iovec text = {.iov_base = "a", .iov_len = 1};
    struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    int failed = report("sendmsg", sendmsg(ends[1], &message, 0));
    close(fd);
    fflush(stdout);
    if (!failed) sleep(60);
    return failed;
}
// By its handle the file is not found any more: it has another generation.
ATTACK(map_renumbered) {
    int fd = open(need(argc, argv, 1), O_RDWR);
    int failed = store(fd), generation = 0;
    if (failed || ioctl(fd, FS_IOC_GETVERSION, &generation)) return report("generation", -1);
    generation++;
    // Where the filesystem refuses it the store alone is what is left of the attack.
    ioctl(fd, FS_IOC_SETVERSION, &generation);
    return 0;
}
// The mapping is there when we are killed.
ATTACK(map_and_stay) {
    int failed = store(open(need(argc, argv, 1), O_RDWR));
    fflush(stdout);
    if (!failed) sleep(60);
    return failed;
}
// The name is another one meanwhile.
ATTACK(map_renamed) {
    char other[4096];
    snprintf(other, sizeof other, "%s.other", need(argc, argv, 1));
    int fd = open(argv[1], O_RDWR);
    if (rename(argv[1], other)) return report("rename", -1);
    int failed = store(fd);
    return rename(other, argv[1]) ? report("rename", -1) : failed;
}
// Through a second name, which is gone afterwards.
ATTACK(map_linked) {
    char other[4096];
    snprintf(other, sizeof other, "%s.other", need(argc, argv, 1));
    if (link(argv[1], other)) return report("link", -1);
    int failed = store(open(other, O_RDWR));
    return unlink(other) ? report("unlink", -1) : failed;
}
// Opened by one process, changed by its child, which has become another program.
ATTACK(map_inherited) {
    int fd = open(need(argc, argv, 1), O_RDWR);
    if (fd < 0 || dup2(fd, 0) < 0) return report("open", -1);
    close(fd);
    pid_t child = fork();
    if (!child) execl("/proc/self/exe", "attack", "map_standard_input", NULL);
    int status = 1;
    waitpid(child, &status, 0);
    return status;
}
ATTACK(map_standard_input) { return store(0); }
// More files are opened for writing than the kernel tells of, before and after. The number is the second argument.
ATTACK(map_among_many) {
    int many = atoi(need(argc, argv, 2));
    char name[64];
    for (int i = 0; i < many; i++) {
        if (i == many / 2 && store(open(argv[1], O_RDWR))) return 1;
        snprintf(name, sizeof name, "many-%d", i);
        int fd = open(name, O_CREAT | O_WRONLY, 0644);
        if (fd < 0) return report("open", -1);
        close(fd);
    }
    return 0;
}
// An access list says who may do what, and is the mode then; the setuid bit stays.
ATTACK(open_to_all) {
    static const unsigned char everybody[] = {2, 0, 0, 0, 1,  0, 7, 0, 255, 255, 255, 255, 4, 0, 7, 0,
                                              255, 255, 255, 255, 32, 0, 7, 0, 255, 255, 255, 255};
    return report("setxattr", setxattr(need(argc, argv, 1), "system.posix_acl_access", everybody, sizeof everybody, 0));
}
