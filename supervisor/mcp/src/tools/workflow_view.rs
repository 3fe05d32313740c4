//! What the tools about workflows take and answer in common.

use glee_engine::store::FlowId;
use serde_json::{Value, json};

use super::{Failure, object};

pub(super) fn id(text: &str) -> Result<FlowId, Failure> {
    text.parse()
        .map_err(|_| Failure::told("`run_id` is not the id of a workflow's run").with_help("glee_workflow returned it"))
}

pub(super) fn view_schema() -> Value {
    let text = json!({ "type": ["string", "null"] });
    let count = json!({ "type": "integer", "minimum": 0 });
    object(
        json!({
            "run_id": { "type": "string" },
            "workflow": { "type": "string" },
            "status": { "enum": ["running", "paused", "success", "error", "timeout", "cancelled"] },
            "driven": { "type": "boolean", "description": "false and not over: the user can resume it" },
            "output": text,
            "error": text,
            "created_at": count,
            "duration_ms": count,
            "steps": { "type": "array", "items": { "type": "object" } },
            "budget": { "type": ["object", "null"] },
            "input_tokens": count,
            "output_tokens": count,
            "cost_usd": { "type": "number" },
            "unpriced_steps": count,
        }),
        &["run_id", "workflow", "status"],
    )
}
