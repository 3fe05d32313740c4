// Every way to talk to the host's loopback: PORT is the listener's, TEXT what it should hear.
#include "attack.h"

#include <arpa/inet.h>
#include <linux/if_alg.h>
#include <linux/io_uring.h>
#include <linux/netlink.h>
#include <linux/vm_sockets.h>
#include <netinet/tcp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>

static struct sockaddr_in loopback(int argc, char **argv) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(need(argc, argv, 1)))};
    inet_aton(argc > 3 ? argv[3] : "127.0.0.1", &to.sin_addr);
    return to;
}

static struct sockaddr_in6 loopback6(int argc, char **argv) {
    struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)atoi(need(argc, argv, 1)))};
    inet_pton(AF_INET6, argc > 3 ? argv[3] : "::1", &to.sin6_addr);
    return to;
}

static int talk(const char *what, int fd, const void *to, socklen_t size, const char *text) {
    if (fd < 0) return report("socket", -1);
    if (connect(fd, to, size)) return report(what, -1);
    return report(what, send(fd, text, strlen(text), 0));
}

// tcp PORT TEXT [ADDRESS]
ATTACK(tcp) {
    struct sockaddr_in to = loopback(argc, argv);
    return talk("tcp", socket(AF_INET, SOCK_STREAM, 0), &to, sizeof to, need(argc, argv, 2));
}

ATTACK(tcp6) {
    struct sockaddr_in6 to = loopback6(argc, argv);
    return talk("tcp6", socket(AF_INET6, SOCK_STREAM, 0), &to, sizeof to, need(argc, argv, 2));
}

ATTACK(udp) {
    struct sockaddr_in to = loopback(argc, argv);
    return talk("udp", socket(AF_INET, SOCK_DGRAM, 0), &to, sizeof to, need(argc, argv, 2));
}

ATTACK(udp6) {
    struct sockaddr_in6 to = loopback6(argc, argv);
    return talk("udp6", socket(AF_INET6, SOCK_DGRAM, 0), &to, sizeof to, need(argc, argv, 2));
}

ATTACK(udp_sendto) {
    struct sockaddr_in to = loopback(argc, argv);
    char *text = need(argc, argv, 2);
    return report("sendto", sendto(socket(AF_INET, SOCK_DGRAM, 0), text, strlen(text), 0, (void *)&to, sizeof to));
}

ATTACK(udp_sendmmsg) {
    struct sockaddr_in to = loopback(argc, argv);
    struct iovec part = {need(argc, argv, 2), strlen(argv[2])};
    struct mmsghdr one = {.msg_hdr = {.msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &part, .msg_iovlen = 1}};
    return report("sendmmsg", sendmmsg(socket(AF_INET, SOCK_DGRAM, 0), &one, 1, 0));
}


// Data in the SYN: no connect() for a filter to see.
ATTACK(fastopen) {
    struct sockaddr_in to = loopback(argc, argv);
    char *text = need(argc, argv, 2);
    return report("MSG_FASTOPEN", sendto(socket(AF_INET, SOCK_STREAM, 0), text, strlen(text), MSG_FASTOPEN, (void *)&to, sizeof to));
}

ATTACK(fastopen_sendmsg) {
    struct sockaddr_in to = loopback(argc, argv);
    struct iovec part = {need(argc, argv, 2), strlen(argv[2])};
    struct msghdr one = {.msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &part, .msg_iovlen = 1};
    return report("MSG_FASTOPEN", sendmsg(socket(AF_INET, SOCK_STREAM, 0), &one, MSG_FASTOPEN));
}

ATTACK(fastopen_connect) {
    struct sockaddr_in to = loopback(argc, argv);
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof on);
    return talk("TCP_FASTOPEN_CONNECT", fd, &to, sizeof to, need(argc, argv, 2));
}

ATTACK(mptcp) {
    struct sockaddr_in to = loopback(argc, argv);
    return talk("mptcp", socket(AF_INET, SOCK_STREAM, IPPROTO_MPTCP), &to, sizeof to, need(argc, argv, 2));
}

