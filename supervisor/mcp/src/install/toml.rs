//! A table in a TOML file, set without touching anything else.

use serde_json::{Map, Value};
use toml_edit::{Array, DocumentMut, Item, Table, value};

/// The text with these keys in `[outer.name]`. Other keys there stay.
pub(super) fn with_entry(text: &str, outer: &str, name: &str, entry: &Map<String, Value>) -> Result<String, String> {
    let mut document: DocumentMut = text
        .parse()
        .map_err(|error: toml_edit::TomlError| error.message().to_owned())?;
    let servers = document.entry(outer).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let servers = servers
        .as_table_like_mut()
        .ok_or_else(|| format!("`{outer}` is not a table"))?;
    let server = servers.entry(name).or_insert_with(|| Item::Table(Table::new()));
    let server = server
        .as_table_like_mut()
        .ok_or_else(|| format!("`{outer}.{name}` is not a table"))?;
    for (key, wanted) in entry {
        let wanted = item(wanted).ok_or_else(|| format!("`{key}` has no form in TOML"))?;
        let is_there = server.get(key).is_some_and(|there| plain(there) == plain(&wanted));
        if !is_there {
            server.insert(key, wanted);
        }
    }
    Ok(document.to_string())
}

fn item(wanted: &Value) -> Option<Item> {
    match wanted {
        Value::String(text) => Some(value(text.as_str())),
        Value::Number(number) => number.as_i64().map(value),
        Value::Bool(flag) => Some(value(*flag)),
        Value::Array(all) => {
            let texts: Option<Array> = all.iter().map(Value::as_str).collect();
            texts.map(value)
        }
        Value::Null | Value::Object(_) => None,
    }
}

/// Without the space and the comments around it.
fn plain(item: &Item) -> String {
    let mut item = item.clone();
    if let Some(value) = item.as_value_mut() {
        value.decor_mut().clear();
        if let Some(array) = value.as_array_mut() {
            array.fmt();
        }
    }
    item.to_string()
}
