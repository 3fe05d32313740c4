"""A random tree (`make`), and random operations on it (`change`), from a seed. Works in the current directory."""
import ctypes, mmap, os, random, socket, stat, sys

seed, phase = int(sys.argv[1]), sys.argv[2]
rng = random.Random(seed * 2 + (phase == "change"))
libc = ctypes.CDLL(None, use_errno=True)
NAMES = [b"a", b"b", b"c", b"src", b"new\nline", b"\xff\xfe", b"sp ace", b"Makefile", b"x" * 200, b"-f", b".hidden", b"\xc3\xa9"]


def everything():
    found = [(b".", "d")]
    for top, dirs, files in os.walk(b"."):
        for name in dirs + files:
            path = os.path.join(top, name)
            kind = "l" if os.path.islink(path) else "d" if os.path.isdir(path) else "f" if os.path.isfile(path) else "s"
            found.append((path, kind))
    return found


def pick(*kinds):
    return rng.choice([p for p, k in everything() if k in kinds and (p != b"." or kinds == ("d",))] or [b"nothing"])


def fresh():
    return os.path.join(pick("d"), rng.choice(NAMES) + (b"%d" % rng.randrange(6) if rng.random() < 0.6 else b""))


def forge(path):
    if rng.random() < 0.5:
        os.utime(path, (rng.randrange(10**9), rng.randrange(10**9)), follow_symlinks=False)


def open_here(path, flags):
    # Part of this runs outside a sandbox: never through a link, and never waiting for a pipe's reader.
    return os.fdopen(os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644), "r+b")


def create():
    path = fresh()
    with open_here(path, os.O_RDWR | os.O_CREAT) as f:
        if not stat.S_ISREG(os.fstat(f.fileno()).st_mode):
            return
        f.write(rng.randbytes(rng.randrange(5000)))
    forge(path)


def write():
    path = pick("f")
    with open_here(path, os.O_RDWR) as f:
        f.seek(rng.randrange(100))
        f.write(rng.randbytes(rng.randrange(1, 100)))
    forge(path)


def map_write():
    path = pick("f")
    with open_here(path, os.O_RDWR) as f:
        if os.fstat(f.fileno()).st_size == 0:
            return
        with mmap.mmap(f.fileno(), 0) as m:
            m[0:1] = rng.randbytes(1)
    forge(path)


def truncate():
    os.truncate(pick("f"), rng.randrange(50))


def unlink():
    os.unlink(pick("f", "l", "s"))


def remove_tree():
    top = pick("d")
    if top == b".":
        return
    for at, dirs, files in os.walk(top, topdown=False):
        for name in files:
            os.unlink(os.path.join(at, name))
        for name in dirs:
            path = os.path.join(at, name)
            os.unlink(path) if os.path.islink(path) else os.rmdir(path)
    os.rmdir(top)


def mkdir():
    os.mkdir(fresh())


def rename():
    os.rename(pick("f", "d", "l", "s"), fresh() if rng.random() < 0.6 else pick("f", "d", "l", "s"))


def exchange():
    if libc.renameat2(-100, pick("f", "d", "l"), -100, pick("f", "d", "l"), 2):
        raise OSError("exchange")


def there_and_back():
    path, away = pick("f", "d"), fresh()
    if not os.path.lexists(away):
        os.rename(path, away)
        os.rename(away, path)


def link():
    os.link(pick("f"), fresh(), follow_symlinks=False)


def symlink():
    os.symlink(rng.choice([b"a", b"..", b"/nonexistent/x", b"loop", b"../../../x", pick("f", "d")]), fresh())


def chmod():
    os.chmod(pick("f", "d"), rng.choice([0o700, 0o711, 0o755, 0o750]))


def special():
    if rng.random() < 0.5:
        os.mkfifo(fresh())
    else:
        sock = socket.socket(socket.AF_UNIX)
        here = os.open(".", os.O_RDONLY)
        path = fresh()
        os.chdir(os.path.dirname(path))
        try:
            sock.bind(os.path.basename(path)[:90])
        finally:
            os.fchdir(here)
            os.close(here)


def nameless():
    fd = os.open(pick("d"), os.O_TMPFILE | os.O_RDWR, 0o644)
    os.write(fd, b"nameless")
    try:
        os.link(b"/proc/self/fd/%d" % fd, fresh(), follow_symlinks=True)
    finally:
        os.close(fd)


def same_again():
    path = pick("f")
    with open_here(path, os.O_RDWR) as f:
        content = f.read()
    mode = os.stat(path).st_mode
    os.unlink(path)
    with open_here(path, os.O_RDWR | os.O_CREAT | os.O_EXCL) as f:
        f.write(content)
    os.chmod(path, mode & 0o777)


def other_kind():
    path = pick("f", "l", "s")
    os.unlink(path)
    rng.choice([os.mkdir, os.mkfifo, lambda p: os.symlink(b"a", p)])(path)


def come_and_go():
    path = fresh()
    if not os.path.lexists(path):
        os.mkdir(path)
        open_here(os.path.join(path, b"f"), os.O_RDWR | os.O_CREAT).close()
        os.unlink(os.path.join(path, b"f"))
        os.rmdir(path)


def touch():
    forge(pick("f", "d", "l", "s"))


def attribute():
    os.setxattr(pick("f"), "user.x", rng.randbytes(4))


OPERATIONS = [create, create, write, write, map_write, truncate, unlink, remove_tree, mkdir, rename, rename, exchange,
              there_and_back, link, symlink, chmod, special, nameless, same_again, other_kind, come_and_go, touch, attribute]

if phase == "make":
    for _ in range(rng.randrange(2, 12)):
        try:
            os.makedirs(fresh())
        except OSError:
            pass
    OPERATIONS = [create] * 8 + [mkdir] * 3 + [symlink, link, special]
done = 0
for _ in range(rng.randrange(30, 120) if phase == "make" else rng.randrange(0, 80)):
    try:
        rng.choice(OPERATIONS)()
        done += 1
    except (OSError, ValueError):
        pass
print(phase, done)
