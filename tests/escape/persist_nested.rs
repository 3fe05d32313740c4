//! Repositories that the command makes itself and that the host's git would enter: nested, linked by one index or another,
//! and kept from being disarmed. Under `workspace`.

use std::fs;
use std::process::Command;

use glee_tests::{Attempt, Leak, Outcome, World, attempt};

/// Makes the host's git run `@OUT/payload` from a repository at `$1`.
pub(crate) const ARM: &str = "id() { git -c user.name=e -c user.email=e@e -c commit.gpgsign=false \"$@\"; }; \
    new() { git init -q $1; id -C $1 commit -q --allow-empty -m e; }; \
    arm() { printf '[core]\\nfsmonitor=@OUT/payload\\n' >> $1/.git/config; };";

/// Writes an index with gitlinks: `index.py FILE LINK…`. With `--two-ways` it can be read in two ways.
const INDEX: &str = r"import struct, hashlib, sys
def head(mode, flags): return struct.pack('>10I', 0, 0, 0, 0, 0, 0, mode, 0, 0, 0) + b'\x11' * 20 + struct.pack('>H', flags)
def pad(entry): return entry + b'\0' * (8 - len(entry) % 8)
def entry(mode, name): return pad(head(mode, len(name)) + name)
file, names = sys.argv[1], [n.encode() for n in sys.argv[2:] if n != '--two-ways']
links = [entry(0o160000, name) for name in names]
data = b'DIRC' + struct.pack('>II', 2, len(links)) + b''.join(links)
if '--two-ways' in sys.argv:
    first = b'a' + b'\0' * (8 - 63 % 8) + entry(0o100644, b'b') + b'AAAA' + struct.pack('>I', len(links[0]))
    length = next(n for n in range(len(first), 0, -1) if (62 + n + 8) & ~7 == 62 + len(first))
    data = b'DIRC' + struct.pack('>II', 2, 2) + head(0o100644, length) + first + links[0]
open(file, 'wb').write(data + hashlib.sha1(data).digest())
";

/// Writes an index that links nothing if names are taken to be of SHA-1, and a name if they are of SHA-256: `both.py FILE LINK`.
const BOTH: &str = r"import struct, sys
name = sys.argv[2].encode()
def put(size, **at):
    out = bytearray(size)
    for place, value in at.items(): out[int(place[1:]):int(place[1:]) + len(value)] = value
    return bytes(out)
data = b'DIRC' + struct.pack('>II', 2, 2) + bytes(24) + struct.pack('>I', 0o100644) + bytes(12)
data += put(32, _20=struct.pack('>H', 2), _22=b'AB') + struct.pack('>H', 20) + b'A' * 20 + bytes(2)
data += put(40, _0=struct.pack('>I', 0o100644), _24=struct.pack('>I', 0o160000), _36=struct.pack('>H', 2), _38=b'CD')
end = 108 + ((74 + len(name) + 8) & ~7)
data += put(32, _8=b'ZZZZ', _12=struct.pack('>I', end + 32 - 20 - 164), _31=b'\1') + struct.pack('>H', len(name)) + name
open(sys.argv[1], 'wb').write(data + bytes(end - len(data)) + b'\1' * 32)
";

/// Writes an index whose last bytes, within something that nobody knows, send a git of several threads to a part that links a name:
/// `hidden.py LINK`.
const HIDDEN: &str = r"import os, struct, hashlib, subprocess, sys
def git(*words): subprocess.run(['git', '-c', 'splitIndex.sharedIndexExpire=never', *words], check=True, env={**os.environ, 'GIT_INDEX_FILE': '.git/other'})
git('update-index', '--add', '--cacheinfo', '160000,' + '1' * 40 + ',' + sys.argv[1])
git('update-index', '--split-index')
other = open('.git/other', 'rb').read()
at = other.index(b'link')
link = other[at:at + 8 + struct.unpack('>I', other[at + 4:at + 8])[0]]
data = b'DIRC' + struct.pack('>II', 2, 0)
body = link + b'EOIE' + struct.pack('>II', 24, len(data) + 8) + hashlib.sha1(link[:8]).digest()
data += b'XXXX' + struct.pack('>I', len(body)) + body
open('.git/index', 'wb').write(data + hashlib.sha1(data).digest())
";

