"""A terminal for the tests: a pseudo-terminal, a command on it, and what a person at it would do and see.

The test's own lines follow. They start commands with `Terminal(argv)`; RUN is the supervisor's argv up to `--`, or empty
when the tests run bare. What they print is compared.
"""
import fcntl, os, pty, re, select, shlex, signal, struct, sys, termios, time

RUN = sys.argv[1:]
LIMIT = 30
BASH = ("bash", "--norc", "--noprofile", "--noediting", "-i")
DASH = ("dash", "-i")  # leaves the terminal's modes as its commands left them


def window(fd, rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def over(pid):
    """Has it ended, though nobody has collected it?"""
    return open(f"/proc/{pid}/stat").read().rsplit(") ", 1)[1][0] == "Z"


class Terminal:
    def __init__(self, argv, rows=24, columns=80):
        self.text, self.told = b"", 0
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it
            window(0, rows, columns)
            os.execvp(argv[0], argv)

    @staticmethod
    def shell(argv=BASH):
        """An interactive shell at the outer terminal."""
        shell = Terminal(["env", "PS1=ready> ", *argv])
        shell.see("ready> ")
        return shell

    def _read(self, wait):
        if not select.select([self.fd], [], [], wait)[0]:
            return False
        try:
            chunk = os.read(self.fd, 65536)
        except OSError:  # EIO: the other side is closed
            chunk = b""
        self.text += chunk
        return bool(chunk)

    def see(self, pattern):
        """Waits for the pattern after what was seen before, and returns the match."""
        end = time.monotonic() + LIMIT
        while True:
            found = re.search(pattern.encode(), self.text[self.told:])
            if found:
                self.told += found.end()
                return found
            if time.monotonic() > end:
                sys.exit(f"never saw {pattern!r} after {self.text[:self.told]!r}; instead {self.text[self.told:]!r}")
            self._read(0.1)

    def type(self, text):
        os.write(self.fd, text.encode())

    def resize(self, rows, columns):
        window(self.fd, rows, columns)

    def modes(self):
        return termios.tcgetattr(self.fd)

    def end(self):
        """Waits for the command's end and returns its status as a shell tells it."""
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            self._read(0.02)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                while self._read(0.1):
                    pass
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code
        sys.exit(f"the command did not end; seen: {self.text!r}")

    def lines(self):
        return self.text.decode(errors="replace").replace("\r\n", "\n")


def command(*argv):
    """The shell's words for a sandboxed command."""
    return shlex.join([*RUN, *argv])


