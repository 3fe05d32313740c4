use super::*;

#[test]
fn what_was_seen_comes_back_whole() {
    let seen = Seen {
        appeared: vec![
            Appeared {
                path: "/p/.env".into(),
                clause: "fs.deny".to_owned(),
                covered: true,
            },
            Appeared {
                path: "/p/x".into(),
                clause: String::new(),
                covered: false,
            },
        ],
        unwatched: vec!["/p/far".into()],
        lost: Lost {
            removed: ["/p/.git/config".into()].into(),
            doubtful: ["/p/.envrc".into(), "/p/.mcp.json".into()].into(),
        },
    };
    let bytes = encode(&seen);
    for length in 0..bytes.len() {
        assert_eq!(decode(&bytes[..length]), None, "cut off at {length}");
    }
    assert_eq!(decode(&bytes), Some(seen));
}
