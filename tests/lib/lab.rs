//! A small internet for one world: two network namespaces, a wire between them, names, and servers that write down what
//! they hear (`escape/egress/servers.py`).
//!
//! Runs of a world with a lab start in the first namespace, where `/etc/hosts` and `/etc/resolv.conf` are the lab's. The
//! second answers for every address that is not the first one's. INVARIANT: a lab is gone when it is dropped, and what a
//! killed test left is swept by the next.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::{Caller, World, alive};

const PREFIX: &str = "glee-lab-";
const NAMESPACES: &str = "/run/netns";
const ETC: &str = "/etc/netns";

const HOSTS: &str = "127.0.0.1 localhost
203.0.113.10 allowed.test
203.0.113.20 other.test notallowed.test allowed.test.evil.test
203.0.113.30 sub.allowed.test denied.allowed.test
2001:db8:1::10 six.test
203.0.113.10 both.test
2001:db8:1::10 both.test
10.0.0.5 private.test
172.16.9.9 private172.test
192.168.7.7 private192.test
127.0.0.1 loop.test
127.9.9.9 loop9.test
::1 loop6.test
169.254.169.254 meta.test
168.63.129.16 azure.test
169.254.7.7 linklocal.test
100.64.0.7 cgnat.test
0.0.0.0 zero.test
203.0.113.1 own.test
2001:db8:1::1 own6.test
224.0.0.251 multicast.test
255.255.255.255 broadcast.test
240.0.0.1 reserved.test
198.18.0.1 synthetic.test
fd00:7::7 unique.test
::ffff:10.0.0.5 mapped.test
64:ff9b::a00:5 nat64.test
2002:a00:5::1 sixtofour.test
";
const RESOLV: &str = "nameserver 203.0.113.53\noptions timeout:2 attempts:1\n";

/// Certificates for the lab's names, and the authority that signed them: `ca.pem`, `cert.pem`, `key.pem`.
const NAMES: &str = "subjectAltName=DNS:allowed.test,DNS:other.test,DNS:*.wild.test,DNS:six.test,DNS:both.test,\
    IP:203.0.113.10,IP:203.0.113.20";

#[derive(Debug)]
pub struct Lab {
    supervisor_side: String,
    server_side: String,
    dir: PathBuf,
    servers: Child,
}

impl Lab {
    /// `tag` makes the names unique; `dir` must exist and takes the log.
    fn new(tag: &str, dir: PathBuf, files: &Path) -> Self {
        sweep();
        let name = |side: &str| format!("{PREFIX}{}-{tag}-{side}", std::process::id());
        let (a, b) = (name("a"), name("b"));
        ip(&[], &format!("netns add {a}\nnetns add {b}\n"));
        ip(&["-n", &a], &wire(&b));
        ip(&["-n", &b], &far_end());
        let etc = Path::new(ETC).join(&a);
        fs::create_dir_all(&etc).expect("make the directory of the lab's names");
        fs::write(etc.join("hosts"), HOSTS).expect("write the lab's hosts");
        fs::write(etc.join("resolv.conf"), RESOLV).expect("write the lab's resolv.conf");
        let mut servers = Command::new("ip")
            .args(["netns", "exec", &a, "/usr/bin/python3", "-I", "-S"])
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("escape/egress/servers.py"))
            .args([&a, &b])
            .env("LAB_CERTS", certificates())
            .env("LAB_FILES", files)
            .current_dir(&dir)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("start the lab's servers");
        let mut line = String::new();
        let out = servers.stdout.take().expect("stdout is piped");
        let read = BufReader::new(out).read_line(&mut line);
        assert!(
            read.is_ok() && line == "ready\n",
            "the lab's servers did not start: {line}"
        );
        Self {
            supervisor_side: a,
            server_side: b,
            dir,
            servers,
        }
    }

    /// What starts a command as this caller in the lab.
    pub(crate) fn entrance(&self, caller: Caller) -> Vec<String> {
        let mut words = vec!["ip", "netns", "exec", &self.supervisor_side]
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>();
        if caller == Caller::User {
            let ids = [format!("--reuid={}", caller.uid()), format!("--regid={}", caller.gid())];
            words.push("setpriv".to_owned());
            words.extend(ids);
            words.extend(["--clear-groups".to_owned(), "--".to_owned()]);
        }
        words
    }

    /// All that the servers have heard so far, a line of JSON per piece.
    pub fn heard(&self) -> String {
        fs::read_to_string(self.dir.join("log")).unwrap_or_default()
    }

    /// The piece that holds this text.
    pub fn heard_of(&self, text: &str) -> Option<String> {
        self.heard().lines().find(|line| line.contains(text)).map(str::to_owned)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = self.servers.kill();
        let _ = self.servers.wait();
        remove(&self.supervisor_side);
        remove(&self.server_side);
    }
}

