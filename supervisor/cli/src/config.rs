//! `config get`, `set` and `list`.

use std::path::PathBuf;

use glee_engine::project::Scene;
use glee_engine::settings::store::{self, Changed, ConfigError, Entry};
use glee_engine::text::{columns, visible};

use crate::agents::scene;
use crate::args_config::ConfigCommand;
use crate::print::{self, Paint};

/// Returns the exit status.
pub(crate) fn config(command: ConfigCommand, project: Option<PathBuf>) -> i32 {
    let done = |scene: Scene| match command {
        ConfigCommand::Get { key, json } => store::get(&scene, &key).map(|entry| get(&entry, json)),
        ConfigCommand::Set { key, value, json } => store::set(&scene, &key, &value).map(|done| set(&done, json)),
        ConfigCommand::List { json } => store::list(&scene).map(|entries| list(&entries, json)),
    };
    match scene(project.as_deref()).map(done) {
        Ok(Ok(status)) => status,
        Ok(Err(error)) => failed(&error),
        Err(status) => status,
    }
}

fn failed(error: &ConfigError) -> i32 {
    if error.has_place() {
        print::note(&error.to_string());
    } else {
        print::error(&error.to_string(), error.help().as_deref());
    }
    1
}

fn get(entry: &Entry, json: bool) -> i32 {
    if json {
        return print::json(entry, 0);
    }
    if let Some(withheld) = &entry.withheld {
        print::note(&withheld_note(&entry.key, withheld));
    }
    print::bytes(format!("{}\n", visible(&entry.value)).as_bytes(), 0)
}

fn withheld_note(key: &str, withheld: &str) -> String {
    format!(
        "`{key}` is set to {}, more than its default: that counts after `glee-supervisor trust`",
        visible(withheld)
    )
}

fn set(done: &Changed, json: bool) -> i32 {
    if json {
        return print::json(done, 0);
    }
    let file = visible(&done.file);
    match done.changed {
        true => print::note(&format!("`{file}` is changed")),
        false => print::note(&format!("`{file}` says so already")),
    }
    if done.trust_lost {
        print::note("it was trusted as it was before: `glee-supervisor trust` asks again");
    }
    if done.withheld {
        print::note("the value is more than its default: it counts after `glee-supervisor trust`");
    }
    0
}

fn list(entries: &[Entry], json: bool) -> i32 {
    if json {
        return print::json(&entries, 0);
    }
    let head = ["key", "value", "about"].map(|title| Paint::Head.out(title)).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(entries.iter().map(row)).collect();
    for entry in entries {
        if let Some(withheld) = &entry.withheld {
            print::note(&withheld_note(&entry.key, withheld));
        }
    }
    print::bytes(columns(&rows, "").as_bytes(), 0)
}

fn row(entry: &Entry) -> Vec<String> {
    let value = match entry.is_default {
        true => format!("{} (default)", entry.value),
        false => Paint::Good.out(&entry.value),
    };
    vec![entry.key.clone(), value, entry.about.to_owned()]
}
