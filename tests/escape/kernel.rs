//! Calls into the kernel that no coding agent needs. The attack reports which errno it met; calls that could do harm are made
//! with nonsense that the kernel notices only after the permission.

use std::process::Command;

use glee_tests::{Attempt, Bare, Leak, attack_tool, attempt};

/// Anyone may do it bare.
fn call(script: &'static str) -> Attempt {
    attempt(script, Leak::Claimed)
}

/// Only root may do it bare.
fn root(script: &'static str) -> Attempt {
    call(script).bare(Bare::RootOnly)
}

/// Root may do it bare, on a kernel that was built with it.
macro_rules! root_if_built {
    ($attack:literal) => {
        call(concat!("@A ", $attack)).bare(Bare::RootWhere("this kernel is built without it", || built($attack)))
    };
}

/// Does the kernel know the call at all? ENOSYS says no.
fn built(attack: &str) -> bool {
    let out = Command::new(attack_tool())
        .args(attack.split(' '))
        .output()
        .expect("run the attack tool");
    !String::from_utf8_lossy(&out.stdout).contains("errno 38 ")
}

claims! {
    bpf_maps_are_refused => root("@A bpf"),
    bpf_programs_are_refused => root("@A bpf_prog"),
    performance_counters_are_refused => call("@A perf"),
    io_uring_is_refused => call("@A io_uring"),
    userfaultfd_is_refused => call("@A userfaultfd"),
    adding_a_key_is_refused => call("@A add_key glee:@ID"),
    requesting_a_key_is_refused => call("@A request_key"),
    joining_a_session_keyring_is_refused => call("@A keyctl_session"),
    personality_with_a_page_at_zero_is_refused => call("@A page_at_zero"),
    personality_that_reads_as_executable_is_refused => call("@A read_implies_exec"),
    fanotify_is_refused => call("@A fanotify"),
    secret_memory_is_refused => call("@A memfd_secret")
        .bare(Bare::Where("this kernel has no secret memory", || built("memfd_secret"))),
    memory_policy_is_refused => call("@A mbind")
        .bare(Bare::Where("this kernel has no memory policy", || built("mbind"))),
    listing_mounts_is_refused => call("@A listmount")
        .bare(Bare::Where("this kernel has no listmount", || built("listmount"))),
    listing_security_modules_is_refused => call("@A lsm_attr")
        .bare(Bare::Where("this kernel has no lsm calls", || built("lsm_attr"))),
    quotas_are_refused => call("@A quotactl"),
    loading_a_kernel_is_refused => root_if_built!("kexec_load"),
    loading_a_kernel_file_is_refused => root_if_built!("kexec_file_load"),
    loading_a_module_is_refused => root_if_built!("init_module"),
    loading_a_module_file_is_refused => root_if_built!("finit_module"),
    removing_a_module_is_refused => root_if_built!("delete_module"),
    reboot_is_refused => root("@A reboot"),
    swapon_is_refused => root("@A swapon"),
    swapoff_is_refused => root("@A swapoff"),
    accounting_is_refused => root("@A acct"),
    kernel_log_is_refused => root("@A syslog"),
    setting_the_clock_is_refused => root("@A settime"),
    setting_the_host_name_is_refused => root("@A sethostname"),
    move_pages_is_refused => call("@A move_pages $$")
        .bare(Bare::Where("this kernel has no page migration", || built("move_pages 1"))),

    calls_of_32_bit_programs_are_refused => call("@A int80").bare(Bare::Where("not an x86-64 with 32-bit calls", || {
        cfg!(target_arch = "x86_64") && claims_bare("int80")
    })),
    calls_of_x32_programs_are_refused => call("@A x32")
        .bare(Bare::Where("this kernel is built without x32", || built("x32"))),
    local_descriptor_tables_are_refused => call("@A modify_ldt")
        .bare(Bare::Where("not an x86-64", || cfg!(target_arch = "x86_64"))),
    io_privilege_is_refused => root_if_built!("iopl"),
    io_ports_are_refused => root_if_built!("ioperm"),
}

fn claims_bare(attack: &str) -> bool {
    let out = Command::new(attack_tool())
        .arg(attack)
        .output()
        .expect("run the attack tool");
    String::from_utf8_lossy(&out.stdout).contains("worked]]")
}
