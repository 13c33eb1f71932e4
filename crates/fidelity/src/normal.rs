//! Answers without what is a server's own affair: uids, revisions, times, addresses, ports, generated names.
//!
//! What is taken out is numbered in the order in which it appears, so that two answers that speak of the same revision or
//! uid still do, and two that speak of different ones do not.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Map, Value, json};

use crate::kinds;
use crate::server::Answer;

/// What was taken out of one server's answers in one sequence.
#[derive(Clone, Debug, Default)]
pub struct Naming {
    numbers: BTreeMap<&'static str, BTreeMap<String, usize>>,
}

static UID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
        .expect("it is an expression")
});
static TIME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b20(?:2[6-9]|[3-9]\d)-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z").expect("it is an expression")
});
static ADDRESS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b10\.0\.0\.(?:25[0-5]|2[0-4]\d|1?\d?\d)\b").expect("it is an expression"));
/// The names that sequences let the server make up.
static GENERATED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b((?:[a-z0-9-]*gen-)|Bad_)([bcdfghjklmnpqrstvwxz2456789]{5})\b")
        .expect("it is an expression")
});
static AGE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\d+[smhd](?:\d+[smhd])?$").expect("it is an expression"));
/// A port of a node in a cell.
static PORT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r":3\d{4}/").expect("it is an expression"));
static NUMBER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b\d+\b").expect("it is an expression"));
/// Where a message speaks of revisions.
static REVISIONS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:resource ?version:? |ResourceVersion in \w+(?: \w+)?:? )[^.,]*(?:, current: \d+)?")
        .expect("it is an expression")
});

/// Below which key a server keeps everything.
static ROOT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\bKey: /\w+/").expect("it is an expression"));

impl Naming {
    /// An answer without what is the server's own.
    #[must_use]
    pub fn answer(&mut self, answer: &Answer) -> Answer {
        let mut body = answer.body.clone();
        self.object(&mut body);
        let mut warnings: Vec<String> = answer.warnings.iter().map(|warning| self.text(warning)).collect();
        // Fields that nobody knows are told in the order of the text, of which a tree is all that is left.
        warnings.sort_by_key(|warning| warning.starts_with("unknown field").then(|| warning.clone()));
        Answer { code: answer.code, media: answer.media.clone(), warnings, body }
    }

    /// An event of a watch without what is the server's own.
    #[must_use]
    pub fn event(&mut self, event: &Value) -> Value {
        let mut event = event.clone();
        if event["type"] == "BOOKMARK" {
            // How far the server has come when it marks it, and the zeros of its kind, are its own affair.
            let annotations = event.pointer("/object/metadata/annotations").cloned();
            event["object"] =
                json!({"kind": event["object"]["kind"], "metadata": {"annotations": annotations}});
        }
        if let Some(object) = event.get_mut("object") {
            self.object(object);
        }
        event
    }