/// The script nests a repository that the host's next `git status` would enter.
fn trap(script: &str) -> Attempt {
    attempt(format!("{ARM} {script}"), Leak::Seen(git_ran_code))
        .given(|w| {
            w.program("@OUT/payload", &w.fill("#!/bin/sh\ntouch @OUT/pwned\n"));
            w.git_init();
            w.file("@PROJECT/index.py", INDEX);
        })
        .workspace()
}

/// What a person does next, on the host, in whatever checkout there is.
pub(crate) fn git_ran_code(w: &World, _: &Outcome) -> Option<String> {
    let _ = fs::remove_file(w.path("@OUT/pwned"));
    w.settle();
    // What the command has closed its owner opens again.
    let opened = Command::new("chmod")
        .args(["-R", "u+rwX"])
        .arg(w.path("@PROJECT"))
        .status();
    assert!(opened.is_ok_and(|status| status.success()));
    for dir in ["@PROJECT", "@PROJECT/inner", "@OUT/main"] {
        if w.path(dir).is_dir() {
            let _ = w.host_command("git").arg("status").current_dir(w.path(dir)).output();
        }
    }
    fs::exists(w.path("@OUT/pwned"))
        .unwrap_or(false)
        .then(|| "git on the host ran what the sandbox had planted".into())
}

/// What a person does next who wants to share what there is.
fn push_ran_code(w: &World, _: &Outcome) -> Option<String> {
    let _ = fs::remove_file(w.path("@OUT/pwned"));
    let _ = w.host_command("git").arg("push").output();
    let ran = fs::exists(w.path("@OUT/pwned")).unwrap_or(false);
    ran.then(|| "`git push` on the host ran what the sandbox had planted".into())
}

/// What the next run does: it writes `h`, another name of something.
fn next_run_armed(w: &World, o: &Outcome) -> Option<String> {
    w.host_does("chmod u+w h; printf '[core]\nfsmonitor=@OUT/payload\n' >> h");
    git_ran_code(w, o)
}

fn submodule(w: &World) {
    w.dir("@OUT/lib");
    w.git("@OUT/lib", &["init", "-q"]);
    w.git("@OUT/lib", &["commit", "-q", "--allow-empty", "-m", "lib"]);
    w.host_does("git -c protocol.file.allow=always submodule add -q @OUT/lib lib && git commit -qm submodule");
}

/// A repository of the host's in `dir`.
pub(crate) fn repository(w: &World, dir: &str) {
    w.dir(dir);
    w.git(dir, &["init", "-q"]);
    w.git(dir, &["commit", "-q", "--allow-empty", "-m", "first"]);
}

/// A linked worktree `@PROJECT/../wt` cannot be the project, so the project is made one of `@OUT/main`.
fn worktree(w: &World) {
    fs::remove_dir_all(w.path("@PROJECT")).expect("make room for the worktree");
    repository(w, "@OUT/main");
    w.git(
        "@OUT/main",
        &["worktree", "add", "-q", "-b", "side", &w.fill("@PROJECT")],
    );
    w.file("@PROJECT/index.py", INDEX);
}

/// The index links `n`, where there is nothing yet, and is split.
fn split(w: &World) {
    w.host_does("git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),n && git update-index --split-index");
    w.settle();
}

/// The script links `x`, after an earlier run has left there what `earlier` makes.
fn left_by_a_run(earlier: &'static str, script: &str) -> Attempt {
    trap(&format!(
        "link() {{ git update-index --add --cacheinfo 160000,$(printf %040d 1),$1; }}; {script}"
    ))
    .given(move |w| {
        w.host_does(&format!("set -e; {ARM} {earlier}"));
        w.settle();
    })
}

