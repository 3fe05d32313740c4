//! Hides every occurrence of the key in what streams by.
//!
//! Pure. INVARIANT (same length): as many bytes come out as went in, so lengths announced before still hold.
//! INVARIANT (no delay): only the beginning of a possible match is held back, and its bytes are those of the key.

/// What stands where the key stood.
const MASK: u8 = b'*';

/// Knuth, Morris and Pratt's machine over a stream. What is held back is a prefix of the key, so only its length is kept.
#[derive(Debug, Clone)]
pub(super) struct Redactor {
    key: Key,
    matched: usize,
    found: u64,
}

/// The key and, for each of its prefixes, the longest proper border. Shared by all streams of a broker.
#[derive(Clone)]
pub(super) struct Key {
    secret: std::rc::Rc<super::secret::Secret>,
    borders: std::rc::Rc<[usize]>,
}

impl Key {
    pub(super) fn new(secret: std::rc::Rc<super::secret::Secret>) -> Self {
        let bytes = secret.bytes();
        let mut borders: Vec<usize> = Vec::with_capacity(bytes.len());
        for (at, byte) in bytes.iter().enumerate() {
            let mut border = at
                .checked_sub(1)
                .and_then(|before| borders.get(before))
                .copied()
                .unwrap_or(0);
            while border > 0 && bytes.get(border) != Some(byte) {
                border = previous(&borders, border);
            }
            let longer = at > 0 && bytes.get(border) == Some(byte);
            borders.push(border + usize::from(longer));
        }
        let borders = borders.into();
        Self { secret, borders }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.secret.bytes()
    }

    /// The bytes with the key hidden, for what is whole already.
    pub(super) fn hidden_in(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut redactor = Redactor::new(self.clone());
        let mut out = redactor.pass(bytes);
        out.extend_from_slice(redactor.end());
        (redactor.found > 0).then_some(out)
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.secret.fmt(f)
    }
}

fn previous(borders: &[usize], matched: usize) -> usize {
    matched
        .checked_sub(1)
        .and_then(|at| borders.get(at))
        .copied()
        .unwrap_or(0)
}

impl Redactor {
    pub(super) fn new(key: Key) -> Self {
        Self {
            key,
            matched: 0,
            found: 0,
        }
    }

    /// What may go on now.
    pub(super) fn pass(&mut self, chunk: &[u8]) -> Vec<u8> {
        let key = self.key.secret.bytes();
        let mut out = Vec::with_capacity(self.matched + chunk.len());
        let mut rest = chunk;
        while let Some((byte, after)) = rest.split_first() {
            if self.matched == 0 {
                // Most of a stream: skip to where a match could begin.
                let skip = rest.iter().position(|b| Some(b) == key.first()).unwrap_or(rest.len());
                if skip > 0 {
                    let (plain, from) = rest.split_at(skip);
                    out.extend_from_slice(plain);
                    rest = from;
                    continue;
                }
            }
            if key.get(self.matched) == Some(byte) {
                self.matched += 1;
                rest = after;
            } else {
                let shorter = previous(&self.key.borders, self.matched);
                out.extend(key.iter().take(self.matched - shorter));
                self.matched = shorter;
            }
            if self.matched == key.len() {
                out.extend(std::iter::repeat_n(MASK, key.len()));
                self.matched = 0;
                self.found += 1;
            }
        }
        out
    }

    /// What was held back when the stream ended: no whole key.
    pub(super) fn end(&mut self) -> &[u8] {
        let held = std::mem::take(&mut self.matched);
        self.key.secret.bytes().get(..held).unwrap_or_default()
    }

    pub(super) fn found(&self) -> u64 {
        self.found
    }
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