    /// An object, a list, a table or a Status.
    fn object(&mut self, object: &mut Value) {
        let list = object.get("items").is_some() || object.get("rows").is_some();
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut).filter(|_| list) {
            metadata.insert("resourceVersion".to_owned(), "<revision>".into());
            if metadata.get("continue").is_some_and(|token| token != "") {
                metadata.insert("continue".to_owned(), "<continue>".into());
            }
        }
        let detail = |field: &str| {
            object["details"][field].as_str().filter(|_| object["kind"] == "Status").unwrap_or_default()
        };
        if is_custom(detail("group")) || matches!(detail("kind"), "ConfigMap" | "Secret") {
            any_order(object);
        }
        if let Some(items) = object.get_mut("items").and_then(Value::as_array_mut) {
            self.generated_in_order(items);
        }
        if let Some(rows) = object.get_mut("rows").and_then(Value::as_array_mut) {
            rows.iter_mut().for_each(age);
        }
        self.value(object, "");
    }

    /// Objects whose names are made up come in the order of their names: here in that in which they were made.
    fn generated_in_order(&mut self, items: &mut [Value]) {
        let is_generated = |item: &Value| item.pointer("/metadata/generateName").is_some();
        let places: Vec<usize> = (0..items.len()).filter(|at| is_generated(&items[*at])).collect();
        let mut found: Vec<(String, Value)> = places
            .iter()
            .map(|at| {
                let uid = items[*at].pointer("/metadata/uid").and_then(Value::as_str).unwrap_or_default();
                (self.uid(uid), items[*at].clone())
            })
            .collect();
        found.sort_by(|(one, _), (other, _)| (one.len(), one).cmp(&(other.len(), other)));
        for (at, (_, item)) in places.into_iter().zip(found) {
            items[at] = item;
        }
    }

    fn value(&mut self, value: &mut Value, key: &str) {
        match value {
            Value::Object(map) => self.map(map),
            Value::Array(items) => {
                if key == "causes" {
                    once(items);
                }
                if key == "managedFields" {
                    // Their order depends on the second in which they were written.
                    items.sort_by_key(owner);
                }
                for item in items {
                    self.value(item, key);
                }
            }
            Value::String(text) => {
                *text = match key {
                    "resourceVersion" if text != "<revision>" => self.number("revision", text),
                    "message" => self.message(text),
                    _ => self.text(text),
                }
            }
            Value::Number(number) if key.ends_with("odePort") && number.as_u64() >= Some(30_000) => {
                *value = "<port>".into();
            }
            _ => {}
        }
    }

    fn map(&mut self, map: &mut Map<String, Value>) {
        for (key, value) in map.iter_mut() {
            self.value(value, key);
        }
    }

    fn message(&mut self, text: &str) -> String {
        let spoken = REVISIONS.replace_all(text, |found: &Captures<'_>| {
            NUMBER.replace_all(&found[0], "<revision>").into_owned()
        });
        self.text(&undeclared(in_order(&ROOT.replace_all(&spoken, "Key: /<root>/"))))
    }

    fn text(&mut self, text: &str) -> String {
        let text = UID.replace_all(text, |found: &Captures<'_>| self.uid(&found[0])).into_owned();
        let text = TIME.replace_all(&text, "<time>").into_owned();
        let text = ADDRESS.replace_all(&text, "<address>").into_owned();
        GENERATED
            .replace_all(&text, |found: &Captures<'_>| {
                format!("{}{}", &found[1], self.number("generated", &found[2]))
            })
            .into_owned()
    }

    /// Those that requests make up are told as they are.
    fn uid(&mut self, uid: &str) -> String {
        if uid.starts_with("00000000-") || uid.starts_with("11111111-") {
            return uid.to_owned();
        }
        self.number("uid", uid)
    }

    fn number(&mut self, what: &'static str, found: &str) -> String {
        let known = self.numbers.entry(what).or_default();
        let next = known.len() + 1;
        let number = known.entry(found.to_owned()).or_insert(next);
        format!("<{what} {number}>")
    }
}

/// How often kube-apiserver finds the same cause depends on how many of its checks look there.
fn once(causes: &mut Vec<Value>) {
    let mut seen: Vec<Value> = Vec::new();
    for cause in std::mem::take(causes) {
        if !seen.contains(&cause) {
            seen.push(cause);
        }
    }
    if seen.iter().any(|cause| cause["reason"] == "FieldManagerConflict") {
        // Go tells them in the order of a map, which is another one each time.
        seen.sort_by_key(Value::to_string);
    }
    *causes = seen;
}

/// Lines that tell one error each come in the order of one of Go's maps, which is another one each time.
fn in_order(text: &str) -> String {
    let Some((head, errors)) = text.split_once("errors:\n") else { return text.to_owned() };
    let mut lines: Vec<&str> = errors.split('\n').collect();
    lines.sort_unstable();
    format!("{head}errors:\n{}", lines.join("\n"))
}

/// Where a configuration has a field that nobody knows, the fields beside it that come after it in one of Go's maps are
/// not looked at any more: only what nobody knows is told each time.
fn undeclared(text: String) -> String {
    const UNKNOWN: &str = ": field not declared in schema";
    let Some((head, errors)) = text.split_once("errors:\n").filter(|_| text.contains(UNKNOWN)) else {
        return text;
    };
    let unknown: Vec<&str> =
        errors.split('\n').filter(|error| error.ends_with(UNKNOWN)).map(str::trim_start).collect();
    format!("{head}{}", unknown.join("\n"))
}

fn is_custom(group: &str) -> bool {
    kinds::all().iter().any(|kind| kind.custom && kind.group == group)
}

