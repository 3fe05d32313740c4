use super::*;

#[test]
fn a_name_with_brackets_and_blanks_does_not_confuse_the_stat_line() {
    assert_eq!(parse_stat("42 (a) Z 9 (b) S 7 42 42 0 -1"), Some((7, 'S')));
    assert_eq!(parse_stat("42 (cut"), None);
    assert_eq!(parse_stat(""), None);
}

#[test]
fn a_rollup_sums_private_pages_and_leaves_the_finer_kinds_of_pss_out() {
    let text = "00400000-7ffd [rollup]\nRss:    1200 kB\nPss:     300 kB\nPss_Anon:  90 kB\nPss_File: 210 kB\n\
                Shared_Clean: 900 kB\nPrivate_Clean: 40 kB\nPrivate_Dirty: 60 kB\n";
    let expected = Memory {
        pss: 300,
        rss: 1200,
        private: 100,
    };
    assert_eq!(parse_rollup(text), expected);
}

#[test]
fn a_tree_holds_grandchildren_listed_before_their_parents_and_no_strangers() {
    let process = |parent| Process {
        parent,
        state: 'S',
        argv: Vec::new(),
        exe: None,
    };
    let all = BTreeMap::from([
        (2, process(9)),
        (5, process(1)),
        (9, process(10)),
        (10, process(1)),
        (11, process(99)),
    ]);
    assert_eq!(trees(&all, &BTreeSet::from([10])), BTreeSet::from([2, 9, 10]));
    assert_eq!(trees(&all, &BTreeSet::from([77])), BTreeSet::new());
}

#[test]
fn this_very_process_is_living_and_has_memory() {
    let me = std::process::id();
    assert!(living().contains_key(&me));
    let memory = memory(me).unwrap();
    assert!(memory.pss > 0 && memory.pss <= memory.rss, "{memory:?}");
}
