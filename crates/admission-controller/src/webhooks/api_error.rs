//! Errors of an API call, by which webhooks that judge typed objects refuse them.

use serde_json::{Map, Value, json};
use webhook::field::quote;
use webhook::rejection::Rejection;

/// 403: `<resource> "<name>" is forbidden: <why>`.
pub(super) fn forbidden(group: &str, resource: &str, name: &str, why: &str) -> Rejection {
    let qualified = qualified(group, resource);
    let message = if name.is_empty() {
        format!("{qualified} is forbidden: {why}")
    } else {
        format!("{qualified} {} is forbidden: {why}", quote(name))
    };
    Rejection::status(403, "Forbidden", message, details(group, resource, name))
}

/// 409: `Operation cannot be fulfilled on <resource> "<name>": <why>`.
pub(super) fn conflict(resource: &str, name: &str, why: &str) -> Rejection {
    let message = format!("Operation cannot be fulfilled on {resource} {}: {why}", quote(name));
    Rejection::status(409, "Conflict", message, details("", resource, name))
}

/// 400, with the text as it is.
pub(super) fn bad_request(why: &str) -> Rejection {
    Rejection::status(400, "BadRequest", why, Map::new())
}

/// 500: `Internal error occurred: <why>`.
pub(super) fn internal(why: &str) -> Rejection {
    let details = Map::from_iter([("causes".to_owned(), json!([{"message": why}]))]);
    Rejection::status(500, "InternalError", format!("Internal error occurred: {why}"), details)
}

fn qualified(group: &str, resource: &str) -> String {
    if group.is_empty() { resource.to_owned() } else { format!("{resource}.{group}") }
}

fn details(group: &str, resource: &str, name: &str) -> Map<String, Value> {
    let fields = [("name", name), ("group", group), ("kind", resource)];
    let fields = fields.into_iter().filter(|(_, text)| !text.is_empty());
    fields.map(|(field, text)| (field.to_owned(), json!(text))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_texts_of_the_api() {
        let table = [
            (forbidden("", "Secret", "a", "why"), 403, "Secret \"a\" is forbidden: why"),
            (forbidden("g.io", "shoots", "a", "why"), 403, "shoots.g.io \"a\" is forbidden: why"),
            (forbidden("g.io", "shoots", "", "why"), 403, "shoots.g.io is forbidden: why"),
            (conflict("Secret", "a", "why"), 409, "Operation cannot be fulfilled on Secret \"a\": why"),
            (bad_request("why"), 400, "why"),
            (internal("why"), 500, "Internal error occurred: why"),
        ];
        for (rejection, code, message) in table {
            assert_eq!((rejection.code, rejection.message.as_str()), (code, message));
        }
    }
}
