//! An object in a JSON file, set without touching anything else.
//!
//! Clients allow comments and commas before a closing brace; so does this. Pure.

use std::ops::Range;

use serde_json::{Map, Value};

/// As deep as the parser of the values goes.
const DEEPEST: usize = 100;

/// The text with these keys in `{"outer": {"name": {…}}}`. Other keys there stay.
pub(super) fn with_entry(text: &str, outer: &str, name: &str, entry: &Map<String, Value>) -> Result<String, String> {
    if text.trim().is_empty() {
        return with_entry("{}\n", outer, name, entry);
    }
    let top = object_at(text, 0)?;
    if Scan::after(text, top.close + 1).next_byte().is_some() {
        return Err("there is something after the end of the object".into());
    }
    let Some(servers) = top.get(outer)? else {
        let all = Map::from_iter([(name.to_owned(), Value::Object(entry.clone()))]);
        return Ok(top.with(text, outer, &Value::Object(all)));
    };
    let servers = object_at(text, servers.start).map_err(|_| format!("`{outer}` is not an object"))?;
    let Some(there) = servers.get(name)? else {
        return Ok(servers.with(text, name, &Value::Object(entry.clone())));
    };
    let old: Value = text
        .get(there.clone())
        .and_then(|text| serde_json::from_str(text).ok())
        .ok_or_else(|| format!("`{outer}.{name}` is not plain JSON"))?;
    let Value::Object(mut server) = old.clone() else {
        return Err(format!("`{outer}.{name}` is not an object"));
    };
    server.extend(entry.clone());
    let new = Value::Object(server);
    if new == old {
        return Ok(text.to_owned());
    }
    let indent = indent_of(text, there.start);
    Ok(spliced(text, there, &pretty(&new, &indent)))
}

fn spliced(text: &str, range: Range<usize>, with: &str) -> String {
    let before = text.get(..range.start).unwrap_or_default();
    let after = text.get(range.end..).unwrap_or_default();
    format!("{before}{with}{after}")
}

/// The space at the beginning of the line.
fn indent_of(text: &str, at: usize) -> String {
    let line = text
        .get(..at)
        .unwrap_or_default()
        .rsplit('\n')
        .next()
        .unwrap_or_default();
    line.chars().take_while(|c| *c == ' ' || *c == '\t').collect()
}

fn pretty(value: &Value, indent: &str) -> String {
    // A map of texts, numbers and lists: printing it cannot fail.
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.replace('\n', &format!("\n{indent}"))
}

/// Where things are in an object.
struct Object {
    members: Vec<(String, Range<usize>)>,
    open: usize,
    close: usize,
    /// After the last value, and its comma if it has one.
    end: usize,
    has_last_comma: bool,
}

impl Object {
    fn get(&self, name: &str) -> Result<Option<Range<usize>>, String> {
        let mut found = self.members.iter().filter(|(key, _)| key == name);
        let first = found.next().map(|(_, value)| value.clone());
        if found.next().is_some() {
            return Err(format!("`{name}` is there twice"));
        }
        Ok(first)
    }

    /// The text with one more member at the end.
    fn with(&self, text: &str, key: &str, value: &Value) -> String {
        let outer = indent_of(text, self.open);
        let inner = match self.members.first() {
            Some((_, first)) if text.get(self.open..first.start).is_some_and(|gap| gap.contains('\n')) => {
                indent_of(text, first.start)
            }
            Some(_) | None => format!("{outer}  "),
        };
        let member = format!("{}: {}", Value::from(key), pretty(value, &inner));
        if self.members.is_empty() {
            // Comments in an empty object stay in front.
            let gap = text.get(self.open + 1..self.close).unwrap_or_default().trim_end();
            return spliced(
                text,
                self.open + 1..self.close,
                &format!("{gap}\n{inner}{member}\n{outer}"),
            );
        }
        let comma = if self.has_last_comma { "" } else { "," };
        let tail = text.get(self.end..self.close).unwrap_or_default();
        let rest = if tail.contains('\n') {
            String::new()
        } else {
            format!("\n{outer}")
        };
        spliced(text, self.end..self.end, &format!("{comma}\n{inner}{member}{rest}"))
    }
}

