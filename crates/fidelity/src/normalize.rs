//! Normalizes answers: replaces uids, revisions, times, addresses, ports and generated names, which differ between servers.
//!
//! Replaced values are numbered in the order in which they appear, so that equal ones stay equal, and different ones stay
//! different.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Map, Value, json};

use crate::generated_names::RandomEndings;
use crate::kinds;
use crate::server::ServerAnswer;

/// Normalizes one server's answers in one sequence.
#[derive(Clone, Debug, Default)]
pub struct Normalizer {
    numbers: BTreeMap<&'static str, BTreeMap<String, usize>>,
    /// The addresses and ports of each object, by its uid.
    allocations: BTreeMap<String, Allocations>,
    /// The object that is being normalized.
    owner: Option<Owner>,
    endings: RandomEndings,
}

/// The addresses and ports of an object, numbered in order of appearance. One that the object no longer has gets a new number
/// if it appears again.
#[derive(Clone, Debug, Default)]
struct Allocations {
    numbers: BTreeMap<String, usize>,
    last: usize,
}

/// The object that is being normalized, and the addresses and ports found in it so far.
#[derive(Clone, Debug)]
struct Owner {
    uid: String,
    found: BTreeSet<String>,
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
/// Names that the server generates.
static GENERATED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b((?:[a-z0-9-]*gen-)|Bad_)([bcdfghjklmnpqrstvwxz2456789]{5})\b")
        .expect("it is an expression")
});
static AGE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\d+[smhd](?:\d+[smhd])?$").expect("it is an expression"));
/// A node port in a table cell.
static PORT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r":3\d{4}/").expect("it is an expression"));
static NUMBER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b\d+\b").expect("it is an expression"));
/// Revisions in a message.
static REVISIONS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:resource ?version:? |ResourceVersion in \w+(?: \w+)?:? )[^.,]*(?:, current: \d+)?")
        .expect("it is an expression")
});

/// The revision of an object in a message.
static OWN_REVISION: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\bresourceVersion:(\d+)").expect("it is an expression"));
/// A quoted value in a message.
static QUOTED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"Invalid value: ("(?:[^"\\]|\\.)*"): "#).expect("it is an expression"));
/// An unquoted object in a message.
static UNQUOTED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"is missing in '(\{.*?\}|\[.*?\])'").expect("it is an expression"));
/// The root of etcd's keys in a message.
static ROOT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\bKey: /\w+/").expect("it is an expression"));

impl Normalizer {
    /// Normalizes an answer.
    #[must_use]
    pub fn answer(&mut self, answer: &ServerAnswer) -> ServerAnswer {
        let mut body = answer.body.clone();
        self.object(&mut body);
        let mut warnings: Vec<String> = answer.warnings.iter().map(|warning| self.text(warning)).collect();
        // kube-apiserver warns about unknown fields in the order of the sent text, which the embedded server does not keep.
        warnings.sort_by_key(|warning| warning.starts_with("unknown field").then(|| warning.clone()));
        ServerAnswer { code: answer.code, media: answer.media.clone(), warnings, body }
    }

