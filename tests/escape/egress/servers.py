"""The internet of one test: `servers.py NAMESPACE_A NAMESPACE_B`, started in A, with the working directory of the lab.

B answers for every address: HTTP on 80 and 8080, TLS on 443 and 8443, echo on 25 and 7777, a server that speaks first on
7000, names on 203.0.113.53. A, the namespace of the supervisor, has servers that must never be reached from a sandbox, and
on 3128 and 1080 two proxies that forward whatever they are asked: the bare control of attacks on a proxy.

Everything that is heard goes to the file `log`, a line of JSON per piece; the last word on stdout is `ready`.
"""
import ctypes, json, os, re, select, socket, ssl, struct, sys, threading, time
import encodings.idna  # noqa: F401, loaded before threads need it

A, B = sys.argv[1:3]
CERTS = os.environ.get("LAB_CERTS", "")
FILES = os.environ.get("LAB_FILES", "")
LOG = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
CLONE_NEWNET = 0x40000000
HEARD_PER_CONNECTION = 64 * 1024


def enter(name):
    with open(f"/run/netns/{name}") as namespace:
        if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), name)


def log(where, kind, text, **more):
    if isinstance(text, bytes):
        text = text.decode("latin-1")
    os.write(LOG, (json.dumps({"at": where, "kind": kind, "text": text, **more}) + "\n").encode())


def place(address):
    return f"{address[0].removeprefix('::ffff:')}:{address[1]}"


class Peer:
    """A connection that writes down what it hears."""

    def __init__(self, stream, where):
        self.stream, self.where, self.left, self.rest = stream, where, HEARD_PER_CONNECTION, b""

    def read(self, count=1 << 18):
        try:
            data = self.stream.recv(count)
        except OSError:
            return b""
        if data and self.left > 0:
            log(self.where, "tcp", data[: self.left])
            self.left -= len(data)
        return data

    def until(self, *ends):
        while True:
            found = [(self.rest.find(end), end) for end in ends if end in self.rest]
            if found:
                at, end = min(found)
                line, self.rest = self.rest[: at + len(end)], self.rest[at + len(end) :]
                return line
            data = self.read()
            if not data:
                return None
            self.rest += data

    def exactly(self, count):
        parts = []
        while count > 0:
            data, self.rest = self.rest or self.read(min(count, 1 << 18)), b""
            if not data:
                return b"".join(parts)
            parts.append(data[:count])
            self.rest = data[count:]
            count -= len(parts[-1])
        return b"".join(parts)

    def send(self, data):
        self.stream.sendall(data)


def fields(head):
    lines = head.replace(b"\r\n", b"\n").split(b"\n")
    return lines[0], {k.strip().lower(): v.strip() for k, _, v in (line.partition(b":") for line in lines[1:])}


def http(peer):
    """As lenient as a careless server: LF alone ends a line, a chunked body wins over a length."""
    while True:
        head = peer.until(b"\r\n\r\n", b"\n\n")
        if head is None:
            return
        line, given = fields(head.lstrip())
        size = 0
        if b"chunked" in given.get(b"transfer-encoding", b"").lower():
            while True:
                length = peer.until(b"\n")
                count = int(length.split(b";")[0].strip() or b"0", 16) if length else 0
                size += len(peer.exactly(count))
                peer.until(b"\n")
                if not count:
                    break
        else:
            size = len(peer.exactly(int(given.get(b"content-length", b"0") or 0)))
        path = (line.split(b" ") + [b"/"])[1]
        if given.get(b"upgrade", b"").lower() == b"websocket":
            peer.send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
            return echo(peer)
        if path.startswith(b"/big/"):
            total = int(path[5:])
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % total)
            block = b"x" * (1 << 18)
            while total > 0:
                peer.send(block[:total])
                total -= len(block[:total])
            continue
        body, status = b"hello from " + peer.where.encode() + b", body %d\n" % size, b"200 OK"
        if path.startswith(b"/files/"):
            name = os.path.join(FILES, os.path.normpath("/" + path[7:].split(b"?")[0].decode())[1:])
            if os.path.isfile(name):
                body = open(name, "rb").read()
            else:
                body, status = b"", b"404 Not Found"
        close = b"Connection: close\r\n" if given.get(b"connection", b"").lower() == b"close" else b""
        peer.send(b"HTTP/1.1 %s\r\nContent-Length: %d\r\n%s\r\n" % (status, len(body), close) + body)
        if close:
            return


