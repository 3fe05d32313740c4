//! What the kernel counts per user and the sandbox could use up: no more than a part of it for our user namespace.
//!
//! Linux 4.9 (4.13 for inotify). Without, or where `/proc/sys` is read-only, the caller's own bound is the sandbox's as well.

use std::fs;

/// The namespace's own bound, the one of the whole machine, and what is enough for any watcher of files.
const COUNTERS: [(&str, &str, u64); 2] = [
    (
        "/proc/sys/user/max_inotify_instances",
        "/proc/sys/fs/inotify/max_user_instances",
        64,
    ),
    (
        "/proc/sys/user/max_inotify_watches",
        "/proc/sys/fs/inotify/max_user_watches",
        65_536,
    ),
];

/// We have capabilities in our user namespace, and the host's `/proc`, where the first name is our namespace's own.
pub(super) fn bound() {
    for (own, machine, enough) in COUNTERS {
        let machine = fs::read_to_string(machine)
            .ok()
            .and_then(|text| text.trim().parse().ok());
        let most = enough.min(machine.map_or(enough, |most: u64| most / 2));
        // A bound on harm to the caller's other programs, not one of the walls: docs/threat-model.md.
        let _ = fs::write(own, most.to_string());
    }
}
