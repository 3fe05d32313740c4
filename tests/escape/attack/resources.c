// Taking more than the limit says. All are bounded: the host survives them even without a sandbox.
#include "attack.h"

#include <arpa/inet.h>
#include <linux/net_tstamp.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/xattr.h>

static void touch(char *at, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 4096) at[i] = 1;
}

// memory MEGABYTES: takes them over about a second and holds them for another, so that a watchdog can see it.
ATTACK(memory) {
    for (int left = atoi(need(argc, argv, 1)); left > 0; left -= 20, usleep(40000)) {
        char *at = mmap(NULL, 20 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED) return report("mmap", -1);
        touch(at, 20 << 20);
    }
    sleep(2);
    worked("memory");
    return 0;
}

// reserve FILE MEGABYTES: room for a file that stays as short as it is, by the call that came from XFS.
ATTACK(reserve) {
    int fd = open(need(argc, argv, 1), O_RDWR | O_CREAT, 0600);
    // The kernel's `struct space_resv`, which its headers keep to themselves; FS_IOC_RESVSP64.
    struct {
        int16_t type, whence;
        int64_t start, length;
        int32_t system;
        uint32_t process;
        int32_t rest[4];
    } room = {.length = (int64_t)atoi(need(argc, argv, 2)) << 20};
    report("FS_IOC_RESVSP64", ioctl(fd, _IOW('X', 42, room), &room));
    return close(fd);
}

static void *hoarder(void *megabytes) {
    char *argv[] = {"memory", megabytes, NULL};
    exit(attack_memory(2, argv));
}

// headless_memory MEGABYTES: the same in a process whose first thread has exited.
ATTACK(headless_memory) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, hoarder, need(argc, argv, 1))) return report("pthread_create", -1);
    syscall(SYS_exit, 0);
    return 0;
}

// terminals N: pseudo-terminals, of which a machine has a few thousand.
ATTACK(terminals) {
    int n = atoi(need(argc, argv, 1)), made = 0;
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    while (made < n && open("/dev/ptmx", O_RDWR | O_NOCTTY) >= 0) made++;
    printf("made %d of %d\n", made, n);
    if (made == n) worked("terminals");
    return 0;
}

// memory_family MEGABYTES N: the same, spread over N children.
ATTACK(memory_family) {
    size_t each = (size_t)atoi(need(argc, argv, 1)) << 20;
    int n = atoi(need(argc, argv, 2)), good = 0;
    for (int i = 0; i < n; i++, usleep(100000))
        if (!fork()) {
            char *at = mmap(NULL, each, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (at == MAP_FAILED) _exit(1);
            touch(at, each);
            sleep(3);
            _exit(0);
        }
    for (int status; wait(&status) > 0;) good += status == 0;
    printf("%d of %d children kept their memory\n", good, n);
    if (good == n) worked("memory of all children");
    return 0;
}

ATTACK(memfd) {
    int fd = memfd_create("evil", 0);
    size_t bytes = (size_t)atoi(need(argc, argv, 1)) << 20;
    if (fd < 0 || ftruncate(fd, (off_t)bytes)) return report("memfd", -1);
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    for (size_t done = 0; done < bytes; done += 20 << 20, usleep(40000)) touch(at + done, 20 << 20);
    sleep(2);
    worked("memfd");
    return 0;
}

// fill PATH MEGABYTES: writes a file of that size, in pieces, and removes it.
ATTACK(fill) {
    static char block[1 << 20];
    int fd = open(need(argc, argv, 1), O_CREAT | O_WRONLY | O_TRUNC, 0644);
    if (fd < 0) return report("open", -1);
    for (int i = atoi(need(argc, argv, 2)); i > 0; i--)
        if (write(fd, block, sizeof block) != sizeof block) {
            report("write", -1);
            unlink(argv[1]);
            return 1;
        }
    worked("write");
    unlink(argv[1]);
    return 0;
}

// fill_many DIR MEGABYTES: the same in many small files.
ATTACK(fill_many) {
    static char block[1 << 20];
    char name[4096];
    int total = atoi(need(argc, argv, 2)), made = 0;
    for (; made < total; made++) {
        snprintf(name, sizeof name, "%s/glee-fill-%d-%d", need(argc, argv, 1), getpid(), made);
        int fd = open(name, O_CREAT | O_WRONLY, 0644);
        if (fd < 0 || write(fd, block, sizeof block) != sizeof block) break;
        close(fd);
    }
    int full = made == total;
    for (; made >= 0; made--) {
        snprintf(name, sizeof name, "%s/glee-fill-%d-%d", argv[1], getpid(), made);
        unlink(name);
    }
    errno = ENOSPC;
    return report("files", full ? 0 : -1);
}

// descriptors N
ATTACK(descriptors) {
    int n = atoi(need(argc, argv, 1)), made = 0;
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    while (made < n && dup(0) >= 0) made++;
    printf("%d descriptors\n", made);
    return report("dup", made == n ? 0 : -1);
}

// raise_limit: more open files than the hard limit, which needs a capability.
ATTACK(raise_limit) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max = limit.rlim_max + 1;
    return report("setrlimit", setrlimit(RLIMIT_NOFILE, &limit));
}

