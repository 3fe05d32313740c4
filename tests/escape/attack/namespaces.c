// Namespaces, mounts and roots.
#include "attack.h"

#include <linux/sched.h>
#include <sched.h>
#include <sys/mount.h>

static const struct { const char *name; int flag; } kinds[] = {
    {"user", CLONE_NEWUSER}, {"mnt", CLONE_NEWNS}, {"pid", CLONE_NEWPID},       {"net", CLONE_NEWNET},
    {"ipc", CLONE_NEWIPC},   {"uts", CLONE_NEWUTS}, {"cgroup", CLONE_NEWCGROUP}, {"time", CLONE_NEWTIME},
};

static int flag_of(const char *name) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].name, name)) return kinds[i].flag;
    exit(64);
}

ATTACK(unshare) { return report("unshare", unshare(flag_of(need(argc, argv, 1)))); }

static long settle(long child) {
    if (!child) _exit(0);
    if (child > 0) waitpid((pid_t)child, NULL, __WALL);
    return child;
}

ATTACK(clone_ns) {
    return report("clone", settle(syscall(SYS_clone, flag_of(need(argc, argv, 1)) | SIGCHLD, 0, 0, 0, 0)));
}

ATTACK(clone3_ns) {
    struct clone_args how = {.flags = (uint64_t)flag_of(need(argc, argv, 1)), .exit_signal = SIGCHLD};
    return report("clone3", settle(syscall(SYS_clone3, &how, sizeof how)));
}

// setns PATH: joins a namespace by its file.
ATTACK(setns) {
    int fd = open(need(argc, argv, 1), O_RDONLY);
    return report("setns", fd < 0 ? -1 : setns(fd, 0));
}

ATTACK(setns_pidfd) {
    long fd = syscall(SYS_pidfd_open, atoi(need(argc, argv, 1)), 0);
    return report("setns", fd < 0 ? -1 : setns((int)fd, CLONE_NEWNS));
}

// mount_tmpfs DIR, and taken away again.
ATTACK(mount_tmpfs) {
    int result = mount("none", need(argc, argv, 1), "tmpfs", 0, "size=4k");
    report("mount", result);
    if (!result) umount2(argv[1], MNT_DETACH);
    return 0;
}

ATTACK(mount_bind) {
    int result = mount(need(argc, argv, 1), need(argc, argv, 2), NULL, MS_BIND, NULL);
    report("bind mount", result);
    if (!result) umount2(argv[2], MNT_DETACH);
    return 0;
}

ATTACK(mount_proc) {
    int result = mount("proc", need(argc, argv, 1), "proc", 0, NULL);
    report("mount proc", result);
    if (!result) umount2(argv[1], MNT_DETACH);
    return 0;
}

// userns_mount DIR: becomes root in a namespace of its own first.
ATTACK(userns_mount) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS)) return report("unshare", -1);
    return report("mount in a user namespace", mount("none", need(argc, argv, 1), "tmpfs", 0, "size=4k"));
}

// remount PATH: makes a read-only mount writable. On a path that is no mount point EINVAL comes only after the permission.
ATTACK(remount) {
    return report_past("remount", mount(NULL, need(argc, argv, 1), NULL, MS_REMOUNT | MS_BIND, NULL), EINVAL);
}

// umount PATH: EINVAL (no mount point here) comes after the permission.
ATTACK(umount) { return report_past("umount", umount2(need(argc, argv, 1), MNT_DETACH), EINVAL); }

// pivot_root with the same directory twice is refused with EBUSY or EINVAL, after the permission.
ATTACK(pivot_root) {
    long result = syscall(SYS_pivot_root, need(argc, argv, 1), argv[1]);
    return report_past("pivot_root", result, errno == EBUSY ? EBUSY : EINVAL);
}

ATTACK(chroot) { return report("chroot", chroot(need(argc, argv, 1))); }
ATTACK(fsopen) { return report("fsopen", syscall(SYS_fsopen, "tmpfs", 0)); }
ATTACK(open_tree) { return report("open_tree", syscall(SYS_open_tree, AT_FDCWD, need(argc, argv, 1), 1)); }

ATTACK(mount_setattr) {
    uint64_t none[4] = {0};
    return report_past("mount_setattr", syscall(SYS_mount_setattr, AT_FDCWD, need(argc, argv, 1), 0, none, sizeof none), EINVAL);
}

ATTACK(move_mount) {
    // Both names are bad: ENOENT comes after the permission.
    return report_past("move_mount", syscall(SYS_move_mount, AT_FDCWD, "/nowhere", AT_FDCWD, "/nowhere", 0), ENOENT);
}

ATTACK(listmount) {
    struct { uint32_t size, spare; uint64_t id, param, ns; } ask = {32, 0, UINT64_MAX, 0, 0};
    uint64_t ids[64];
    return report("listmount", syscall(458, &ask, ids, 64, 0));
}
