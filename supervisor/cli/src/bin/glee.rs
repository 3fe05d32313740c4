//! The program; everything is in the library, so that both names do the same.

fn main() -> std::process::ExitCode {
    glee_cli::main()
}
