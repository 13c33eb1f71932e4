//! Reads which requests of the target are refused: `create configmap: forbidden`.

use super::keywords::{REFUSALS, REQUEST_VERBS};
use super::object_ref;
use super::report::{Report, nearest};
use super::tree::{Span, Tree};
use crate::scenario::{Action, Refusal, RequestMatcher, Side};

/// Every verb, or every kind.
const ANY: &str = "any";

/// One action for each key; reports errors.
pub(super) fn read(side: Side, tree: &Tree, report: &Report<'_>) -> Vec<Action> {
    let Some(entries) = tree.map() else {
        report.add(
            "type",
            tree.span,
            "refuse must be a map",
            "write `refuse: {create configmap: forbidden}`",
        );
        return Vec::new();
    };
    let actions = entries.iter().filter_map(|(key, value)| {
        let matcher = request_matcher(&key.name, key.span, report)?;
        let refusal = if value.is_null() { None } else { Some(refusal(value, report)?) };
        Some(Action::Refuse(side, matcher, refusal))
    });
    actions.collect()
}

/// `any`, `create any`, `create configmap`, `create configmap/a`.
fn request_matcher(text: &str, span: Span, report: &Report<'_>) -> Option<RequestMatcher> {
    let (verb, what) = text.split_once(' ').unwrap_or((text, ANY));
    if verb != ANY && !REQUEST_VERBS.contains(&verb) {
        report.add("request", span, format!("unknown verb {verb:?}"), nearest(verb, REQUEST_VERBS));
        return None;
    }
    let verb = (verb != ANY).then(|| verb.to_owned());
    if what == ANY {
        return Some(RequestMatcher { verb, ..RequestMatcher::default() });
    }
    let (kind, _) = what.split_once('/').unwrap_or((what, ""));
    let resource = object_ref::resource(kind, span, report)?;
    let resource = Some((resource.group.clone(), resource.plural.clone()));
    if !what.contains('/') {
        return Some(RequestMatcher { verb, resource, object: None });
    }
    if ["create", "list", "watch"].iter().any(|collection| verb.as_deref() == Some(collection)) {
        let message = "a create, list or watch request does not name an object in its path";
        report.add("request", span, message, "write only the kind: `create configmap`");
        return None;
    }
    let object = object_ref::read(what, span, report)?;
    Some(RequestMatcher { verb, resource, object: Some((object.namespace, object.name)) })
}

fn refusal(tree: &Tree, report: &Report<'_>) -> Option<Refusal> {
    let word = tree.text().unwrap_or_default();
    let found = REFUSALS.iter().find(|(name, _)| *name == word).map(|(_, refusal)| *refusal);
    if found.is_none() {
        let remedy = nearest(word, REFUSALS.iter().map(|(name, _)| *name));
        report.add("refusal", tree.span, format!("unknown refusal {word:?}"), remedy);
    }
    found
}
