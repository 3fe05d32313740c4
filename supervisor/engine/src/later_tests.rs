use std::collections::BTreeSet;

use super::*;

const PROJECT: &str = "/home/me/project";

fn verdict(path: &str, kind: FileKind, mode: u32, target: Option<&str>) -> Verdict {
    let path = Path::new(PROJECT).join(path);
    let later = Later {
        project: Path::new(PROJECT),
        git: None,
    };
    later.judge(&Found {
        path: &path,
        change: Change::Created,
        kind,
        mode,
        target: target.map(Path::new),
    })
}

fn reason(path: &str) -> Option<&'static str> {
    match verdict(path, FileKind::File, 0o644, None) {
        Verdict::Executes(reason) => Some(reason),
        Verdict::Plain | Verdict::Counted => None,
    }
}

fn leaves(at: &str, target: &str) -> bool {
    verdict(at, FileKind::Symlink, 0o777, Some(target)) == Verdict::Executes(LEAVES)
}

#[test]
fn names_count_wherever_they_lie_and_in_any_letters() {
    let paths = [
        "Makefile",
        "a/b/MAKEFILE",
        "x/conftest.py",
        "a/.envrc",
        "Package.json",
        "deep/er/Dockerfile.dev",
    ];
    assert_eq!(paths.map(|path| reason(path).is_some()), [true; 6]);
}

#[test]
fn names_that_only_resemble_them_do_not_count() {
    let paths = [
        "Makefiles",
        "xpackage.json",
        "build.rs.txt",
        ".mk",
        "conftest.pyx",
        "envrc",
        "src/main.rs",
        "hooks/x",
    ];
    assert_eq!(paths.map(reason), [None; 8]);
}

#[test]
fn names_above_the_project_say_nothing_of_what_lies_in_it() {
    let later = Later {
        project: Path::new("/home/me/.github/project"),
        git: None,
    };
    let found = Found {
        path: Path::new("/home/me/.github/project/src/main.rs"),
        change: Change::Created,
        kind: FileKind::File,
        mode: 0o644,
        target: None,
    };
    assert_eq!(later.judge(&found), Verdict::Plain);
}

#[test]
fn everything_in_some_directories_counts() {
    let paths = [
        ".github/workflows/ci.yml",
        "sub/.vscode/tasks.json",
        ".husky/_/x",
        "node_modules/.bin/tsc",
        ".config/fish/conf.d/x",
    ];
    assert_eq!(paths.map(|path| reason(path).is_some()), [true; 5]);
    assert_eq!(
        [".github", "node_modules/bin/tsc", ".config/other"].map(reason),
        [None; 3]
    );
}

#[test]
fn hooks_and_configuration_of_every_git_directory_count() {
    let paths = [
        ".git/hooks/pre-commit",
        ".git/config",
        ".git/modules/a/hooks/x",
        ".git/modules/a/b/config",
        ".git/worktrees/w/config.worktree",
        ".git/worktrees/w/gitdir",
        "sub/.git",
        ".git/objects/info/alternates",
        ".git/remotes/origin",
        ".git/modules/a/branches/x/y",
    ];
    assert_eq!(paths.map(|path| reason(path).is_some()), [true; 10]);
    assert_eq!(
        [
            ".git/HEAD",
            ".git/refs/heads/main",
            ".git/logs/HEAD",
            ".git/refs/remotes/origin/main",
            ".git/logs/refs/heads/branches/x"
        ]
        .map(reason),
        [None; 5]
    );
}

#[test]
fn a_link_in_the_place_of_such_a_directory_counts() {
    let marked = |path| verdict(path, FileKind::Symlink, 0o777, Some("x")) != Verdict::Plain;
    let paths = [
        ".github",
        "sub/.vscode",
        ".config",
        ".config/fish",
        ".git/hooks",
        "node_modules",
        ".git",
        "lib",
    ];
    assert_eq!(paths.map(marked), [true, true, true, true, true, true, true, false]);
}

