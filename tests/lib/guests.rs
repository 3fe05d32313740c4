//! Who else is on the host while a run lasts: victims, listeners, and what is left of the run afterwards.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Listener, World, carrying, wait_until};

impl World {
    /// A process of the caller's on the host, ended with the world. Its pid becomes `@PID`.
    pub fn victim(&self, program: &str, args: &[&str], env: &[(&str, &str)]) -> u32 {
        let mut command = Command::new(self.fill(program));
        command
            .args(args.iter().map(|a| self.fill(a)))
            .env_clear()
            .env("PATH", "/usr/bin:/bin");
        command
            .envs(env.iter().map(|(k, v)| (*k, (*v).to_owned())))
            .current_dir(self.outside());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
            .uid(self.caller().uid())
            .gid(self.caller().gid())
            .process_group(0);
        let child = command.spawn().expect("start a victim");
        let pid = child.id();
        self.victims.borrow_mut().push(child);
        self.define("PID", pid);
        pid
    }

    /// A victim that holds the secret of `@OUT/secret` in its memory, as descriptor 9, and beside its working directory.
    pub fn keeper(&self) {
        self.secret_at("@OUT/secret");
        let pid = self.victim("@A", &["hold", "@OUT/secret", "@ID"], &[]);
        let ready = || fs::symlink_metadata(format!("/proc/{pid}/fd/9")).is_ok();
        assert!(
            wait_until(Duration::from_secs(5), ready),
            "the victim did not get ready"
        );
    }

    /// The victims that are no longer running.
    pub fn dead_victims(&self) -> Vec<u32> {
        self.victims
            .borrow()
            .iter()
            .map(Child::id)
            .filter(|pid| !crate::alive(*pid))
            .collect()
    }

    /// Processes of the run that are still there: they carry the nonce and are no victims.
    pub fn survivors(&self) -> Vec<u32> {
        let victims: Vec<u32> = self.victims.borrow().iter().map(Child::id).collect();
        carrying(self.nonce())
            .into_iter()
            .filter(|pid| !victims.contains(pid))
            .collect()
    }

    /// How long after the end of a run its processes may take to vanish. Short for a bare control, in which they never do.
    pub fn be_patient(&self, patience: Duration) {
        self.patience.set(patience);
    }

    /// What is left of the run, in words; `None` if nothing is. Fast processes slip through a single look, so several in a
    /// row must agree.
    pub fn remains(&self) -> Option<String> {
        let end = Instant::now() + self.patience.get();
        let mut empty = 0;
        while empty < 5 {
            let left = self.survivors();
            if left.is_empty() {
                empty += 1;
            } else if Instant::now() < end {
                empty = 0;
            } else {
                return Some(format!(
                    "still running after the end of the run: {}",
                    left.iter().map(describe).collect::<String>()
                ));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }

    /// A server on the host; its port becomes `@PORT`.
    pub fn listen(&self, listener: Listener) {
        self.define("PORT", listener.port());
        self.listeners.borrow_mut().push(listener);
    }

    /// A unix socket that the caller may connect to.
    pub fn listen_unix(&self, template: &str) {
        self.listen_at(template, Listener::unix);
    }

    pub fn listen_unix_datagram(&self, template: &str) {
        self.listen_at(template, Listener::unix_datagram);
    }

    fn listen_at(&self, template: &str, bind: fn(&Path) -> Listener) {
        let path = self.path(template);
        self.dir(&path.parent().expect("a socket has a parent").display().to_string());
        self.listen(bind(&path));
        self.own(&path);
        self.stray(&path);
    }

    /// Everything that any listener of this world heard.
    pub fn heard(&self) -> Vec<u8> {
        self.listeners.borrow().iter().flat_map(Listener::heard).collect()
    }

    /// Ends what this world started and is still running; says which processes those were.
    pub fn end_processes(&self) -> Vec<u32> {
        let left = carrying(self.nonce());
        for pid in &left {
            let _ = Command::new("kill")
                .args(["-KILL", &pid.to_string()])
                .stderr(Stdio::null())
                .status();
        }
        left
    }
}

/// A process as `ps` would show it.
fn describe(pid: &u32) -> String {
    let read = |file: &str| fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let arguments = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
    let state = String::from_utf8_lossy(&read("stat")).into_owned();
    format!("\n  {state}  {}", arguments.chars().take(200).collect::<String>())
}