    /// Normalizes an event of a watch.
    #[must_use]
    pub fn event(&mut self, event: &Value) -> Value {
        let mut event = event.clone();
        if event["type"] == "BOOKMARK" {
            // The revision of a bookmark, and the empty fields of its object, may differ.
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

    /// Numbers addresses and ports anew, for a stream that begins with earlier states of objects.
    pub fn restart_allocations(&mut self) {
        self.allocations.clear();
    }

    /// Normalizes an object, a list, a table or a Status.
    fn object(&mut self, object: &mut Value) {
        self.endings.learn(object);
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
        let has_map = matches!(detail("kind"), "ConfigMap" | "Secret" | "CustomResourceDefinition");
        if is_custom(detail("group")) || has_map {
            sort_causes(object);
        }
        if let Some(rows) = object.get_mut("rows").and_then(Value::as_array_mut) {
            rows.iter_mut().for_each(normalize_row);
        }
        self.value(object, "");
    }

    fn value(&mut self, value: &mut Value, key: &str) {
        match value {
            Value::Object(map) => self.map(map),
            Value::Array(items) => {
                if key == "causes" {
                    remove_duplicate_causes(items);
                }
                if key == "managedFields" {
                    // Their order depends on the second of the write.
                    items.sort_by_key(field_owner);
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
                *value = self.allocation("port", &number.to_string()).into();
            }
            _ => {}
        }
    }

    fn map(&mut self, map: &mut Map<String, Value>) {
        let uid = map.get("metadata").or_else(|| map.get("object")?.get("metadata"));
        let uid = uid.and_then(|metadata| metadata.get("uid")?.as_str()).map(str::to_owned);
        let outer = uid.map(|uid| self.owner.replace(Owner { uid, found: BTreeSet::new() }));
        for (key, value) in map.iter_mut() {
            self.value(value, key);
        }
        if let Some(outer) = outer
            && let Some(owner) = std::mem::replace(&mut self.owner, outer)
            && let Some(allocations) = self.allocations.get_mut(&owner.uid)
        {
            allocations.numbers.retain(|allocated, _| owner.found.contains(allocated));
        }
    }

    /// The replacement of an address or a port of the current object.
    fn allocation(&mut self, what: &str, found: &str) -> String {
        let Some(owner) = &mut self.owner else { return format!("<{what}>") };
        owner.found.insert(found.to_owned());
        let allocations = self.allocations.entry(owner.uid.clone()).or_default();
        let number = allocations.numbers.entry(found.to_owned()).or_insert_with(|| {
            allocations.last += 1;
            allocations.last
        });
        format!("<{what} {number}>")
    }

    fn message(&mut self, text: &str) -> String {
        let text = self.objects(text, &QUOTED, |quoted| serde_json::from_str(&as_json(quoted)).ok());
        let text = self.objects(&text, &UNQUOTED, |object| Some(object.to_owned()));
        let text = REVISIONS.replace_all(&text, |found: &Captures<'_>| {
            NUMBER.replace_all(&found[0], "<revision>").into_owned()
        });
        let text = OWN_REVISION.replace_all(&text, |found: &Captures<'_>| {
            format!("resourceVersion:{}", self.number("revision", &found[1]))
        });
        self.text(&undeclared_fields_only(sort_errors(&ROOT.replace_all(&text, "Key: /<root>/"))))
    }

    /// Normalizes the objects in a message, and sorts their fields.
    fn objects(&mut self, text: &str, at: &Regex, read: impl Fn(&str) -> Option<String>) -> String {
        let normalized = |found: &Captures<'_>| {
            let object = read(&found[1]).and_then(|text| formats::json::exact::<Value>(text.as_bytes()).ok());
            let Some(mut object) = object.filter(|object| object.is_object() || object.is_array()) else {
                return found[0].to_owned();
            };
            self.value(&mut object, "");
            found[0].replace(&found[1], &format!("\"{object}\""))
        };
        at.replace_all(text, normalized).into_owned()
    }

    fn text(&mut self, text: &str) -> String {
        let text = UID.replace_all(text, |found: &Captures<'_>| self.uid(&found[0])).into_owned();
        let text = TIME.replace_all(&text, |found: &Captures<'_>| match found.get(1) {
            // The precision depends on the field and must be equal.
            Some(fraction) => format!("<time.{}>", fraction.len()),
            None => "<time>".to_owned(),
        });
        let text = ADDRESS
            .replace_all(&text, |found: &Captures<'_>| self.allocation("address", &found[0]))
            .into_owned();
        let text = GENERATED
            .replace_all(&text, |found: &Captures<'_>| {
                format!("{}{}", &found[1], self.number("generated", &found[2]))
            })
            .into_owned();
        self.endings.within(&text).into_iter().fold(text, |text, ending| {
            let number = self.number("generated", &ending);
            text.replace(&ending, &number)
        })
    }

    /// The replacement of a uid; uids that requests contain stay.
    fn uid(&mut self, uid: &str) -> String {
        if uid.starts_with("00000000-") || uid.starts_with("11111111-") {
            return uid.to_owned();
        }
        self.number("uid", uid)
    }

    fn number(&mut self, what: &'static str, found: &str) -> String {
        let numbers = self.numbers.entry(what).or_default();
        let next = numbers.len() + 1;
        let number = numbers.entry(found.to_owned()).or_insert(next);
        format!("<{what} {number}>")
    }
}

/// The annotations of an event's object, which may be a table.
pub(crate) fn annotations(event: &Value) -> Option<&Value> {
    metadata_of(&event["object"]).get("annotations")
}

/// The metadata of an object, or of a table's first object.
pub(crate) fn metadata_of(object: &Value) -> &Value {
    object.pointer("/rows/0/object/metadata").unwrap_or(&object["metadata"])
}

