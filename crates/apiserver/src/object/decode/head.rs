//! Reads apiVersion and kind before the object that has them, as kube-apiserver does: they are strings.

use serde_json::{Map, Value};

use crate::object::fields;

/// The fields that say what an object is.
const HEAD: &[&str] = &["apiVersion", "kind"];

/// Rejects a value that is not an object, or whose apiVersion or kind is not a string.
pub(crate) fn check_head(value: Value) -> Result<Value, String> {
    const GO_TYPE: &str = r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;
    let fields = match &value {
        Value::Object(fields) => fields,
        Value::Null => return Ok(Value::Object(Map::new())),
        other => {
            let found = fields::type_name(other);
            return Err(format!("json: cannot unmarshal {found} into Go value of type {GO_TYPE}"));
        }
    };
    match HEAD.iter().find_map(|name| no_string(name, fields.get(*name)?)) {
        Some(why) => Err(why),
        None => Ok(value),
    }
}

/// The error about the first apiVersion or kind of a JSON text that is not a string, also if a later one is.
pub(crate) fn head_error(json: &[u8]) -> Option<String> {
    let head = formats::json::occurrences(json, HEAD);
    head.iter().find_map(|(name, found)| no_string(name, found))
}

/// The error if a field is neither a string nor null.
fn no_string(name: &str, found: &Value) -> Option<String> {
    let of = fields::type_name(found);
    let fits = found.is_string() || found.is_null();
    (!fits).then(|| format!("json: cannot unmarshal {of} into Go struct field .{name} of type string"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_59_the_first_value_that_is_no_string_is_reported() {
        let table = [
            (r#"{"kind": "A", "apiVersion": "v1", "deep": [[1e400]]}"#, None),
            (r#"{"kind": null, "apiVersion": null}"#, None),
            (r#"{"kind": 1, "apiVersion": true}"#, Some(("number", "kind"))),
            (r#"{"apiVersion": true, "kind": 1}"#, Some(("bool", "apiVersion"))),
            (r#"{"kind": {}, "kind": "A"}"#, Some(("object", "kind"))),
            (r#"{"a": {"kind": 1}}"#, None),
            ("[]", None),
        ];
        for (text, want) in table {
            let want = want.map(|(found, field)| {
                format!("json: cannot unmarshal {found} into Go struct field .{field} of type string")
            });
            assert_eq!(head_error(text.as_bytes()), want, "{text}");
        }
    }
}
