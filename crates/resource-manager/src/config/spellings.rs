//! Alternative spellings of fields, replaced before a file is read.

use serde_json::Value;

/// Known misspellings, which are not read and have no effect.
///
/// Each is a path and the correct field. GRM-CFG-005.
pub const MISSPELLINGS: [(&str, &str); 2] = [
    ("controllers.tokenValidator", "controllers.tokenInvalidator"),
    ("webhooks.tokenValidator", "webhooks.tokenInvalidator"),
];

/// Replaces aliases. GRM-CFG-006.
///
/// `managedResources` means `managedResource`, and a single `namespace` of a connection means `namespaces`;
/// if both are set, the alias stays and leads to a warning.
pub fn normalize(file: &mut Value) {
    rename(file.get_mut("controllers"), "managedResources", "managedResource", |value| value);
    for connection in ["sourceClientConnection", "targetClientConnection"] {
        rename(file.get_mut(connection), "namespace", "namespaces", |namespace| match namespace {
            Value::String(name) if name.is_empty() => Value::Array(Vec::new()),
            name => Value::Array(vec![name]),
        });
    }
}

fn rename(section: Option<&mut Value>, alias: &str, field: &str, read: impl Fn(Value) -> Value) {
    let Some(fields) = section.and_then(Value::as_object_mut) else { return };
    if fields.get(field).is_none_or(Value::is_null)
        && let Some(value) = fields.remove(alias)
    {
        fields.insert(field.to_owned(), read(value));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn aliases_are_replaced_unless_the_field_is_set() {
        let mut file = json!({
            "sourceClientConnection": {"namespace": "a"},
            "targetClientConnection": {"namespace": "a", "namespaces": ["b"]},
            "controllers": {"managedResources": {"syncPeriod": "1m"}, "managedResource": null},
        });
        normalize(&mut file);
        let settled = json!({
            "sourceClientConnection": {"namespaces": ["a"]},
            "targetClientConnection": {"namespace": "a", "namespaces": ["b"]},
            "controllers": {"managedResource": {"syncPeriod": "1m"}},
        });
        assert_eq!(file, settled);
    }
}
