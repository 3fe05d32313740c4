//! Servers and clients that meet inside: TCP, UDP, IPv6, unix sockets; names that the hosts file answers.

use crate::claims::claims;

/// Serves one message on a socket of the given family and kind, and asks it from a child.
const ECHO: &str = "cat > echo.py <<'PY'
import os, socket, sys
family, kind, address = {
    'tcp': (socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', 0)),
    'udp': (socket.AF_INET, socket.SOCK_DGRAM, ('127.0.0.1', 0)),
    'tcp6': (socket.AF_INET6, socket.SOCK_STREAM, ('::1', 0)),
    'udp6': (socket.AF_INET6, socket.SOCK_DGRAM, ('::1', 0)),
    'any': (socket.AF_INET, socket.SOCK_STREAM, ('0.0.0.0', 0)),
    'unix': (socket.AF_UNIX, socket.SOCK_STREAM, 'socket'),
    'unix-datagram': (socket.AF_UNIX, socket.SOCK_DGRAM, 'socket'),
    'unix-packet': (socket.AF_UNIX, socket.SOCK_SEQPACKET, 'socket'),
    'tmp': (socket.AF_UNIX, socket.SOCK_STREAM, f'/tmp/echo-{os.getpid()}'),
    'abstract': (socket.AF_UNIX, socket.SOCK_STREAM, f'\\0echo-{os.getpid()}'),
}[sys.argv[1]]
server = socket.socket(family, kind)
server.settimeout(20)
server.bind(address)
if kind != socket.SOCK_DGRAM: server.listen()
if os.fork() == 0:
    client = socket.socket(family, kind)
    client.settimeout(20)
    client.connect(server.getsockname())
    client.send(b'hello')
    os._exit(0)
peer = server.accept()[0] if kind != socket.SOCK_DGRAM else server
print(peer.recv(100), os.wait()[1])
if sys.argv[1] == 'tmp': os.unlink(address)
PY";

claims! {
    fn tcp_and_udp_on_localhost_deliver(at) {
        at.needs(&["python3"]);
        at.stage(ECHO);
        at.prints("for kind in tcp udp any; do python3 echo.py $kind; done", "b'hello' 0\nb'hello' 0\nb'hello' 0\n");
    }

    fn tcp_and_udp_on_ipv6_localhost_deliver(at) {
        at.needs(&["python3"]);
        at.stage(ECHO);
        at.prints("for kind in tcp6 udp6; do python3 echo.py $kind; done", "b'hello' 0\nb'hello' 0\n");
    }

    fn unix_sockets_in_the_project_and_in_tmp_deliver(at) {
        at.needs(&["python3"]);
        at.stage(ECHO);
        at.prints(
            "for kind in unix unix-datagram unix-packet; do (mkdir $kind && cd $kind && python3 ../echo.py $kind); done
             python3 echo.py tmp",
            "b'hello' 0\nb'hello' 0\nb'hello' 0\nb'hello' 0\n",
        );
    }

    fn abstract_unix_sockets_deliver_inside(at) {
        at.needs(&["python3"]);
        at.stage(ECHO);
        at.prints("python3 echo.py abstract", "b'hello' 0\n");
    }

    fn file_descriptors_travel_over_a_socketpair(at) {
        at.needs(&["python3"]);
        at.stage("cat > main.py <<'PY'
import os, socket
left, right = socket.socketpair()
if os.fork() == 0:
    reader, writer = os.pipe()
    os.write(writer, b'through the pipe')
    socket.send_fds(left, [b'fd'], [reader])
    os._exit(0)
_, fds, _, _ = socket.recv_fds(right, 10, 1)
print(os.read(fds[0], 100), os.wait()[1])
PY");
        at.prints("python3 main.py", "b'through the pipe' 0\n");
    }

    fn localhost_resolves_to_loopback(at) {
        at.needs(&["python3", "node"]);
        at.prints(
            "getent ahosts localhost | head -n 1 | cut -d' ' -f1
             python3 -c 'import socket; print(socket.gethostbyname(\"localhost\"))'
             node -e 'require(\"dns\").lookup(\"localhost\", { family: 4 }, (error, address) => console.log(error, address))'",
            "127.0.0.1\n127.0.0.1\nnull 127.0.0.1\n",
        );
    }

    fn the_hosts_own_name_is_known(at) {
        at.needs(&["python3"]);
        at.prints("test -n \"$(uname -n)\" && python3 -c 'import socket; print(len(socket.gethostname()) > 0)'", "True\n");
    }

    fn many_connections_at_once_are_served(at) {
        at.needs(&["python3"]);
        at.stage("cat > main.py <<'PY'
import asyncio
async def answer(reader, writer):
    writer.write(await reader.readline()); await writer.drain(); writer.close()
async def ask(port, n):
    reader, writer = await asyncio.open_connection('127.0.0.1', port)
    writer.write(b'%d\\n' % n); line = await reader.readline(); writer.close()
    return int(line)
async def main():
    server = await asyncio.start_server(answer, '127.0.0.1', 0)
    port = server.sockets[0].getsockname()[1]
    print(sum(await asyncio.gather(*(ask(port, n) for n in range(300)))))
asyncio.run(main())
PY");
        at.prints("python3 main.py", "44850\n");
    }
}