#[test]
fn links_out_of_the_project_are_told_by_their_text() {
    let out = [
        ("l", "/etc/passwd"),
        ("l", ".."),
        ("a/l", "../../x"),
        ("a/l", "b/../../../x"),
        ("l", "/home/me/project/../x"),
        ("l", "a/../b"),
    ];
    assert_eq!(out.map(|(at, target)| leaves(at, target)), [true; 6]);
    let inside = [
        ("l", "a"),
        ("a/l", "../b"),
        ("a/b/l", "../../c"),
        ("l", "/home/me/project/x"),
        ("l", "./x"),
        ("l", "l"),
    ];
    assert_eq!(inside.map(|(at, target)| leaves(at, target)), [false; 6]);
}

#[test]
fn links_to_what_counts_count() {
    let leads = |at, target| verdict(at, FileKind::Symlink, 0o777, Some(target)) == Verdict::Executes(LEADS);
    let marked = [
        ("lock.json", ".vscode/tasks.json"),
        ("out.log", ".git/config"),
        ("a/out", "../.git/hooks/pre-commit"),
        ("a/b/out", "/home/me/project/.envrc"),
        ("dir", ".vscode"),
        (".git/COMMIT_EDITMSG", "config"),
    ];
    assert_eq!(marked.map(|(at, target)| leads(at, target)), [true; 6]);
    let plain = [("a", "b"), ("a/b", "../src/main.rs"), (".git/HEAD", "refs/heads/main")];
    assert_eq!(plain.map(|(at, target)| leads(at, target)), [false; 3]);
}

#[test]
fn links_in_a_git_directory_and_into_one_are_told_from_names_of_branches() {
    let in_git = |at: &str, target: &str| Later::is_link_in_git(&Path::new(PROJECT).join(at), Path::new(target));
    let links = [
        ("out", ".git/index"),
        ("a/out", "../.GIT"),
        (".git/ORIG_HEAD", "config"),
        (".git/refs/heads/x", "refs/../../config"),
        ("x", "/home/me/project/.git/HEAD"),
        (".git/COMMIT_EDITMSG", "../x"),
    ];
    assert_eq!(links.map(|(at, target)| in_git(at, target)), [true; 6]);
    let others = [
        ("a", "b"),
        (".git/HEAD", "refs/heads/main"),
        (".git/refs/remotes/origin/HEAD", "refs/remotes/origin/main"),
    ];
    assert_eq!(others.map(|(at, target)| in_git(at, target)), [false; 3]);
}

#[test]
fn an_executable_file_counts_and_a_directory_does_not() {
    assert_eq!(verdict("x", FileKind::File, 0o100, None), Verdict::Executes(EXECUTABLE));
    assert_eq!(verdict("x", FileKind::Dir, 0o755, None), Verdict::Plain);
}

#[test]
fn objects_of_git_are_counted_and_nothing_that_pretends() {
    let digest = "0123456789abcdef0123456789abcdef012345";
    let object = |path: &str, mode| verdict(path, FileKind::File, mode, None);
    let counted = [
        object(&format!(".git/objects/ab/{digest}"), 0o444),
        object(&format!(".git/modules/m/objects/ab/{digest}"), 0o444),
        object(".git/objects/pack/pack-1.idx", 0o444),
        verdict(".git/objects/ab", FileKind::Dir, 0o755, None),
    ];
    assert_eq!(counted, [Verdict::Counted; 4]);
    let listed = [
        object(&format!(".git/objects/ab/{digest}"), 0o555),
        object(&format!(".git/objects/ab/{digest}0"), 0o444),
        object(&format!("x.git/objects/ab/{digest}"), 0o444),
        object(&format!("objects/ab/{digest}"), 0o444),
        object(".git/objects/pack/Makefile", 0o444),
        verdict(
            &format!(".git/objects/ab/{digest}"),
            FileKind::Symlink,
            0o777,
            Some("a"),
        ),
    ];
    assert!(!listed.contains(&Verdict::Counted), "{listed:?}");
}

