//! What is known of each model API, as data: its address, the requests that its CLI needs, its headers, its counters.
//!
//! Pure. Measured with codex 0.166.0, claude 2.1.197 and gemini 0.61.0. A request that is not listed is refused: with the
//! user's key one could also read their files, start batches that outlive the run, or make new keys.

use hyper::header::HeaderName;
use serde::Serialize;

use super::judge::{Shape, claude, codex, gemini};

/// Whose API is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Api {
    Codex,
    Claude,
    Gemini,
}

pub(super) struct Spec {
    pub(super) vendor: &'static str,
    /// What a base URL in the sandbox ends with. An endpoint's own path takes its place.
    pub(super) inner_base: &'static str,
    /// The path of an endpoint that was named without one.
    pub(super) default_base: &'static str,
    pub(super) routes: &'static [Route],
    /// Names that a query may have. Those of credentials are dropped, any other is refused.
    pub(super) query: &'static [&'static str],
    /// Headers that its client sends beside the usual ones. Others are dropped.
    pub(super) headers: &'static [&'static str],
    pub(super) auth: Auth,
    pub(super) usage: Usage,
}

/// One request that may be made. `{}` stands for one name: letters, digits, `-`, `_` and `.`.
pub(super) struct Route {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) served: Served,
    pub(super) carries: Carries,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Served {
    Upstream,
    /// By the broker itself: the CLI only asks whether anyone is there.
    Here,
}

/// What a request's body may be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Carries {
    Nothing,
    /// JSON of this shape.
    Prompt(&'static Shape),
}

/// A shape is what it is by its place: two of the same fields are still two.
impl PartialEq for Carries {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Nothing, Self::Nothing) => true,
            (Self::Prompt(one), Self::Prompt(other)) => std::ptr::eq(*one, *other),
            (Self::Nothing, Self::Prompt(_)) | (Self::Prompt(_), Self::Nothing) => false,
        }
    }
}

impl Eq for Carries {}

pub(super) struct Auth {
    pub(super) header: HeaderName,
    pub(super) prefix: &'static str,
}

/// Where an answer says what it cost.
pub(super) struct Usage {
    /// Paths of the object that holds the counters.
    pub(super) roots: &'static [&'static [&'static str]],
    pub(super) counters: &'static [Counter],
}

pub(super) struct Counter {
    pub(super) path: &'static [&'static str],
    pub(super) adds_to: Total,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Total {
    Input,
    Output,
    /// Part of the input that another counter already holds.
    Cached,
    /// Part of the input that no other counter holds.
    InputFromCache,
}

impl Api {
    /// The base URL of the vendor's own service.
    #[must_use]
    pub fn vendor_url(self) -> &'static str {
        self.spec().vendor
    }

    /// What follows `http://127.0.0.1:PORT` in the base URL that the CLI is given.
    #[must_use]
    pub fn inner_base(self) -> &'static str {
        self.spec().inner_base
    }

    pub(super) fn spec(self) -> &'static Spec {
        match self {
            Self::Codex => &CODEX,
            Self::Claude => &CLAUDE,
            Self::Gemini => &GEMINI,
        }
    }
}

const fn get(path: &'static str) -> Route {
    Route {
        method: "GET",
        path,
        served: Served::Upstream,
        carries: Carries::Nothing,
    }
}

const fn post(path: &'static str, prompt: &'static Shape) -> Route {
    Route {
        method: "POST",
        path,
        served: Served::Upstream,
        carries: Carries::Prompt(prompt),
    }
}

const fn counter(path: &'static [&'static str], adds_to: Total) -> Counter {
    Counter { path, adds_to }
}

static CODEX: Spec = Spec {
    vendor: "https://api.openai.com/v1",
    inner_base: "/v1",
    default_base: "/v1",
    routes: &[
        post("/responses", &codex::PROMPT),
        post("/responses/compact", &codex::PROMPT),
        get("/models"),
    ],
    query: &["client_version"],
    headers: &[
        "openai-beta",
        "originator",
        "session-id",
        "session_id",
        "conversation_id",
        "thread-id",
        "version",
        "x-codex-beta-features",
        "x-codex-installation-id",
        "x-codex-parent-thread-id",
        "x-codex-turn-metadata",
        "x-codex-turn-state",
        "x-codex-window-id",
        "x-openai-internal-codex-responses-lite",
        "x-openai-subagent",
    ],
    auth: Auth {
        header: hyper::header::AUTHORIZATION,
        prefix: "Bearer ",
    },
    usage: Usage {
        roots: &[&["response", "usage"], &["usage"]],
        counters: &[
            counter(&["input_tokens"], Total::Input),
            counter(&["input_tokens_details", "cached_tokens"], Total::Cached),
            counter(&["output_tokens"], Total::Output),
        ],
    },
};

static CLAUDE: Spec = Spec {
    vendor: "https://api.anthropic.com",
    inner_base: "",
    default_base: "",
    routes: &[
        Route {
            method: "HEAD",
            path: "/",
            served: Served::Here,
            carries: Carries::Nothing,
        },
        post("/v1/messages", &claude::PROMPT),
        post("/v1/messages/count_tokens", &claude::PROMPT),
        get("/v1/models"),
    ],
    query: &["beta", "limit", "after_id", "before_id"],
    headers: &[
        "anthropic-beta",
        "anthropic-client-platform",
        "anthropic-dangerous-direct-browser-access",
        "anthropic-version",
        "x-anthropic-additional-protection",
        "x-app",
        "x-claude-code-agent-id",
        "x-claude-code-parent-agent-id",
        "x-claude-code-session-id",
        "x-client-app",
    ],
    auth: Auth {
        header: HeaderName::from_static("x-api-key"),
        prefix: "",
    },
    usage: Usage {
        // First `message_start`, then `message_delta` with totals so far: the last word counts.
        roots: &[&["message", "usage"], &["usage"]],
        counters: &[
            counter(&["input_tokens"], Total::Input),
            counter(&["cache_creation_input_tokens"], Total::Input),
            counter(&["cache_read_input_tokens"], Total::InputFromCache),
            counter(&["output_tokens"], Total::Output),
        ],
    },
};

static GEMINI: Spec = Spec {
    vendor: "https://generativelanguage.googleapis.com",
    inner_base: "",
    default_base: "",
    routes: &[
        post("/v1beta/models/{}:generateContent", &gemini::PROMPT),
        post("/v1beta/models/{}:streamGenerateContent", &gemini::PROMPT),
        post("/v1beta/models/{}:countTokens", &gemini::COUNT),
        post("/v1beta/models/{}:embedContent", &gemini::EMBED),
        post("/v1beta/models/{}:batchEmbedContents", &gemini::EMBED_BATCH),
        get("/v1beta/models"),
        get("/v1beta/models/{}"),
    ],
    query: &["alt", "pageSize", "pageToken"],
    headers: &[
        "x-gemini-api-privileged-user-id",
        "x-goog-api-client",
        "x-server-timeout",
    ],
    auth: Auth {
        header: HeaderName::from_static("x-goog-api-key"),
        prefix: "",
    },
    usage: Usage {
        roots: &[&["usageMetadata"]],
        counters: &[
            counter(&["promptTokenCount"], Total::Input),
            counter(&["toolUsePromptTokenCount"], Total::Input),
            counter(&["cachedContentTokenCount"], Total::Cached),
            counter(&["candidatesTokenCount"], Total::Output),
            counter(&["thoughtsTokenCount"], Total::Output),
        ],
    },
};

#[cfg(test)]
#[path = "api_tests.rs"]
mod tests;
