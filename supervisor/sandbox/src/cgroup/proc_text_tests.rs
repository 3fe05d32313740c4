//! Claims about the two files of /proc, on texts as real machines print them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::Controller::{Cpu, Memory, Pids};
use super::proc_text::{Access, Membership, Mount, Version, membership, mounts, unescape};

fn mount(version: Version, root: &str, point: &str, controllers: &[super::Controller]) -> Mount {
    Mount {
        version,
        root: PathBuf::from(root),
        point: PathBuf::from(point),
        access: Access::ReadWrite,
        controllers: controllers.iter().copied().collect(),
    }
}

#[test]
fn v1_mounts_are_read_with_co_mounted_controllers() {
    let text = b"\
23 1 0:22 / /sys rw,nosuid - sysfs sysfs rw
31 23 0:28 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755
33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:10 master:3 - cgroup cgroup rw,memory
36 31 0:33 / /sys/fs/cgroup/devices rw,relatime - cgroup cgroup rw,devices
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate
";
    assert_eq!(
        mounts(text),
        [
            mount(Version::V1, "/", "/sys/fs/cgroup/cpu,cpuacct", &[Cpu]),
            mount(Version::V1, "/", "/sys/fs/cgroup/memory", &[Memory]),
            mount(Version::V1, "/", "/sys/fs/cgroup/devices", &[]),
            mount(Version::V2, "/", "/sys/fs/cgroup/unified", &[]),
        ]
    );
}

#[test]
fn a_read_only_mount_is_told_by_either_option_list() {
    let by_mount = b"1 2 0:3 / /cg ro,nosuid - cgroup2 cgroup rw\n";
    let by_super = b"1 2 0:3 / /cg rw,nosuid - cgroup2 cgroup ro\n";
    let expected = Mount {
        access: Access::ReadOnly,
        ..mount(Version::V2, "/", "/cg", &[])
    };
    assert_eq!(mounts(by_mount), std::slice::from_ref(&expected));
    assert_eq!(mounts(by_super), [expected]);
}

#[test]
fn octal_escapes_in_root_and_mount_point_are_undone() {
    let text = br"1 2 0:3 /a\040b\134c /mnt/x\011y\012z\043 rw - cgroup my\040cgroup rw,pids";
    assert_eq!(mounts(text), [mount(Version::V1, "/a b\\c", "/mnt/x\ty\nz#", &[Pids])]);
    assert_eq!(unescape(br"\04"), br"\04");
    assert_eq!(unescape(br"\"), br"\");
    assert_eq!(unescape(br"\400\134040"), br"\400\040");
}

#[test]
fn an_empty_source_and_torn_lines_are_survived() {
    assert_eq!(
        mounts(b"1 2 0:3 / /cg rw - cgroup2  rw\n"),
        [mount(Version::V2, "/", "/cg", &[])]
    );
    for torn in [
        b"1 2 0:3 / /cg".as_slice(),
        b" - cgroup ",
        b"\n\n",
        b" - cgroup2",
        b"1 2 - cgroup2 a rw",
        b"- cgroup",
    ] {
        assert_eq!(mounts(torn), [], "{}", String::from_utf8_lossy(torn));
    }
}

#[test]
fn a_file_system_whose_name_only_begins_alike_is_not_a_cgroup() {
    assert_eq!(
        mounts(b"1 2 0:3 / /cg rw - cgroup2x none rw\n1 2 0:3 / /c rw - cgroupfs none rw\n"),
        []
    );
}

#[test]
fn membership_is_read_per_controller() {
    let text = b"\
9:name=systemd:/
8:pids:/user.slice
4:memory:/process_api/59:58
2:cpu,cpuacct:/
1:cpuset:/
0::/user.slice/session-2.scope
";
    let one = |controller| BTreeSet::from([controller]);
    assert_eq!(
        membership(text),
        Membership {
            v1: vec![
                (one(Pids), PathBuf::from("/user.slice")),
                (one(Memory), PathBuf::from("/process_api/59:58")),
                (one(Cpu), PathBuf::from("/")),
            ],
            v2: Some(PathBuf::from("/user.slice/session-2.scope")),
        }
    );
    assert_eq!(membership(b"junk\n:\n"), Membership::default());
}

#[test]
fn own_cgroup_is_located_below_a_sub_root_and_never_through_dots() {
    let container = mount(Version::V1, "/docker/abc", "/sys/fs/cgroup/memory", &[Memory]);
    let locate = |own: &str| container.locate(Path::new(own));
    assert_eq!(locate("/docker/abc"), Some(PathBuf::from("/sys/fs/cgroup/memory")));
    assert_eq!(locate("/docker/abc/x"), Some(PathBuf::from("/sys/fs/cgroup/memory/x")));
    assert_eq!(locate("/docker/abcd"), None);
    assert_eq!(locate("/"), None);
    assert_eq!(locate("/docker/abc/../../x"), None);
    assert_eq!(mount(Version::V2, "/", "/cg", &[]).locate(Path::new("/../x")), None);
}