#[test]
fn a_star_stands_for_nothing_too() {
    let paths = [
        "requirements.txt",
        "requirements-dev.txt",
        ".huskyrc",
        ".huskyrc.json",
        ".eslintrc",
        "procfile",
    ];
    assert_eq!(paths.map(|path| reason(path).is_some()), [true; 6]);
}

#[test]
fn what_an_ordinary_tool_would_run_counts() {
    let paths = ".venv/bin/activate myenv/bin/activate.fish hatch_build.py Pipfile requirements/dev.txt gulpfile.babel.js gulpfile.ts
        vite.config.mts karma.conf.ts webpack.prod.js .storybook/main.ts .babelrc .releaserc lefthook.json .simple-git-hooks.cjs
        Taskfile.dist.yml Rakefile.rb SConscript SConstruct Makefile.am Makefile.in Makefile.PL Build.PL project/plugins.sbt
        buildSrc/src/main/kotlin/x.kt project.clj deps.edn x.cabal lib/dune .ghci .iex.exs .ocamlinit xmake.lua devenv.nix devbox.json
        .idx/dev.nix .replit docker-compose.prod.yml compose.prod.yaml Procfile.dev .woodpecker.yaml cloudbuild.yml .zuul.yaml
        .goreleaser.yml netlify.toml vercel.json Podfile Fastfile Guardfile Capfile Brewfile Dangerfile config.ru x.fsproj x.vbproj
        x.sln x.props x.targets .run/x.run.xml .direnv/x .direnvrc .ipython/profile_default/startup/x.py x.socket
        phpunit.xml.dist .php-cs-fixer.dist.php .rspec .rubocop.yml .mise.local.toml .rtx.toml .clinerules/x.md
        nodemon.json .bowerrc knexfile.ts .sequelizerc plopfile.js rush.json lerna.json gunicorn.conf.py jupyter_server_config.py
        site_scons/site_init.py .sbtopts .jvmopts .bazeliskrc .bazelversion .phpcs.xml.dist .phan/config.php .yardopts .simplecov
        .busted .tmuxinator.yml .bsp/sbt.json .factorypath .project .settings/org.eclipse.core.prefs omnisharp.json .rvmrc .user.ini
        .htaccess .bundle/config .env.local .env.development gatsby-config.js gatsby-node.ts config-overrides.js truffle-config.js
        .umirc.ts .eleventy.js .solcover.js .ncurc.js cucumber.js test/mocha.opts Brocfile.js Cakefile .oxlintrc.json
        .changeset/config.json platformio.ini book.toml Doxyfile dvc.yaml _plugins/x.rb _quarto.yml DEPS default.do Kbuild
        Tupfile.lua wscript_build subprojects/x.wrap cliff.toml release.toml bacon.toml cdktf.json okteto.yml garden.yml
        Project.swift Tuist/Config.swift hook/build.dart analysis_options.yaml .luacheckrc .solargraph.yml .haml-lint.yml
        .standard.yml locustfile.py pavement.py dbt_project.yml Properties/launchSettings.json x.tt x.runsettings go.mod go.work
        x.sublime-build .vimspector.json .tmuxp.yaml .nova/Tasks/x.json .jj/repo/config.toml sub/.sl/config _darcs/prefs/defaults
        .pijul/config hk.pkl prek.toml electron-builder.yml foundry.toml Anchor.toml .scalafix.conf spec/spec_helper.rb Eldev
        .terraform/providers/x .ddev/commands/x .prototools bin/hermit .luarc.json .agent/rules/x.md .crush/x skills/x/SKILL.md
        .wezterm.lua .config/kitty/kitty.conf";
    let plain: Vec<&str> = paths
        .split_ascii_whitespace()
        .filter(|path| reason(path).is_none())
        .collect();
    assert_eq!(plain, Vec::<&str>::new());
}

