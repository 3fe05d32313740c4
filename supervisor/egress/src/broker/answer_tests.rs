use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::Bytes;
use serde_json::{Value, json};

use super::{Failure, MARK, Refusal};
use crate::broker::api::Api;

fn read(response: Response<http_body_util::Full<Bytes>>) -> (u16, String, Value) {
    let status = response.status().as_u16();
    let mark = response.headers()[MARK].to_str().expect("ascii").to_owned();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let body = runtime
        .block_on(response.into_body().collect())
        .expect("a body")
        .to_bytes();
    (status, mark, serde_json::from_slice(&body).expect("json"))
}

#[test]
fn a_refusal_has_the_shape_of_each_vendors_errors() {
    let text = "refused by the sandbox's model broker: no upgrade to another protocol";
    let shapes = [
        (
            Api::Codex,
            json!({"error": {"message": text, "type": "glee_broker_refused", "param": null, "code": "glee_broker_refused"}}),
        ),
        (
            Api::Claude,
            json!({"type": "error", "error": {"type": "permission_error", "message": text}}),
        ),
        (
            Api::Gemini,
            json!({"error": {"code": 426, "message": text, "status": "PERMISSION_DENIED"}}),
        ),
    ];
    for (api, shape) in shapes {
        assert_eq!(read(Refusal::Upgrade.response(api)), (426, "refused".to_owned(), shape));
    }
}

#[test]
fn a_failure_says_what_was_tried_and_what_to_do() {
    let failure = Failure::NoRoots("https://api.test".to_owned());
    let text = "the sandbox's model broker: cannot trust https://api.test: no trusted certificates on this machine \
                (install ca-certificates or set SSL_CERT_FILE)";
    let shape = json!({"type": "error", "error": {"type": "api_error", "message": text}});
    assert_eq!(read(failure.response(Api::Claude)), (502, "failed".to_owned(), shape));
}
