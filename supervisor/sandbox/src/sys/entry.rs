//! The start of the program, without the language's own start-up code: that reads the whole memory map of the process to know
//! where its stack ends, at each start of a sandbox.
//!
//! What of it matters is done here: no descriptor below 3 is free, a broken pipe and a full `ulimit -f` are errors and no signals,
//! and what was printed is written at the end. A stack that overflows ends the process by its signal, without a message.

use super::{event, fd};

/// Runs the program and ends the process with its status.
pub fn run(main: fn() -> u8) -> ! {
    if fd::ensure_stdio().is_err() {
        // Whatever is opened next would be somebody's standard output.
        std::process::abort();
    }
    event::ignore(libc::SIGPIPE);
    // A file that may not grow any more (`ulimit -f`) is an error, too.
    event::ignore(libc::SIGXFSZ);
    std::process::exit(i32::from(main()))
}

/// Makes a function the start of the program, and gives that its heap. The crate needs `#![no_main]`.
#[macro_export]
macro_rules! entry {
    ($main:path) => {
        #[global_allocator]
        static HEAP: $crate::sys::heap::Heap = $crate::sys::heap::Heap::new();

        /// Called by the C library, once it is ready.
        #[unsafe(no_mangle)]
        pub extern "C" fn main(_count: i32, _arguments: *const *const u8) -> i32 {
            $crate::sys::entry::run($main)
        }

        $crate::library_start!();
    };
}

/// The library's own start is linked.
#[cfg(not(own_start))]
#[macro_export]
macro_rules! library_start {
    () => {};
}