/// What is wrong with a custom resource, or with the keys of a map, is found in the order of Go's maps.
fn any_order(status: &mut Value) {
    if let Some(causes) = status.pointer_mut("/details/causes").and_then(Value::as_array_mut) {
        causes.sort_by_key(Value::to_string);
    }
    let message = status["message"].as_str().unwrap_or_default();
    if let Some((head, many)) = message.split_once(" is invalid: [") {
        let mut parts: Vec<&str> = many.trim_end_matches(']').split(", ").collect();
        parts.sort_unstable();
        status["message"] = format!("{head} is invalid: [{}]", parts.join(", ")).into();
    }
}

fn owner(entry: &Value) -> String {
    let text = |field: &str| entry[field].as_str().unwrap_or_default().to_owned();
    [text("operation"), text("manager"), text("subresource"), text("apiVersion")].join("\n")
}

/// How old something is depends on when it is asked.
fn age(row: &mut Value) {
    for cell in row["cells"].as_array_mut().into_iter().flatten() {
        let Some(text) = cell.as_str() else { continue };
        if AGE.is_match(text) {
            *cell = "<age>".into();
        } else if PORT.is_match(text) {
            *cell = PORT.replace_all(text, ":<port>/").into_owned().into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(body: Value) -> Answer {
        Answer { code: 200, media: "application/json".to_owned(), warnings: Vec::new(), body }
    }

    #[test]
    fn what_is_the_servers_own_is_numbered() {
        let mut naming = Naming::default();
        let object = |revision: &str| {
            answer(json!({"metadata": {
                "name": "gen-x2x2x", "generateName": "gen-", "resourceVersion": revision,
                "uid": "5b9a2f6e-0001-4001-8001-aaaaaaaaaaaa", "creationTimestamp": "2026-11-21T11:00:00Z",
            }, "spec": {"clusterIP": "10.0.0.7", "ports": [{"port": 80, "nodePort": 31000}]}}))
        };
        let want = |revision: &str| {
            json!({"metadata": {
                "name": "gen-<generated 1>", "generateName": "gen-", "resourceVersion": revision,
                "uid": "<uid 1>", "creationTimestamp": "<time>",
            }, "spec": {"clusterIP": "<address>", "ports": [{"port": 80, "nodePort": "<port>"}]}})
        };
        assert_eq!(naming.answer(&object("7")).body, want("<revision 1>"));
        assert_eq!(naming.answer(&object("9")).body, want("<revision 2>"));
        assert_eq!(naming.answer(&object("7")).body, want("<revision 1>"));
    }

    #[test]
    fn lists_tables_and_messages_speak_of_revisions_of_their_own() {
        let mut naming = Naming::default();
        let table = [
            (
                json!({"metadata": {"resourceVersion": "5", "continue": "abc"}, "items": []}),
                json!({"metadata": {"resourceVersion": "<revision>", "continue": "<continue>"}, "items": []}),
            ),
            (
                json!({"metadata": {"resourceVersion": "5"}, "rows": [{"cells": ["a", 2, "3m10s"]}]}),
                json!({"metadata": {"resourceVersion": "<revision>"}, "rows": [{"cells": ["a", 2, "<age>"]}]}),
            ),
            (
                json!({"message": "bad: errors:\n  .b: unfit\n  .a: field not declared in schema"}),
                json!({"message": "bad: .a: field not declared in schema"}),
            ),
            (
                json!({"message": "too old resource version: 1 (204), so"}),
                json!({"message": "too old resource version: <revision> (<revision>), so"}),
            ),
            (
                json!({"message": "the ResourceVersion in the precondition (3) does not match the ResourceVersion in record (8). It 5"}),
                json!({"message": "the ResourceVersion in the precondition (<revision>) does not match the ResourceVersion in record (<revision>). It 5"}),
            ),
        ];
        for (told, want) in table {
            assert_eq!(naming.answer(&answer(told)).body, want);
        }
    }

    #[test]
    fn owners_are_told_in_an_order_that_time_does_not_change() {
        let fields = |owners: &[&str]| {
            let owners: Vec<Value> = owners
                .iter()
                .map(|owner| json!({"manager": owner, "operation": "Update", "time": "2026-11-21T11:00:00Z"}))
                .collect();
            answer(json!({"metadata": {"managedFields": owners}}))
        };
        assert_eq!(
            Naming::default().answer(&fields(&["b", "a"])),
            Naming::default().answer(&fields(&["a", "b"]))
        );
    }
}
