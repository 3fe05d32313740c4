//! The same CLI without the supervisor, with the key where its user would have it: what a test must show to work there.

use glee_tests::Run;

use crate::api::Api;
use crate::cli::Cli;
use crate::support::Place;

const CODEX: &str = r#"model_provider = "scripted"
sandbox_mode = "danger-full-access"
approval_policy = "never"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
apps = false
[model_providers.scripted]
name = "scripted"
base_url = "@API/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
"#;

const CLAUDE: &str =
    r#"{"permissions": {"defaultMode": "bypassPermissions"}, "skipDangerousModePermissionPrompt": true}"#;

const GEMINI: &str = r#"{"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
 "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false}}"#;

const GEMINI_POLICY: &str = r#"[[rule]]
toolName = "*"
decision = "allow"
priority = 999
allowRedirection = true
"#;

/// Configured in the caller's own home; not yet given a command.
pub(crate) fn run<'p>(at: &'p Place, api: &Api) -> Run<'p> {
    let world = &at.world;
    world.define("API", api.url());
    let run = Run::bare(world).env(at.cli.key_variable(), &at.key);
    match at.cli {
        Cli::Codex => {
            world.file("@HOME/.codex/config.toml", &world.fill(CODEX));
            run
        }
        Cli::Claude => {
            world.file("@HOME/.claude/settings.json", CLAUDE);
            // As root it asks for this word before it goes without questions.
            run.env("ANTHROPIC_BASE_URL", "@API")
                .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
                .env("IS_SANDBOX", "1")
        }
        Cli::Gemini => {
            world.file("@HOME/.gemini/settings.json", GEMINI);
            world.file("@HOME/.gemini/policies/all.toml", GEMINI_POLICY);
            run.env("GOOGLE_GEMINI_BASE_URL", "@API")
                .env("GEMINI_CLI_NO_RELAUNCH", "true")
        }
    }
}
