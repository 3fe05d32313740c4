//! What a run is called.

use std::fs;
use std::io::Read;
use std::time::SystemTime;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const LENGTH: usize = 26;

/// Could `run_id` have said this? Then it is one name, and a word that no shell and no git reads as anything else.
#[must_use]
pub fn is_run_id(text: &str) -> bool {
    text.len() == LENGTH && text.bytes().all(|byte| ALPHABET.contains(&byte))
}

/// Time-ordered and unique: 48 bits of milliseconds and 80 random bits, in lower-case base 32.
#[must_use]
pub fn run_id() -> String {
    let millis = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default()
        .as_millis();
    let mut random = [0u8; 10];
    // Without the device the time and the pid still tell runs apart.
    if fs::File::open("/dev/urandom")
        .and_then(|mut f| f.read_exact(&mut random))
        .is_err()
    {
        for (to, from) in random.iter_mut().zip(std::process::id().to_le_bytes()) {
            *to = from;
        }
    }
    let low = random
        .iter()
        .fold(0u128, |value, byte| (value << 8) | u128::from(*byte));
    let value = (millis << 80) | low;
    (0..LENGTH)
        .rev()
        .map(|place| {
            let index = usize::try_from((value >> (place * 5)) & 31).unwrap_or(0);
            ALPHABET.get(index).map_or('0', |byte| char::from(*byte))
        })
        .collect()
}