def echo(peer):
    if peer.rest:
        peer.send(peer.rest)
    while data := peer.read():
        peer.send(data)


def speaks_first(peer):
    peer.send(b"220 lab ready\r\n")
    echo(peer)


def tls(peer):
    """The hello as it came is heard also if it cannot be answered."""
    start = peer.stream.recv(1 << 16, socket.MSG_PEEK)
    if len(start) < 5 or len(start) < 5 + start[3] * 256 + start[4]:
        time.sleep(0.2)
        start = peer.stream.recv(1 << 16, socket.MSG_PEEK)
    log(peer.where, "hello", start)
    if start[:1] != b"\x16":
        return echo(peer)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(CERTS, "cert.pem"), os.path.join(CERTS, "key.pem"))
    context.sni_callback = lambda _, name, __: log(peer.where, "sni", name or "")
    http(Peer(context.wrap_socket(peer.stream, server_side=True), peer.where))


def pump(one, other):
    ends = [one, other]
    while True:
        for ready in select.select(ends, [], [], 20)[0] or [None]:
            data = ready.recv(1 << 16) if ready else b""
            if not data:
                return
            (other if ready is one else one).sendall(data)


def naive_host(written):
    """What careless proxies make of a host: a C string, decoded, without the user before it."""
    text = re.sub(rb"%([0-9a-fA-F]{2})", lambda m: bytes([int(m[1], 16)]), written).split(b"\0")[0].decode()
    return text.rpartition("@")[2].strip("[]").rstrip(".")


def naive_dial(written, port):
    return socket.create_connection((naive_host(written), int(port)), timeout=10)


def naive_http(peer):
    while head := peer.until(b"\r\n\r\n", b"\n\n"):
        line, given = fields(head)
        method, target, _ = line.split(b" ", 2)
        if method == b"CONNECT":
            host, _, port = target.rpartition(b":")
            with naive_dial(host, port) as server:
                peer.send(b"HTTP/1.1 200 OK\r\n\r\n")
                server.sendall(peer.rest)
                return pump(peer.stream, server)
        scheme, _, rest = target.partition(b"://")
        authority, slash, path = rest.partition(b"/")
        host, _, port = authority.rpartition(b":") if re.search(rb":\d+$", authority) else (authority, b"", b"80")
        with naive_dial(host, port) as server:
            body = peer.exactly(int(given.get(b"content-length", b"0")))
            server.sendall(head.replace(target, slash + path or b"/", 1) + body)
            peer.send(server.recv(1 << 16))


def naive_socks(peer):
    peer.exactly(peer.exactly(2)[1])
    peer.send(b"\5\0")
    kind = peer.exactly(4)[3]
    size = {1: 4, 4: 16}.get(kind) or peer.exactly(1)[0]
    host = peer.exactly(size)
    if kind != 3:
        host = socket.inet_ntop(socket.AF_INET if kind == 1 else socket.AF_INET6, host).encode()
    with naive_dial(host, struct.unpack("!H", peer.exactly(2))[0]) as server:
        peer.send(b"\5\0\0\1" + bytes(6))
        server.sendall(peer.rest)
        pump(peer.stream, server)


def serve(port, handler, address="::"):
    listener = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 16)
    listener.bind((address, port))
    listener.listen(512)

    def one(stream):
        with stream:
            where = place(stream.getsockname())
            log(where, "tcp", "", connection=place(stream.getpeername()))
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            stream.settimeout(30)
            try:
                handler(Peer(stream, where))
            except (OSError, ValueError, IndexError) as error:
                log(where, "error", repr(error))

    def accept():
        while True:
            threading.Thread(target=one, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def datagrams(port):
    server = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("::", port))
    hear(server, f"udp:{port}", "udp")


