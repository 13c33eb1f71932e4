//! What is done and what must hold: `when` and `then` of one case.

use schema::{Kinds, Type};
use serde_json::{Map, Value};

use super::given::Assembly;
use super::report::{Report, nearest};
use super::tree::{Data, Span, Tree, Word};
use super::wanted;
use super::words::{CAUSE, OPERATIONS, REQUEST, THEN, WHEN};
use crate::case::{Cause, Then, When};
use crate::expect::{Expect, Operator, Rules};

/// What is done; cells are filled in, `admission` is one operation.
pub(crate) fn when(tree: &Tree, assembly: &Assembly<'_>) -> Option<When> {
    let report = assembly.report;
    known_keys(tree, "when", &WHEN, report)?;
    if let Some(collection) = tree.get("deleteCollection") {
        return delete_collection(tree, collection, report);
    }
    let remedy = "write `when: {admission: CREATE}`";
    let Some(admission) = tree.get("admission") else {
        report.add("missing-key", tree.span, "when says neither admission nor deleteCollection", remedy);
        return None;
    };
    let operation = admission.text().unwrap_or_default();
    if !OPERATIONS.contains(&operation) {
        report.add(
            "operation",
            admission.span,
            format!("{operation:?} is no operation"),
            nearest(operation, OPERATIONS),
        );
        return None;
    }
    let request = match tree.get("request") {
        Some(request) => overrides(request, assembly)?,
        None => Map::new(),
    };
    Some(When::Admission { operation: operation.to_owned(), request })
}

fn delete_collection(tree: &Tree, collection: &Tree, report: &Report<'_>) -> Option<When> {
    for beside in ["admission", "request"] {
        if let Some(value) = tree.get(beside) {
            report.add(
                "request",
                value.span,
                format!("{beside} has no meaning beside deleteCollection"),
                "leave one of the two out",
            );
        }
    }
    let name = collection.text().unwrap_or_default();
    let (plural, group) = name.split_once('.').unwrap_or((name, ""));
    let served =
        Kinds::gardener().resources().any(|resource| resource.plural == plural && resource.group == group);
    if !served {
        let known = Kinds::gardener().resources().filter(|resource| resource.group == group);
        let remedy = nearest(plural, known.map(|resource| resource.plural.as_str()));
        report.add("resource", collection.span, format!("{name:?} is no resource"), remedy);
    }
    served.then(|| When::DeleteCollection { resource: name.to_owned() })
}

/// Overridden fields of the request; null removes one.
fn overrides(tree: &Tree, assembly: &Assembly<'_>) -> Option<Map<String, Value>> {
    known_keys(tree, "request", &REQUEST, assembly.report)?;
    let mut fields = Map::new();
    for (key, value) in tree.map().unwrap_or_default() {
        let whole = matches!(key.name.as_str(), "object" | "oldObject") && value.get("like").is_some();
        let value = if whole { assembly.object(value)? } else { value.to_value() };
        fields.insert(key.name.clone(), value);
    }
    Some(fields)
}

/// What must hold; `object` is the kind of object that is answered.
pub(crate) fn then(tree: &Tree, object: &Rules, report: &Report<'_>) -> Option<Then> {
    let errors = report.count();
    known_keys(tree, "then", &THEN, report)?;
    let part = |name: &str| tree.get(name).filter(|part| !matches!(part.data, Data::Word(Word::Any)));
    let text = || Rules::new(text_type());
    let words = |name: &str| part(name).map(|part| wanted::read(part, &text(), report));
    let texts =
        || Rules::new(Type::from_openapi(&serde_json::json!({"type": "array", "items": {"type": "string"}})));
    let outcome = Then {
        object: part("object").map(|part| wanted::read(part, object, report)),
        allowed: part("allowed").and_then(|part| boolean("allowed", part, report)),
        code: part("code").and_then(|part| code(part, report)),
        reason: words("reason"),
        message: words("message"),
        causes: part("causes").map(|part| causes(part, report)),
        called: part("called").and_then(|part| boolean("called", part, report)),
        warnings: part("warnings").map(|part| wanted::read(part, &texts(), report)),
    };
    if report.count() == errors {
        check(tree, &outcome, report);
    }
    Some(outcome)
}

