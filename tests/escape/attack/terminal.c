// Terminals: a pseudo-terminal with a small host shell behind it, and attacks on it.
#include "attack.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>

static int open_pair(int *slave, char *name, size_t room) {
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) || unlockpt(master) || ptsname_r(master, name, room)) return -1;
    *slave = open(name, O_RDWR | O_NOCTTY);
    return *slave < 0 ? -1 : master;
}

// What a person's shell would do: run the command in the foreground, then look at its terminal.
static void host_shell(int tty, const char *shape, char **argv, int log) {
    struct termios before, after;
    struct winsize size = {24, 80, 0, 0}, later;
    setsid();
    ioctl(tty, TIOCSCTTY, 0);
    tcgetattr(tty, &before);
    before.c_lflag &= (tcflag_t)~ECHO;
    tcsetattr(tty, TCSANOW, &before);
    ioctl(tty, TIOCSWINSZ, &size);
    signal(SIGTTOU, SIG_IGN);
    pid_t job = fork();
    if (!job) {
        setpgid(0, 0);
        tcsetpgrp(tty, getpid());
        signal(SIGTTOU, SIG_DFL);
        int null = open("/dev/null", O_RDWR);
        for (int fd = 0; fd < 3; fd++) dup2(shape[fd] == 't' ? tty : fd == 0 ? null : log, fd);
        for (int fd = 3; fd < 64; fd++) close(fd);
        execv(argv[0], argv);
        _exit(127);
    }
    setpgid(job, job);
    int status;
    waitpid(job, &status, 0);
    tcsetpgrp(tty, getpgrp());
    tcgetattr(tty, &after);
    ioctl(tty, TIOCGWINSZ, &later);
    if (before.c_lflag != after.c_lflag || before.c_iflag != after.c_iflag || before.c_oflag != after.c_oflag)
        dprintf(log, "[host shell: the modes of my terminal were changed]\n");
    if (size.ws_row != later.ws_row || size.ws_col != later.ws_col)
        dprintf(log, "[host shell: the size of my terminal was changed]\n");
    struct termios raw = after;
    raw.c_lflag &= (tcflag_t)~ICANON;
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 2;
    tcsetattr(tty, TCSANOW, &raw);
    char typed[4096];
    ssize_t n = read(tty, typed, sizeof typed);
    if (n > 0) dprintf(log, "[host shell: someone typed: %.*s]\n", (int)n, typed);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128);
}

