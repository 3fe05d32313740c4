/*
 * floor PROJECT -- COMMAND...: the command under Landlock (everything readable, PROJECT writable) and a system call filter of one
 * instruction that allows all. No namespace, no mount, no supervisor: the price of these two walls alone, as this kernel charges it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Execute, read a file, list a directory. */
#define READ_RIGHTS 0xdULL

static int allow(int ruleset, const char *path, unsigned long long rights)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = open(path, O_PATH | O_CLOEXEC)};
    int failed = rule.parent_fd < 0 || syscall(445, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    if (rule.parent_fd >= 0)
        close(rule.parent_fd);
    return failed;
}

int main(int count, char **words)
{
    if (count < 4 || strcmp(words[2], "--")) {
        fprintf(stderr, "usage: floor PROJECT -- COMMAND...\n");
        return 2;
    }
    long abi = syscall(444, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    /* The first ABI has 13 rights on files; moving, shortening and device control came later. */
    unsigned long long rights = (1ULL << 13) - 1;
    if (abi >= 2)
        rights |= 1ULL << 13;
    if (abi >= 3)
        rights |= 1ULL << 14;
    if (abi >= 5)
        rights |= 1ULL << 15;
    struct landlock_ruleset_attr handled = {.handled_access_fs = rights};
    int ruleset = (int)syscall(444, &handled, sizeof handled.handled_access_fs, 0);
    if (abi < 1 || ruleset < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || allow(ruleset, "/", READ_RIGHTS) ||
        allow(ruleset, "/dev", rights) || allow(ruleset, "/tmp", rights) || allow(ruleset, words[1], rights) ||
        syscall(446, ruleset, 0)) {
        perror("floor: Landlock");
        return 125;
    }
    struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog filter = {.len = 1, .filter = all};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) {
        perror("floor: seccomp");
        return 125;
    }
    close(ruleset);
    execvp(words[3], words + 3);
    perror("floor: exec");
    return 127;
}
