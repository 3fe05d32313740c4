//! Namespaces, mounts and roots cannot be made, joined or undone.

use glee_tests::{Attempt, Bare, Leak, Outcome, World, attempt};

fn claiming(script: &'static str) -> Attempt {
    attempt(script, Leak::Claimed).given(|w| {
        w.dir("@PROJECT/mnt");
    })
}

/// Bare only for root.
fn root(script: &'static str) -> Attempt {
    claiming(script).bare(Bare::RootOnly)
}

/// The namespace of the command is the host's.
fn shared(kind: &'static str) -> Attempt {
    let question: fn(&World, &Outcome) -> Option<String> = |_, outcome| {
        let kinds = ["mnt", "pid", "net", "ipc", "uts", "user", "cgroup"];
        kinds.into_iter().find_map(|kind| {
            let own = std::fs::read_link(format!("/proc/self/ns/{kind}")).expect("read a namespace link");
            outcome
                .says(&own.display().to_string())
                .then(|| format!("the {kind} namespace is the host's"))
        })
    };
    attempt(format!("readlink /proc/self/ns/{kind}"), Leak::Seen(question))
}

claims! {
    mount_namespace_is_its_own => shared("mnt"),
    pid_namespace_is_its_own => shared("pid"),
    network_namespace_is_its_own => shared("net"),
    ipc_namespace_is_its_own => shared("ipc"),
    uts_namespace_is_its_own => shared("uts"),
    user_namespace_is_its_own => shared("user"),
    cgroup_namespace_is_its_own => shared("cgroup"),

    unshare_of_a_user_namespace_is_refused => claiming("@A unshare user"),
    unshare_of_a_mount_namespace_is_refused => root("@A unshare mnt"),
    unshare_of_a_pid_namespace_is_refused => root("@A unshare pid"),
    unshare_of_a_network_namespace_is_refused => root("@A unshare net"),
    unshare_of_an_ipc_namespace_is_refused => root("@A unshare ipc"),
    unshare_of_a_uts_namespace_is_refused => root("@A unshare uts"),
    unshare_of_a_cgroup_namespace_is_refused => root("@A unshare cgroup"),
    unshare_of_a_time_namespace_is_refused => root("@A unshare time"),
    clone_into_a_user_namespace_is_refused => claiming("@A clone_ns user"),
    clone_into_a_mount_namespace_is_refused => root("@A clone_ns mnt"),
    clone_into_a_pid_namespace_is_refused => root("@A clone_ns pid"),
    clone_into_a_network_namespace_is_refused => root("@A clone_ns net"),
    clone3_into_a_user_namespace_is_refused => claiming("@A clone3_ns user"),
    clone3_into_a_mount_namespace_is_refused => root("@A clone3_ns mnt"),
    clone3_into_a_time_namespace_is_refused => root("@A clone3_ns time"),
    namespaces_of_pid_1_cannot_be_joined => root("for n in mnt pid net ipc uts user cgroup; \
        do @A setns /proc/1/ns/$n; done")
        .bare(Bare::RootWhere("this machine keeps root out of pid \
        1", || std::fs::File::open("/proc/1/ns/mnt").is_ok())),
    own_namespaces_cannot_be_joined => root("for n in mnt net ipc uts cgroup; do @A setns /proc/self/ns/$n; done"),
    namespaces_cannot_be_joined_by_pidfd => root("@A setns_pidfd $$"),
    mount_in_a_namespace_of_ones_own_is_refused => claiming("@A userns_mount mnt"),
    shell_unshare_is_refused => claiming("unshare -Ur true && @A escaped unshare"),

    mount_of_a_tmpfs_is_refused => root("@A mount_tmpfs mnt"),
    mount_of_proc_is_refused => root("@A mount_proc mnt"),
    bind_mount_is_refused => root("@A mount_bind /usr mnt"),
    remount_is_refused => root("@A remount mnt; @A remount /usr; @A remount @PROJECT"),
    umount_is_refused => root("@A umount mnt"),
    umount_of_the_masks_is_refused => attempt("for m in $(cut -d' ' -f5 /proc/self/mountinfo); do @A umount $m; done",
        Leak::Claimed)
        .bare(Bare::Nobody("the masks exist only inside")).workspace(),
    pivot_root_is_refused => root("@A pivot_root mnt"),
    chroot_is_refused => root("@A chroot mnt"),
    new_mount_api_is_refused => root("@A fsopen"),
    open_tree_is_refused => root("@A open_tree @PROJECT"),
    move_mount_is_refused => root("@A move_mount"),
    mount_setattr_is_refused => root("@A mount_setattr mnt"),
    mounts_of_the_host_are_not_told => attempt("cat /proc/self/mountinfo /proc/mounts", Leak::Seen(|_, o| {
        let told = o.out().lines().find(|l| l.contains(" /sys") || l.contains(" /dev devtmpfs"))?.to_owned();
        Some(format!("a mount of the host: {told}"))
    })),
}
