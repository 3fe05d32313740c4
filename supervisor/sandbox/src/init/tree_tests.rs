use super::{living, session};

/// As the kernel writes it: the 18th field after the name is the number of threads.
fn stat(name: &str, state: &str, threads: u32) -> Vec<u8> {
    format!("77 ({name}) {state} 5 77 77 0 -1 4227084 0 0 0 0 0 0 0 0 20 0 {threads} 0 123 0 0").into_bytes()
}

#[test]
fn a_zombie_has_no_parent_to_tell_of() {
    assert_eq!(living(&stat("sh", "Z", 1)), None);
    assert_eq!(living(&stat("sh", "Z", 0)), None);
}

#[test]
fn whoever_has_a_living_thread_lives() {
    assert_eq!(living(&stat("sh", "S", 1)), Some(5));
    assert_eq!(living(&stat("sh", "Z", 2)), Some(5));
}

#[test]
fn a_name_cannot_feign_a_zombie() {
    assert_eq!(living(&stat("sh) Z 1 1 1", "R", 3)), Some(5));
}

#[test]
fn the_session_is_read_behind_any_name() {
    assert_eq!(session(b"77 (a) 1 2 3) S 5 70 71 0 -1"), Some(71));
    assert_eq!(session(b"77 (sh) S 5"), None);
}
