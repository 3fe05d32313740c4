//! `/proc`, `/sys` and `/dev`: the parts that change or tell about the host.

use glee_tests::{Attempt, Bare, Leak, attempt};

/// Opening it for writing is already too much; nothing is written.
fn opens(script: &'static str) -> Attempt {
    attempt(script, Leak::Claimed).bare(Bare::RootOnly)
}

/// Bare it works for root where the machine has the file.
macro_rules! where_there {
    ($script:literal, $path:literal) => {
        attempt($script, Leak::Claimed).bare(Bare::RootWhere("this machine does not have it", || {
            std::path::Path::new($path).exists()
        }))
    };
}

const NEEDS_RESOURCE: Bare = Bare::RootWhere("root lacks CAP_SYS_RESOURCE here", || glee_tests::capable(24));

claims! {
    arguments_of_the_supervisor_are_not_read => attempt("cat /proc/1/cmdline /proc/2/cmdline; ps axww",
        Leak::Seen(|w, o| o.says(&w.fill("@OUT/report-@ID")).then(|| "the path of the report".into())))
        .flags(&["--report", "@OUT/report-@ID"]).bare(Bare::Nobody("there is no supervisor bare")),
    core_pattern_is_not_written => opens("@A rewrite /proc/sys/kernel/core_pattern"),
    modprobe_path_is_not_written => where_there!("@A rewrite /proc/sys/kernel/modprobe", "/proc/sys/kernel/modprobe"),
    kernel_settings_are_not_written => opens("@A rewrite /proc/sys/kernel/panic; \
        @A rewrite /proc/sys/vm/overcommit_memory; \
        @A rewrite /proc/sys/fs/suid_dumpable; @A rewrite /proc/sys/kernel/randomize_va_space"),
    namespace_limits_are_not_written => opens("@A rewrite /proc/sys/user/max_user_namespaces")
        .bare(NEEDS_RESOURCE),
    sysrq_is_not_writable => where_there!("@A can_open /proc/sysrq-trigger w", "/proc/sysrq-trigger"),
    kernel_memory_is_not_readable => where_there!("@A can_read /proc/kcore", "/proc/kcore"),
    kernel_messages_are_not_readable => where_there!("@A can_read /dev/kmsg; @A can_open /dev/kmsg w; \
        @A can_open /proc/kmsg r", "/dev/kmsg"),
    physical_memory_is_not_readable => where_there!("@A can_open /dev/mem r; @A can_open /dev/port r", "/dev/mem"),
    disks_are_not_readable => attempt("for d in /dev/vd* /dev/sd* /dev/nvme* /dev/loop*; do @A can_open $d r; done",
        Leak::Claimed)
        .bare(Bare::RootWhere("this machine shows no disk", || {
            ["/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/loop0"].iter().any(|d| std::path::Path::new(d).exists())
        })),
    devices_beyond_the_harmless_are_absent => attempt("ls -l /dev /dev/net /dev/mapper | grep -E \
        '(fuse|kvm|tun|vhost|loop-control|hpet|rtc|console|control)$' && @A escaped device", Leak::Claimed)
        .bare(Bare::Where("this machine has none of these devices", || {
            ["/dev/fuse", "/dev/kvm", "/dev/net/tun", "/dev/console", "/dev/loop-control"].iter()
            .any(|d| std::path::Path::new(d).exists())
        })),
    keys_of_the_kernel_are_not_told => where_there!("@A can_read /proc/keys; @A can_read /proc/key-users",
        "/proc/key-users"),
    timers_of_the_kernel_are_not_told => where_there!("@A can_read /proc/timer_list", "/proc/timer_list"),
    interrupts_are_not_steered => where_there!("@A can_open /proc/irq/default_smp_affinity w",
        "/proc/irq/default_smp_affinity"),
    buses_are_not_written => attempt("for f in /proc/bus/pci/*/*; do @A can_open $f w; done", Leak::Claimed)
        .bare(Bare::RootWhere("this machine has no PCI \
        bus", || std::fs::read_dir("/proc/bus/pci/00").is_ok_and(|mut d| d.next().is_some()))),
    scsi_and_acpi_are_not_shown => attempt("ls -A /proc/scsi/* /proc/acpi/* 2>/dev/null | grep . && @A escaped acpi",
        Leak::Claimed)
        .bare(Bare::RootWhere("this machine has \
        neither", || ["/proc/scsi", "/proc/acpi"].iter().any(|p| std::fs::read_dir(p).is_ok_and(|mut d| d.next()
        .is_some())))),
    firmware_is_not_shown => where_there!("ls /sys/firmware && @A escaped firmware", "/sys/firmware"),
    uevent_helper_is_not_written => where_there!("@A rewrite /sys/kernel/uevent_helper", "/sys/kernel/uevent_helper"),
    other_formats_are_not_registered => where_there!("@A can_open /proc/sys/fs/binfmt_misc/register w",
        "/proc/sys/fs/binfmt_misc/register"),
    cgroups_are_not_made => attempt("d=$(ls -d /sys/fs/cgroup/unified /sys/fs/cgroup | head -1)/glee-@ID; \
        mkdir $d && @A escaped cgroup; rmdir $d", Leak::Claimed)
        .bare(Bare::RootOnly),
    cgroups_are_not_left => attempt("for f in /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs; \
        do @A can_open $f w; done", Leak::Claimed)
        .bare(Bare::RootOnly),
    settings_of_the_network_are_not_the_command_s_own => attempt("[ -O /proc/sys/net/ipv4/ip_forward ] && @A escaped owner",
        Leak::Claimed)
        .bare(Bare::RootOnly),
    login_uid_is_not_written => where_there!("@A can_open /proc/self/loginuid w", "/proc/self/loginuid"),
    own_oom_score_is_not_lowered => opens("echo -900 > /proc/self/oom_score_adj && @A escaped oom; \
        echo 0 > /proc/self/oom_score_adj")
        .bare(NEEDS_RESOURCE),
    pagemap_shows_no_frames => attempt("@A frames", Leak::Claimed).bare(Bare::RootOnly),
    kernel_addresses_are_not_told => attempt("grep -vm1 '^0000000000000000' /proc/kallsyms && @A escaped kallsyms",
        Leak::Claimed)
        .bare(Bare::RootWhere("this kernel shows no \
        addresses", || std::fs::read_to_string("/proc/kallsyms")
        .is_ok_and(|t| !t.is_empty() && !t.starts_with("0000000000000000")))),
    processes_of_the_host_are_not_counted => attempt("ls -d /proc/[0-9]* | wc -l; \
        [ $(ls -d /proc/[0-9]* | wc -l) -gt 25 ] && @A escaped count", Leak::Claimed),
}
