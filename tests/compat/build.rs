//! Compilers and build tools: what an agent runs after each edit.

use crate::claims::claims;

const HELLO_C: &str = r#"printf '%s\n' '#include <stdio.h>' 'int main(void) { puts("hello"); return 0; }' > hello.c"#;

/// A crate with a build script, a unit test, and a path dependency, so that nothing need be fetched.
const CRATE: &str = r#"
    mkdir -p src dep/src
    printf '%s\n' '[package]' 'name = "small"' 'version = "0.1.0"' 'edition = "2021"' \
        '[dependencies]' 'dep = { path = "dep" }' '[workspace]' > Cargo.toml
    printf '%s\n' '[package]' 'name = "dep"' 'version = "0.1.0"' 'edition = "2021"' > dep/Cargo.toml
    echo 'pub fn answer() -> u32 { 42 }' > dep/src/lib.rs
    echo 'fn main() { println!("cargo:rustc-env=BUILT=script"); }' > build.rs
    printf '%s\n' 'fn main() { println!("{} {}", env!("BUILT"), dep::answer()); }' \
        '#[test]' 'fn it_adds() { assert_eq!(dep::answer(), 42); }' > src/main.rs"#;

claims! {
    fn gcc_compiles_a_program_that_runs(at) {
        at.needs(&["gcc"]);
        at.stage(HELLO_C);
        at.prints("gcc -O2 -Wall hello.c -o hello && ./hello", "hello\n");
        at.finds("./hello", "hello\n");
    }

    fn gcc_links_a_shared_library_and_threads(at) {
        at.needs(&["gcc"]);
        at.stage(r#"
            echo 'int answer(void) { return 42; }' > answer.c
            printf '%s\n' '#include <pthread.h>' '#include <stdio.h>' 'int answer(void);' \
                'static void *work(void *out) { *(int *)out = answer(); return 0; }' \
                'int main(void) { pthread_t t; int n = 0; if (pthread_create(&t, 0, work, &n)) return 1;' \
                'pthread_join(t, 0); printf("%d\n", n); return 0; }' > main.c"#);
        at.prints(
            "gcc -shared -fPIC answer.c -o libanswer.so
             gcc -pthread main.c -L. -lanswer -Wl,-rpath,\"$PWD\" -o main && ./main",
            "42\n",
        );
    }

    fn gcc_address_sanitizer_names_the_overflow(at) {
        at.needs(&["gcc"]);
        at.stage(r#"printf '%s\n' '#include <stdlib.h>' \
            'int main(int n, char **v) { char *p = malloc(4); p[n + 3] = 1; return p[0]; }' > over.c"#);
        at.prints(
            "gcc -g -fsanitize=address over.c -o over
             ASAN_OPTIONS=detect_leaks=0 ./over 2>&1 | grep -o 'ERROR: AddressSanitizer: heap-buffer-overflow'",
            "ERROR: AddressSanitizer: heap-buffer-overflow\n",
        );
    }

    fn make_j2_builds_in_parallel_through_its_jobserver(at) {
        at.needs(&["gcc", "make"]);
        at.stage(r#"
            for n in 1 2 3 4; do echo "int f$n(void) { return $n; }" > f$n.c; done
            printf '%s\n' '#include <stdio.h>' 'int f1(void), f2(void), f3(void), f4(void);' \
                'int main(void) { printf("%d\n", f1() + f2() + f3() + f4()); return 0; }' > main.c
            printf 'all: sum\nsum: main.o f1.o f2.o f3.o f4.o\n\tgcc -o $@ $^\n%%.o: %%.c\n\tgcc -c -o $@ $<\n' > Makefile"#);
        at.prints("make -s -j2 && ./sum && make -s -j2 && echo again", "10\nagain\n");
    }

    fn cargo_builds_a_crate_offline(at) {
        at.needs(&["gcc"]);
        at.with_rust_in_home();
        at.stage(CRATE);
        at.prints("cargo build -q --offline && ./target/debug/small", "script 42\n");
        at.finds("./target/debug/small", "script 42\n");
    }

    fn cargo_test_runs_the_crates_own_tests(at) {
        at.needs(&["gcc"]);
        at.with_rust_in_home();
        at.stage(CRATE);
        at.prints(
            "cargo test -q --offline 2>&1 | sed -n 's/; finished in .*//p'",
            "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n",
        );
    }
}
