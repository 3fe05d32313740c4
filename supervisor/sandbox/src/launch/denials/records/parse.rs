//! Records of audit, taken apart.
//!
//! Pure. The kernel writes what a program can choose (paths, names) either in quotes, if it is plain, or as hexadecimal digits;
//! so no value has a space, a quote or a line's end in it, and nothing that a program chooses can look like another field.

/// `AUDIT_SYSCALL`, `AUDIT_EOE`, `AUDIT_LANDLOCK_ACCESS`, `AUDIT_LANDLOCK_DOMAIN`.
pub(super) const SYSCALL: u16 = 1300;
pub(super) const END: u16 = 1320;
pub(super) const ACCESS: u16 = 1423;
pub(super) const DOMAIN: u16 = 1424;

/// What belongs together: a time and a number.
pub(super) type Event = (u64, u64);

/// A record: its event, and its fields.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    pub(super) event: Event,
    fields: &'a str,
}

impl<'a> Record<'a> {
    /// `audit(1794851182.232:774): key=value …`
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?.trim_end_matches(['\0', '\n']);
        let (stamp, fields) = text.strip_prefix("audit(")?.split_once("):")?;
        let (time, serial) = stamp.split_once(':')?;
        let (seconds, millis) = time.split_once('.')?;
        let seconds: u64 = seconds.parse().ok()?;
        let time = seconds.checked_mul(1000)?.checked_add(millis.parse().ok()?)?;
        Some(Self {
            event: (time, serial.parse().ok()?),
            fields,
        })
    }

    fn raw(&self, key: &str) -> Option<&'a str> {
        let mut words = self.fields.split(' ');
        words.find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
    }

    /// A word as it stands.
    pub(super) fn word(&self, key: &str) -> Option<&'a str> {
        self.raw(key)
    }

    pub(super) fn number(&self, key: &str) -> Option<u64> {
        self.raw(key)?.parse().ok()
    }

    /// What a program chose: in quotes, or in hexadecimal digits.
    pub(super) fn chosen(&self, key: &str) -> Option<Vec<u8>> {
        let value = self.raw(key)?;
        match value.strip_prefix('"') {
            Some(quoted) => quoted.strip_suffix('"').map(|text| text.as_bytes().to_vec()),
            None => hex(value),
        }
    }
}

fn hex(digits: &str) -> Option<Vec<u8>> {
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else {
        return None;
    };
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    pairs
        .iter()
        .map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?))
        .collect()
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
