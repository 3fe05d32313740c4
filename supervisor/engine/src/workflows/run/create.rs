//! A workflow that an agent writes: marked as such, checked as a whole, and never in the place of another's.
//!
//! It stays untrusted like every file of the project; because an agent wrote it, it may not nest, has the smaller budgets, and
//! runs only after somebody's yes. INVARIANT: what a person wrote, or has approved of, is not replaced.

use std::ffi::OsStr;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::error::RunError;
use crate::clock::Moment;
use crate::consent::items::WORKFLOWS;
use crate::folder::Folder;
use crate::project::Scene;
use crate::trust::Standing;
use crate::workflows::check::check;
use crate::workflows::shelf::Shelf;
use crate::workflows::{Author, Workflow, WorkflowName, parse};

/// What a definition may say; who wrote it is not its own to say.
const KEYS: &[&str] = &["description", "inputs", "steps", "execution"];

/// Writes it. Returns what was written.
pub fn create(name: &str, definition: Map<String, Value>, scene: &Scene) -> Result<Workflow, RunError> {
    let Some(name) = WorkflowName::new(name) else {
        return Err(RunError::BadName(name.to_owned()));
    };
    if let Some(key) = definition.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(RunError::BadKey(key.clone()));
    }
    let text = text(&name, definition);
    let file = scene.project.join(WORKFLOWS).join(name.file());
    let shelf = Shelf::open(scene)?;
    let invalid = |rendered: String| RunError::Invalid {
        rendered: rendered.trim_end().to_owned(),
    };
    let workflow = parse(&file, text.as_bytes()).map_err(|problems| {
        let lines = problems.iter().map(|problem| problem.render(Some(&text)));
        invalid(lines.collect::<Vec<_>>().join("\n"))
    })?;
    let library = shelf.library.with(workflow.clone(), text.clone());
    check(&name, &library, &shelf.crew, shelf.limits).map_err(|problems| invalid(library.render(&problems)))?;
    put(&name, &text, &file, scene)?;
    Ok(workflow)
}

/// JSON, which is YAML: what an agent gave, with who wrote it.
fn text(name: &WorkflowName, mut definition: Map<String, Value>) -> String {
    let mut whole = Map::new();
    whole.insert("name".into(), json!(name.as_str()));
    for key in KEYS {
        if let Some(value) = definition.remove(*key) {
            whole.insert((*key).to_owned(), value);
        }
    }
    let at = Moment::now().to_string();
    whole.insert("source".into(), json!({ "from": "agent", "created_at": at }));
    // Made of JSON: writing it cannot fail.
    let text = serde_json::to_string_pretty(&Value::Object(whole)).unwrap_or_default();
    format!("{text}\n")
}

fn put(name: &WorkflowName, text: &str, file: &Path, scene: &Scene) -> Result<(), RunError> {
    let cannot = |error| RunError::Write {
        path: file.to_owned(),
        error,
    };
    let folder = Folder::make_beneath(&scene.project, Path::new(WORKFLOWS)).map_err(cannot)?;
    let locked = folder.lock().map_err(cannot)?;
    // Looked at again under the lock: somebody may have written it meanwhile.
    let shelf = Shelf::open(scene)?;
    if let Ok(entry) = shelf.library.entry(name.as_str()) {
        let is_free = match (&entry.found, entry.standing) {
            (Ok(there), Some(Standing::Untrusted)) => there.author == Author::Agent,
            // Changed since somebody approved of it: somebody's work is in it.
            (Ok(_), Some(Standing::Trusted | Standing::Changed) | None) | (Err(_), _) => false,
        };
        if !is_free {
            return Err(RunError::Taken(name.to_string()));
        }
    }
    locked.put(OsStr::new(&name.file()), text.as_bytes()).map_err(cannot)
}
