//! Checks the rules of a schema (`x-kubernetes-validations`).

use serde_json::Value;
use webhook::field::{Error, ErrorKind, Shown};

use super::Node;
use crate::object::structural;

const RULES: &str = "x-kubernetes-validations";
/// The reasons that a rule may have, sorted.
const REASONS: [&str; 4] =
    ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// The rules of a schema, each with its path below it.
fn rules(node: Node<'_>) -> impl Iterator<Item = (String, &Value)> {
    let rules = node.get(RULES).and_then(Value::as_array).into_iter().flatten();
    rules.enumerate().map(|(index, rule)| (format!("{RULES}[{index}]"), rule))
}

fn text<'a>(rule: &'a Value, field: &str) -> &'a str {
    rule[field].as_str().unwrap_or_default()
}

/// The errors of rules that are found without compiling them.
pub(super) fn check(node: Node<'_>, errors: &mut Vec<Error>) {
    let has_breaks = |text: &str| text.contains(['\n', '\r']);
    let is_blank = |text: &str| !text.is_empty() && text.trim().is_empty();
    for (at, rule) in rules(node) {
        let [expression, message] = ["rule", "message"].map(|field| text(rule, field));
        if expression.trim().is_empty() {
            errors.push(node.required(&format!("{at}.rule"), "rule is not specified"));
        } else if is_blank(message) {
            errors.push(node.invalid(&format!("{at}.message"), message, "must be non-empty if specified"));
        } else if has_breaks(message.trim()) {
            errors.push(node.invalid(&format!("{at}.message"), message, "must not contain line breaks"));
        } else if has_breaks(expression.trim()) && message.trim().is_empty() {
            let why = "message must be specified if rule contains line breaks";
            errors.push(node.required(&format!("{at}.message"), why));
        }
        if is_blank(text(rule, "messageExpression")) {
            let why = "messageExpression must be non-empty if specified";
            errors.push(node.required(&format!("{at}.messageExpression"), why));
        }
        if let Some(reason) = rule["reason"].as_str().filter(|reason| !REASONS.contains(reason)) {
            let known = REASONS.map(|reason| format!("{reason:?}")).join(", ");
            let why = format!("supported values: {known}");
            let shown = Some(Shown::named(reason));
            errors.push(node.error(&format!("{at}.reason"), ErrorKind::NotSupported, shown, &why));
        }
        let (at, path) = (format!("{at}.fieldPath"), text(rule, "fieldPath"));
        if is_blank(path) {
            errors.push(node.invalid(&at, path, "must be non-empty if specified"));
        }
        if has_breaks(path) {
            errors.push(node.invalid(&at, path, "must not contain line breaks"));
        }
        if !leads_to_field(node, path) {
            errors.push(node.invalid(&at, path, "must be a valid path"));
        }
    }
}

/// Whether a path such as `.a['b']` leads to a field of a schema; the empty one leads to the schema itself.
fn leads_to_field(node: Node<'_>, path: &str) -> bool {
    let step = |rest: &str| -> Option<(String, usize)> {
        if let Some(rest) = rest.strip_prefix("['") {
            let end = rest.match_indices('\'').map(|(at, _)| at).find(|at| !rest[..*at].ends_with('\\'))?;
            rest[end..].starts_with("']").then(|| (rest[..end].replace("\\'", "'"), end + 4))
        } else {
            let rest = rest.strip_prefix('.').filter(|rest| !rest.is_empty())?;
            let end = rest.find(['.', '[', ']']).unwrap_or(rest.len());
            Some((rest[..end].to_owned(), end + 1))
        }
    };
    let (mut rest, mut at) = (path, Some(node.keywords));
    while !rest.is_empty() {
        let Some((name, length)) = step(rest) else { return false };
        let Some(keywords) = at else { return false };
        let of_field = |keyword: &str| keywords.get(keyword).and_then(Value::as_object);
        at = match of_field("properties").filter(|fields| !fields.is_empty()) {
            Some(fields) => match fields.get(&name) {
                Some(below) => below.as_object(),
                None => return false,
            },
            None if keywords.get("additionalProperties").is_some() => of_field("additionalProperties"),
            None => return false,
        };
        rest = &rest[length..];
    }
    true
}

/// The errors of rules that cannot be compiled.
pub(super) fn compile(node: Node<'_>, errors: &mut Vec<Error>) {
    for (at, rule) in rules(node) {
        let expression = text(rule, "rule").trim();
        if let Some(why) = structural::rule_error(expression) {
            let why = format!("compilation failed: {why}");
            errors.push(node.invalid(&format!("{at}.rule"), expression, &why));
        }
        let expression = text(rule, "messageExpression");
        if let Some(why) = Some(expression).filter(|text| !text.is_empty()).and_then(structural::rule_error) {
            let why = format!("messageExpression compilation failed: {why}");
            errors.push(node.invalid(&format!("{at}.messageExpression"), expression, &why));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_to_a_declared_field() {
        let schema = serde_json::json!({"properties": {
            "a": {"properties": {"b.c": {"type": "string"}}}, "m": {"additionalProperties": {"type": "string"}},
        }});
        let node = Node { path: "", keywords: schema.as_object().unwrap() };
        for path in ["", ".a", ".a['b.c']", ".m.x", "['m']['x']"] {
            assert!(leads_to_field(node, path), "{path}");
        }
        for path in [" ", "a", ".", ".b", ".a.b", ".a['b.c'", ".m.x.y", ".a[b]", "['a"] {
            assert!(!leads_to_field(node, path), "{path}");
        }
    }
}