// lock_memory MEGABYTES: pages that the host cannot take back.
ATTACK(lock_memory) {
    size_t bytes = (size_t)atoi(need(argc, argv, 1)) << 20;
    return report("mlock", mlock(malloc(bytes), bytes));
}

ATTACK(sysv_memory) {
    size_t bytes = (size_t)atoi(need(argc, argv, 1)) << 20;
    int id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
    char *at = shmat(id, NULL, 0);
    shmctl(id, IPC_RMID, NULL);
    if (at == (void *)-1) return report("shmat", -1);
    for (size_t done = 0; done < bytes; done += 20 << 20, usleep(40000)) touch(at + done, 20 << 20);
    sleep(2);
    worked("shared memory");
    return 0;
}

// memfd_unmapped MEGABYTES: memory that belongs to no address space.
ATTACK(memfd_unmapped) {
    static char block[1 << 20];
    int fd = memfd_create("evil", 0);
    for (int i = atoi(need(argc, argv, 1)); i > 0; i--, usleep(2000))
        if (write(fd, block, sizeof block) != sizeof block) return report("write", -1);
    sleep(2);
    worked("memfd");
    return 0;
}

static void all_descriptors(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

// socket_memory MEGABYTES: bytes that wait in sockets for a reader who never comes.
ATTACK(socket_memory) {
    static char block[4096];
    all_descriptors();
    long wanted = atol(need(argc, argv, 1)) << 20, sent = 0;
    for (int ends[2], full = 0; sent < wanted && !full && !socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends);) {
        long before = sent;
        for (ssize_t n; (n = write(ends[0], block, sizeof block)) > 0;) sent += n;
        full = sent == before;
    }
    printf("%ld of %ld megabytes wait\n", sent >> 20, wanted >> 20);
    sleep(2);
    errno = EMFILE;
    return report("sockets", sent >= wanted ? 0 : -1);
}

// netlink_memory MEGABYTES: answers of the kernel's that wait for a reader who never comes; each repeats the question.
ATTACK(netlink_memory) {
    static char question[200000];
    all_descriptors();
    long wanted = atol(need(argc, argv, 1)) << 20, sent = 0;
    struct nlmsghdr *head = (struct nlmsghdr *)question;
    *head = (struct nlmsghdr){sizeof question, RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK, 0, 0};
    for (int fd; sent < wanted && (fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE)) >= 0; usleep(1000)) {
        struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
        ssize_t n = sendto(fd, question, sizeof question, MSG_DONTWAIT, (struct sockaddr *)&kernel, sizeof kernel);
        if (n < 0) return report("question", -1);
        sent += n;
    }
    sleep(2);
    errno = EMFILE;
    return report("netlink", sent >= wanted ? 0 : -1);
}

