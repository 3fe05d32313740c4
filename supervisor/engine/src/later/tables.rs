//! The names, in small letters, with why they count. As `shapes` reads them; `x/**` is everything below.

pub(super) const GIT_RUNS: &str = "git runs it";
pub(super) const GIT_TOLD: &str = "it tells git which directories, filters and programs to use";

/// In a git directory: everything in these names a remote.
pub(super) const GIT_REMOTES: &[&str] = &["remotes", "branches"];

/// In a git directory; and everything in `hooks`.
pub(super) const GIT_READS: &[&str] = &["config", "config.worktree", "commondir", "gitdir", "alternates"];

/// Files and directories wherever they lie.
pub(super) const NAMES: &[(&str, &str)] = &[
    (GIT_TOLD, ".git .gitmodules .gitconfig .gitattributes .config/git/**
         info/attributes"),
    (GIT_RUNS, ".husky/** .githooks/**
         git-rebase-todo sequencer/todo"),
    ("Mercurial runs what it names", "hgrc .hgrc"),
    (
        "jj, Sapling, Darcs or Pijul runs what it names",
        ".jj/repo/config.toml .jj/workspace-config.toml .jjconfig.toml .sl/config _darcs/prefs/** .pijul/config",
    ),
    (
        "a hook manager runs what it names",
        ".pre-commit-config.yaml .pre-commit-config.yml .pre-commit-hooks.yaml lefthook.* .lefthook.* lefthook-local.*
         .lefthook-local.* .overcommit.yml .lintstagedrc* .huskyrc* .simple-git-hooks.* simple-git-hooks.*
         captainhook.json grumphp.yml*
         prek.toml hk.pkl .hk.pkl",
    ),
    (
        "installing or running the package runs what it names",
        "package.json package.json5 package.yaml .npmrc .yarnrc .yarnrc.yml .yarn/plugins/** .yarn/releases/**
         .yarn/sdks/** .pnp.js .pnp.cjs .pnp.loader.mjs .pnpmfile.* pnpm-workspace.yaml bunfig.toml deno.json
         deno.jsonc binding.gyp node_modules/.bin/**
         .bowerrc lerna.json rush.json
         .ncurc* .changeset/config.json
         electron-builder.* .swcrc",
    ),
    (
        "a build or check of the project runs it",
        "gulpfile.* gruntfile.* jakefile* *.config.js *.config.cjs *.config.mjs *.config.ts *.config.cts *.config.mts
         *.conf.js *.conf.cjs *.conf.mjs *.conf.ts *.conf.cts *.conf.mts babel.config.json jest.config.json
         jest.setup.* vitest.setup.* vitest.workspace.* webpack.*.js webpack.*.ts .storybook/** .babelrc* .eslintrc*
         .prettierrc* .stylelintrc* .postcssrc* .mocharc* .nycrc* .remarkrc* .textlintrc* .markdownlint-cli2.*
         .commitlintrc* .releaserc* .release-it.* .versionrc* .czrc .dependency-cruiser.* .parcelrc .puppeteerrc*
         .graphqlrc* ember-cli-build.js angular.json project.json nx.json turbo.json moon.yml .moon/** cypress.json
         nightwatch.json tauri.conf.json trunk.toml buf.gen.yaml .air.toml .golangci.* latexmkrc .latexmkrc
         nodemon.json knexfile.* .sequelizerc plopfile.* .busted
         gatsby-*.js gatsby-*.mjs gatsby-*.ts config-overrides.js truffle-config.js .umirc.* .eleventy.js .solcover.js cucumber.js
         cucumber.cjs cucumber.mjs cucumber.json cucumber.yml cucumber.yaml test/mocha.opts brocfile.* cakefile .oxlintrc.json
         .luacheckrc platformio.ini book.toml doxyfile* dvc.yaml _quarto.yml _plugins/**
         cliff.toml release.toml bacon.toml
         .vscode-test.* foundry.toml anchor.toml scarb.toml dfx.json .scalafix.conf .bumpversion.* .luacov
         spec_helper.rb rails_helper.rb test_helper.rb",
    ),
    (
        "installing, building or testing with Python runs it or what it names",
        "setup.py setup.cfg pyproject.toml hatch.toml hatch_build.py conftest.py pytest.ini .pytest.ini tox.ini
         tox.toml noxfile.py dodo.py fabfile.py tasks.py manage.py conf.py mkdocs.yml snakefile *.smk .coveragerc
         .flake8 mypy.ini .mypy.ini .pylintrc* pylintrc pip.conf uv.toml pdm.toml pixi.toml pipfile requirements*.txt
         requirements*.in requirements/*.txt constraints*.txt environment.yml environment.yaml
         gunicorn.conf.py
         locustfile.py pavement.py dbt_project.yml",
    ),
    (
        "Python reads it when it starts",
        "sitecustomize.py usercustomize.py pyvenv.cfg .pythonrc .pythonrc.py .pdbrc *.pth .ipython/** .jupyter/** ipython_config.py
         jupyter_*_config.py",
    ),
    (
        "it is code that is loaded without being read again",
        "*.pyc *.pyo *.so *.dylib *.dll *.pyd *.node *.jar *.war *.class *.wasm *.beam *.phar *.gem *.whl *.egg
         *.zwc *.elc",
    ),
    (
        "cargo runs it or what it names",
        "build.rs cargo.toml rust-toolchain rust-toolchain.toml .cargo/** .config/nextest.toml cross.toml",
    ),
    (
        "a build runs it",
        "makefile makefile.* gnumakefile bsdmakefile *.mk *.mak cmakelists.txt cmakepresets.json cmakeuserpresets.json
         *.cmake *.cmake.in meson.build sconstruct* sconscript* wscript configure configure.ac configure.in autogen.sh
         bootstrap.sh aclocal.m4 *.m4 *.ninja justfile .justfile *.just taskfile.yml taskfile.yaml taskfile.dist.yml
         taskfile.dist.yaml earthfile tiltfile magefile.go magefiles/** xmake.lua premake*.lua jamfile* jamroot*
         tupfile tuprules.tup *.pro *.pri *.qbs conanfile.py conanfile.txt build.gn .gn *.gni build build.bazel
         workspace workspace.bazel module.bazel .bazelrc *.bazelrc *.bzl buck .buckconfig* pants.toml .plzconfig*
         build.zig package.swift *.pbxproj *.xcscheme podfile fastfile fastlane/** mix.exs config.exs runtime.exs
         test_helper.exs .formatter.exs .credo.exs rebar.config rebar.config.script setup.hs setup.lhs *.cabal
         cabal.project* stack.yaml hie.yaml dune dune-project dune-workspace dune.inc *.opam build.xml *.sbt
         project/*.scala project/build.properties build.sc *.mill build.boot project.clj profiles.clj deps.edn bb.edn
         shadow-cljs.edn pom.xml mvnw mvnw.cmd .mvn/** gradlew gradlew.bat *.gradle *.gradle.kts gradle.properties
         gradle/wrapper/** buildsrc/** rakefile* *.rake gemfile gems.rb *.gemspec extconf.rb thorfile guardfile
         capfile dangerfile brewfile appraisals config.ru .rspec .rubocop*.yml composer.json phpunit.xml*
         phpunit.dist.xml .php-cs-fixer* .php_cs* rector.php ecs.php phpstan.neon* phpstan.dist.neon psalm.xml*
         phpcs.xml* behat.yml robofile.php artisan *.csproj *.fsproj *.vbproj *.vcxproj *.proj *.sln *.slnx *.props
         *.targets *.csproj.user directory.build.* nuget.config dotnet-tools.json global.json *.cake *.csx build.fsx
         *.nimble *.nims nim.cfg dub.json dub.sdl shard.yml deps/build.jl makevars* renv/activate.r dist.ini build.pl
         cpanfile .proverc *.rockspec pkgbuild apkbuild *.ebuild *.spec debian/rules snapcraft.yaml *.nix guix.scm
         site_scons/** .sbtopts .jvmopts .bazeliskrc .bazelversion .phpcs.xml* .phan/** .yardopts .simplecov
         deps *.do kbuild tupfile.lua wscript_* subprojects/*.wrap project.swift workspace.swift tuist/**
         hook/build.dart hook/link.dart analysis_options.yaml .solargraph.yml .haml-lint.yml .standard.yml
         launchsettings.json *.tt *.runsettings go.mod go.work .bundle/config
         maskfile.md cask eask eldev build.clj user.clj tests.edn configure.win _targets.r",
    ),
    (
        "a container or machine is built or started by it",
        "dockerfile dockerfile.* *.dockerfile containerfile containerfile.* docker-compose*.yml docker-compose*.yaml
         compose*.yml compose*.yaml docker-bake.hcl docker-bake.json devcontainer.json .devcontainer.json
         .devcontainer/** vagrantfile procfile* process-compose.yml process-compose.yaml .gitpod.yml .idx/** .replit
         .codesandbox/** .stackblitzrc devfile.yaml .devfile.yaml ansible.cfg skaffold.yaml devspace.yaml
         helmfile.yaml helmfile.yaml.gotmpl *.tf *.tf.json terragrunt.hcl *.pkr.hcl pulumi.yaml cdk.json
         serverless.yml serverless.yaml serverless.json serverless.js serverless.ts wrangler.toml wrangler.json
         wrangler.jsonc netlify.toml vercel.json firebase.json nixpacks.toml railway.json railway.toml
         supervisord.conf
         cdktf.json okteto.yml okteto.yaml garden.yml garden.yaml .user.ini .htaccess
         .terraform/** fly.toml .ebextensions/** appspec.yml amplify.yml .ddev/** .lando.yml .lando.*.yml",
    ),
    (
        "shells and tools load it on entering the directory",
        ".envrc* .env .env.* .direnvrc .direnv/** .config/direnv/** .tool-versions .asdfrc mise.toml mise.*.toml .mise.*
         .mise/** mise/config.toml .config/mise/** .config/mise.toml mise-tasks/** .mise-tasks/** .rtx.* .autoenv*
         devbox.json devenv.yaml .flox/** bin/activate* .venv/bin/** venv/bin/**
         .rvmrc
         .prototools aqua.yaml .aqua.yaml .pkgx.yaml .hermit/** bin/hermit",
    ),
    (
        "the CI service runs it",
        ".gitlab-ci* .gitlab/** .github/** .gitea/** .forgejo/** .circleci/** circle.yml .travis.yml
         azure-pipelines*.yml azure-pipelines*.yaml .azure-pipelines/** .azuredevops/** jenkinsfile*
         bitbucket-pipelines.yml .drone.* .woodpecker.* .woodpecker/** appveyor.yml appveyor.yaml .appveyor.*
         .cirrus.* cloudbuild*.yml cloudbuild*.yaml buildspec*.yml buildspec*.yaml .buildkite/** .teamcity/**
         .semaphore/** .builds/** .build.yml .ci/** .zuul.* zuul.yaml .zuul.d/** zuul.d/** .goreleaser.*
         goreleaser.yml goreleaser.yaml .readthedocs.* .tekton/** .harness/** .dagger/** dagger.json codemagic.yaml
         bitrise.yml codefresh.yml .vela.yml action.yml action.yaml renovate.json renovate.json5 .renovaterc*
         jitpack.yml",
    ),
    (
        "an editor or debugger runs it when the directory is opened",
        ".exrc .vimrc .gvimrc .nvimrc .nvim.lua .lazy.lua .lvimrc .dir-locals.el .dir-locals-2.el .emacs .gdbinit
         .gdbearlyinit .lldbinit *-gdb.py *-gdb.gdb *-gdb.scm .ycm_extra_conf.py rust-analyzer.toml *.code-workspace
         *.sublime-project .vscode/** .idea/** *.run.xml .vs/** .fleet/** .zed/** .helix/** .theia/** .vim/** .nvim/**
         .emacs.d/** .config/nvim/** .config/emacs/** .config/helix/** .externaltoolbuilders/** nbproject/**
         .swiftpm/**
         .bsp/*.json .factorypath .project .settings/** omnisharp.json *.sublime-build .vimspector.json .nova/**
         .luarc.json .luarc.jsonc .spacemacs .doom.d/** .config/doom/**",
    ),
    (
        "agents follow it or start what it names",
        ".mcp.json mcp.json claude.md claude.local.md agents.md agents.override.md agent.md gemini.md qwen.md crush.md
         warp.md .cursorrules .windsurfrules .clinerules .clinerules/** .roorules* .goosehints .rules .aider.conf.yml
         opencode.json opencode.jsonc crush.json .crush.json .claude/** .claude-plugin/** .codex/** .gemini/**
         .cursor/** .windsurf/** .continue/** .glee/** .amazonq/** .junie/** .kiro/** .opencode/** .qwen/** .roo/**
         .kilocode/** .augment/** .trae/** .factory/** .agents/** .openhands/** .copilot/**
         skill.md .claude.json .agent/** .amp/** .aiassistant/** .antigravity/** .cline/** .crush/** .goose/**
         .pi/** .serena/** .zencoder/**",
    ),
    (
        "it is run when a shell or a session starts",
        ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .login .logout .cshrc .tcshrc .kshrc
         .zshrc .zshenv .zprofile .zlogin .zlogout .inputrc .xprofile .xinitrc .xsession .xsessionrc .pam_environment
         .tmux.conf .config/tmux/** .screenrc .irbrc .pryrc .byebugrc .rprofile .renviron .psqlrc .sqliterc .ghci
         .iex.exs .ocamlinit .utoprc .erlang .guile .sbclrc .octaverc .perldb .lessfilter .mailcap *.desktop *.service
         *.timer *.socket *.path *.mount *.automount crontab .ssh/** .gnupg/** .local/bin/** .config/fish/**
         .config/zsh/** .zcompdump* .p10k.zsh .zsh/** .oh-my-zsh/** .config/nushell/** .config/systemd/** .config/autostart/**
         .config/environment.d/**
         .tmuxinator.yml
         .tmuxp.yaml .tmuxp.yml .tmuxp.json
         .bashrc.d/** .profile.d/** .xonshrc .elvish/** .xinputrc .byobu/** .tmux/** .wezterm.lua
         .config/alacritty/** .config/elvish/** .config/ghostty/** .config/irb/** .config/kitty/** .config/pry/**
         .config/wezterm/** .config/xonsh/** .config/zellij/**",
    ),
];
