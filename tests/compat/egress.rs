//! Programs that reach an allowed name: through proxies or knowing nothing of them, by IPv4 and IPv6, in each direction.

use crate::claims::claims;
use crate::support::Place;

const ALLOWED: &str = "allow: [allowed.test]";
const HELLO: &str = "hello from 203.0.113.10:80, body 0\n";
const HELLO_TLS: &str = "hello from 203.0.113.10:443, body 0\n";
const NO_PROXIES: &str = "unset HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy";

/// Reads a whole answer of the lab with Java's own client.
const JAVA: &str = "cat > Ask.java <<'JAVA'
import java.net.*;
import java.net.http.*;
import javax.net.ssl.*;
import java.security.*;
import java.security.cert.*;
import java.nio.file.*;
public class Ask {
    public static void main(String[] args) throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null);
        var factory = CertificateFactory.getInstance(\"X.509\");
        store.setCertificateEntry(\"lab\", factory.generateCertificate(Files.newInputStream(Path.of(\"ca.pem\"))));
        var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        var context = SSLContext.getInstance(\"TLS\");
        context.init(null, trust.getTrustManagers(), null);
        var client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).sslContext(context).build();
        for (String url : args)
            System.out.print(client.send(HttpRequest.newBuilder(URI.create(url)).build(),
                HttpResponse.BodyHandlers.ofString()).body());
    }
}
JAVA";

/// Speaks to a port of a name until the other side closes.
const TALK: &str = "cat > talk.py <<'PY'
import socket, sys
host, port, family = sys.argv[1], int(sys.argv[2]), sys.argv[3]
kind = {'4': socket.AF_INET, '6': socket.AF_INET6, 'any': 0}[family]
address = socket.getaddrinfo(host, port, kind, socket.SOCK_STREAM)[0]
s = socket.socket(address[0], socket.SOCK_STREAM)
s.settimeout(20)
s.connect(address[4])
for word in sys.argv[4:]:
    if word == 'listen': print(s.recv(100).decode().strip())
    else: s.sendall(word.encode().decode('unicode_escape').encode())
PY";

/// A bare repository that a dumb server can give out.
fn repository(at: &Place) {
    at.stage(
        "git -c init.defaultBranch=main init -q /tmp/$$ && cd /tmp/$$ && echo hello > readme && git add readme &&
         git -c user.name=t -c user.email=t@t commit -q -m first && cd - >/dev/null &&
         git clone -q --bare /tmp/$$ made.git && git -C made.git update-server-info && rm -rf /tmp/$$",
    );
    let to = at.world().path("@FILES");
    let copied = std::process::Command::new("cp")
        .arg("-r")
        .arg(at.world().project().join("made.git"))
        .arg(to)
        .status();
    assert!(copied.is_ok_and(|s| s.success()), "copy the repository to the lab");
}

