// Every way to give a file the setuid or setgid bit, or to make a device node. Each takes one path.
#include "attack.h"

#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

static int fresh(const char *path) { return open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0755); }

ATTACK(m_chmod) {
    close(fresh(need(argc, argv, 1)));
    return report("chmod", chmod(argv[1], 04755));
}
ATTACK(m_chmod_gid) {
    close(fresh(need(argc, argv, 1)));
    return report("chmod", chmod(argv[1], 02755));
}
ATTACK(m_fchmod) { return report("fchmod", fchmod(fresh(need(argc, argv, 1)), 06755)); }
ATTACK(m_fchmodat) {
    close(fresh(need(argc, argv, 1)));
    return report("fchmodat", syscall(SYS_fchmodat, AT_FDCWD, argv[1], 04755));
}
ATTACK(m_fchmodat2) {
    close(fresh(need(argc, argv, 1)));
    return report("fchmodat2", syscall(452, AT_FDCWD, argv[1], 04755, 0));
}
// The kernel looks only at the low bits of a mode; a filter that compares more is fooled.
ATTACK(m_chmod_high) {
    close(fresh(need(argc, argv, 1)));
    return report("chmod", syscall(SYS_fchmodat, AT_FDCWD, argv[1], 0xffff0000ul | 04755));
}
ATTACK(m_chmod_wide) {
    close(fresh(need(argc, argv, 1)));
    return report("chmod", syscall(SYS_fchmodat, AT_FDCWD, argv[1], 0x100000000ul | 04755));
}
ATTACK(m_open) { return report("open", open(need(argc, argv, 1), O_CREAT | O_WRONLY, 04755)); }
ATTACK(m_open_tmpfile) {
    char link[64];
    int fd = open(".", O_TMPFILE | O_RDWR, 04755);
    if (fd < 0) return report("O_TMPFILE", -1);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return report("linkat", linkat(AT_FDCWD, link, AT_FDCWD, need(argc, argv, 1), AT_SYMLINK_FOLLOW));
}
ATTACK(m_openat2) {
    struct open_how how = {.flags = O_CREAT | O_WRONLY, .mode = 04755};
    return report("openat2", syscall(SYS_openat2, AT_FDCWD, need(argc, argv, 1), &how, sizeof how));
}
// A store through a shared mapping keeps the bits that a write would take away. Read first: then some filesystems see nothing.
ATTACK(m_map) {
    int fd = open(need(argc, argv, 1), O_RDWR);
    if (fd < 0) return report("open", -1);
    volatile char *at = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) return report("mmap", -1);
    char before = at[0];
    at[0] = before == 'X' ? 'Y' : 'X';
    return report("map", msync((void *)at, 1, MS_SYNC));
}
ATTACK(m_mknodat) { return report("mknodat", mknodat(AT_FDCWD, need(argc, argv, 1), S_IFREG | 04755, 0)); }
ATTACK(m_mkdir_gid) {
    // mkdir ignores the setgid bit of its mode on Linux; the way is mkdir, then chmod.
    if (mkdir(need(argc, argv, 1), 0755)) return report("mkdir", -1);
    return report("chmod", chmod(argv[1], 02755));
}
#ifdef SYS_chmod
ATTACK(m_creat) { return report("creat", syscall(SYS_creat, need(argc, argv, 1), 04755)); }
ATTACK(m_mknod) { return report("mknod", syscall(SYS_mknod, need(argc, argv, 1), S_IFREG | 04755, 0)); }
#endif
// umask cannot take the bits away from an explicit mode; asked for with none.
ATTACK(m_umask) {
    umask(0);
    return report("open", open(need(argc, argv, 1), O_CREAT | O_WRONLY, 06777));
}
ATTACK(dev_char) { return report("mknod", mknod(need(argc, argv, 1), S_IFCHR | 0666, makedev(1, 1))); }
ATTACK(dev_block) { return report("mknod", mknod(need(argc, argv, 1), S_IFBLK | 0666, makedev(7, 0))); }
