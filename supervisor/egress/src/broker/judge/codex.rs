//! A prompt for OpenAI's Responses API.
//!
//! Pure data. Left out because the vendor would act or look up what it stored: the tools `mcp`, `web_search…`,
//! `file_search`, `code_interpreter`, `image_generation` and `computer…`, files by address or name, stored prompts,
//! conversations and answers, and work in the background, which outlives the run.

use super::shape::Shape::{Data, Many, Model, Opaque, Plain, Schema, TextOr, Unset, Word};
use super::shape::{Kind, Shape, Tag, kind, object, tagged};

pub(crate) static PROMPT: Shape = object(&[
    ("model", &Model),
    ("input", &TextOr(&Many(&ITEM))),
    ("instructions", &Plain),
    ("tools", &Many(&TOOL)),
    ("tool_choice", &TextOr(&CHOICE)),
    ("parallel_tool_calls", &Plain),
    ("max_tool_calls", &Plain),
    ("reasoning", &REASONING),
    ("text", &TEXT),
    ("include", &Many(&Plain)),
    ("store", &Plain),
    ("stream", &Plain),
    ("stream_options", &STREAM),
    ("service_tier", &Plain),
    ("prompt_cache_key", &Plain),
    ("prompt_cache_retention", &Plain),
    ("safety_identifier", &Plain),
    ("user", &Plain),
    ("client_metadata", &Opaque),
    ("metadata", &Opaque),
    ("temperature", &Plain),
    ("top_p", &Plain),
    ("top_logprobs", &Plain),
    ("max_output_tokens", &Plain),
    ("truncation", &Plain),
    ("context_management", &Many(&COMPACTION)),
    ("background", &Unset),
    ("previous_response_id", &Unset),
    ("conversation", &Unset),
    ("prompt", &Unset),
]);

/// Without a type, an item may be the name of a stored one: each must say its own.
const ITEMS: &[Kind] = &[
    kind("message"),
    kind("agent_message"),
    kind("reasoning"),
    kind("function_call"),
    kind("function_call_output"),
    kind("custom_tool_call"),
    kind("custom_tool_call_output"),
    kind("local_shell_call"),
    kind("local_shell_call_output"),
    kind("tool_search_call"),
    kind("tool_search_output"),
    kind("additional_tools"),
    kind("configuration_update"),
    kind("compaction"),
    kind("compaction_summary"),
    kind("compaction_trigger"),
    kind("context_compaction"),
];

static ITEM: Shape = tagged(
    Tag::Must(ITEMS),
    &[
        ("id", &Plain),
        ("role", &Plain),
        ("status", &Plain),
        ("phase", &Plain),
        ("content", &TextOr(&Many(&PART))),
        ("summary", &Many(&PART)),
        ("encrypted_content", &Plain),
        ("author", &Plain),
        ("recipient", &Plain),
        ("call_id", &Plain),
        ("name", &Plain),
        ("namespace", &Plain),
        ("arguments", &Opaque),
        ("encrypted_function_args", &Plain),
        ("input", &Plain),
        ("output", &TextOr(&Many(&PART))),
        ("action", &Opaque),
        ("execution", &Plain),
        ("tools", &Many(&TOOL)),
        ("effort", &Plain),
        ("reasoning", &REASONING),
        ("internal_chat_message_metadata_passthrough", &Opaque),
    ],
);

const PARTS: &[Kind] = &[
    kind("input_text"),
    kind("output_text"),
    kind("summary_text"),
    kind("reasoning_text"),
    kind("text"),
    kind("refusal"),
    kind("input_image"),
    kind("input_file"),
    kind("input_audio"),
    kind("encrypted_content"),
];

static PART: Shape = tagged(
    Tag::Must(PARTS),
    &[
        ("text", &Plain),
        ("refusal", &Plain),
        ("annotations", &Unset),
        ("logprobs", &Opaque),
        ("image_url", &Data),
        ("detail", &Plain),
        ("file_data", &Data),
        ("filename", &Plain),
        ("file_url", &Unset),
        ("file_id", &Unset),
        ("input_audio", &AUDIO),
        ("encrypted_content", &Plain),
    ],
);

static AUDIO: Shape = object(&[("data", &Plain), ("format", &Plain)]);

/// The client runs these. Two of them can also be run by the vendor: they must say that they are not.
const TOOLS: &[Kind] = &[
    kind("function"),
    kind("custom"),
    kind("namespace"),
    kind("local_shell"),
    kind("apply_patch"),
    Kind {
        word: "shell",
        with: Some("environment"),
    },
    Kind {
        word: "tool_search",
        with: Some("execution"),
    },
];

static TOOL: Shape = tagged(
    Tag::Must(TOOLS),
    &[
        ("name", &Plain),
        ("description", &Plain),
        ("parameters", &Schema),
        ("output_schema", &Schema),
        ("strict", &Plain),
        ("defer_loading", &Plain),
        ("format", &GRAMMAR),
        ("tools", &Many(&TOOL)),
        ("execution", &Word("client")),
        ("environment", &ENVIRONMENT),
    ],
);

static ENVIRONMENT: Shape = tagged(Tag::Must(&[kind("local")]), &[]);
static GRAMMAR: Shape = tagged(
    Tag::Must(&[kind("grammar"), kind("text")]),
    &[("syntax", &Plain), ("definition", &Plain)],
);

static CHOICE: Shape = tagged(
    Tag::Must(&[
        kind("function"),
        kind("custom"),
        kind("allowed_tools"),
        kind("apply_patch"),
        kind("shell"),
    ]),
    &[("name", &Plain), ("mode", &Plain), ("tools", &Many(&CHOICE))],
);

static TEXT: Shape = object(&[("verbosity", &Plain), ("format", &FORMAT)]);
static FORMAT: Shape = tagged(
    Tag::Must(&[kind("text"), kind("json_schema"), kind("json_object")]),
    &[
        ("name", &Plain),
        ("description", &Plain),
        ("strict", &Plain),
        ("schema", &Schema),
    ],
);

static REASONING: Shape = object(&[
    ("effort", &Plain),
    ("summary", &Plain),
    ("generate_summary", &Plain),
    ("context", &Plain),
]);
static STREAM: Shape = object(&[("include_obfuscation", &Plain), ("reasoning_summary_delivery", &Plain)]);
static COMPACTION: Shape = tagged(Tag::Must(&[kind("compaction")]), &[("compact_threshold", &Plain)]);
