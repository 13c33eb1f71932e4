//! Patterns of map keys: `--audit-log-*` matches every key that begins so.

use serde_json::{Map, Value};

/// Whether a map has a key that matches one of these patterns.
pub(super) fn any(patterns: &[String], value: Option<&Value>) -> bool {
    let Some(Value::Object(map)) = value else { return false };
    map.keys().any(|key| is_one_of(patterns, key))
}

/// A map without the keys that match one of these patterns.
pub(super) fn without(patterns: &[String], map: &Map<String, Value>) -> Map<String, Value> {
    let left = map.iter().filter(|(key, _)| !is_one_of(patterns, key));
    left.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// The part of a map whose keys match these patterns; `None` if there is no such key.
pub(super) fn only(patterns: &[String], value: Option<&Value>) -> Option<Value> {
    let Some(Value::Object(map)) = value else { return None };
    let fits = map.iter().filter(|(key, _)| is_one_of(patterns, key));
    let fits: Map<String, Value> = fits.map(|(key, value)| (key.clone(), value.clone())).collect();
    (!fits.is_empty()).then_some(Value::Object(fits))
}

/// A key that matches this pattern.
pub(super) fn sample(pattern: &str) -> String {
    pattern.replace('*', "x")
}

fn is_one_of(patterns: &[String], key: &str) -> bool {
    patterns.iter().any(|pattern| is_like(pattern, key))
}

/// Whether a name matches a pattern, in which `*` matches any characters.
#[must_use]
pub fn is_like(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let (between, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in between.split('*') {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_star_is_the_only_wildcard() {
        let flags = json!({"--audit-log-path": "a", "--port": "1"});
        for (pattern, found) in [
            ("--audit-log-*", true),
            ("--audit-*-path", true),
            ("*", true),
            ("--port", true),
            ("--por", false),
            ("--audit.log-path", false),
            ("--ports*", false),
            ("--audit-log-path*-path", false),
            ("*log*audit*", false),
            ("*audit*log*", true),
        ] {
            let patterns = [pattern.to_owned()];
            assert_eq!(any(&patterns, Some(&flags)), found, "{pattern}");
            let left = without(&patterns, flags.as_object().expect("a map"));
            assert_eq!(left.len() < 2, found, "{pattern}");
            assert!(any(&patterns, Some(&json!({sample(pattern): "x"}))), "{pattern}");
        }
        assert!(!any(&["*".to_owned()], None));
        assert!(!any(&["*".to_owned()], Some(&json!("--port"))));
    }
}