impl World {
    /// From now on runs of this world start in a lab of its own. `@NET` is the client of `escape/egress/net.py`, `@CA` the
    /// authority that its certificates come from, `@FILES` what its HTTP servers have below `/files/`.
    pub fn join_lab(&self) {
        let dir = self.root().join("lab");
        let files = dir.join("files");
        fs::create_dir_all(&files).expect("make the directory of the lab");
        let tag: String = self.nonce().chars().take(8).collect();
        let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("escape/egress/net.py");
        self.file(
            "@PROJECT/net.py",
            &fs::read_to_string(client).expect("read the lab's client"),
        );
        let ca = fs::read_to_string(certificates().join("ca.pem")).expect("read the lab's authority");
        self.file("@PROJECT/ca.pem", &ca);
        self.define("NET", self.fill("python3 @PROJECT/net.py"));
        self.define("CA", self.fill("@PROJECT/ca.pem"));
        self.define("FILES", files.display());
        let lab = Lab::new(&tag, dir, &files);
        assert!(self.lab.set(lab).is_ok(), "a world has one lab");
    }

    pub fn lab(&self) -> &Lab {
        self.lab.get().expect("this world has joined a lab")
    }
}

fn wire(other: &str) -> String {
    format!(
        "link set lo up
link add eth0 type veth peer name eth0 netns {other}
link set eth0 addrgenmode none
addr add 203.0.113.1/24 dev eth0
addr add 2001:db8:1::1/64 dev eth0 nodad
link set eth0 up
route add default via 203.0.113.10
route add default via 2001:db8:1::10
"
    )
}

/// Every address but those near the wire's own: as local routes, since the kernel answers from no other.
const EVERYWHERE: [&str; 11] = [
    "0.0.0.0/1",
    "128.0.0.0/2",
    "192.0.0.0/5",
    "200.0.0.0/7",
    "202.0.0.0/8",
    "204.0.0.0/6",
    "208.0.0.0/4",
    "64:ff9b::/96",
    "2002::/16",
    "2600::/12",
    "fd00::/8",
];

/// Its own addresses, and the rest of the internet.
fn far_end() -> String {
    let mut text = "link set lo up\nlink set eth0 addrgenmode none\n".to_owned();
    for last in [10, 20, 30, 53] {
        let _ = writeln!(text, "addr add 203.0.113.{last}/24 dev eth0");
    }
    for block in EVERYWHERE {
        let _ = writeln!(text, "route add local {block} dev lo");
    }
    text + "addr add 2001:db8:1::10/64 dev eth0 nodad
link set eth0 up
"
}

fn ip(args: &[&str], batch: &str) {
    let mut child = Command::new("ip")
        .args(args)
        .args(["-batch", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the lab is made with `ip`, of the package iproute2");
    let mut input = child.stdin.take().expect("stdin is piped");
    input.write_all(batch.as_bytes()).expect("tell ip what to do");
    drop(input);
    let out = child.wait_with_output().expect("wait for ip");
    assert!(
        out.status.success(),
        "ip {args:?}: {}\n{batch}",
        String::from_utf8_lossy(&out.stderr)
    );
}

fn remove(name: &str) {
    let _ = Command::new("ip")
        .args(["netns", "del", name])
        .stderr(Stdio::null())
        .status();
    let _ = fs::remove_dir_all(Path::new(ETC).join(name));
}

/// What the tests of processes that are no more left behind.
fn sweep() {
    for entry in fs::read_dir(NAMESPACES).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let pid = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next());
        if pid.and_then(|pid| pid.parse().ok()).is_some_and(|pid| !alive(pid)) {
            remove(&name);
        }
    }
}

/// Made once per machine and day.
fn certificates() -> PathBuf {
    let dir = crate::tools::store().join("lab-certificates");
    let _lock = crate::tools::lock("lab");
    if !dir.join("cert.pem").is_file() {
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).expect("make the directory of the certificates");
        fs::write(dir.join("names"), NAMES).expect("write the certificate's names");
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
        openssl(
            &dir,
            &format!("req -x509 {key} -keyout ca.key -out ca.pem -days 30 -subj /CN=lab"),
        );
        openssl(
            &dir,
            &format!("req {key} -keyout key.pem -out request.pem -subj /CN=allowed.test"),
        );
        openssl(
            &dir,
            "x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile names -out cert.pem",
        );
    }
    dir
}

fn openssl(dir: &Path, args: &str) {
    let out = Command::new("openssl")
        .args(args.split(' '))
        .current_dir(dir)
        .output()
        .expect("the lab's certificates are made with openssl");
    assert!(
        out.status.success(),
        "openssl {args}: {}",
        String::from_utf8_lossy(&out.stderr)
    );
}