claims! {
    fn curl_reaches_an_allowed_name_without_proxies(at) {
        at.lab(ALLOWED);
        at.prints(&format!("{NO_PROXIES}; curl -sS http://allowed.test/; curl -sS https://allowed.test/"),
            &format!("{HELLO}{HELLO_TLS}"));
    }

    fn curl_reaches_an_allowed_name_through_the_proxies(at) {
        at.lab(ALLOWED);
        at.prints("curl -sS http://allowed.test/; curl -sS https://allowed.test/; \
            curl -sS --socks5-hostname 127.0.0.1:1080 --noproxy none http://allowed.test/; \
            curl -sS --proxy socks5h://127.0.0.1:1080 https://allowed.test/", &format!("{HELLO}{HELLO_TLS}{HELLO}{HELLO_TLS}"));
    }

    fn curl_sends_a_body_in_chunks_and_whole(at) {
        at.lab(ALLOWED);
        at.prints(&format!("head -c 300000 /dev/zero > body; {NO_PROXIES}
            curl -sS --data-binary @body http://allowed.test/
            curl -sS -H 'Transfer-Encoding: chunked' --data-binary @body http://allowed.test/"),
            "hello from 203.0.113.10:80, body 300000\nhello from 203.0.113.10:80, body 300000\n");
    }

    fn python_reaches_an_allowed_name(at) {
        at.lab(ALLOWED);
        let script = "python3 -c 'import urllib.request as u
for url in (\"http://allowed.test/\", \"https://allowed.test/\"): print(u.urlopen(url).read().decode(), end=\"\")'";
        at.prints(&format!("{script}; {NO_PROXIES}; {script}"), &format!("{HELLO}{HELLO_TLS}{HELLO}{HELLO_TLS}"));
    }

    fn node_reaches_an_allowed_name(at) {
        at.needs(&["node"]);
        at.lab(ALLOWED);
        at.prints("node -e '(async () => { for (const u of [\"http://allowed.test/\", \"https://allowed.test/\"]) \
            process.stdout.write(await (await fetch(u)).text()); })()'", &format!("{HELLO}{HELLO_TLS}"));
    }

    fn java_reaches_an_allowed_name(at) {
        at.needs(&["java"]);
        at.lab(ALLOWED);
        at.stage(JAVA);
        at.prints("java -Xshare:auto -XX:TieredStopAtLevel=1 Ask.java http://allowed.test/ https://allowed.test/",
            &format!("{HELLO}{HELLO_TLS}"));
    }

    fn git_clones_over_http_and_https(at) {
        at.needs(&["git"]);
        at.lab(ALLOWED);
        repository(at);
        at.prints(&format!("git clone -q http://allowed.test/files/made.git one; git clone -q https://allowed.test/files/made.git two
            {NO_PROXIES}; git clone -q https://allowed.test/files/made.git three; cat one/readme two/readme three/readme"),
            "hello\nhello\nhello\n");
    }

    fn ipv6_only_names_are_reached(at) {
        at.lab("allow: [six.test]");
        at.prints(&format!("{NO_PROXIES}; curl -sS http://six.test/; curl -sS -4 https://six.test/; curl -sS -6 https://six.test/"),
            "hello from 2001:db8:1::10:80, body 0\nhello from 2001:db8:1::10:443, body 0\nhello from 2001:db8:1::10:443, body 0\n");
    }

    fn a_client_of_either_family_reaches_a_name(at) {
        at.lab("allow: ['both.test:7777']");
        at.stage(TALK);
        at.prints("python3 talk.py both.test 7777 4 'hello\\n' listen; python3 talk.py both.test 7777 6 'hello\\n' listen",
            "hello\nhello\n");
    }

    fn a_server_may_speak_first(at) {
        at.lab("allow: ['allowed.test:7000']");
        at.stage(TALK);
        at.prints("python3 talk.py allowed.test 7000 any listen 'hello' listen", "220 lab ready\nhello\n");
    }

    fn an_allowed_address_is_reached_without_a_name(at) {
        at.lab("allow: ['203.0.113.20', '10.0.0.0/8']");
        at.prints(&format!("{NO_PROXIES}; curl -sS http://203.0.113.20/; curl -sS http://10.0.0.5/; \
            curl -sS -x http://127.0.0.1:3128 http://203.0.113.20/"),
            "hello from 203.0.113.20:80, body 0\nhello from 10.0.0.5:80, body 0\nhello from 203.0.113.20:80, body 0\n");
    }

    fn wildcard_names_are_reached(at) {
        at.lab("allow: ['*.wild.test']");
        at.prints(&format!("{NO_PROXIES}; curl -sS http://a.wild.test/; curl -sS http://b.c.wild.test/; curl -sS https://d.wild.test/"),
            &format!("{HELLO}{HELLO}{HELLO_TLS}"));
    }

    fn localhost_servers_inside_stay_reachable(at) {
        at.lab("allow: ['allowed.test:8080', allowed.test]");
        at.prints("for port in 80 8080 5000 9999; do
                python3 -c \"
import http.server, sys
class Hello(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b'inside\\\\n')
    def log_message(self, *a): pass
s = http.server.HTTPServer(('127.0.0.1', $port if $port > 1023 else 0), Hello)
open('port', 'w').write(str(s.server_port))
open('ready', 'w').close()
s.handle_request(); s.handle_request()\" &
                until [ -e ready ]; do sleep 0.05; done; rm ready
                curl -sS http://localhost:$(cat port)/; curl -sS http://127.0.0.1:$(cat port)/; wait
            done", &"inside\n".repeat(8));
    }

    fn questions_of_other_types_get_a_correct_empty_answer(at) {
        at.lab(ALLOWED);
        at.prints("for type in 1 28 15 16 33 65 255; do python3 net.py dns allowed.test $type | cut -d' ' -f1-4; done
            python3 net.py dns other.test 1 | cut -d' ' -f1-4",
            "code 0 answers 1\ncode 0 answers 1\ncode 0 answers 0\ncode 0 answers 0\ncode 0 answers 0\n\
             code 0 answers 0\ncode 0 answers 0\ncode 3 answers 0\n");
    }

    fn a_hundred_megabytes_pass_each_way(at) {
        at.lab(ALLOWED);
        at.prints(&format!("{NO_PROXIES}; curl -sS https://allowed.test/big/104857600 | wc -c; curl -sS http://allowed.test/big/104857600 | wc -c
            head -c 104857600 /dev/zero | curl -sS -T - -X POST http://allowed.test/"),
            "104857600\n104857600\nhello from 203.0.113.10:80, body 104857600\n");
    }

    fn a_websocket_is_upgraded(at) {
        at.lab(ALLOWED);
        at.stage(TALK);
        at.prints("python3 talk.py allowed.test 80 any \
            'GET / HTTP/1.1\\r\\nHost: allowed.test\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\n' listen 'frames' listen",
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\nframes\n");
    }

    fn many_requests_share_a_connection(at) {
        at.lab(ALLOWED);
        at.prints("python3 -c 'import http.client
c = http.client.HTTPConnection(\"allowed.test\")
c.connect(); port = c.sock.getsockname()[1]
for i in range(300):
    c.request(\"POST\", \"/%d\" % i, body=b\"x\" * i); c.getresponse().read()
print(port == c.sock.getsockname()[1])'", "True\n");
    }

    fn a_hundred_connections_at_once_are_served(at) {
        at.lab(ALLOWED);
        at.prints("python3 -c 'import urllib.request as u, concurrent.futures as f
get = lambda i: len(u.urlopen(\"http://allowed.test/big/100000\").read())
print(sum(f.ThreadPoolExecutor(100).map(get, range(200))))'", "20000000\n");
    }

    fn a_refused_client_is_told_why(at) {
        at.lab(ALLOWED);
        at.prints("curl -s http://other.test/ | tail -n 1; curl -s -o /dev/null -w '%{http_connect}\\n' https://other.test/ || true
            curl -s --noproxy '*' http://other.test/ || echo $?; curl -s -x socks5h://127.0.0.1:1080 http://other.test/ || echo $?",
            "to allow it: network: {allow: [\"other.test\"]}\n403\n6\n97\n");
    }
}
