use super::{Endpoint, EndpointProblem, Scheme};
use crate::host::HostProblem;

fn parse(url: &str) -> Endpoint {
    Endpoint::parse(url).unwrap_or_else(|e| panic!("{url}: {e}"))
}

#[test]
fn spellings_of_one_endpoint_are_equal() {
    let cases = [
        ("https://api.openai.com/v1", "https://api.openai.com/v1"),
        ("HTTPS://API.OpenAI.com:443/v1/", "https://api.openai.com/v1"),
        ("https://api.anthropic.com", "https://api.anthropic.com"),
        ("https://api.anthropic.com./", "https://api.anthropic.com"),
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434"),
        ("http://[::1]:8080/a/b_c/", "http://[::1]:8080/a/b_c"),
        ("http://[::1]", "http://[::1]"),
        ("http://[::ffff:127.0.0.1]:80", "http://127.0.0.1"),
        ("http://localhost:80", "http://localhost"),
        ("https://bücher.example:8443", "https://xn--bcher-kva.example:8443"),
    ];
    for (written, canonical) in cases {
        assert_eq!(parse(written).to_string(), canonical);
        assert_eq!(parse(canonical), parse(written));
    }
}

#[test]
fn the_parts_are_what_was_written() {
    let endpoint = parse("http://gateway.corp:8080/openai/v1");
    let parts = (
        endpoint.scheme(),
        endpoint.host().to_string(),
        endpoint.port(),
        endpoint.base(),
    );
    assert_eq!(parts, (Scheme::Http, "gateway.corp".to_owned(), 8080, "/openai/v1"));
}

#[test]
fn what_is_not_plainly_an_endpoint_is_refused() {
    let cases = [
        ("", EndpointProblem::Scheme),
        ("api.openai.com", EndpointProblem::Scheme),
        ("ftp://api.openai.com", EndpointProblem::Scheme),
        ("file:///etc/passwd", EndpointProblem::Scheme),
        ("unix:///run/docker.sock", EndpointProblem::Scheme),
        ("https:/api.openai.com", EndpointProblem::Scheme),
        ("https://user:key@api.openai.com", EndpointProblem::UserInfo),
        ("https://api.openai.com@evil.example", EndpointProblem::UserInfo),
        ("https://", EndpointProblem::Host(HostProblem::Empty)),
        ("https:///v1", EndpointProblem::Host(HostProblem::Empty)),
        ("https://a b.example", EndpointProblem::Host(HostProblem::Control)),
        ("https://a%2eb.example", EndpointProblem::Host(HostProblem::Percent)),
        ("http://127.1:80", EndpointProblem::Host(HostProblem::OddAddress)),
        ("https://api.openai.com\\@evil", EndpointProblem::UserInfo),
        ("https://api.openai.com:", EndpointProblem::Port),
        ("https://api.openai.com:0", EndpointProblem::Port),
        ("https://api.openai.com:65536", EndpointProblem::Port),
        ("https://api.openai.com:+443", EndpointProblem::Port),
        ("https://::1", EndpointProblem::Port),
        ("https://api.openai.com?x", EndpointProblem::Query),
        ("https://api.openai.com/v1?key=x", EndpointProblem::Query),
        ("https://api.openai.com/v1#x", EndpointProblem::Query),
        ("https://api.openai.com//v1", EndpointProblem::Path),
        ("https://api.openai.com/v1//", EndpointProblem::Path),
        ("https://api.openai.com/v1/../admin", EndpointProblem::Path),
        ("https://api.openai.com/.", EndpointProblem::Path),
        ("https://api.openai.com/v%31", EndpointProblem::Path),
        ("https://api.openai.com/v1;x", EndpointProblem::Path),
        ("https://api.openai.com/v 1", EndpointProblem::Path),
    ];
    for (url, problem) in cases {
        assert_eq!(Endpoint::parse(url), Err(problem), "{url}");
    }
}