fn object_at(text: &str, at: usize) -> Result<Object, String> {
    let mut scan = Scan::after(text, at);
    let open = scan.expect(b'{')?;
    let mut object = Object {
        members: Vec::new(),
        open,
        close: open,
        end: open + 1,
        has_last_comma: false,
    };
    loop {
        match scan.next_byte() {
            Some(b'}') => {
                object.close = scan.at;
                return Ok(object);
            }
            Some(b'"') if object.members.is_empty() || object.has_last_comma => {}
            Some(_) | None => return Err(scan.lost()),
        }
        let key = scan.string()?;
        let key: String = text
            .get(key)
            .and_then(|key| serde_json::from_str(key).ok())
            .ok_or_else(|| scan.lost())?;
        scan.expect(b':')?;
        let value = scan.value()?;
        object.end = value.end;
        object.members.push((key, value));
        object.has_last_comma = scan.next_byte() == Some(b',');
        if object.has_last_comma {
            scan.at += 1;
            object.end = scan.at;
        }
    }
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scan<'a> {
    fn after(text: &'a str, at: usize) -> Self {
        Self { text, at }
    }

    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn lost(&self) -> String {
        let line = self
            .text
            .as_bytes()
            .iter()
            .take(self.at)
            .filter(|&&byte| byte == b'\n')
            .count()
            + 1;
        format!("it is not JSON from line {line} on")
    }

    /// The next byte that is neither space nor comment, where it stands.
    fn next_byte(&mut self) -> Option<u8> {
        loop {
            let rest = self.rest();
            let skipped = match rest {
                [b' ' | b'\t' | b'\n' | b'\r', ..] => 1,
                [0xEF, 0xBB, 0xBF, ..] if self.at == 0 => 3,
                [b'/', b'/', ..] => rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len()),
                [b'/', b'*', after @ ..] => after.windows(2).position(|two| two == b"*/")? + 4,
                [byte, ..] => return Some(*byte),
                [] => return None,
            };
            self.at += skipped;
        }
    }

    fn expect(&mut self, byte: u8) -> Result<usize, String> {
        if self.next_byte() != Some(byte) {
            return Err(self.lost());
        }
        self.at += 1;
        Ok(self.at - 1)
    }

    fn string(&mut self) -> Result<Range<usize>, String> {
        let start = self.expect(b'"')?;
        loop {
            match self.rest() {
                [b'\\', _, ..] => self.at += 2,
                [b'"', ..] => {
                    self.at += 1;
                    return Ok(start..self.at);
                }
                [b'\n', ..] | [] => return Err(self.lost()),
                [_, ..] => self.at += 1,
            }
        }
    }

    /// The place of one value; what is in it is only looked at for where it ends.
    fn value(&mut self) -> Result<Range<usize>, String> {
        self.next_byte();
        let start = self.at;
        let mut open = Vec::new();
        loop {
            match self.next_byte().ok_or_else(|| self.lost())? {
                b'"' => drop(self.string()?),
                brace @ (b'{' | b'[') if open.len() < DEEPEST => {
                    open.push(if brace == b'{' { b'}' } else { b']' });
                    self.at += 1;
                }
                brace @ (b'}' | b']') if open.last() == Some(&brace) => {
                    open.pop();
                    self.at += 1;
                }
                b',' | b':' if !open.is_empty() => self.at += 1,
                byte if byte.is_ascii_alphanumeric() || byte == b'-' => {
                    let word = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
                    self.at += self.rest().iter().take_while(|byte| word(byte)).count();
                }
                _ => return Err(self.lost()),
            }
            if open.is_empty() {
                return Ok(start..self.at);
            }
        }
    }
}
