use hyper::header::HeaderValue;
use hyper::http::uri::Uri;
use hyper::{HeaderMap, Method, header};

use super::{Target, target};
use crate::broker::answer::Refusal;
use crate::broker::api::{Api, Carries};
use crate::broker::endpoint::Endpoint;
use crate::broker::judge::gemini;

fn ask(api: Api, endpoint: &str, method: &str, uri: &str) -> Result<Target, Refusal> {
    let endpoint = Endpoint::parse(endpoint).expect("an endpoint");
    let method = Method::from_bytes(method.as_bytes()).expect("a method");
    let uri: Uri = uri.parse().unwrap_or_else(|e| panic!("{uri}: {e}"));
    target(api.spec(), &endpoint, &method, &uri, &HeaderMap::new())
}

fn sent(api: Api, endpoint: &str, method: &str, uri: &str) -> String {
    match ask(api, endpoint, method, uri) {
        Ok(Target::Upstream { path, .. }) => path.to_string(),
        other => panic!("{method} {uri}: {other:?}"),
    }
}

#[test]
fn an_endpoints_own_path_takes_the_place_of_the_vendors() {
    let cases = [
        (
            Api::Codex,
            "https://api.openai.com/v1",
            "/v1/responses",
            "/v1/responses",
        ),
        (Api::Codex, "http://127.0.0.1:11434", "/v1/responses", "/v1/responses"),
        (
            Api::Codex,
            "https://gw.corp/openai",
            "/v1/responses",
            "/openai/responses",
        ),
        (Api::Claude, "https://api.anthropic.com", "/v1/messages", "/v1/messages"),
        (
            Api::Claude,
            "https://gw.corp/anthropic/",
            "/v1/messages?beta=true",
            "/anthropic/v1/messages?beta=true",
        ),
        (
            Api::Gemini,
            "https://gw.corp/g",
            "/v1beta/models/m:countTokens",
            "/g/v1beta/models/m:countTokens",
        ),
    ];
    for (api, endpoint, asked, expected) in cases {
        assert_eq!(sent(api, endpoint, "POST", asked), expected);
    }
}

#[test]
fn a_path_in_any_other_spelling_is_refused() {
    let paths = [
        "/",
        "/v1",
        "/v1/",
        "/responses",
        "/v1/responses/",
        "//v1/responses",
        "/v1//responses",
        "/v1/./responses",
        "/v1/x/../responses",
        "/v1/%72esponses",
        "/v1%2fresponses",
        "/v1/responses%00",
        "/v1/responses;a=b",
        "/v1/responses/resp_1",
        "/v1/responses/resp_1/cancel",
        "/V1/responses",
        "/v1/Responses",
        "/v1/chat/completions",
        "/v1/files",
        "/v1/organization/admin_api_keys",
    ];
    for path in paths {
        let refused = Refusal::Request {
            method: "POST".to_owned(),
            path: path.to_owned(),
        };
        assert_eq!(ask(Api::Codex, "https://api.openai.com/v1", "POST", path), Err(refused));
    }
}

#[test]
fn a_models_name_is_one_plain_segment() {
    for model in ["gemini-2.5-pro", "gemini_3.1", "m"] {
        let path = format!("/v1beta/models/{model}:generateContent");
        assert_eq!(sent(Api::Gemini, Api::Gemini.vendor_url(), "POST", &path), path);
    }
    for model in ["", ".", "..", "a/b", "a%2fb", "a:b", "../../v1/x", "deep-research-pro"] {
        let path = format!("/v1beta/models/{model}:generateContent");
        assert!(
            ask(Api::Gemini, Api::Gemini.vendor_url(), "POST", &path).is_err(),
            "{path}"
        );
    }
}

#[test]
fn another_method_is_another_request() {
    for method in ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "post", "TRACE"] {
        assert!(
            ask(Api::Claude, Api::Claude.vendor_url(), method, "/v1/messages").is_err(),
            "{method}"
        );
    }
    assert_eq!(
        ask(Api::Claude, Api::Claude.vendor_url(), "HEAD", "/"),
        Ok(Target::Here)
    );
}

#[test]
fn a_whole_url_is_refused_whatever_it_names() {
    for uri in [
        "http://api.openai.com/v1/responses",
        "http://127.0.0.1:9786/v1/responses",
        "http://user:pass@evil.test/v1/responses",
        "evil.test:443",
    ] {
        assert_eq!(
            ask(Api::Codex, Api::Codex.vendor_url(), "POST", uri),
            Err(Refusal::WholeUrl)
        );
    }
}

#[test]
fn a_query_keeps_what_is_known_and_loses_its_keys() {
    let uri = "/v1beta/models/m:streamGenerateContent?key=a&alt=sse&access_token=b&Key=c&&pageSize";
    let path = "/v1beta/models/m:streamGenerateContent?alt=sse&pageSize"
        .parse()
        .expect("a path");
    let carries = Carries::Prompt(&gemini::PROMPT);
    let keys = ["a", "b", "c"].map(str::to_owned).to_vec();
    assert_eq!(
        ask(Api::Gemini, Api::Gemini.vendor_url(), "POST", uri),
        Ok(Target::Upstream { path, keys, carries })
    );
    for name in [
        "$httpMethod",
        "%6bey",
        "alt%3d",
        "ALT",
        "uploadType",
        "x-api-key",
        "_method",
    ] {
        let uri = format!("/v1beta/models/m:generateContent?{name}=x");
        let refused = Err(Refusal::Query(name.to_owned()));
        assert_eq!(ask(Api::Gemini, Api::Gemini.vendor_url(), "POST", &uri), refused);
    }
}

#[test]
fn an_upgrade_is_refused_before_the_path_is_looked_at() {
    let headers = HeaderMap::from_iter([(header::UPGRADE, HeaderValue::from_static("websocket"))]);
    let endpoint = Endpoint::parse(Api::Codex.vendor_url()).expect("an endpoint");
    for path in ["/v1/responses", "/v1/realtime"] {
        let uri: Uri = path.parse().expect("a path");
        let asked = target(Api::Codex.spec(), &endpoint, &Method::GET, &uri, &headers);
        assert_eq!(asked, Err(Refusal::Upgrade));
    }
}
