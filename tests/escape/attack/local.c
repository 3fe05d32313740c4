// Unix sockets, shared memory and what else two processes of one machine share.
#include "attack.h"

#include <stddef.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>

// A name that begins with @@ is abstract.
static socklen_t name_of(const char *text, struct sockaddr_un *to) {
    to->sun_family = AF_UNIX;
    int abstract = !strncmp(text, "@@", 2);
    size_t n = strlen(text + 2 * abstract);
    memcpy(to->sun_path + abstract, text + 2 * abstract, n);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)abstract + n + !abstract);
}

// unix NAME TEXT
ATTACK(unix) {
    struct sockaddr_un to = {0};
    socklen_t size = name_of(need(argc, argv, 1), &to);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (void *)&to, size)) return report("connect", -1);
    return report("send", send(fd, need(argc, argv, 2), strlen(argv[2]), 0));
}

ATTACK(unix_datagram) {
    struct sockaddr_un to = {0};
    socklen_t size = name_of(need(argc, argv, 1), &to);
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    return report("sendto", fd < 0 ? -1 : sendto(fd, need(argc, argv, 2), strlen(argv[2]), 0, (void *)&to, size));
}

// shm_victim SECRET-FILE ID-FILE MARK: a segment that vanishes with this process.
ATTACK(shm_victim) {
    int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    char *at = shmat(id, NULL, 0);
    int fd = open(need(argc, argv, 1), O_RDONLY);
    if (id < 0 || read(fd, at, 4095) < 0) return report("shmget", -1);
    shmctl(id, IPC_RMID, NULL);
    FILE *out = fopen(need(argc, argv, 2), "w");
    fprintf(out, "%d\n", id);
    fclose(out);
    sleep(60);
    return 0;
}

ATTACK(shm_read) {
    char *at = shmat(atoi(need(argc, argv, 1)), NULL, SHM_RDONLY);
    if (at == (void *)-1) return report("shmat", -1);
    return printf("%s\n", at) < 0;
}

// ipc_ids: the host's System V objects, by the kernel's own list.
ATTACK(shm_list) {
    struct shm_info info;
    int last = shmctl(0, SHM_INFO, (void *)&info);
    for (int i = 0; i <= last; i++) {
        struct shmid_ds one;
        int id = shmctl(i, SHM_STAT_ANY, &one);
        if (id == atoi(need(argc, argv, 1))) worked("saw a segment of the host");
    }
    return 0;
}

// unix_from_stdin NAME TEXT: from a socket that is standard input; a datagram needs no connection.
ATTACK(unix_from_stdin) {
    struct sockaddr_un to = {0};
    socklen_t size = name_of(need(argc, argv, 1), &to);
    char *text = need(argc, argv, 2);
    if (connect(0, (void *)&to, size)) return report("sendto", sendto(0, text, strlen(text), 0, (void *)&to, size));
    return report("send", send(0, text, strlen(text), 0));
}
