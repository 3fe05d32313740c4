use super::*;

#[test]
fn a_status_is_read_by_its_names() {
    let text = "Name:\tVmRSS:\nPPid:\t12\nVmRSS:\t    1024 kB\nVmPTE:\t      48 kB\n";
    let held = Held {
        resident: 1 << 20,
        tables: 48 << 10,
        parent: "12".to_owned(),
    };
    assert_eq!(Held::read(text), Some(held));
    assert_eq!(Held::read("Name:\tkthreadd\nPPid:\t0\n"), None);
}

#[test]
fn this_process_has_memory_of_its_own() {
    let own = std::process::id().to_string();
    let held = Held::of(&own).unwrap();
    assert!(held.resident > 0 && held.tables > 0);
    assert!(!held.is_its_parents(&own));
}
