//! Answers without what is a server's own affair: uids, revisions, times, addresses, ports, generated names.
//!
//! What is taken out is numbered in the order in which it appears, so that two answers that speak of the same revision or
//! uid still do, and two that speak of different ones do not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Map, Value, json};

use crate::kinds;
use crate::server::Answer;

/// What was taken out of one server's answers in one sequence.
#[derive(Clone, Debug, Default)]
pub struct Naming {
    numbers: BTreeMap<&'static str, BTreeMap<String, usize>>,
    /// What each object was given of what there is only so much of, by its uid.
    given: BTreeMap<String, Given>,
    /// The object that is looked at.
    owner: Option<Owner>,
}

/// Addresses and ports that an object shows, numbered as they came. One that it does not show any more may be given again.
#[derive(Clone, Debug, Default)]
struct Given {
    numbers: BTreeMap<String, usize>,
    last: usize,
}

/// An object while it is looked at.
#[derive(Clone, Debug)]
struct Owner {
    uid: String,
    shown: BTreeSet<String>,
}

static UID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
        .expect("it is an expression")
});
static TIME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b20(?:2[6-9]|[3-9]\d)-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(\d+))?Z").expect("it is an expression")
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

/// Where a message shows the revision of an object.
static OWN_REVISION: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\bresourceVersion:(\d+)").expect("it is an expression"));
/// A value that a message quotes.
static QUOTED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"Invalid value: ("(?:[^"\\]|\\.)*"): "#).expect("it is an expression"));
/// An object that a message shows as it is.
static SHOWN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"is missing in '(\{.*?\}|\[.*?\])'").expect("it is an expression"));
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
            let object = &event["object"];
            let mut metadata = json!({"annotations": annotations(&event)});
            if has_revision(metadata_of(object)) {
                metadata["resourceVersion"] = "<revision>".into();
            }
            let columns = object.get("columnDefinitions").is_some_and(Value::is_array);
            event["object"] = json!({"kind": object["kind"], "metadata": metadata, "tellsColumns": columns});
            return event;
        }
        if let Some(object) = event.get_mut("object") {
            self.object(object);
        }
        event
    }

    /// What was given to objects is numbered anew: what follows tells of them from the beginning.
    pub fn again(&mut self) {
        self.given.clear();
    }

    /// An object, a list, a table or a Status.
    fn object(&mut self, object: &mut Value) {
        let list = object.get("items").is_some() || object.get("rows").is_some();
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut).filter(|_| list) {
            if metadata.get("resourceVersion").is_some_and(is_revision) {
                metadata.insert("resourceVersion".to_owned(), "<revision>".into());
            }
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
        if let Some(rows) = object.get_mut("rows").and_then(Value::as_array_mut) {
            rows.iter_mut().for_each(age);
        }
        self.value(object, "");
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
                    "resourceVersion" if !matches!(text.as_str(), "" | "0" | "<revision>") => {
                        self.number("revision", text)
                    }
                    "message" => self.message(text),
                    _ => self.text(text),
                }
            }
            Value::Number(number) if key.ends_with("odePort") && number.as_u64() >= Some(30_000) => {
                *value = self.given("port", &number.to_string()).into();
            }
            _ => {}
        }
    }

    fn map(&mut self, map: &mut Map<String, Value>) {
        let uid = map.get("metadata").or_else(|| map.get("object")?.get("metadata"));
        let uid = uid.and_then(|metadata| metadata.get("uid")?.as_str()).map(str::to_owned);
        let outer = uid.map(|uid| self.owner.replace(Owner { uid, shown: BTreeSet::new() }));
        for (key, value) in map.iter_mut() {
            self.value(value, key);
        }
        if let Some(outer) = outer
            && let Some(owner) = std::mem::replace(&mut self.owner, outer)
            && let Some(given) = self.given.get_mut(&owner.uid)
        {
            given.numbers.retain(|found, _| owner.shown.contains(found));
        }
    }

    /// The number of what the object that is looked at was given.
    fn given(&mut self, what: &str, found: &str) -> String {
        let Some(owner) = &mut self.owner else { return format!("<{what}>") };
        owner.shown.insert(found.to_owned());
        let given = self.given.entry(owner.uid.clone()).or_default();
        let number = given.numbers.entry(found.to_owned()).or_insert_with(|| {
            given.last += 1;
            given.last
        });
        format!("<{what} {number}>")
    }

    fn message(&mut self, text: &str) -> String {
        let text = self.objects(text, &QUOTED, |quoted| serde_json::from_str(quoted).ok());
        let text = self.objects(&text, &SHOWN, |shown| Some(shown.to_owned()));
        let spoken = REVISIONS.replace_all(&text, |found: &Captures<'_>| {
            NUMBER.replace_all(&found[0], "<revision>").into_owned()
        });
        let spoken = OWN_REVISION.replace_all(&spoken, |found: &Captures<'_>| {
            format!("resourceVersion:{}", self.number("revision", &found[1]))
        });
        self.text(&undeclared(in_order(&ROOT.replace_all(&spoken, "Key: /<root>/"))))
    }

    /// A message with the objects in it as if they were answers: in an order of their own, without what is the server's.
    fn objects(&mut self, text: &str, at: &Regex, read: impl Fn(&str) -> Option<String>) -> String {
        let told = |found: &Captures<'_>| {
            let object = read(&found[1]).and_then(|text| serde_json::from_str::<Value>(&text).ok());
            let Some(mut object) = object.filter(|object| object.is_object() || object.is_array()) else {
                return found[0].to_owned();
            };
            self.value(&mut object, "");
            found[0].replace(&found[1], &format!("\"{object}\""))
        };
        at.replace_all(text, told).into_owned()
    }

    fn text(&mut self, text: &str) -> String {
        let text = UID.replace_all(text, |found: &Captures<'_>| self.uid(&found[0])).into_owned();
        let text = TIME.replace_all(&text, |found: &Captures<'_>| match found.get(1) {
            // How exact it is is a matter of the field.
            Some(fraction) => format!("<time.{}>", fraction.len()),
            None => "<time>".to_owned(),
        });
        let text =
            ADDRESS.replace_all(&text, |found: &Captures<'_>| self.given("address", &found[0])).into_owned();
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

/// The annotations of what an event tells of, a table or not.
pub(crate) fn annotations(event: &Value) -> Option<&Value> {
    metadata_of(&event["object"]).get("annotations")
}

/// The metadata of an object, or of the first one of a table.
pub(crate) fn metadata_of(object: &Value) -> &Value {
    object.pointer("/rows/0/object/metadata").unwrap_or(&object["metadata"])
}

fn has_revision(metadata: &Value) -> bool {
    metadata.get("resourceVersion").is_some_and(is_revision)
}

fn is_revision(value: &Value) -> bool {
    !matches!(value.as_str(), None | Some("" | "0"))
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
            }, "spec": {"clusterIP": "<address 1>", "ports": [{"port": 80, "nodePort": "<port 2>"}]}})
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
                json!({"metadata": {"resourceVersion": ""}, "items": []}),
                json!({"metadata": {"resourceVersion": ""}, "items": []}),
            ),
            (
                json!({"message": "Invalid value: \"{\\\"b\\\":1,\\\"a\\\":\\\"2026-11-21T11:00:00.123456Z\\\"}\": Object 'Kind' is missing in '{\"b\":1,\"a\":2}'"}),
                json!({"message": "Invalid value: \"{\"a\":\"<time.6>\",\"b\":1}\": Object 'Kind' is missing in '\"{\"a\":2,\"b\":1}\"'"}),
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
    fn what_an_object_was_given_is_numbered_while_it_shows_it() {
        let mut naming = Naming::default();
        let service = |uid: &str, address: &str, list: &str| {
            let spec = json!({"clusterIP": address, "clusterIPs": [list]});
            answer(json!({"metadata": {"uid": uid}, "spec": spec}))
        };
        let mut told = |uid: &str, address: &str, list: &str| {
            let body = naming.answer(&service(uid, address, list)).body;
            [&body["spec"]["clusterIP"], &body["spec"]["clusterIPs"][0]]
                .map(|text| text.as_str().unwrap().to_owned())
        };
        let table = [
            (("a", "10.0.0.7", "10.0.0.7"), ["<address 1>", "<address 1>"]),
            (("b", "10.0.0.8", "10.0.0.9"), ["<address 1>", "<address 2>"]),
            (("a", "10.0.0.7", "10.0.0.7"), ["<address 1>", "<address 1>"]),
            (("a", "", ""), ["", ""]),
            (("a", "10.0.0.7", "10.0.0.7"), ["<address 2>", "<address 2>"]),
        ];
        for ((uid, address, list), want) in table {
            assert_eq!(told(uid, address, list), want, "{uid} {address}");
        }
    }

    #[test]
    fn bookmarks_tell_what_they_mark_in_tables_too() {
        let metadata = json!({"resourceVersion": "7", "annotations": {"k8s.io/initial-events-end": "true"}});
        let plain = json!({"type": "BOOKMARK", "object": {"kind": "Pod", "metadata": metadata}});
        let table = json!({"type": "BOOKMARK", "object": {
            "kind": "Table", "columnDefinitions": null, "metadata": {}, "rows": [{"object": {"metadata": metadata}}],
        }});
        for event in [plain, table] {
            let told = Naming::default().event(&event);
            let want = json!({
                "kind": event["object"]["kind"], "tellsColumns": false,
                "metadata": {"resourceVersion": "<revision>", "annotations": {"k8s.io/initial-events-end": "true"}},
            });
            assert_eq!(told["object"], want);
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
