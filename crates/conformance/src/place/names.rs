//! Finds and replaces a name as a whole word in texts.

use serde_json::{Map, Value};

/// Whether the text contains the name as a whole word; letters and digits next to it make it a part of another word.
pub(crate) fn mentions(text: &str, name: &str) -> bool {
    occurrences(text, name).next().is_some()
}

/// Replaces every word `old` by `new`, in texts and keys, at any depth.
pub(super) fn replace(value: &mut Value, old: &str, new: &str) {
    match value {
        Value::String(text) => replace_text(text, old, new),
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, old, new)),
        Value::Object(fields) => {
            if fields.keys().any(|key| mentions(key, old)) {
                *fields = std::mem::take(fields)
                    .into_iter()
                    .map(|(key, value)| (replaced(&key, old, new), value))
                    .collect::<Map<_, _>>();
            }
            fields.values_mut().for_each(|value| replace(value, old, new));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Replaces every word `old` of a text by `new`.
pub(super) fn replace_text(text: &mut String, old: &str, new: &str) {
    if mentions(text, old) {
        *text = replaced(text, old, new);
    }
}

fn replaced(text: &str, old: &str, new: &str) -> String {
    let (mut result, mut done) = (String::with_capacity(text.len()), 0);
    for at in occurrences(text, old) {
        result.push_str(&text[done..at]);
        result.push_str(new);
        done = at + old.len();
    }
    result.push_str(&text[done..]);
    result
}

fn occurrences<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(name).map(|(at, _)| at).filter(move |at| {
        let before = text[..*at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        let ends = |neighbour: Option<char>| !neighbour.is_some_and(char::is_alphanumeric);
        ends(before) && ends(after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_name_is_a_word_between_anything_but_letters_and_digits() {
        let table = [
            ("garden", true),
            ("in \"garden\".", true),
            ("app.garden.svc", true),
            ("garden--app", true),
            ("gardener", false),
            ("a1garden", false),
            ("", false),
        ];
        for (text, want) in table {
            assert_eq!(mentions(text, "garden"), want, "{text}");
        }
    }

    #[test]
    fn a_name_is_replaced_in_texts_and_keys_and_comes_back() {
        let before = json!({
            "a": ["x.shoot--dev--app.svc:1, shoot--dev--app", 1, null, true],
            "to-shoot--dev--app": {"shoot--dev--application": "shoot--dev--app2"},
        });
        let mut object = before.clone();
        replace(&mut object, "shoot--dev--app", "case-1");
        let want = json!({
            "a": ["x.case-1.svc:1, case-1", 1, null, true],
            "to-case-1": {"shoot--dev--application": "shoot--dev--app2"},
        });
        assert_eq!(object, want);
        replace(&mut object, "case-1", "shoot--dev--app");
        assert_eq!(object, before);
    }
}
