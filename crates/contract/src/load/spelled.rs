//! Values as a contract has to spell them, so that no text of theirs is taken for an operator or for the name of a cell.

use serde_json::Value;

use super::cells::name_at;

/// A value spelled such that a contract reads it as it is; nulls are left out, as nothing is said of them.
#[must_use]
pub fn spelled(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(spelled_text(text)),
        Value::Array(items) => Value::Array(items.iter().map(spelled).collect()),
        Value::Object(fields) => {
            let said = fields.iter().filter(|(_, value)| !value.is_null());
            Value::Object(said.map(|(name, value)| (spelled_text(name), spelled(value))).collect())
        }
        other => other.clone(),
    }
}

/// A text or key spelled such that a contract reads it as it is.
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

    /// What a fixture of these words is read as.
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
