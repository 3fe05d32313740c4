"""Connects to what `policy explain` was asked about: [host, port] as JSON on stdin, one answer each.

`reached`: allowed, whether or not somebody listens there. `refused`: the sandbox does not let it out.
Loopback is the sandbox's own, where nobody listens but the doors; proxies are not asked for it.
"""
import json, os, socket, sys

PATIENCE = 20


def through_proxy(host, port):
    target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    with socket.create_connection(("127.0.0.1", 3128), timeout=PATIENCE) as stream:
        stream.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
        head = stream.recv(4096).split(b"\r\n")[0]
    status = head.split(b" ")[1].decode() if b" " in head else "none"
    # 502 and 504: let out, but nobody answers.
    return {"200": "reached", "502": "reached", "504": "reached", "403": "refused"}.get(status, status)


def directly(host, port):
    try:
        socket.create_connection((host, port), timeout=PATIENCE).close()
    except ConnectionRefusedError:
        return "reached"
    except OSError as error:
        return "refused" if not isinstance(error, TimeoutError) else "reached"
    return "reached"


def on_loopback(host, port):
    if len(socket.if_nameindex()) > 1:
        return "reached"  # The host's own network.
    for address in ADDRESSES.get(host, (host,)):
        try:
            socket.create_connection((address, port), timeout=PATIENCE).close()
        except ConnectionRefusedError:
            continue
        except ConnectionResetError:
            pass
        # A door for every address of a port takes it, and refuses what its own address is not allowed.
        if through_proxy(address, port) == "reached":
            return "reached"
    return "refused"


ADDRESSES = {"localhost": ("127.0.0.1", "::1"), "0.0.0.0": ("127.0.0.1",)}
LOOPBACK = ("localhost", "127.0.0.1", "127.0.0.2", "0.0.0.0", "::1")
way = through_proxy if "HTTP_PROXY" in os.environ else directly
ways = [(on_loopback if host in LOOPBACK else way, host, port) for host, port in json.load(sys.stdin)]
print(json.dumps([go(host, port) for go, host, port in ways]))
