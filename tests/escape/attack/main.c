// Chooses the attack, and holds the harmless helpers of the harness.
#include "attack.h"

#include <sys/xattr.h>

static struct { const char *name; attack_fn run; } attacks[512];
static int known;

void attack_register(const char *name, attack_fn run) {
    attacks[known].name = name;
    attacks[known++].run = run;
}

void worked(const char *what) {
    printf("%s: [[the forbidden call %s]]\n", what, "worked");
    fflush(stdout);
}

int report(const char *what, long result) {
    if (result >= 0) {
        worked(what);
        return 0;
    }
    printf("%s: refused, errno %d (%s)\n", what, errno, strerror(errno));
    fflush(stdout);
    return 1;
}

int report_past(const char *what, long result, int past) {
    if (result < 0 && errno == past) {
        worked(what);
        return 0;
    }
    return report(what, result);
}

int spill(int fd) {
    char buffer[65536];
    ssize_t n = read(fd, buffer, sizeof buffer);
    if (n < 0) return report("read", -1);
    fwrite(buffer, 1, (size_t)n, stdout);
    fflush(stdout);
    return 0;
}

char *need(int argc, char **argv, int n) {
    if (n < argc) return argv[n];
    fprintf(stderr, "%s: argument %d is missing\n", argv[0], n);
    exit(64);
}

// Prints the nonce backwards: a message that only quotes the arguments cannot contain it.
static void mark(const char *word, const char *nonce) {
    printf("%s:", word);
    for (size_t n = strlen(nonce); n > 0; n--) putchar(nonce[n - 1]);
    putchar('\n');
    fflush(stdout);
}

ATTACK(mark) {
    mark(need(argc, argv, 1), need(argc, argv, 2));
    return 0;
}

// enter NONCE PROGRAM ARG…: proves that we run here, then becomes the program. Errors go to stdout, or stay on a terminal.
ATTACK(enter) {
    mark("enter", need(argc, argv, 1));
    if (!isatty(2)) dup2(1, 2);
    execv(need(argc, argv, 2), argv + 2);
    return report("execv", -1);
}

// For scripts: `cmd && @A escaped WHAT`.
ATTACK(escaped) {
    worked(argc > 1 ? argv[1] : "script");
    return 0;
}

// sleep SECONDS [MARK…]: the rest of the arguments only marks the process.
ATTACK(sleep) {
    sleep((unsigned)atoi(need(argc, argv, 1)));
    return 0;
}

// listxattr PATH: names and values of user.*, for the harness.
ATTACK(listxattr) {
    char names[4096];
    ssize_t n = llistxattr(need(argc, argv, 1), names, sizeof names);
    for (char *name = names; n > 0 && name < names + n; name += strlen(name) + 1) {
        char value[256];
        ssize_t v = lgetxattr(argv[1], name, value, sizeof value);
        printf("%s=%.*s\n", name, (int)(v > 0 ? v : 0), value);
    }
    return 0;
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 0; argc > 1 && i < known; i++)
        if (!strcmp(attacks[i].name, argv[1])) return attacks[i].run(argc - 1, argv + 1);
    fprintf(stderr, "no such attack: %s\n", argc > 1 ? argv[1] : "(none)");
    return 64;
}
