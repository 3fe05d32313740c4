//! What an agent does not get, whatever its model says. Each attempt is first shown to work without the sandbox.

use glee_tests::Listener;

use crate::api::{Api, Turn};
use crate::cli::Cli;
use crate::support::claims;

/// One that asks the model's own server for something that no agent needs, past the broker and through it.
const AROUND: &str = "for base in http://127.0.0.1:@PORT http://127.0.0.1:9786; do
    curl -s -m 5 -o answer.txt -w 'status %{http_code}\\n' $base/v1/files/@ID
    curl -s -m 5 -X DELETE -o answer.txt -w 'status %{http_code}\\n' $base/v1/models/@ID
    curl -s -m 5 --path-as-is -o answer.txt -w 'status %{http_code}\\n' $base/v1/responses/../files/@ID
done 2>&1";

claims! {
    fn a_tool_call_reads_nothing_outside(at) {
        at.world.secret_at("@OUT/plan.txt");
        at.world.secret_at("@HOME/.ssh/id_ed25519");
        let script = "cat @OUT/plan.txt @HOME/.ssh/id_ed25519; ls -la @OUT @HOME/.ssh; echo done";
        let ran = at.bare(at.shell(script));
        assert!(ran.told().contains(at.world.secret()), "the attempt does not work bare: {}", ran.outcome.describe());
        let ran = at.run("workspace", at.shell(script));
        ran.succeeded(at);
        assert!(!ran.told().contains(at.world.secret()), "{}", ran.outcome.describe());
        assert!(!ran.outcome.says(at.world.secret()), "{}", ran.outcome.describe());
        at.is_quiet(&ran);
    }

    fn a_tool_call_changes_nothing_outside(at) {
        let script = "echo x >> @HOME/.bashrc; echo x > @OUT/made; echo x > .git/hooks/pre-commit; echo done";
        at.world.file("@HOME/.bashrc", "# mine\n");
        for path in ["@HOME/.bashrc", "@OUT/made", "@PROJECT/.git/hooks/pre-commit"] {
            at.world.watch(path);
        }
        let ran = at.run("workspace", at.shell(script));
        ran.succeeded(at);
        for path in ["@HOME/.bashrc", "@OUT/made", "@PROJECT/.git/hooks/pre-commit"] {
            assert_eq!(at.world.change_of(path), None);
        }
        let bare = at.bare(at.shell(script));
        assert!(at.world.change_of("@OUT/made").is_some(), "the attempt does not work bare: {}", bare.outcome.describe());
    }

    fn a_tool_call_reaches_no_network(at) {
        at.world.listen(Listener::tcp());
        let script = "curl -s -m 5 http://127.0.0.1:@PORT/@ID; curl -s -m 5 http://192.0.2.1/@ID; \
                      curl -s -m 5 https://api.openai.com/@ID; echo done";
        let ran = at.run("workspace", at.shell(script));
        ran.succeeded(at);
        assert_eq!(String::from_utf8_lossy(&at.world.heard()), "", "{}", ran.outcome.describe());
        let ran = at.bare(at.shell("curl -s -m 1 http://127.0.0.1:@PORT/@ID; echo done"));
        assert!(!at.world.heard().is_empty(), "the attempt does not work bare: {}", ran.outcome.describe());
    }

    fn a_tool_call_gets_nothing_more_out_of_the_models_server(at) {
        let listening = Api::serve(at.cli, vec![Turn::text("unused")]);
        at.world.define("PORT", listening.port());
        let ran = at.run("workspace", at.shell(AROUND));
        ran.succeeded(at);
        let strange = |api: &Api| api.requests().iter().any(|request| request.path.contains(at.world.nonce()));
        assert!(!strange(&ran.api) && !strange(&listening), "{}", ran.told());
        // Refused by the broker three times, and nobody listens at the other port.
        assert!(ran.told().contains("status 403") && ran.told().contains("status 000"), "{}", ran.told());
        assert_eq!(ran.usage()["refused"].as_u64(), Some(3), "{:#}", ran.usage());
        let bare = at.bare(at.shell(AROUND));
        assert!(strange(&listening), "the attempt does not work bare: {}", bare.outcome.describe());
    }

    fn headers_that_name_another_path_or_account_do_not_reach_the_models_server(at) {
        let url = match at.cli {
            Cli::Codex => "http://127.0.0.1:9786/v1/responses",
            Cli::Claude => "http://127.0.0.1:9786/v1/messages",
            Cli::Gemini => "http://127.0.0.1:9786/v1beta/models/m:generateContent",
        };
        let curl = at.shell(&format!("for h in X-Original-URL X-Rewrite-URL X-Forwarded-Host X-Forwarded-Prefix Forwarded OpenAI-Organization \
            OpenAI-Project Anthropic-Workspace-Id X-Goog-User-Project Range; do
            curl -s -m 9 -H \"$h: @ID\" -H 'content-type: application/json' -d '{{}}' -o answer.txt {url}; done; echo done"));
        let ran = at.run("workspace", curl);
        assert!(ran.api.requests().len() > 10, "{}", ran.told());
        for request in ran.api.requests() {
            let strange: Vec<_> = request.headers.iter().filter(|(_, value)| value == at.world.nonce()).collect();
            assert!(strange.is_empty(), "{strange:?}");
        }
    }

    fn another_key_does_not_reach_the_models_server(at) {
        let curl = match at.cli {
            Cli::Codex => "-H 'authorization: Bearer sk-of-somebody-else' http://127.0.0.1:9786/v1/responses",
            Cli::Claude => "-H 'x-api-key: sk-of-somebody-else' http://127.0.0.1:9786/v1/messages",
            Cli::Gemini => "'http://127.0.0.1:9786/v1beta/models/m:generateContent?key=sk-of-somebody-else'",
        };
        let ran = at.run("workspace", at.shell(&format!("curl -s -m 9 -H 'content-type: application/json' -d '{{}}' -o answer.txt {curl}; echo done")));
        let (header, value) = at.cli.credential(&at.key);
        for request in ran.api.requests() {
            let given = (request.header(header), request.path.contains("somebody"));
            assert_eq!(given, (Some(value.as_str()), false), "{} {}", request.method, request.path);
        }
        assert_eq!(ran.usage()["foreign_keys"].as_u64(), Some(1), "{:#}", ran.usage());
        at.key_stayed_outside(&ran);
    }
}
