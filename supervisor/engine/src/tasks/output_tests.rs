use proptest::prelude::*;

use super::*;

#[test]
fn what_fits_is_kept_whole() {
    let mut kept = HeadTail::new(9);
    kept.write(b"abc");
    kept.write(b"defghi");
    assert_eq!(kept.text(), "abcdefghi");
    assert!(kept.is_whole());
}

#[test]
fn beginning_and_end_are_kept_of_more() {
    let mut kept = HeadTail::new(9);
    for byte in b'a'..=b'z' {
        kept.write(&[byte]);
    }
    assert_eq!(kept.text(), "abcdef\n[… 17 bytes left out …]\nxyz");
    assert_eq!(kept.written(), 26);
}

#[test]
fn a_character_is_not_cut_in_two() {
    let mut kept = HeadTail::new(9);
    kept.write("aaaaaü----------üa".as_bytes());
    assert_eq!(kept.text(), "aaaaa\n[… 11 bytes left out …]\nüa");
}

proptest! {
    #[test]
    fn the_pieces_in_which_it_is_written_do_not_matter(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20), limit in 0usize..100) {
        let whole: Vec<u8> = pieces.concat();
        let (mut in_pieces, mut at_once) = (HeadTail::new(limit), HeadTail::new(limit));
        pieces.iter().for_each(|piece| in_pieces.write(piece));
        at_once.write(&whole);
        prop_assert_eq!(in_pieces.text(), at_once.text());
        prop_assert!(in_pieces.head.len() + in_pieces.tail.len() <= limit);
        prop_assert_eq!(in_pieces.is_whole(), whole.len() <= limit);
        if in_pieces.is_whole() {
            prop_assert_eq!(in_pieces.text(), String::from_utf8_lossy(&whole));
        }
    }
}