// backlog_memory MEGABYTES: bytes in connections that nobody accepts, and that their makers have closed.
ATTACK(backlog_memory) {
    static char block[200000];
    all_descriptors();
    long wanted = atol(need(argc, argv, 1)) << 20, sent = 0;
    while (sent < wanted) {
        long before = sent;
        int door = socket(AF_INET, SOCK_STREAM, 0);
        struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
        socklen_t size = sizeof at;
        if (bind(door, (struct sockaddr *)&at, size) || listen(door, 4096)) return report("listen", -1);
        getsockname(door, (struct sockaddr *)&at, &size);
        for (int i = 0; i < 100; i++) {
            int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
            connect(fd, (struct sockaddr *)&at, size);
            ssize_t n = write(fd, block, sizeof block);
            if (n > 0) sent += n;
            close(fd);
        }
        if (sent == before) break;
        usleep(10000);
    }
    sleep(2);
    errno = ENOBUFS;
    return report("backlog", sent >= wanted ? 0 : -1);
}

static struct sockaddr_in6 nobody_listens(void) {
    return (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(9), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
}

// What the kernel says that waits in a socket to be read.
static long waiting(int fd) {
    uint32_t numbers[16] = {0};
    socklen_t size = sizeof numbers;
    return getsockopt(fd, SOL_SOCKET, 55 /* SO_MEMINFO */, numbers, &size) ? 0 : (long)numbers[0];
}

// error_queues errors|stamps MEGABYTES: what a socket keeps of datagrams that could not be sent, or that were.
ATTACK(error_queues) {
    static char block[65520];
    all_descriptors();
    int stamps = !strcmp(need(argc, argv, 1), "stamps");
    long wanted = atol(need(argc, argv, 2)) << 20, held = 0;
    struct sockaddr_in6 to = nobody_listens();
    union { struct cmsghdr head; char room[CMSG_SPACE(sizeof(int))]; } stamp = {0};
    stamp.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = 37 /* SO_TIMESTAMPING */};
    memcpy(CMSG_DATA(&stamp.head), &(int){SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_TX_SCHED}, sizeof(int));
    struct iovec data = {block, stamps ? 30000 : sizeof block};
    struct msghdr message = {&to, sizeof to, &data, 1, stamps ? &stamp : NULL, stamps ? sizeof stamp : 0, 0};
    for (int made = 0, fd; held < wanted && made < 2000 && (fd = socket(AF_INET6, SOCK_DGRAM, 0)) >= 0; made++) {
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &(int){1 << 20}, sizeof(int));
        setsockopt(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &(int){IPV6_PMTUDISC_DO}, sizeof(int));
        if (!stamps) setsockopt(fd, IPPROTO_IPV6, IPV6_RECVERR, &(int){1}, sizeof(int));
        for (int i = 0; i < (stamps ? 10 : 300); i++) sendmsg(fd, &message, MSG_DONTWAIT);
        held += waiting(fd);
    }
    printf("%ld MB wait\n", held >> 20);
    errno = ENOBUFS;
    return report("error queues", held >= wanted ? 0 : -1);
}

// begun_datagrams MEGABYTES: datagrams that are never sent, in sockets that are in no table.
ATTACK(begun_datagrams) {
    static char block[65000];
    all_descriptors();
    long wanted = atol(need(argc, argv, 1)) << 20, held = 0;
    struct sockaddr_in6 to = nobody_listens();
    for (int fd; held < wanted && (fd = socket(AF_INET6, SOCK_DGRAM, 0)) >= 0; usleep(500)) {
        ssize_t n = sendto(fd, block, sizeof block, MSG_MORE, (struct sockaddr *)&to, sizeof to);
        if (n > 0) held += n;
        connect(fd, &(struct sockaddr){.sa_family = AF_UNSPEC}, sizeof(struct sockaddr));
    }
    sleep(2);
    errno = EMFILE;
    return report("datagrams", held >= wanted ? 0 : -1);
}