fn has_revision(metadata: &Value) -> bool {
    metadata.get("resourceVersion").is_some_and(is_revision)
}

fn is_revision(value: &Value) -> bool {
    !matches!(value.as_str(), None | Some("" | "0"))
}

/// Removes duplicate causes: kube-apiserver reports a cause once for each of its checks that finds it.
fn remove_duplicate_causes(causes: &mut Vec<Value>) {
    let mut seen: Vec<Value> = Vec::new();
    for cause in std::mem::take(causes) {
        if !seen.contains(&cause) {
            seen.push(cause);
        }
    }
    if seen.iter().any(|cause| cause["reason"] == "FieldManagerConflict") {
        // kube-apiserver lists them in the order of a Go map, which is random.
        seen.sort_by_key(Value::to_string);
    }
    *causes = seen;
}

/// Sorts the lines after `errors:`, which kube-apiserver lists in the random order of a Go map.
fn sort_errors(text: &str) -> String {
    let Some((head, errors)) = text.split_once("errors:\n") else { return text.to_owned() };
    let mut lines: Vec<&str> = errors.split('\n').collect();
    lines.sort_unstable();
    format!("{head}errors:\n{}", lines.join("\n"))
}

/// Keeps only the parents of undeclared fields, if there are any: in each map, kube-apiserver stops at the first one in the random
/// order of a Go map, and so reports other fields of the map, and what is below them, only if they come earlier.
fn undeclared_fields_only(text: String) -> String {
    const UNKNOWN: &str = ": field not declared in schema";
    let alone = || text.rfind("): ").map(|at| (&text[..at + 2], &text[at + 3..]));
    let parts = text.split_once("errors:\n").or_else(alone).filter(|_| text.contains(UNKNOWN));
    let Some((head, errors)) = parts else { return text };
    let unknown: Vec<&str> =
        errors.split('\n').filter_map(|error| error.trim_start().strip_suffix(UNKNOWN)).collect();
    let depth = |field: &str| field.matches(['.', '[']).count();
    let least = unknown.iter().map(|field| depth(field)).min();
    let outermost = unknown.into_iter().filter(|field| Some(depth(field)) == least);
    let parents: BTreeSet<&str> =
        outermost.map(|field| field.rsplit_once('.').map_or("", |(parent, _)| parent)).collect();
    let shown: Vec<String> = parents.into_iter().map(|parent| format!("{parent}.*{UNKNOWN}")).collect();
    format!("{} {}", head.trim_end(), shown.join("\n"))
}

/// A text as Go quotes it, with the escapes of JSON.
fn as_json(quoted: &str) -> String {
    let mut json = String::with_capacity(quoted.len());
    let mut letters = quoted.chars();
    while let Some(letter) = letters.next() {
        json.push(letter);
        if letter != '\\' {
            continue;
        }
        match letters.next() {
            Some('x') => json.push_str("u00"),
            Some('a') => json.push_str("u0007"),
            Some('v') => json.push_str("u000b"),
            other => json.extend(other),
        }
    }
    json
}

fn is_custom(group: &str) -> bool {
    kinds::all().iter().any(|kind| kind.custom && kind.group == group)
}

