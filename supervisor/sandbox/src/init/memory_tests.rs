use super::*;

#[test]
fn a_status_is_read_by_its_names() {
    let text = "Name:\tVmRSS:\nPPid:\t12\nVmRSS:\t    1024 kB\nVmPTE:\t      48 kB\nVmSwap:\t       3 kB\nHugetlbPages:\t    2048 kB\n";
    let held = Held {
        resident: 1 << 20,
        elsewhere: (3 << 10) + (2 << 20),
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

#[test]
fn what_is_in_swap_has_its_share_too() {
    let text = "5600-7ffe ---p 00000000 00:00 0 [rollup]\nRss: 900 kB\nPss:  100 kB\nPss_Anon: 90 kB\n\
                Shared_Hugetlb: 4096 kB\nPrivate_Hugetlb: 2048 kB\nSwap: 70 kB\nSwapPss: 35 kB\n";
    assert_eq!(shares(text), Some((100 + 2048 + 35) << 10));
    assert_eq!(shares("Rss: 1 kB\n"), None);
}