// pty SHAPE PROGRAM ARG…: runs the program from a terminal. SHAPE says for 0, 1 and 2 whether it is the terminal (`t`) or
// not (`-`). What appears on the terminal is printed, and what the host shell found afterwards.
ATTACK(pty) {
    char name[64], buffer[4096];
    int status = 0, tty, master = open_pair(&tty, name, sizeof name);
    if (master < 0) return report("pty", -1);
    pid_t shell = fork();
    if (!shell) {
        close(master);
        host_shell(tty, need(argc, argv, 1), argv + 2, dup(1));
    }
    close(tty);
    need(argc, argv, 2);
    for (;;) {
        struct pollfd wait = {master, POLLIN, 0};
        poll(&wait, 1, 100);
        ssize_t n = wait.revents & POLLIN ? read(master, buffer, sizeof buffer) : 0;
        if (n > 0) {
            if (write(1, buffer, (size_t)n) < 0) break;
            continue;
        }
        if (waitpid(shell, &status, WNOHANG)) break;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

// terminal_victim NAME-FILE SECRET-FILE HEARD-FILE MARK: someone else's terminal, in which a secret has been typed.
ATTACK(terminal_victim) {
    char name[64], secret[256], buffer[4096];
    int tty, master = open_pair(&tty, name, sizeof name);
    int fd = open(need(argc, argv, 2), O_RDONLY);
    ssize_t n = read(fd, secret, sizeof secret);
    if (master < 0 || n <= 0) return report("pty", -1);
    struct termios quiet;
    tcgetattr(tty, &quiet);
    quiet.c_lflag &= (tcflag_t)~ECHO;
    tcsetattr(tty, TCSANOW, &quiet);
    if (write(master, secret, (size_t)n) < 0) return report("write", -1);
    FILE *out = fopen(need(argc, argv, 1), "w");
    fprintf(out, "%s\n", name);
    fclose(out);
    while ((n = read(master, buffer, sizeof buffer)) > 0) {
        int heard = open(need(argc, argv, 3), O_CREAT | O_WRONLY | O_APPEND, 0644);
        if (write(heard, buffer, (size_t)n) < 0) break;
        close(heard);
    }
    return 0;
}

static int push(int tty, unsigned long command, const char *text) {
    int result = tty < 0 ? -1 : 0;
    for (; !result && *text; text++) result = (int)syscall(SYS_ioctl, tty, command, text);
    return report("TIOCSTI", result);
}

// tiocsti FD TEXT: types into the terminal.
ATTACK(tiocsti) { return push(atoi(need(argc, argv, 1)), TIOCSTI, need(argc, argv, 2)); }
// The kernel takes only 32 bits of the command.
ATTACK(tiocsti_wide) { return push(atoi(need(argc, argv, 1)), 0x100000000ul | TIOCSTI, need(argc, argv, 2)); }
ATTACK(tiocsti_dev) { return push(open("/dev/tty", O_RDWR), TIOCSTI, need(argc, argv, 1)); }

// tioclinux FD: pastes the selection of a virtual console. ENOTTY means that only the console is missing.
ATTACK(tioclinux) {
    char paste = 3;
    return report_past("TIOCLINUX", ioctl(atoi(need(argc, argv, 1)), TIOCLINUX, &paste), ENOTTY);
}

// wreck FD: raw, no echo, another size.
ATTACK(wreck) {
    struct termios modes;
    struct winsize size = {7, 7, 0, 0};
    int tty = atoi(need(argc, argv, 1));
    tcgetattr(tty, &modes);
    cfmakeraw(&modes);
    if (need(argc, argv, 2)[0] == 's') return report("TIOCSWINSZ", ioctl(tty, TIOCSWINSZ, &size));
    return report("tcsetattr", tcsetattr(tty, TCSANOW, &modes));
}

// say_on PATH TEXT: writes to a terminal by its name.
ATTACK(say_on) {
    int tty = open(need(argc, argv, 1), O_RDWR | O_NOCTTY);
    return report("write", tty < 0 ? -1 : write(tty, need(argc, argv, 2), strlen(argv[2])));
}

// listen_on PATH: reads what was typed there.
ATTACK(listen_on) {
    int tty = open(need(argc, argv, 1), O_RDWR | O_NOCTTY | O_NONBLOCK);
    return tty < 0 ? report("open", -1) : spill(tty);
}

// background_read PID PROGRAM ARG…: a child in PID's group reads the terminal, for which the kernel stops that whole group; the
// program runs meanwhile. PID goes on at the end.
ATTACK(background_read) {
    char key;
    pid_t whom = (pid_t)atoi(need(argc, argv, 1));
    need(argc, argv, 2);
    pid_t reader = fork();
    if (!reader) {
        if (setpgid(0, getpgid(whom))) _exit(1);
        for (int i = 0; i < 100; i++) {
            if (read(0, &key, 1) < 0) usleep(20000);
        }
        _exit(0);
    }
    for (int i = 0; i < 8; i++) {
        usleep(50000);
        kill(reader, SIGCONT);
    }
    pid_t program = fork();
    if (!program) {
        execv(argv[2], argv + 2);
        _exit(127);
    }
    waitpid(program, NULL, 0);
    kill(reader, SIGKILL);
    waitpid(reader, NULL, 0);
    kill(whom, SIGCONT);
    return 0;
}