/// Sorts the causes of an error about a custom resource, about keys of a map or about the fields of a schema, which come in the
/// random order of a Go map.
fn sort_causes(status: &mut Value) {
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

fn field_owner(entry: &Value) -> String {
    let text = |field: &str| entry[field].as_str().unwrap_or_default().to_owned();
    [text("operation"), text("manager"), text("subresource"), text("apiVersion")].join("\n")
}

/// Replaces ages and node ports in the cells of a table's row.
fn normalize_row(row: &mut Value) {
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

    fn answer(body: Value) -> ServerAnswer {
        ServerAnswer { code: 200, media: "application/json".to_owned(), warnings: Vec::new(), body }
    }

    #[test]
    fn quoted_objects_may_have_escapes_of_go() {
        let quoted = r#""{\"b\":\"\x7f\a\\x7f\",\"a\":1}""#;
        assert_eq!(as_json(quoted), r#""{\"b\":\"\u007f\u0007\\x7f\",\"a\":1}""#);
    }

    #[test]
    fn values_that_differ_between_servers_are_numbered() {
        let mut normalizer = Normalizer::default();
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
        assert_eq!(normalizer.answer(&object("7")).body, want("<revision 1>"));
        assert_eq!(normalizer.answer(&object("9")).body, want("<revision 2>"));
        assert_eq!(normalizer.answer(&object("7")).body, want("<revision 1>"));
    }

    #[test]
    fn generated_names_are_numbered_whatever_they_begin_with() {
        let refusal = |name: &str| {
            let message =
                format!("CronJob.batch {name:?} is invalid: metadata.name: Invalid value: {name:?}: no");
            let cause = json!({"field": "metadata.name", "message": format!("Invalid value: {name:?}: no")});
            let details = json!({"name": name, "group": "batch", "kind": "CronJob", "causes": [cause]});
            answer(json!({"kind": "Status", "message": message, "details": details}))
        };
        let object = |name: &str| {
            let metadata = json!({"name": name, "generateName": "any."});
            answer(json!({"items": [{"metadata": metadata, "involved": name}]}))
        };
        let normalized = |answer: &ServerAnswer| Normalizer::default().answer(answer).body;
        for begin in ["*/5 * * * *", "<&>", "cut \u{fffd}", "x"] {
            let [one, other] =
                ["x2x2x", "bcdfg"].map(|ending| normalized(&refusal(&format!("{begin}{ending}"))));
            assert_eq!(one, other, "{begin}");
            assert_eq!(one["details"]["name"], format!("{begin}<generated 1>"));
        }
        assert_eq!(normalized(&object("any.x2x2x")), normalized(&object("any.bcdfg")));
        assert_ne!(normalized(&refusal("absent")), normalized(&refusal("other")));
    }

    #[test]
    fn revisions_in_lists_tables_and_messages_are_not_numbered() {
        let mut normalizer = Normalizer::default();
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
                json!({"message": "bad: .*: field not declared in schema"}),
            ),
            (
                json!({"message": "bad (a/b; v1, Kind=C): .spec.x: field not declared in schema"}),
                json!({"message": "bad (a/b; v1, Kind=C): .spec.*: field not declared in schema"}),
            ),
            (
                json!({"message": "bad (v1): errors:\n  .spec.a.b: field not declared in schema\n  .spec.c: field not declared in schema"}),
                json!({"message": "bad (v1): .spec.*: field not declared in schema"}),
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
        for (body, want) in table {
            assert_eq!(normalizer.answer(&answer(body)).body, want);
        }
    }

    #[test]
    fn an_address_keeps_its_number_while_the_object_has_it() {
        let mut normalizer = Normalizer::default();
        let service = |uid: &str, address: &str, list: &str| {
            let spec = json!({"clusterIP": address, "clusterIPs": [list]});
            answer(json!({"metadata": {"uid": uid}, "spec": spec}))
        };
        let mut addresses_of = |uid: &str, address: &str, list: &str| {
            let body = normalizer.answer(&service(uid, address, list)).body;
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
            assert_eq!(addresses_of(uid, address, list), want, "{uid} {address}");
        }
    }

    #[test]
    fn bookmarks_keep_their_annotations_also_in_tables() {
        let metadata = json!({"resourceVersion": "7", "annotations": {"k8s.io/initial-events-end": "true"}});
        let plain = json!({"type": "BOOKMARK", "object": {"kind": "Pod", "metadata": metadata}});
        let table = json!({"type": "BOOKMARK", "object": {
            "kind": "Table", "columnDefinitions": null, "metadata": {}, "rows": [{"object": {"metadata": metadata}}],
        }});
        for event in [plain, table] {
            let normalized = Normalizer::default().event(&event);
            let want = json!({
                "kind": event["object"]["kind"], "tellsColumns": false,
                "metadata": {"resourceVersion": "<revision>", "annotations": {"k8s.io/initial-events-end": "true"}},
            });
            assert_eq!(normalized["object"], want);
        }
    }

    #[test]
    fn the_order_of_field_owners_does_not_depend_on_time() {
        let fields = |owners: &[&str]| {
            let owners: Vec<Value> = owners
                .iter()
                .map(|owner| json!({"manager": owner, "operation": "Update", "time": "2026-11-21T11:00:00Z"}))
                .collect();
            answer(json!({"metadata": {"managedFields": owners}}))
        };
        assert_eq!(
            Normalizer::default().answer(&fields(&["b", "a"])),
            Normalizer::default().answer(&fields(&["a", "b"]))
        );
    }
}