/// In a project without a repository of its own.
fn without_repository(script: &str) -> Attempt {
    trap(script).given(|w| fs::remove_dir_all(w.path("@PROJECT/.git")).expect("remove the repository"))
}

/// In a part of the working tree, of which the repository around links `n`.
fn in_a_part(script: &str) -> Attempt {
    trap(script)
        .given(|w| {
            w.dir("@PROJECT/part");
            w.host_does("git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),part/n");
            w.settle();
        })
        .cwd("@PROJECT/part")
}

/// Two repositories with names of SHA-256, of which the first links the second, as nobody sees who takes its index for another.
fn of_two_readings(script: &str) -> Attempt {
    let nested = "for d in m m/n; do git init -q --object-format=sha256 $d; id -C $d commit -q --allow-empty -m e; done
        arm m/n; python3 both.py m/.git/index n;";
    trap(&format!("{nested} {script}")).given(|w| {
        w.file("@PROJECT/both.py", BOTH);
    })
}

/// The project is a part of a checkout; in it, far from the top, lies another checkout of the same repository.
fn checkout_in_a_part(script: &str) -> Attempt {
    trap(script)
        .given(|w| {
            w.host_does(
                "mkdir -p part; cd part; mkdir $(seq 1100); cd ..
                 git worktree add -q part/z/wt; ln -s part/z/wt inner",
            );
            w.settle();
        })
        .cwd("@PROJECT/part")
}

/// The git directory lies beside the project, and a link leads there.
fn linked_git(w: &World) {
    w.host_does("mv .git @OUT/store; ln -s @OUT/store .git");
}

/// A checkout that the host adds while the command runs.
fn added(script: &str) -> Attempt {
    trap(&format!(
        "cp -r .git own.git; printf '[core]\\nfsmonitor=@OUT/payload\\n' >> own.git/config; {script}"
    ))
    .meanwhile(|w| {
        w.host_does("git worktree add -q -b side @OUT/main");
        w.settle();
    })
}

/// The same in the project itself, under `inner`.
fn added_inside(script: &str) -> Attempt {
    trap(&format!(
        "cp -r .git own.git; printf '[core]\\nfsmonitor=@OUT/payload\\n' >> own.git/config; {script}"
    ))
    .meanwhile(|w| {
        w.host_does("git worktree add -q -b side inner");
        w.settle();
    })
}

/// A new repository with another one that runs something when it is pushed to.
fn pushed(script: &str) -> Attempt {
    let script = format!(
        "{ARM} git init -q -b main .; echo a > a; git add a; id commit -qm a; git config branch.main.merge refs/heads/main; \
        git init -q --bare o.git; printf '#!/bin/sh\\n@OUT/payload\\n' > o.git/hooks/post-receive; chmod +x o.git/hooks/post-receive; {script}"
    );
    attempt(script, Leak::Seen(push_ran_code))
        .given(|w| {
            w.program("@OUT/payload", &w.fill("#!/bin/sh\ntouch @OUT/pwned\n"));
        })
        .workspace()
}

/// A repository in a directory of the home that lists do not show, and that the caller grants.
fn below_a_dot(path: &'static str, script: &'static str) -> Attempt {
    attempt(script, Leak::Changed(path))
        .given(|w| {
            w.dir("@HOME/.src/repo");
            w.git("@HOME/.src/repo", &["init", "-q"]);
        })
        .workspace()
        .flags(&["--write", "@HOME/.src"])
}

