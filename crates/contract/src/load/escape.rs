//! Escapes values for contracts, so that no string is read as an operator or as the name of a cell.

use serde_json::Value;

use super::cells::name_at;

/// Escapes a value so that a contract reads it unchanged; nulls are left out.
#[must_use]
pub fn spelled(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(spelled_text(text)),
        Value::Array(items) => Value::Array(items.iter().map(spelled).collect()),
        Value::Object(fields) => {
            let present = fields.iter().filter(|(_, value)| !value.is_null());
            Value::Object(present.map(|(name, value)| (spelled_text(name), spelled(value))).collect())
        }
        other => other.clone(),
    }
}

/// Escapes a string or key so that a contract reads it unchanged.
#[must_use]
pub fn spelled_text(text: &str) -> String {
    let mut spelled = String::from(if text.starts_with('$') { "$" } else { "" });
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        spelled.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        if let Some(name) = name_at(after) {
            spelled.extend(["<<", name, ">>"]);
            rest = &after[name.len() + 1..];
        } else {
            spelled.push('<');
            rest = after;
        }
    }
    spelled + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::SourceFile;
    use crate::load::read;
    use proptest::prelude::*;
    use serde_json::json;

    /// Writes the escaped data to a fixture and reads it back.
    fn read_back(data: &Value) -> Value {
        let object =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": data});
        let text = formats::yaml::to_string(&spelled(&object)).unwrap();
        let loaded = read(&[SourceFile::new("contracts/fixtures/x.yaml", text.as_str())]);
        assert!(loaded.errors.is_empty(), "{text}{:?}", loaded.errors);
        loaded.catalog.fixtures["x"]["data"].clone()
    }

    #[test]
    fn operators_cells_and_words_are_read_as_they_are() {
        let data = json!({
            "a": "$(POD_NAME)", "$b": "$unchanged", "c": "<a>", "d": "<<a>> < b > <c", "<e>": "~", "f": "absent",
            "g": "1.30", "h": "", "i": "x\n<y>\n", "$$j": "$$",
        });
        assert_eq!(read_back(&data), data);
    }

    proptest! {
        #[test]
        fn every_text_is_read_as_it_is(text in "[<>$a ~|\\\\\n-]{0,12}") {
            let data = json!({"a": text});
            prop_assert_eq!(read_back(&data), data);
        }
    }
}
