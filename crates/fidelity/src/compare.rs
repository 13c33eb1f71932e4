//! Compares two answers (code, media type, warnings, body) and two watch streams.

use serde_json::{Value, json};

use crate::server::{ServerAnswer, StreamEnd};

/// A difference between the answers of two servers.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// `code`, `media`, `warnings`, `body/metadata/labels`, `watch/3/object/type`.
    pub part: String,
    /// The real server's value; null if it has none.
    pub real: Value,
    /// The embedded server's value; null if it has none.
    pub embedded: Value,
}

/// The differences of two normalized answers.
pub(crate) fn answers(real: &ServerAnswer, embedded: &ServerAnswer) -> Vec<Difference> {
    let mut found = Vec::new();
    values("code", &json!(real.code), &json!(embedded.code), &mut found);
    values("media", &json!(real.media), &json!(embedded.media), &mut found);
    values("warnings", &json!(real.warnings), &json!(embedded.warnings), &mut found);
    values("body", &real.body, &embedded.body, &mut found);
    found
}

/// The differences of two streams, up to the first event with a difference that is not known; later events would only repeat it.
pub(crate) fn events(
    real: &[Value],
    embedded: &[Value],
    is_known: impl Fn(&Difference) -> bool,
) -> Vec<Difference> {
    let mut found = Vec::new();
    for at in 0..real.len().max(embedded.len()) {
        let event = |of: &[Value]| of.get(at).cloned().unwrap_or_default();
        let before = found.len();
        values(&format!("watch/{at}"), &event(real), &event(embedded), &mut found);
        if !found[before..].iter().all(&is_known) {
            break;
        }
    }
    found
}

/// The difference of the ends of two streams.
pub(crate) fn end(real: StreamEnd, embedded: StreamEnd) -> Option<Difference> {
    let describe = |end: StreamEnd| match end {
        StreamEnd::Open => "goes on",
        StreamEnd::Closed => "ends",
        StreamEnd::Failed => "breaks off",
    };
    (real != embedded).then(|| Difference {
        part: "watch/end".to_owned(),
        real: describe(real).into(),
        embedded: describe(embedded).into(),
    })
}

fn values(part: &str, real: &Value, embedded: &Value, found: &mut Vec<Difference>) {
    match (real, embedded) {
        (Value::Object(one), Value::Object(other)) => {
            let mut keys: Vec<&String> = one.keys().chain(other.keys()).collect();
            keys.sort_unstable();
            keys.dedup();
            for key in keys {
                let at = format!("{part}/{}", key.replace('~', "~0").replace('/', "~1"));
                let of = |map: &serde_json::Map<String, Value>| map.get(key).cloned().unwrap_or_default();
                if one.contains_key(key) == other.contains_key(key) {
                    values(&at, &of(one), &of(other), found);
                } else {
                    found.push(Difference { part: at, real: of(one), embedded: of(other) });
                }
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (index, (one, other)) in one.iter().zip(other).enumerate() {
                values(&format!("{part}/{index}"), one, other, found);
            }
        }
        (one, other) if one == other => {}
        (one, other) => {
            found.push(Difference { part: part.to_owned(), real: one.clone(), embedded: other.clone() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differing_fields_are_listed() {
        let answer = |code, body| ServerAnswer { code, body, ..ServerAnswer::default() };
        let real = answer(200, json!({"a": {"b": 1, "same": [1]}, "l": [1, 2], "null": null}));
        let embedded = answer(201, json!({"a": {"b": 2, "same": [1]}, "l": [1]}));
        let found = answers(&real, &embedded);
        let differences: Vec<(&str, String)> =
            found.iter().map(|one| (one.part.as_str(), format!("{} {}", one.real, one.embedded))).collect();
        let want =
            [("code", "200 201"), ("body/a/b", "1 2"), ("body/l", "[1,2] [1]"), ("body/null", "null null")];
        assert_eq!(differences, want.map(|(part, values)| (part, values.to_owned())));
    }

    #[test]
    fn the_first_event_of_a_stream_with_an_unknown_difference_is_the_last_one_listed() {
        let event = |kind: &str, described: &str| json!({"type": kind, "description": described});
        let real = [event("ADDED", "long"), event("MODIFIED", "long"), event("DELETED", "long")];
        let embedded = [event("ADDED", ""), event("ADDED", "long"), event("ADDED", "long")];
        let differs = |part: &str, real: &str, embedded: &str| Difference {
            part: part.to_owned(),
            real: real.into(),
            embedded: embedded.into(),
        };
        let known = |one: &Difference| one.part.ends_with("/description");
        assert_eq!(events(&real, &real, known), []);
        let want = [differs("watch/0/description", "long", ""), differs("watch/1/type", "MODIFIED", "ADDED")];
        assert_eq!(events(&real, &embedded, known), want);
        let want = Difference { part: "watch/2".to_owned(), real: real[2].clone(), embedded: Value::Null };
        assert_eq!(events(&real, &real[..2], known), [want]);
    }
}
