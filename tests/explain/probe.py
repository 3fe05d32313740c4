"""Does inside what `policy explain` was asked about: questions as JSON on stdin, one answer per line on stdout.

A question is [use, path, later]. `later`: the path is said to be hidden as soon as it appears, so its going away is waited for.
The answer is the name of the error, or `ok`. What a question makes is removed before the next.
"""
import errno, json, os, stat, sys, time

PATIENCE = 10.0


def read(path):
    os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY))


def execute(path):
    pid = os.posix_spawn(path, [path], {}, file_actions=[(os.POSIX_SPAWN_CLOSE, 0)])
    os.waitpid(pid, 0)


def make(path, later):
    made = []
    above = os.path.dirname(path)
    try:
        missing = []
        while not os.path.lexists(above):
            missing.append(above)
            above = os.path.dirname(above)
        for directory in reversed(missing):
            os.mkdir(directory)
            made.append(directory)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
        made.append(path)
        end = time.monotonic() + PATIENCE
        while later and time.monotonic() < end:
            read(path)
            time.sleep(0.005)
    finally:
        for name in reversed(made):
            try:
                os.rmdir(name) if os.path.isdir(name) else os.unlink(name)
            except OSError:
                pass  # covered meanwhile


def write(path, later):
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        if ".." in path.split("/"):
            # What is not there cannot be left again.
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o644))
            os.unlink(path)
            return
        # Where a dangling link leads.
        return make(os.path.realpath(path), later)
    if stat.S_ISDIR(mode):
        return make(os.path.join(path, "made-by-the-probe"), later)
    os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY))


def attempt(use, path, later):
    try:
        if use == "write":
            write(path, later)
        else:
            {"read": read, "exec": execute}[use](path)
        return "ok"
    except OSError as error:
        if error.errno in (errno.ENOEXEC, errno.ENXIO):
            return "ok"  # Nothing refused it; it is just no program, or a pipe that nobody reads.
        return errno.errorcode[error.errno]


asked = json.load(sys.stdin)
with open("/proc/self/environ", "rb") as file:
    names = [entry.split(b"=")[0].decode() for entry in file.read().split(b"\0") if entry]
print(json.dumps({"env": names, "paths": [attempt(*question) for question in asked]}))