ATTACK(sctp) { return report("sctp", socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP)); }
ATTACK(raw) { return report("raw socket", socket(AF_INET, SOCK_RAW, IPPROTO_TCP)); }
ATTACK(icmp) { return report("raw icmp", socket(AF_INET, SOCK_RAW, IPPROTO_ICMP)); }
ATTACK(raw6) { return report("raw socket", socket(AF_INET6, SOCK_RAW, IPPROTO_TCP)); }
ATTACK(packet) { return report("AF_PACKET", socket(AF_PACKET, SOCK_RAW, htons(3))); }
ATTACK(netlink) { return report("AF_NETLINK", socket(AF_NETLINK, SOCK_RAW, atoi(need(argc, argv, 1)))); }

// family NUMBER TYPE: only whether such a socket can be had.
ATTACK(family) { return report("socket", socket(atoi(need(argc, argv, 1)), atoi(need(argc, argv, 2)), 0)); }

ATTACK(alg) {
    struct sockaddr_alg hash = {.salg_family = AF_ALG, .salg_type = "hash", .salg_name = "sha256"};
    int fd = socket(AF_ALG, SOCK_SEQPACKET, 0);
    return report("AF_ALG", fd < 0 ? -1 : bind(fd, (void *)&hash, sizeof hash));
}

ATTACK(vsock) {
    struct sockaddr_vm host = {.svm_family = AF_VSOCK, .svm_cid = VMADDR_CID_ANY, .svm_port = VMADDR_PORT_ANY};
    int fd = socket(AF_VSOCK, SOCK_STREAM, 0);
    return report("AF_VSOCK", fd < 0 ? -1 : bind(fd, (void *)&host, sizeof host));
}

// uring_tcp PORT TEXT: socket, connect and send without the calls of those names.
ATTACK(uring_tcp) {
    struct io_uring_params p = {0};
    struct sockaddr_in to = loopback(argc, argv);
    char *text = need(argc, argv, 2);
    int ring = (int)syscall(SYS_io_uring_setup, 4, &p);
    if (ring < 0) return report("io_uring_setup", -1);
    char *sq = mmap(0, p.sq_off.array + 16, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
    char *cq = mmap(0, p.cq_off.cqes + 256, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_CQ_RING);
    struct io_uring_sqe *entries = mmap(0, 512, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
    int fd = -1;
    for (unsigned step = 0; step < 3; step++) {
        struct io_uring_sqe *e = memset(&entries[step], 0, sizeof *e);
        if (step == 0) e->opcode = IORING_OP_SOCKET, e->fd = AF_INET, e->off = SOCK_STREAM;
        if (step == 1) e->opcode = IORING_OP_CONNECT, e->fd = fd, e->addr = (uintptr_t)&to, e->off = sizeof to;
        if (step == 2) e->opcode = IORING_OP_SEND, e->fd = fd, e->addr = (uintptr_t)text, e->len = (uint32_t)strlen(text);
        ((uint32_t *)(sq + p.sq_off.array))[step] = step;
        *(volatile uint32_t *)(sq + p.sq_off.tail) = step + 1;
        syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
        int result = ((struct io_uring_cqe *)(cq + p.cq_off.cqes))[step].res;
        errno = result < 0 ? -result : 0;
        if (result < 0) return report("io_uring", -1);
        if (step == 0) fd = result;
    }
    return report("io_uring", 0);
}

// serve PORT SECONDS: listens on all addresses, for the host to find.
ATTACK(serve) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(need(argc, argv, 1)))};
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (void *)&at, sizeof at) || listen(fd, 5)) return report("listen", -1);
    printf("listening\n");
    sleep((unsigned)atoi(need(argc, argv, 2)));
    return 0;
}

// visit PORT FILE MARK: from the host, tries to reach such a server for two seconds; makes FILE if it can.
ATTACK(visit) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(need(argc, argv, 1)))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < 100; i++, usleep(20000)) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (!connect(fd, (void *)&to, sizeof to)) {
            close(open(need(argc, argv, 2), O_CREAT | O_WRONLY, 0644));
            break;
        }
        close(fd);
    }
    sleep(60);
    return 0;
}

// family_protocol FAMILY TYPE PROTOCOL
ATTACK(family_protocol) {
    return report("socket", socket(atoi(need(argc, argv, 1)), atoi(need(argc, argv, 2)), atoi(need(argc, argv, 3))));
}