claims! {
    pointer_that_ends_in_a_blank_is_disarmed_when_linked => left_by_a_run(
        "new y; arm y; mv y/.git '.git '; mkdir x; echo 'gitdir: ../.git ' > x/.git", "link x"),
    pointer_that_ends_before_a_nul_is_disarmed_when_linked => left_by_a_run(
        "new y; arm y; mkdir x; printf 'gitdir: ../y/.git\\0/../../.git\\n' > x/.git", "link x"),
    pointer_with_many_ends_of_lines_is_disarmed_when_linked => left_by_a_run(
        "new y; arm y; mkdir x; (echo 'gitdir: ../y/.git'; yes '' | head -n 20000) > x/.git", "link x"),
    pointer_whose_way_becomes_a_link_is_disarmed => left_by_a_run(
        "mkdir x d; echo 'gitdir: ../d/../.git' > x/.git",
        "new y; arm y; mkdir y/z; rmdir d; ln -s y/z d; link x"),
    pointer_whose_way_leads_elsewhere_is_disarmed => left_by_a_run(
        "mkdir x; ln -s . l; echo 'gitdir: ../l/.git' > x/.git", "new y; arm y; rm -f l; ln -s y l; link x"),
    link_whose_way_becomes_a_link_is_disarmed => left_by_a_run(
        "mkdir x d; ln -s ../d/../.git x/.git", "new y; arm y; mkdir y/z; rmdir d; ln -s y/z d; link x"),
    pointer_that_was_linked_is_disarmed_when_its_way_is_changed => left_by_a_run(
        "mkdir x d; echo 'gitdir: ../d/../.git' > x/.git; new y; arm y; mkdir y/z; \
        git update-index --add --cacheinfo 160000,$(printf %040d 1),x", "rmdir d; ln -s y/z d"),
    far_pointer_that_was_linked_is_disarmed_when_its_way_is_changed => left_by_a_run(
        "mkdir -p w z/z/z/x d; (cd w; mkdir $(seq 1100)); echo 'gitdir: ../../../../d/../.git' > z/z/z/x/.git; \
        new y; arm y; mkdir y/z; git update-index --add --cacheinfo 160000,$(printf %040d 1),z/z/z/x", "rmdir d; ln -s y/z d"),
    pointer_with_another_name_is_disarmed_when_that_is_written => left_by_a_run(
        "mkdir x; echo 'gitdir: ../.git' > x/.git; ln x/.git h", "new y; arm y; echo 'gitdir: ../y/.git' > h; link x"),
    configuration_of_a_new_repository_has_no_other_name => attempt("git init -q .; ln .git/config h", Leak::Seen(next_run_armed))
        .given(|w| { w.program("@OUT/payload", &w.fill("#!/bin/sh\ntouch @OUT/pwned\n")); }).workspace(),
    configuration_of_a_linked_repository_has_no_other_name => attempt(format!("{ARM} new n; git add n; ln n/.git/config h"),
        Leak::Seen(next_run_armed)).given(|w| {
            w.program("@OUT/payload", &w.fill("#!/bin/sh\ntouch @OUT/pwned\n"));
            w.git_init();
        }).workspace(),
    repository_that_a_hidden_end_of_the_index_leads_to_is_disarmed => trap("new n; arm n; /usr/bin/python3 hidden.py n")
        .given(|w| {
            w.file("@PROJECT/hidden.py", HIDDEN);
            w.host_does("git config index.threads 2");
        }),
    checkout_that_the_host_adds_is_not_led_to_a_name_with_a_blank =>
        added("mv own.git '.git/worktrees/.. '; echo '../.. ' > .git/worktrees/main/commondir"),
    checkout_that_the_host_adds_does_not_become_a_repository => added("cd .git/worktrees/main; rm commondir; \
        mv ../../../own.git/config ../../../own.git/objects ../../../own.git/refs ."),
    checkout_that_the_host_adds_does_not_become_its_own_repository => added("cd .git/worktrees/main; rm commondir; \
        mv ../../../own.git/config ../../../own.git/objects ../../../own.git/refs .; echo . > commondir; chmod 444 commondir"),
    checkout_that_the_host_adds_inside_is_not_led_elsewhere => added_inside("echo gitdir: $PWD/own.git > inner/.git"),
    checkout_that_the_host_adds_inside_is_not_replaced => added_inside("rm inner/.git; mv own.git inner/.git"),
    repository_that_a_new_checkout_inside_links_is_disarmed => added_inside("new inner/n; arm inner/n; git -C inner add n"),
    repository_that_a_new_checkout_inside_links_is_disarmed_wherever_it_says_to_be =>
        added_inside("new inner/n; arm inner/n; git -C inner add n; echo /nowhere/.git > .git/worktrees/inner/gitdir"),
    remote_of_a_new_repository_is_no_directory => pushed("git remote add origin $PWD/o.git; git config branch.main.remote origin"),
    remote_of_a_new_branch_is_no_directory => pushed("git config branch.main.remote ./o.git"),
    remote_of_a_new_branch_is_no_name_of_a_directory => pushed("git config branch.main.remote o.git"),
    remote_without_an_address_is_no_directory => pushed("mv o.git origin; git remote add origin $PWD/origin; \
        git config branch.main.remote origin"),
    repository_in_a_granted_dot_directory_gets_no_hook => below_a_dot("@HOME/.src/repo/.git/hooks/post-checkout",
        "echo evil > @HOME/.src/repo/.git/hooks/post-checkout"),
    repository_in_a_granted_dot_directory_keeps_its_configuration => below_a_dot("@HOME/.src/repo/.git/config",
        "git -C @HOME/.src/repo config core.fsmonitor evil"),
    repository_that_an_index_of_two_readings_links_is_disarmed =>
        of_two_readings("git update-index --add --cacheinfo 160000,$(printf %040d 1),m"),
    repository_that_an_index_of_two_readings_of_a_new_project_links_is_disarmed => of_two_readings("mv m/.git m/n .; rmdir m")
        .given(|w| fs::remove_dir_all(w.path("@PROJECT/.git")).expect("remove the repository")),
    checkout_of_the_repository_around_a_part_is_not_replaced =>
        checkout_in_a_part("cd z/wt; rm -f .git; git init -q; printf '[core]\\nfsmonitor=@OUT/payload\\n' >> .git/config"),
    repository_that_a_checkout_in_a_part_links_is_disarmed => checkout_in_a_part("cd z/wt; new n; arm n")
        .given(|w| w.host_does("cd part/z/wt; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),n")),
    repository_that_one_behind_a_link_links_is_disarmed => trap("new n; arm n").given(|w| {
            w.host_does("git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),n");
            linked_git(w);
            w.settle();
        }),
    checkout_that_the_host_adds_is_not_led_elsewhere => added("echo $PWD/own.git > .git/worktrees/main/commondir"),
    checkout_that_the_host_adds_is_not_told_more =>
        added("printf '[core]\\nfsmonitor=@OUT/payload\\n' > .git/worktrees/main/config.worktree")
        .given(|w| w.host_does("git config extensions.worktreeConfig true; git config core.repositoryFormatVersion 1")),
    repository_that_one_around_the_tree_links_is_disarmed => in_a_part("new n; arm n"),
    repository_that_one_around_a_further_grant_links_is_disarmed => in_a_part("cd ../part; new n; arm n")
        .given(|w| { w.dir("@PROJECT/other"); }).cwd("@PROJECT/other").flags(&["--write", "@PROJECT/part"]),
    repository_that_one_around_the_tree_links_without_telling_is_disarmed => in_a_part("new n; arm n")
        .given(|w| w.host_does("git update-index --split-index")),
    repository_in_a_closed_directory_is_disarmed => trap("mkdir -p a/b; new a/b/n; git add a/b/n; arm a/b/n; chmod 0 a/b"),
    repository_below_a_closed_directory_is_disarmed => trap("mkdir -p a/b; new a/b/n; git add a/b/n; arm a/b/n; chmod 0 a"),
    repository_that_is_closed_itself_is_disarmed => trap("new n; git add n; arm n; chmod 0 n/.git"),
    repository_in_a_closed_project_is_disarmed => trap("new n; git add n; arm n; chmod 0 ."),
    fresh_repository_in_a_closed_project_is_disarmed => without_repository("git init -q .; arm .; chmod 0 .git ."),
    pointer_of_a_pruned_worktree_is_disarmed => trap("new evil; arm evil; mkdir -p .git/worktrees/inner; \
        cp evil/.git/HEAD .git/worktrees/inner/; echo @PROJECT/evil/.git > .git/worktrees/inner/commondir; \
        echo @PROJECT/inner/.git > .git/worktrees/inner/gitdir; \
        git update-index --add --cacheinfo 160000,$(git -C evil rev-parse HEAD),inner").given(|w| {
            w.host_does("git commit -q --allow-empty -m first; git worktree add -q inner; rm -r .git/worktrees/inner");
            w.settle();
        }),
    checkout_does_not_become_a_repository_itself => trap("mv inner/.git/HEAD inner/HEAD; mkdir -p inner/objects inner/refs; \
        printf '[core]\\nrepositoryformatversion = 0\\nbare = false\\nworktree = .\\nfsmonitor = @OUT/payload\\n' > inner/config")
        .given(|w| repository(w, "@PROJECT/inner")),
    repository_that_was_closed_before_is_not_changed => attempt("chmod 755 n; echo evil >> n/.git/config",
        Leak::Changed("@PROJECT/n/.git/config")).given(|w| { repository(w, "@PROJECT/n"); w.mode("@PROJECT/n", 0o300); })
        .workspace(),
    hook_of_a_bare_repository_without_its_head_is_not_made => attempt("mv x.git/H x.git/HEAD; echo evil > x.git/hooks/post-receive",
        Leak::Changed("@PROJECT/x.git/hooks/post-receive")).given(|w| w.host_does("git init -q --bare x.git; mv x.git/HEAD x.git/H"))
        .workspace(),
    link_in_a_bare_repository_is_set_aside => attempt("ln -s @OUT/victim x.git/FETCH_HEAD",
        Leak::Changed("@PROJECT/x.git/FETCH_HEAD")).given(|w| w.host_does("git init -q --bare x.git")).workspace(),
    configuration_of_the_last_of_many_clones_is_not_changed => attempt("echo evil >> c100/.git/config",
        Leak::Changed("@PROJECT/c100/.git/config")).given(|w| w.host_does("for i in $(seq 100); do git init -q c$i; done")).workspace(),
    repository_in_the_index_of_a_nested_one_is_disarmed => trap("new a; new a/b; git -C a add b; \
        id -C a commit -qm b; git add a; arm a/b"),
    repository_in_the_index_of_a_submodule_is_disarmed => trap("new lib/n; git -C lib add n; arm lib/n").given(submodule),
    repository_in_the_index_of_a_known_one_is_disarmed => trap("new inner/n; git -C inner add n; arm inner/n")
        .given(|w| repository(w, "@PROJECT/inner")),
    repository_in_the_index_of_the_main_checkout_is_disarmed => trap("new n; arm n; \
        /usr/bin/python3 index.py @OUT/main/.git/index $(realpath -m --relative-to=@OUT/main @PROJECT/n)").given(worktree),
    repository_in_the_index_of_the_worktree_is_disarmed => trap("new n; arm n; git add n").given(worktree),
    repository_in_an_index_that_can_be_read_in_two_ways_is_disarmed => trap("new n; arm n; \
        /usr/bin/python3 index.py .git/index n --two-ways"),
    repository_in_a_split_index_is_disarmed => trap("new n; arm n; git add n; git update-index --split-index"),
    repository_in_an_index_of_version_4_is_disarmed => trap("new n; git add n; git update-index --index-version 4; arm n"),
    repository_that_nothing_linked_before_is_disarmed_when_linked => trap("git update-index --add \
        --cacheinfo 160000,$(cat n/.git/refs/heads/*),n").given(|w| {
            repository(w, "@PROJECT/n");
            w.git("@PROJECT/n", &["config", "core.fsmonitor", &w.fill("@OUT/payload")]);
        }),
    repository_that_nothing_linked_before_is_disarmed_when_an_index_does_not_tell => trap("git update-index --add \
        --cacheinfo 160000,$(cat n/.git/refs/heads/*),n; git update-index --split-index").given(|w| {
            repository(w, "@PROJECT/n");
            w.git("@PROJECT/n", &["config", "core.fsmonitor", &w.fill("@OUT/payload")]);
        }),
    pointer_into_a_repository_that_nothing_linked_is_disarmed_when_linked => left_by_a_run(
        "new y; arm y; mkdir x; echo 'gitdir: ../y/.git' > x/.git", "link x"),
    repository_is_disarmed_when_linked_beside_one_whose_index_does_not_tell => left_by_a_run(
        "new x; arm x; new y; echo garbage > y/.git/index", "link x"),
    repository_is_disarmed_when_linked_beside_a_module_that_works_nowhere => left_by_a_run(
        "new x; arm x; new m; mkdir -p .git/modules; mv m/.git .git/modules/m; rmdir m; \
        GIT_DIR=.git/modules/m git update-index --add --cacheinfo 160000,$(printf %040d 1),zzz; \
        git -C .git/modules/m config core.worktree ../../../gone", "link x"),
    repository_is_disarmed_when_linked_in_an_index_that_told_nothing_before => left_by_a_run(
        "new x; arm x; : > a; git add a; git update-index --split-index", "link x"),
    repository_that_only_one_of_its_kind_linked_is_disarmed_when_linked => left_by_a_run(
        "new y; new y/x; arm y/x; git -C y add x", "link y/x"),
    repository_that_only_one_of_its_kind_linked_is_disarmed_when_that_is_linked => left_by_a_run(
        "new y; new y/x; arm y/x; git -C y add x", "link y"),
    repository_that_one_of_its_kind_claimed_from_elsewhere_is_disarmed_when_linked => left_by_a_run(
        "new x; arm x; new y; git -C y config core.worktree ../..; GIT_DIR=y/.git git add x", "link x"),
    pointer_into_the_modules_of_a_repository_that_nothing_linked_is_disarmed_when_linked => left_by_a_run(
        "new y; new z; arm z; mkdir -p x y/.git/modules; mv z/.git y/.git/modules/m; \
        echo 'gitdir: ../y/.git/modules/m' > x/.git", "link x"),
    worktree_that_an_earlier_run_listed_is_disarmed_when_linked => left_by_a_run(
        "new y; arm y; mkdir -p x .git/worktrees/v; cp .git/HEAD .git/worktrees/v; echo @PROJECT/y/.git > .git/worktrees/v/commondir; \
        echo @PROJECT/x/.git > .git/worktrees/v/gitdir; echo 'gitdir: ../.git/worktrees/v' > x/.git", "link x"),
    worktree_of_a_repository_that_nothing_linked_is_disarmed_when_linked => left_by_a_run(
        "new y; arm y; git -C y worktree add -q ../x", "link x"),
    pointer_into_a_bare_repository_is_disarmed_when_linked => left_by_a_run(
        "git init -q --bare z.git; printf '[core]\\nrepositoryformatversion = 0\\nfsmonitor=@OUT/payload\\n' > z.git/config; \
        mkdir x; echo 'gitdir: ../z.git' > x/.git", "link x"),
    repository_at_an_old_link_of_an_index_that_does_not_tell_is_disarmed => trap("new n; arm n").given(split),
    repository_moved_to_an_old_link_of_an_index_that_does_not_tell_is_disarmed => trap("mv z/z/z/far n").given(|w| {
            split(w);
            w.host_does("for n in $(seq 80); do mkdir -p wide/$n; done");
            repository(w, "@PROJECT/z/z/z/far");
            w.git("@PROJECT/z/z/z/far", &["config", "core.fsmonitor", &w.fill("@OUT/payload")]);
            w.settle();
        }),
    repository_armed_at_an_old_link_of_an_index_that_does_not_tell_is_disarmed => trap("arm z/z/z/far").given(|w| {
            w.host_does("for n in $(seq 80); do mkdir -p wide/$n; done");
            repository(w, "@PROJECT/z/z/z/far");
            w.host_does("git add z && git commit -qm far && git update-index --split-index");
            w.settle();
        }),
    repository_in_a_part_of_a_split_index_is_disarmed => trap("new n; arm n; git update-index --no-split-index; git add n; \
        git update-index --split-index").given(split),

    repository_that_cannot_be_written_is_disarmed => trap("new n; git add n; arm n; chmod 0555 n/.git"),
    repository_that_cannot_be_listed_is_disarmed => trap("new n; git add n; arm n; chmod 0311 n/.git"),
    repository_in_a_directory_that_cannot_be_written_is_disarmed => trap("new n; git add n; arm n; \
        mkdir z; mv n/.git z/r; echo 'gitdir: ../z/r' > n/.git; chmod 0555 n"),
    repository_deep_in_directories_that_cannot_be_listed_is_disarmed => trap("mkdir -p d; new d/n; git add d/n; \
        arm d/n; git update-index --split-index; chmod 0311 d d/n"),
    repository_with_many_names_set_aside_is_disarmed => trap("new n; git add n; arm n; \
        : > n/.git/config.set-aside; i=0; while [ $i -lt 1001 ]; do : > n/.git/config.set-aside$i; i=$((i+1)); done"),
    repository_of_the_project_that_cannot_be_written_is_disarmed => without_repository("git init -q .; arm .; \
        chmod 0555 .git"),
    project_does_not_become_a_git_directory => without_repository("git init -q --bare b; mv b/* .; \
        printf '[core]\\nrepositoryformatversion=0\\nbare=false\\nworktree=.\\nfsmonitor=@OUT/payload\\n' > config"),

    /// The supervisor itself renames: nothing outside the project may be its target.
    repository_outside_is_not_disarmed_for_a_gitlink => attempt("/usr/bin/python3 index.py .git/index \
        $(realpath -m --relative-to=@PROJECT @OUT/victim); echo evil >> @OUT/victim/.git/config",
        Leak::Changed("@OUT/victim/.git/config")).given(|w| {
            w.git_init();
            w.file("@PROJECT/index.py", INDEX);
            repository(w, "@OUT/victim");
            w.git("@OUT/victim", &["config", "alias.st", "status"]);
        }).workspace(),
    repository_outside_is_not_disarmed_through_a_link => attempt("ln -s @OUT d; \
        /usr/bin/python3 index.py .git/index d/victim; echo evil >> @OUT/victim/.git/config",
        Leak::Changed("@OUT/victim/.git/config")).given(|w| {
            w.git_init();
            w.file("@PROJECT/index.py", INDEX);
            repository(w, "@OUT/victim");
            w.git("@OUT/victim", &["config", "alias.st", "status"]);
        }).workspace(),
    directory_outside_gets_nothing_for_a_submodule => attempt("touch @OUT/victim/x",
        Leak::Changed("@OUT/victim")).given(|w| {
            w.git_init();
            w.dir("@OUT/victim");
            w.host_does("printf '[submodule \"x\"]\\n\\tpath = %s\\n' \
                \"$(realpath -m --relative-to=@PROJECT @OUT/victim)\" > .gitmodules");
        }).workspace(),
}
