//! A prompt for Anthropic's Messages API.
//!
//! Pure data. Left out because the vendor would act: `mcp_servers`, `container`, sources of kind `url` and `file`, and the
//! tools `web_search_…`, `web_fetch_…`, `code_execution_…`, `mcp_toolset`, `tool_search_…`, `advisor_…`.

use super::shape::Shape::{Many, Model, Opaque, Plain, Schema, TextOr, Unset};
use super::shape::{Kind, Shape, Tag, kind, object, tagged};

pub(crate) static PROMPT: Shape = object(&[
    ("model", &Model),
    ("messages", &Many(&MESSAGE)),
    ("system", &TextOr(&Many(&BLOCK))),
    ("tools", &Many(&TOOL)),
    ("tool_choice", &CHOICE),
    ("max_tokens", &Plain),
    ("stream", &Plain),
    ("temperature", &Plain),
    ("top_p", &Plain),
    ("top_k", &Plain),
    ("stop_sequences", &Many(&Plain)),
    ("metadata", &Opaque),
    ("thinking", &THINKING),
    ("context_management", &CONTEXT),
    ("cache_control", &CACHE),
    ("output_config", &OUTPUT),
    ("output_format", &FORMAT),
    ("service_tier", &Plain),
    ("speed", &Plain),
    ("inference_geo", &Plain),
    ("betas", &Many(&Plain)),
    ("diagnostics", &DIAGNOSTICS),
    ("mcp_servers", &Unset),
    ("container", &Unset),
]);

static MESSAGE: Shape = object(&[("role", &Plain), ("content", &TextOr(&Many(&BLOCK)))]);

/// What the vendor's own tools did, as history, is not among them: they are never offered.
const BLOCKS: &[Kind] = &[
    kind("text"),
    kind("image"),
    kind("document"),
    kind("thinking"),
    kind("redacted_thinking"),
    kind("tool_use"),
    kind("tool_result"),
    kind("tool_reference"),
    kind("compaction"),
];

static BLOCK: Shape = tagged(
    Tag::Must(BLOCKS),
    &[
        ("text", &Plain),
        ("source", &SOURCE),
        ("content", &TextOr(&Many(&BLOCK))),
        ("id", &Plain),
        ("name", &Plain),
        ("input", &Opaque),
        ("caller", &CALLER),
        ("tool_use_id", &Plain),
        ("tool_name", &Plain),
        ("is_error", &Plain),
        ("thinking", &Plain),
        ("signature", &Plain),
        ("data", &Plain),
        ("encrypted_content", &Plain),
        ("title", &Plain),
        ("context", &Plain),
        ("citations", &CITATIONS),
        ("cache_control", &CACHE),
    ],
);

static SOURCE: Shape = tagged(
    Tag::Must(&[kind("base64"), kind("text"), kind("content")]),
    &[
        ("media_type", &Plain),
        ("data", &Plain),
        ("content", &TextOr(&Many(&BLOCK))),
    ],
);

/// The client runs these.
const TOOLS: &[Kind] = &[
    kind("custom"),
    kind("bash_#"),
    kind("text_editor_#"),
    kind("memory_#"),
    kind("computer_#"),
];

static TOOL: Shape = tagged(
    Tag::May(TOOLS),
    &[
        ("name", &Plain),
        ("description", &Plain),
        ("input_schema", &Schema),
        ("input_examples", &Opaque),
        ("strict", &Plain),
        ("eager_input_streaming", &Plain),
        ("defer_loading", &Plain),
        ("max_characters", &Plain),
        ("display_width_px", &Plain),
        ("display_height_px", &Plain),
        ("display_number", &Plain),
        ("enable_zoom", &Plain),
        ("cache_control", &CACHE),
    ],
);

static OUTPUT: Shape = object(&[("effort", &Plain), ("format", &FORMAT), ("task_budget", &BUDGET)]);
static FORMAT: Shape = tagged(
    Tag::Must(&[kind("json_schema")]),
    &[("name", &Plain), ("schema", &Schema)],
);

static BUDGET: Shape = tagged(
    Tag::Must(&[kind("tokens")]),
    &[("total", &Plain), ("remaining", &Plain)],
);

static CHOICE: Shape = tagged(
    Tag::Must(&[kind("auto"), kind("any"), kind("tool"), kind("none")]),
    &[("name", &Plain), ("disable_parallel_tool_use", &Plain)],
);
static THINKING: Shape = tagged(
    Tag::Must(&[kind("enabled"), kind("adaptive"), kind("disabled")]),
    &[("budget_tokens", &Plain), ("display", &Plain)],
);
static CACHE: Shape = tagged(Tag::Must(&[kind("ephemeral")]), &[("ttl", &Plain), ("scope", &Plain)]);
static DIAGNOSTICS: Shape = object(&[("previous_message_id", &Plain)]);
/// Called by the model, not by a program that runs at the vendor's.
static CALLER: Shape = tagged(Tag::Must(&[kind("direct")]), &[]);
static CITATIONS: Shape = object(&[("enabled", &Plain)]);

/// What the vendor leaves out of a long conversation.
static CONTEXT: Shape = object(&[("edits", &Many(&EDIT))]);
static EDIT: Shape = tagged(
    Tag::Must(&[kind("clear_tool_uses_#"), kind("clear_thinking_#"), kind("compact_#")]),
    &[
        ("keep", &TextOr(&AMOUNT)),
        ("trigger", &AMOUNT),
        ("clear_at_least", &AMOUNT),
        ("exclude_tools", &Many(&Plain)),
        ("clear_tool_inputs", &Plain),
        ("instructions", &Plain),
        ("pause_after_compaction", &Plain),
    ],
);
static AMOUNT: Shape = tagged(
    Tag::Must(&[kind("tool_uses"), kind("input_tokens"), kind("thinking_turns")]),
    &[("value", &Plain)],
);
