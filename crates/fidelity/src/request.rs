//! Requests and sequences of requests, as data.
//!
//! Texts contain *placeholders*, which are filled from each server's answers: `${ns}`, and for an object or a collection
//! `${rv configmaps/a}`, `${stale configmaps/a}`, `${uid configmaps/a}`, `${revision configmaps}`,
//! `${continue configmaps}`; in them, `$ns` stands for the namespace. So a sequence stays meaningful when requests are removed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Requests that are sent one after the other, in their own namespace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Sequence {
    /// What the sequence is about.
    pub name: String,
    /// The requests in order.
    pub requests: Vec<Request>,
}

/// One request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Request {
    /// `GET`, `POST`, `PUT`, `PATCH`, `DELETE`.
    pub method: String,
    /// `/api/v1/namespaces/${ns}/configmaps/a`.
    pub path: String,
    /// Parameters, not yet encoded.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub query: BTreeMap<String, String>,
    /// The media type of the body; `application/json` if absent and there is a body.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub media: Option<String>,
    /// The header `Accept`; `application/json` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept: Option<String>,
    /// The user to impersonate; an administrator if absent.
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
}

/// The body of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Body {
    /// JSON.
    Json(Value),
    /// Any text.
    Text(String),
    /// The last seen state of an object, with changes.
    Seen(LastSeen),
    /// A meaningless JSON object of about this many bytes.
    Filler(usize),
}

/// The last seen state of an object with changes, as of a client that reads, changes and writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LastSeen {
    /// `configmaps/a`, `clusterroles/$ns-a`; an object that no answer contained is empty.
    pub object: String,
    /// Values to set, by JSON pointer; null removes.
    #[serde(default)]
    pub set: BTreeMap<String, Value>,
}

impl Request {
    /// A parameter of the query; empty if absent.
    #[must_use]
    pub fn parameter(&self, name: &str) -> &str {
        self.query.get(name).map_or("", String::as_str)
    }

    /// Encodes a query whose placeholders are filled.
    #[must_use]
    pub fn encoded(query: &BTreeMap<String, String>) -> String {
        let pair = |(key, value): (&String, &String)| format!("{}={}", percent(key), percent(value));
        query.iter().map(pair).collect::<Vec<_>>().join("&")
    }
}

/// Sets a value at a JSON pointer and creates missing objects on the way; null removes. Does nothing if the pointer leads through
/// a scalar or a missing element.
pub fn set(target: &mut Value, pointer: &str, value: &Value) {
    let steps: Vec<String> =
        pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
    let Some((last, parents)) = steps.split_last() else { return };
    if let Some(at) = descend(target, parents, !value.is_null()) {
        put(at, last, value);
    }
}

/// The value at a path; creates missing objects if `create`.
fn descend<'a>(at: &'a mut Value, steps: &[String], create: bool) -> Option<&'a mut Value> {
    let Some((step, rest)) = steps.split_first() else { return Some(at) };
    let next = match at {
        Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?)?,
        Value::Object(map) => {
            if create {
                map.entry(step.as_str()).or_insert_with(|| Value::Object(Map::new()))
            } else {
                map.get_mut(step)?
            }
        }
        _ => return None,
    };
    descend(next, rest, create)
}

fn put(at: &mut Value, last: &str, value: &Value) {
    match at {
        Value::Object(map) if value.is_null() => {
            map.remove(last);
        }
        Value::Object(map) => {
            map.insert(last.to_owned(), value.clone());
        }
        Value::Array(items) => match last.parse::<usize>() {
            Ok(index) if index < items.len() && value.is_null() => {
                items.remove(index);
            }
            Ok(index) if index < items.len() => items[index] = value.clone(),
            Ok(_) if !value.is_null() => items.push(value.clone()),
            _ => {}
        },
        _ => {}
    }
}

/// Percent-encodes all bytes that may have a special meaning.
pub(crate) fn percent(text: &str) -> String {
    use std::fmt::Write as _;
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn set_changes_creates_and_removes() {
        let table = [
            ("/a/b", json!(1), json!({"a": {"b": 1}, "l": [1, 2]})),
            ("/l/0", json!(9), json!({"a": {}, "l": [9, 2]})),
            ("/l/7", json!(3), json!({"a": {}, "l": [1, 2, 3]})),
            ("/l/1", Value::Null, json!({"a": {}, "l": [1]})),
            ("/a", Value::Null, json!({"l": [1, 2]})),
            ("/x/y/z", Value::Null, json!({"a": {}, "l": [1, 2]})),
            ("/l/0/deep", json!(1), json!({"a": {}, "l": [1, 2]})),
            ("/x~1y", json!(1), json!({"a": {}, "l": [1, 2], "x/y": 1})),
        ];
        for (pointer, value, want) in table {
            let mut object = json!({"a": {}, "l": [1, 2]});
            set(&mut object, pointer, &value);
            assert_eq!(object, want, "{pointer} = {value}");
        }
    }

    #[test]
    fn queries_are_encoded() {
        let query = BTreeMap::from([("labelSelector".to_owned(), "a in (b,ä)".to_owned())]);
        assert_eq!(Request::encoded(&query), "labelSelector=a%20in%20%28b%2C%C3%A4%29");
    }
}
