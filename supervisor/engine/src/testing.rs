//! A directory for one test, removed afterwards.
#![allow(clippy::expect_used, reason = "tests")]

use std::path::{Path, PathBuf};

use crate::hex::hex;
use crate::random;

#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        let name = format!("glee-{}", hex(&random::bytes::<8>().expect("random bytes")));
        let path = std::env::temp_dir()
            .canonicalize()
            .expect("a place for files")
            .join(name);
        std::fs::create_dir(&path).expect("make a directory");
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A test that failed may have left what cannot be removed.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