def hear(server, where, kind):
    def run():
        while True:
            log(where, kind, server.recv(1 << 16))

    threading.Thread(target=run, daemon=True).start()


class Names:
    """A zone in which nothing is stable. Each question is written down."""

    def __init__(self):
        self.asked = {}

    def addresses(self, name):
        dotted = re.match(r"(?:.*\.)?ip-(\d+)-(\d+)-(\d+)-(\d+)\.test$", name)
        if dotted:
            return [".".join(dotted.groups())]
        turn = self.asked[name] = self.asked.get(name, -1) + 1
        if name == "rebind.test":
            return ["203.0.113.10" if turn == 0 else "10.0.0.5"]
        if name == "flip.test":
            return ["10.0.0.5" if turn % 2 else "203.0.113.10"]
        if name == "mixed.test":
            return ["10.0.0.5", "169.254.169.254", "127.0.0.1"]
        if name == "slow.test":
            time.sleep(30)
        if name.endswith(".wild.test") or name == "wild.test":
            return ["203.0.113.10"]
        return []

    def answer(self, query):
        at, labels = 12, []
        while query[at]:
            labels.append(query[at + 1 : at + 1 + query[at]].decode("latin-1"))
            at += 1 + query[at]
        name, kind = ".".join(labels).lower(), struct.unpack("!H", query[at + 1 : at + 3])[0]
        log("203.0.113.53:53", "dns", ".".join(labels), type=kind)
        question, records = query[12 : at + 5], []
        pointer = b"\xc0\x0c"
        if kind == 1 and name == "cname.test":
            alias = b"\x07private\x04test\0"
            records.append(pointer + struct.pack("!HHIH", 5, 1, 0, len(alias)) + alias)
            records.append(alias + struct.pack("!HHIH", 1, 1, 0, 4) + socket.inet_aton("10.0.0.5"))
        elif kind == 1:
            for address in self.addresses(name):
                records.append(pointer + struct.pack("!HHIH", 1, 1, 0, 4) + socket.inet_aton(address))
        elif kind == 16:
            records.append(pointer + struct.pack("!HHIH", 16, 1, 0, 6) + b"\x05hello")
        flags = 0x8180 if records or kind not in (1, 28) else 0x8183
        if kind == 28 and (name == "cname.test" or self.known(name)):
            flags = 0x8180
        return query[:2] + struct.pack("!HHHHH", flags, 1, len(records), 0, 0) + question + b"".join(records)

    def known(self, name):
        return name.endswith((".wild.test", "rebind.test", "flip.test", "mixed.test", "slow.test")) or "ip-" in name


def names():
    zone = Names()
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("203.0.113.53", 53))

    def one(query, client):
        try:
            server.sendto(zone.answer(query), client)
        except (OSError, IndexError, struct.error) as error:
            log("203.0.113.53:53", "dns", query, error=repr(error))

    def run():
        while True:
            threading.Thread(target=one, args=server.recvfrom(4096), daemon=True).start()

    threading.Thread(target=run, daemon=True).start()

    def over_tcp(peer):
        while size := peer.exactly(2):
            reply = zone.answer(peer.exactly(struct.unpack("!H", size)[0]))
            peer.send(struct.pack("!H", len(reply)) + reply)

    serve(53, over_tcp, "203.0.113.53")


def pings():
    listener = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    hear(listener, "icmp", "icmp")


enter(A)
for port, handler in {80: http, 443: echo, 8080: http, 9999: echo}.items():
    serve(port, handler)
serve(3128, naive_http, "127.0.0.1")
serve(1080, naive_socks, "127.0.0.1")
datagrams(9999)
enter(B)
for port, handler in {80: http, 8080: http, 443: tls, 8443: tls, 25: echo, 7777: echo, 7000: speaks_first}.items():
    serve(port, handler)
for port in (53, 443, 9999):
    datagrams(port)
names()
pings()
print("ready", flush=True)
while True:
    time.sleep(1000)
