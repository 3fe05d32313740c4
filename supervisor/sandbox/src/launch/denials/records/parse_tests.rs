//! Records as the kernel writes them, also of names that somebody chose with care.

use super::*;

#[test]
fn a_record_is_its_event_and_its_fields() {
    let text = b"audit(1794851182.232:774): domain=195ba459b blockers=fs.read_file,fs.execute path=\"/usr/bin\" dev=\"vda2\" ino=351\0";
    let record = Record::parse(text).unwrap();
    assert_eq!(record.event, (1_794_851_182_232, 774));
    assert_eq!(record.word("domain"), Some("195ba459b"));
    assert_eq!(record.word("blockers"), Some("fs.read_file,fs.execute"));
    assert_eq!(record.chosen("path").as_deref(), Some(&b"/usr/bin"[..]));
    assert_eq!(record.number("ino"), Some(351));
    assert_eq!(record.word("missing"), None);
    assert_eq!(record.word("in"), None);
}

#[test]
fn a_name_with_spaces_quotes_or_line_ends_stays_one_name() {
    let name = b"/p/a\" domain=1\npath=\"/etc/shadow\" \xff";
    let hex: String = name.iter().map(|byte| format!("{byte:02X}")).collect();
    let text = format!("audit(1.000:2): domain=7 blockers=fs.write_file path={hex} dev=\"vda\" ino=1");
    let record = Record::parse(text.as_bytes()).unwrap();
    assert_eq!(record.chosen("path").as_deref(), Some(&name[..]));
    assert_eq!(record.word("domain"), Some("7"));
}

#[test]
fn what_is_no_record_is_nothing() {
    for text in [
        "",
        "audit(",
        "audit(1.2:3)",
        "audit(x.2:3): a=b",
        "audit(1:3): a=b",
        "audit(1.2): a=b",
        "audit(99999999999999999999.2:3): a=b",
        "\u{0}",
    ] {
        assert!(Record::parse(text.as_bytes()).is_none(), "{text}");
    }
    let odd = Record::parse(b"audit(1.2:3): path=ABC comm=+F exe=\"x").unwrap();
    assert_eq!(["path", "comm", "exe"].map(|key| odd.chosen(key)), [None, None, None]);
}