#[test]
fn code_that_is_loaded_counts_without_an_executable_bit() {
    let paths =
        "src/__pycache__/main.cpython-312.pyc x.pyc lib/x.so build/Release/x.node gradle/x.jar out/Main.class x.whl";
    let plain: Vec<&str> = paths
        .split_ascii_whitespace()
        .filter(|path| reason(path) != Some("it is code that is loaded without being read again"))
        .collect();
    assert_eq!(plain, Vec::<&str>::new());
}

#[test]
fn what_git_does_next_counts_in_every_git_directory() {
    let paths = [
        ".git/info/attributes",
        ".git/rebase-merge/git-rebase-todo",
        ".git/sequencer/todo",
        ".git/worktrees/w/rebase-merge/git-rebase-todo",
        ".git/modules/a/info/attributes",
        "sub/.git/worktrees/w/sequencer/todo",
    ];
    assert_eq!(paths.map(|path| reason(path).is_some()), [true; 6]);
}

#[test]
fn what_is_only_read_does_not_count() {
    let paths = "README.md docs/compose.rst src/project.rs bin/active src/venv/mod.rs requirements/notes.md Cargo.lock
        src/jest_helper.rs package-lock.json composer.lock .gitignore .editorconfig src/config/mod.rs
        todo docs/info/attributes.md src/project/mod.rs go.sum src/env.rs lib.so.txt src/class.rs";
    let marked: Vec<&str> = paths
        .split_ascii_whitespace()
        .filter(|path| reason(path).is_some())
        .collect();
    assert_eq!(marked, Vec::<&str>::new());
}

#[test]
fn every_name_is_written_once_and_as_it_is_compared() {
    let mut seen = BTreeSet::new();
    let odd: Vec<&str> = words()
        .map(|(word, _)| word)
        .filter(|word| word.to_ascii_lowercase() != *word || !seen.insert(*word))
        .collect();
    assert_eq!(odd, Vec::<&str>::new());
}

#[test]
fn the_documentation_has_every_name_and_no_other() {
    let text = include_str!("../../../docs/changed-files.md");
    let table = text.split("\n| Why | Files |").nth(1).expect("a table");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let written: BTreeSet<(String, String)> = rows
        .flat_map(|row| {
            let mut cells = row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned());
            let (why, files) = (cells.next().expect("a reason"), cells.next().expect("files"));
            let names: Vec<String> = files
                .split(", ")
                .map(|name| name.trim_matches('`').to_owned())
                .collect();
            names.into_iter().map(move |name| (why.clone(), name))
        })
        .collect();
    let row = |reason: &str, name: String| (reason.to_owned(), name);
    let names = words().map(|(word, reason)| row(reason, word.to_owned()));
    let git = GIT_READS.iter().map(|name| row(GIT_TOLD, format!(".git/**/{name}")));
    let remotes = GIT_REMOTES.iter().map(|dir| row(GIT_TOLD, format!(".git/**/{dir}/**")));
    let hooks = [row(GIT_RUNS, ".git/**/hooks/**".to_owned())];
    let git = git.chain(remotes).chain(hooks);
    let known: BTreeSet<_> = names.chain(git).collect();
    assert_eq!(written, known);
}

#[test]
fn a_repository_that_is_shown_elsewhere_is_judged_by_its_place() {
    let git = Shown {
        at: "/state/glee-worktrees/1/git".into(),
        is: Path::new(PROJECT).join(".git"),
    };
    let later = Later {
        project: Path::new(PROJECT),
        git: Some(&git),
    };
    let judge = |below: &str| {
        later.judge(&Found {
            path: &git.at.join(below),
            change: Change::Created,
            kind: FileKind::File,
            mode: 0o644,
            target: None,
        })
    };
    let object = format!("objects/00/{}", "a".repeat(38));
    assert_eq!(judge(&object), Verdict::Counted);
    assert_eq!(judge("hooks/post-merge"), Verdict::Executes(GIT_RUNS));
    assert_eq!(judge("index"), Verdict::Plain);
    assert_eq!(later.real(&git.at), git.is);
    assert_eq!(
        later.real(Path::new("/state/glee-worktrees/2/git")),
        Path::new("/state/glee-worktrees/2/git")
    );
}
