//! Ways through `/proc/self`.

use super::*;

fn known(path: &str) -> Option<String> {
    let led = |theirs| match theirs {
        Theirs::Cwd => Some(PathBuf::from("/w/p")),
        Theirs::Open(3) => Some(PathBuf::from("/w/d")),
        Theirs::Open(_) => None,
    };
    in_own_terms(path.into(), led).map(|path| path.display().to_string())
}

#[test]
fn a_way_through_the_own_process_is_written_without_it() {
    for (path, found) in [
        ("/proc/self/root/etc/x", "/etc/x"),
        ("/proc//self/./root//etc/x/", "/etc/x/"),
        ("//proc/self/cwd/../x", "/w/p/../x"),
        ("/./proc/thread-self/cwd/x", "/w/p/x"),
        ("/proc/self/task/7/cwd/x", "/w/p/x"),
        ("/proc/self/task/7/root/x", "/x"),
        ("/proc/self/fd/3/../x", "/w/d/../x"),
        ("/dev/fd/3/../x", "/w/d/../x"),
        ("/proc/self/../../etc/x", "/etc/x"),
        ("/proc/12/root/etc/x", "/etc/x"),
        ("/proc/self/root/proc/self/root/x", "/x"),
    ] {
        assert_eq!(known(path).as_deref(), Some(found), "{path}");
    }
}

#[test]
fn what_is_about_the_process_stays_unknown_and_all_else_as_it_is() {
    for path in [
        "/proc/self/status",
        "/proc/self",
        "/proc/self/fd/3",
        "/dev/fd/3",
        "/proc/self/fd/9/x",
    ] {
        assert_eq!(known(path), None, "{path}");
    }
    let endless = "/proc/self/root".repeat(20);
    assert_eq!(known(&endless), None);
    for path in [
        "/proc/12/cwd/x",
        "/proc/1/root/etc/x",
        "/proc/selfish/root",
        "/usr//lib/./x/",
        "/dev/null",
        "/proc/cpuinfo",
        "/",
    ] {
        assert_eq!(known(path).as_deref(), Some(path));
    }
}
