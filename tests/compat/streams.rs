//! Standard streams: fifty megabytes through each, unchanged; and each kept apart.

use crate::claims::claims;
use crate::seen::told;

const FIFTY_MB: usize = 50_000_000;

/// Bytes of every value without a short period, the same on each call.
fn noise() -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(FIFTY_MB + 8);
    while bytes.len() < FIFTY_MB {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(FIFTY_MB);
    bytes
}

claims! {
    fn fifty_megabytes_leave_through_stdout_unchanged(at) {
        let sent = noise();
        at.write("data", &sent);
        let seen = at.inside("cat data").go();
        assert_eq!((told(&seen), seen.stdout.len(), seen.err().as_str()), (0, FIFTY_MB, ""));
        assert!(seen.stdout == sent, "the bytes are not those that were sent");
    }

    fn fifty_megabytes_enter_through_stdin_unchanged(at) {
        let sent = noise();
        let seen = at.inside("cat > data").stdin(sent.clone()).go();
        assert_eq!((told(&seen), seen.err().as_str()), (0, ""));
        let kept = at.read("data");
        assert!(kept == sent, "{} bytes arrived, or others", kept.len());
    }

    fn fifty_megabytes_pass_through_both_at_once(at) {
        let sent = noise();
        let seen = at.inside("cat").stdin(sent.clone()).go();
        assert_eq!((told(&seen), seen.stdout.len(), seen.err().as_str()), (0, FIFTY_MB, ""));
        assert!(seen.stdout == sent, "the bytes are not those that were sent");
    }

    fn stdout_and_stderr_stay_apart(at) {
        let seen = at.run("echo out; echo err >&2; echo out; echo err >&2");
        assert_eq!(seen.whole(), (0, "out\nout\n", "err\nerr\n"));
    }

    fn an_early_end_of_the_reader_ends_the_writer(at) {
        at.prints("yes | head -n 2; (trap '' PIPE; yes 2> /dev/null | true); echo done", "y\ny\ndone\n");
    }

    fn an_empty_stdin_is_at_its_end(at) {
        let seen = at.inside("cat; echo end").stdin("").go();
        assert_eq!((told(&seen), seen.out().as_str()), (0, "end\n"));
    }
}
