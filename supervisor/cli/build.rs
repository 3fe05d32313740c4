//! Puts what the start of a sandbox executes side by side in the program: see `hot-functions.ld`, and scripts/hot-functions, which
//! writes it.

use std::env;

fn main() {
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/hot-functions.ld");
    println!("cargo:rerun-if-changed={list}");
    println!("cargo:rerun-if-changed=build.rs");
    // Only what is optimised has the names, and mold reads no such list.
    let optimised = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let mold = env::var("CARGO_ENCODED_RUSTFLAGS").is_ok_and(|flags| flags.contains("mold"));
    if optimised && !mold {
        println!("cargo:rustc-link-arg-bins=-Wl,-T,{list}");
    }
}
