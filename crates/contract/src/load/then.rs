//! Reads `then` of one case.

use schema::Type;
use serde_json::Value;

use super::expectation;
use super::keywords::{
    CAUSE, REVIEWS, THEN_ANSWER, THEN_CONFIGURATION, THEN_DECISION, THEN_PROCESS, THEN_REGISTRATION,
};
use super::report::{Report, nearest};
use super::tree::{BareWord, Span, Tree, TreeData};
use crate::case::{About, Cause, Review, Then};
use crate::expect::{Expect, Operator, Rules};

/// Reads `then`; `object` has the rules of the object that it asserts.
pub(crate) fn read(tree: &Tree, about: About, object: &Rules, report: &Report<'_>) -> Option<Then> {
    let errors = report.count();
    let known: &[&str] = match about {
        About::Answer | About::Emitted => &THEN_ANSWER,
        About::Registration => &THEN_REGISTRATION,
        About::Configuration => &THEN_CONFIGURATION,
        About::Decision => &THEN_DECISION,
        About::Process => &THEN_PROCESS,
    };
    known_keys(tree, "then", known, report)?;
    let part =
        |name: &str| tree.get(name).filter(|part| !matches!(part.data, TreeData::BareWord(BareWord::Any)));
    let text = || Rules::new(text_type());
    let words = |name: &str| part(name).map(|part| expectation::read(part, &text(), report));
    let texts =
        || Rules::new(Type::from_openapi(&serde_json::json!({"type": "array", "items": {"type": "string"}})));
    let outcome = Then {
        about,
        object: part(about.object()).map(|part| expectation::read(part, object, report)),
        allowed: part(about.allowed()).and_then(|part| boolean(about.allowed(), part, report)),
        code: part("code").and_then(|part| code(part, report)),
        reason: words("reason"),
        message: words("message"),
        causes: part("causes").map(|part| causes(part, report)),
        called: part("called").and_then(|part| boolean("called", part, report)),
        warnings: part("warnings").map(|part| expectation::read(part, &texts(), report)),
        review: part("review").and_then(|part| review(part, report)),
    };
    if report.count() == errors {
        check(tree, &outcome, report);
    }
    Some(outcome)
}

/// A version of the AdmissionReview.
pub(crate) fn review(tree: &Tree, report: &Report<'_>) -> Option<Review> {
    let text = tree.text().unwrap_or_default();
    let found = REVIEWS.iter().find(|(name, _)| *name == text).map(|(_, review)| *review);
    if found.is_none() {
        let message = format!("unknown version {text:?} of AdmissionReview");
        report.add("review", tree.span, message, nearest(text, REVIEWS.iter().map(|(name, _)| *name)));
    }
    found
}

fn check(tree: &Tree, outcome: &Then, report: &Report<'_>) {
    let entries = tree.map().unwrap_or_default();
    if entries.is_empty()
        || outcome.object.as_ref().is_some_and(|object| asserts_nothing(object) && entries.len() == 1)
    {
        report.add("nothing-asserted", tree.span, "then asserts nothing", "write what must hold");
    }
    if let (Some(_), Some((other, _))) =
        (outcome.called, entries.iter().find(|(key, _)| key.name != "called"))
    {
        let message = format!("called cannot be combined with {}", other.name);
        report.add(
            "called",
            other.span,
            message,
            "write two clauses: called is about the registration, the other keys are about the answer",
        );
    }
    let denied = outcome.causes.is_some();
    let allowed = outcome.about.allowed();
    if let (true, Some((key, _))) =
        (denied && outcome.allowed == Some(true), entries.iter().find(|(key, _)| key.name == allowed))
    {
        let message = format!("causes cannot be combined with `{allowed}: true`");
        report.add("causes", key.span, message, format!("remove `{allowed}`: `causes` implies false"));
    }
    if let (true, Some((key, _))) = (
        denied && outcome.code.is_some_and(|code| code != 422),
        entries.iter().find(|(key, _)| key.name == "code"),
    ) {
        report.add("causes", key.span, "causes implies the status 422", "remove `code`: `causes` implies it");
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

pub(crate) fn boolean(name: &str, tree: &Tree, report: &Report<'_>) -> Option<bool> {
    let value = match tree.data {
        TreeData::Scalar(Value::Bool(value)) => Some(value),
        _ => None,
    };
    if value.is_none() {
        report.add(
            "type",
            tree.span,
            format!("{name} must be a boolean"),
            "write `true` or `false`, without quotes",
        );
    }
    value
}

fn code(tree: &Tree, report: &Report<'_>) -> Option<u16> {
    let code = match &tree.data {
        TreeData::Scalar(Value::Number(number)) => number.as_u64().and_then(|code| u16::try_from(code).ok()),
        _ => None,
    };
    let code = code.filter(|code| (100..600).contains(code));
    if code.is_none() {
        report.add("type", tree.span, "code must be an HTTP status", "write `code: 403`");
    }
    code
}

fn causes(tree: &Tree, report: &Report<'_>) -> Vec<Cause> {
    let Some(items) = tree.list() else {
        report.add("type", tree.span, "causes must be a list", "write `[{field: …, reason: …, message: …}]`");
        return Vec::new();
    };
    items.iter().filter_map(|item| cause(item, report)).collect()
}

fn cause(tree: &Tree, report: &Report<'_>) -> Option<Cause> {
    known_keys(tree, "a cause", &CAUSE, report)?;
    let part =
        |name: &str| tree.get(name).map(|part| expectation::read(part, &Rules::new(text_type()), report));
    let Some(field) = tree.get("field").and_then(Tree::text) else {
        report.add(
            "missing-key",
            tree.span,
            "field is missing in a cause",
            "write `field: spec.pools[0].name`",
        );
        return None;
    };
    Some(Cause { field: field.to_owned(), reason: part("reason"), message: part("message") })
}

/// Reports unknown keys; `None` if the tree is not a map.
pub(crate) fn known_keys(tree: &Tree, what: &str, known: &[&str], report: &Report<'_>) -> Option<()> {
    let Some(entries) = tree.map() else {
        report.add("type", tree.span, format!("{what} must be a map"), "");
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