// access_lists MEGABYTES DIR: files with long access lists, which name the same user again and again.
ATTACK(access_lists) {
    enum { ENTRIES = 8000 };
    static struct { uint32_t version; struct { uint16_t tag, may; uint32_t id; } entry[ENTRIES]; } list = {.version = 2};
    long wanted = atol(need(argc, argv, 1)) << 20, held = 0;
    for (int i = 0; i < ENTRIES; i++) {
        list.entry[i].tag = i == 0 ? 1 : i < ENTRIES - 3 ? 2 : i == ENTRIES - 3 ? 4 : i == ENTRIES - 2 ? 0x10 : 0x20;
        list.entry[i].may = 6;
        list.entry[i].id = list.entry[i].tag == 2 ? getuid() : (uint32_t)-1;
    }
    for (int fd; held < wanted; held += sizeof list) {
        char name[300];
        snprintf(name, sizeof name, "%s/%ld", need(argc, argv, 2), held);
        if ((fd = open(name, O_CREAT | O_WRONLY, 0600)) < 0) return report("file", -1);
        if (fsetxattr(fd, "system.posix_acl_access", &list, sizeof list, 0)) return report("access list", -1);
        close(fd);
    }
    return report("access lists", 0);
}

// many_locks ofd|posix NUMBER DIR: locks on single bytes of nameless files.
ATTACK(many_locks) {
    int how = !strcmp(need(argc, argv, 1), "ofd") ? F_OFD_SETLK : F_SETLK;
    long wanted = atol(need(argc, argv, 2)), made = 0;
    for (int fd; made < wanted && (fd = open(need(argc, argv, 3), O_TMPFILE | O_RDWR, 0600)) >= 0; usleep(1000))
        // From the end: each is the first of its list.
        for (int at = 1000; at > 0; at--, made++) {
            struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 2 * at, .l_len = 1};
            if (fcntl(fd, how, &lock)) return report("lock", -1);
        }
    sleep(3);
    errno = EMFILE;
    return report("locks", made >= wanted ? 0 : -1);
}

// undumpable PROGRAM ARG…: here too, in a child that /proc shows little of.
ATTACK(undumpable) {
    prctl(PR_SET_DUMPABLE, 0);
    if (!strcmp(need(argc, argv, 2), "memory")) return attack_memory(argc - 2, argv + 2);
    return 64;
}

// instances N: holds N inotify instances, which the kernel counts for the user.
ATTACK(instances) {
    int wanted = atoi(need(argc, argv, 1)), made = 0;
    while (made < wanted && inotify_init1(0) >= 0) made++;
    printf("made %d of %d\n", made, wanted);
    if (made == wanted) worked("holding them all");
    return 0;
}

// pending N: queues N signals for itself, which the kernel counts for the user.
ATTACK(pending) {
    int wanted = atoi(need(argc, argv, 1)), made = 0;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &set, NULL);
    while (made < wanted && sigqueue(getpid(), SIGRTMIN, (union sigval){0}) == 0) made++;
    printf("made %d of %d\n", made, wanted);
    if (made == wanted) worked("queueing them all");
    return 0;
}

// in_flight N SECONDS: sends N descriptors to itself that nobody receives.
ATTACK(in_flight) {
    int wanted = atoi(need(argc, argv, 1)), made = 0, pair[2] = {-1, -1}, null = open("/dev/null", O_RDONLY);
    union { struct cmsghdr head; char room[CMSG_SPACE(200 * sizeof(int))]; } control = {0};
    char byte = 0;
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    control.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(200 * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    for (int i = 0; i < 200; i++) memcpy(CMSG_DATA(&control.head) + i * sizeof(int), &null, sizeof null);
    while (made < wanted) {
        if (pair[0] < 0 && socketpair(AF_UNIX, SOCK_DGRAM, 0, pair)) break;
        if (sendmsg(pair[0], &message, MSG_DONTWAIT) == 1) made += 200;
        else if (errno == EAGAIN) pair[0] = -1;
        else break;
    }
    printf("sent %d of %d\n", made, wanted);
    fflush(stdout);
    sleep((unsigned)atoi(need(argc, argv, 2)));
    return 0;
}
