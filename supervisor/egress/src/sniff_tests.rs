use proptest::prelude::*;

use super::*;
use crate::host::Host;

fn bound() -> Bound {
    Bound {
        host: Host::parse(b"a.example").unwrap(),
        port: 8080,
    }
}

proptest! {
    #[test]
    fn what_the_first_bytes_are_does_not_depend_on_the_cuts(
        text in prop_oneof!["[A-Z]{0,4}[ \t/\r\n]{0,2}[a-zA-Z/ .\r\n]{0,20}", "GET / HTTP/1.[01]\r\n.{0,10}"],
        cut in 0_usize..30,
    ) {
        let bytes = text.as_bytes();
        let first = sniff(&bytes[..cut.min(bytes.len())], &bound());
        prop_assert!(first == Sniffed::Unsure || first == sniff(bytes, &bound()));
    }

    #[test]
    fn what_is_watched_ends_at_the_same_word_however_it_is_cut(
        text in "[_*(1]{0,2}[ \t]{1,2}[a/]{0,2}[ \u{b}]{1,2}(HTTP/|http/1|HTTQ)[ 1.]{0,4}\r?\n",
        size in 1_usize..9,
    ) {
        let whole = Watch::default().look(text.as_bytes()).err();
        let mut watch = Watch::default();
        let cut = text.as_bytes().chunks(size).find_map(|piece| watch.look(piece).err());
        prop_assert_eq!(cut, whole);
    }
}
