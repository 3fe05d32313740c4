//! Random choices that can be repeated.

use std::fs::File;
use std::io::Read;

/// xorshift64*: good enough to choose.
#[derive(Debug, Clone)]
pub(crate) struct Chance {
    state: u64,
}

/// `GLEE_SEED`, or a new one for each run of the tests.
pub(crate) fn seed() -> u64 {
    if let Some(seed) = std::env::var("GLEE_SEED").ok().and_then(|text| text.parse().ok()) {
        return seed;
    }
    let mut bytes = [0; 4];
    File::open("/dev/urandom")
        .and_then(|mut f| f.read_exact(&mut bytes))
        .expect("read /dev/urandom");
    u64::from(u32::from_le_bytes(bytes))
}

/// `GLEE_SOAK=full` asks for the size of the promise.
pub(crate) fn rounds(small: usize, full: usize) -> usize {
    let is_full = std::env::var_os("GLEE_SOAK").is_some_and(|size| size == "full");
    if is_full { full } else { small }
}

impl Chance {
    pub(crate) fn new(seed: u64, round: usize) -> Self {
        let mut this = Self {
            state: (seed ^ ((round as u64 + 1) << 32)).max(1),
        };
        for _ in 0..8 {
            this.next();
        }
        this
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number in `0..bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// True in `parts` of `of` cases.
    pub(crate) fn is(&mut self, parts: usize, of: usize) -> bool {
        self.below(of) < parts
    }

    pub(crate) fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }

    /// Up to `most` of them.
    pub(crate) fn some<'a>(&mut self, of: &[&'a str], most: usize) -> Vec<&'a str> {
        let count = self.below(most + 1);
        let mut chosen: Vec<&str> = (0..count).map(|_| self.one(of)).collect();
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }
}
