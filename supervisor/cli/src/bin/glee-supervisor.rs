//! The program; everything is in the library, so that both names do the same.
#![no_main]

glee_sandbox::entry!(glee_cli::main);
