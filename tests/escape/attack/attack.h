// What the attack programs share. One binary; the first argument chooses the attack.
//
// Each attack does one forbidden thing the shortest way, prints what came of it, and ends. None damages the host: they work
// on canaries that the harness made, or make calls with arguments that fail after the permission check.
#ifndef ATTACK_H
#define ATTACK_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int (*attack_fn)(int argc, char **argv);
void attack_register(const char *name, attack_fn run);

// Defines an attack: argv[0] is its name, argv[1] its first argument.
#define ATTACK(name)                                                                       \
    static int attack_##name(int argc, char **argv);                                       \
    __attribute__((constructor)) static void enlist_##name(void) {                         \
        attack_register(#name, attack_##name);                                             \
    }                                                                                      \
    static int attack_##name(int argc __attribute__((unused)), char **argv __attribute__((unused)))

// Says that `what` worked. Nothing else prints these words.
void worked(const char *what);
// Says that `what` worked if `result` is not negative, else which errno refused it.
int report(const char *what, long result);
// The same for calls that are made with bad arguments: `past` is the errno that means "permitted, but nonsense".
int report_past(const char *what, long result, int past);
// Copies what can be read from `fd` to stdout.
int spill(int fd);
// argv[n], or ends with a message if it is missing.
char *need(int argc, char **argv, int n);

#endif