fn check(tree: &Tree, outcome: &Then, report: &Report<'_>) {
    let entries = tree.map().unwrap_or_default();
    if entries.is_empty()
        || outcome.object.as_ref().is_some_and(|object| asserts_nothing(object) && entries.len() == 1)
    {
        report.add("nothing-asserted", tree.span, "then asserts nothing", "say what must hold");
    }
    if let (Some(_), Some((other, _))) =
        (outcome.called, entries.iter().find(|(key, _)| key.name != "called"))
    {
        let message = format!("called asks the registration, {} asks the answer", other.name);
        report.add("called", other.span, message, "make two clauses of it");
    }
    let denied = outcome.causes.is_some();
    if let (true, Some((key, _))) =
        (denied && outcome.allowed == Some(true), entries.iter().find(|(key, _)| key.name == "allowed"))
    {
        report.add(
            "causes",
            key.span,
            "a request with causes is not allowed",
            "leave `allowed` out: `causes` implies it",
        );
    }
    if let (true, Some((key, _))) = (
        denied && outcome.code.is_some_and(|code| code != 422),
        entries.iter().find(|(key, _)| key.name == "code"),
    ) {
        report.add(
            "causes",
            key.span,
            "a request with causes is answered with 422",
            "leave `code` out: `causes` implies it",
        );
    }
}

fn asserts_nothing(expect: &Expect) -> bool {
    match expect {
        Expect::Operator(Operator::Any) => true,
        Expect::Map(fields) => fields.values().all(asserts_nothing),
        Expect::Keyed { items, .. } => items.iter().all(|item| asserts_nothing(&item.expect)),
        _ => false,
    }
}

fn text_type() -> Type {
    Type::from_openapi(&serde_json::json!({"type": "string"}))
}

fn boolean(name: &str, tree: &Tree, report: &Report<'_>) -> Option<bool> {
    let value = match tree.data {
        Data::Scalar(Value::Bool(value)) => Some(value),
        _ => None,
    };
    if value.is_none() {
        report.add("type", tree.span, format!("{name} is true or false"), "unquoted");
    }
    value
}

fn code(tree: &Tree, report: &Report<'_>) -> Option<u16> {
    let code = match &tree.data {
        Data::Scalar(Value::Number(number)) => number.as_u64().and_then(|code| u16::try_from(code).ok()),
        _ => None,
    };
    let code = code.filter(|code| (100..600).contains(code));
    if code.is_none() {
        report.add("type", tree.span, "code is an HTTP status", "write `code: 403`");
    }
    code
}

fn causes(tree: &Tree, report: &Report<'_>) -> Vec<Cause> {
    let Some(items) = tree.list() else {
        report.add("type", tree.span, "causes is a list", "write `[{field: …, reason: …, message: …}]`");
        return Vec::new();
    };
    items.iter().filter_map(|item| cause(item, report)).collect()
}

fn cause(tree: &Tree, report: &Report<'_>) -> Option<Cause> {
    known_keys(tree, "a cause", &CAUSE, report)?;
    let part = |name: &str| tree.get(name).map(|part| wanted::read(part, &Rules::new(text_type()), report));
    let Some(field) = tree.get("field").and_then(Tree::text) else {
        report.add("missing-key", tree.span, "a cause names its field", "write `field: spec.pools[0].name`");
        return None;
    };
    Some(Cause { field: field.to_owned(), reason: part("reason"), message: part("message") })
}

/// Notes keys that are not known; absent for what is no map.
pub(crate) fn known_keys(tree: &Tree, what: &str, known: &[&str], report: &Report<'_>) -> Option<()> {
    let Some(entries) = tree.map() else {
        report.add("type", tree.span, format!("{what} is a map"), "");
        return None;
    };
    for (key, _) in entries.iter().filter(|(key, _)| !known.contains(&key.name.as_str())) {
        let span: Span = key.span;
        report.add(
            "unknown-key",
            span,
            format!("{what} has no key {:?}", key.name),
            nearest(&key.name, known.iter().copied()),
        );
    }
    Some(())
}
