//! What an unquoted word means.
//!
//! Pure.

use crate::yaml::Value;

/// An unquoted word by the core schema of YAML 1.2. A number with a leading zero is text: some read it as octal.
pub(crate) fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Value::Float(f64::NAN),
        _ => {}
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    match digits {
        ".inf" | ".Inf" | ".INF" if text.starts_with('-') => return Value::Float(f64::NEG_INFINITY),
        ".inf" | ".Inf" | ".INF" => return Value::Float(f64::INFINITY),
        _ => {}
    }
    let leading_zero =
        digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.") && !digits.starts_with("0e");
    let numeric = digits
        .bytes()
        .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'-' | b'+'))
        && digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if leading_zero || !numeric {
        return Value::Text(text.to_owned());
    }
    match (text.parse::<i128>(), text.parse::<f64>()) {
        (Ok(int), _) => Value::Int(int),
        (Err(_), Ok(float)) => Value::Float(float),
        (Err(_), Err(_)) => Value::Text(text.to_owned()),
    }
}
