//! The same tools on a copy of the project (`--workspace cow` and `worktree`): they work, and the project stays as it is.

use crate::claims::claims;
use crate::seen::Seen;
use crate::support::Place;

const REPOSITORY: &str = "
    git init -q -b main .
    git config user.name Ada
    git config user.email ada@example.org
    echo one > file
    git add -A
    git commit -q -m first";

#[track_caller]
fn prints(at: &Place, workspace: &str, script: &str, expected: &str) {
    let seen = Seen::of(&at.inside(script).flags(["--workspace", workspace]).go());
    assert_eq!(
        (seen.status, seen.stdout.as_str()),
        (0, expected),
        "{workspace}: {}\nscript: {script}",
        seen.stderr
    );
}

claims! {
    fn git_makes_history_on_a_copy(at) {
        at.needs(&["git"]);
        at.stage(REPOSITORY);
        for workspace in ["cow", "worktree"] {
            prints(at, workspace,
                "git checkout -q -b topic; echo topic > topic; git add topic; git commit -q -m topic
                 git checkout -q -; echo two > file; git commit -q -a -m two; git merge -q -m merged topic
                 git stash list; git gc -q 2> /dev/null || true; git fsck --no-progress 2> /dev/null; git log --format=%s --topo-order | head -n 2; git branch -q -D topic",
                "merged\ntopic\n");
            at.finds("cat file; git status --porcelain; git log --format=%s", "one\nfirst\n");
        }
    }

    fn make_and_gcc_build_on_a_copy(at) {
        at.needs(&["gcc", "make", "git"]);
        at.stage(r#"printf '%s\n' '#include <stdio.h>' 'int main(void) { puts("hello"); return 0; }' > hello.c
            printf 'hello: hello.c\n\tgcc -o $@ $<\n' > Makefile"#);
        at.stage(REPOSITORY);
        for workspace in ["cow", "worktree"] {
            prints(at, workspace, "make -s && ./hello && make -s && touch hello.c && make -s && ./hello", "hello\nhello\n");
            at.finds("ls", "Makefile\nfile\nhello.c\n");
        }
    }

    fn cargo_builds_on_a_copy(at) {
        at.with_rust_in_home();
        at.stage("mkdir src; printf '[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n' > Cargo.toml
            echo 'fn main() { println!(\"built\"); }' > src/main.rs");
        prints(at, "cow", "cargo run -q --offline && cargo run -q --offline", "built\nbuilt\n");
        at.finds("ls", "Cargo.toml\nsrc\n");
    }

    fn npm_installs_on_a_copy(at) {
        at.needs(&["npm"]);
        at.stage("mkdir dep; echo '{\"name\":\"dep\",\"version\":\"1.0.0\",\"main\":\"i.js\"}' > dep/package.json
            echo 'module.exports = 42' > dep/i.js; echo '{\"name\":\"app\",\"version\":\"1.0.0\"}' > package.json");
        prints(at, "cow", "npm install --silent --no-audit --no-fund --offline ./dep > /dev/null && node -e 'console.log(require(\"dep\"))'", "42\n");
        at.finds("ls; grep -c dep package.json || true", "dep\npackage.json\n0\n");
    }

    fn sqlite_and_mappings_work_on_a_copy(at) {
        at.needs(&["python3"]);
        at.stage("python3 -c 'import sqlite3; c = sqlite3.connect(\"db\"); c.execute(\"create table t (n)\"); c.commit()'");
        prints(at, "cow",
            "python3 - <<'END'\nimport sqlite3, mmap\nc = sqlite3.connect('db'); c.execute('pragma journal_mode=wal')\nc.executemany('insert into t values (?)', [(n,) for n in range(100)]); c.commit()\nprint(c.execute('select count(*) from t').fetchone()[0]); c.close()\nopen('m', 'wb').write(b'x' * 8192)\nf = open('m', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[0:4] = b'mine'; m.flush(); print(open('m', 'rb').read(4).decode())\nEND",
            "100\nmine\n");
        at.finds("python3 -c 'import sqlite3; print(sqlite3.connect(\"db\").execute(\"select count(*) from t\").fetchone()[0])'", "0\n");
    }
}
