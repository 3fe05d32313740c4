use std::ffi::OsStr;
use std::path::Path;

use super::{NO_REFERENCE, below, is_one, left, named, stands_for};

#[test]
fn every_new_name_leads_back_however_often_it_is_set_aside() {
    let long = "n".repeat(250);
    for name in [
        "config",
        ".git",
        "a.lock",
        ".set-aside",
        "x.cut",
        "x-0123456789abcdef",
        &long,
    ] {
        let name = OsStr::new(name);
        let mut aside = name.to_owned();
        for (chance, ending) in [
            (None, ""),
            (Some(7), ""),
            (None, NO_REFERENCE),
            (Some(u64::MAX), NO_REFERENCE),
        ] {
            for room in [255, 64] {
                let one = named(name, chance, ending, room);
                assert!(one.len() <= room, "{one:?}");
                assert!(stands_for(&one, name), "{one:?}");
                aside = named(&aside, chance, ending, room);
                assert!(is_one(&aside) && stands_for(&aside, name), "{aside:?}");
            }
        }
    }
}

#[test]
fn a_name_that_nothing_was_set_aside_under_stands_for_itself() {
    for name in [
        "config",
        "config.set-asides",
        ".set-aside",
        "config-set-aside",
        "config.set-aside-12",
        "config.set-aside-0123456789abcdeg",
        "config.lock",
    ] {
        let name = OsStr::new(name);
        assert!(!is_one(name) && stands_for(name, name), "{name:?}");
        assert!(!stands_for(name, OsStr::new("config")) || name == "config", "{name:?}");
    }
    assert!(!stands_for(OsStr::new("config"), OsStr::new("config.set-aside")));
}

#[test]
fn any_name_on_a_way_may_be_set_aside() {
    let aside = Path::new("/p/hooks.set-aside-00000000000000ff/pre-push.set-aside.lock/x");
    assert_eq!(below(aside, Path::new("/p/hooks/pre-push")), Some(Path::new("x")));
    assert_eq!(below(aside, Path::new("/p/hooks/pre")), None);
    assert_eq!(below(Path::new("/p"), Path::new("/p/hooks")), None);
    let way = Path::new("/p/hooks/pre-push");
    assert_eq!(left(way, Path::new("/p/hooks.set-aside")), Some(Path::new("pre-push")));
    assert_eq!(left(way, Path::new("/p/other.set-aside")), None);
    assert_eq!(left(way, Path::new("/p/hooks/pre-push/x")), None);
}
