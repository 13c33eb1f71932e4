//! Secrets taken out of whatever is shown or written.

use serde_json::Value;

const MASK: &str = "***";

/// A copy without secrets: the data of Secrets, private keys, tokens, passwords and kubeconfigs.
#[must_use]
pub fn masked(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let secret = fields.get("kind").and_then(Value::as_str) == Some("Secret");
            let mask = |(name, value): (&String, &Value)| {
                let hidden =
                    (secret && matches!(name.as_str(), "data" | "stringData")) || is_secret_name(name);
                (name.clone(), if hidden { hide(value) } else { masked(value) })
            };
            Value::Object(fields.iter().map(mask).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(masked).collect()),
        Value::String(text) => Value::String(masked_text(text)),
        other => other.clone(),
    }
}

/// A text without private keys and bearer tokens.
#[must_use]
pub fn masked_text(text: &str) -> String {
    let mut lines = Vec::new();
    let mut inside = false;
    for line in text.split('\n') {
        if line.contains("-----BEGIN") && line.contains("PRIVATE KEY") {
            inside = true;
            lines.push(MASK.to_owned());
        } else if inside {
            inside = !line.contains("-----END");
        } else {
            lines.push(without_token(line));
        }
    }
    lines.join("\n")
}

fn without_token(line: &str) -> String {
    let words = line.split(' ').map(|word| {
        let token = word.starts_with("eyJ") && word.matches('.').count() == 2;
        let secret_field =
            ["token=", "password=", "client-key-data:"].iter().find(|name| word.starts_with(**name));
        match (token, secret_field) {
            (true, _) => MASK.to_owned(),
            (_, Some(name)) => format!("{name}{MASK}"),
            _ => word.to_owned(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn is_secret_name(name: &str) -> bool {
    matches!(name, "token" | "password" | "client-key-data" | "clientKey" | "privateKey" | "kubeconfig")
}

/// Keeps the shape of maps, so that a reader sees which keys there were.
fn hide(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(name, value)| (name.clone(), hide(value))).collect())
        }
        Value::Null => Value::Null,
        _ => Value::String(MASK.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_are_masked_and_all_else_is_kept() {
        let pem = "a\n-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nb";
        let value = json!({
            "object": {"kind": "Secret", "data": {"a": "Yg==", "n": null}, "type": "Opaque"},
            "other": {"kind": "ConfigMap", "data": {"a": "b"}, "password": "x"},
            "texts": [pem, "Bearer eyJhbGciOi.eyJzdWIi.c2ln end"],
        });
        let want = json!({
            "object": {"kind": "Secret", "data": {"a": "***", "n": null}, "type": "Opaque"},
            "other": {"kind": "ConfigMap", "data": {"a": "b"}, "password": "***"},
            "texts": ["a\n***\nb", "Bearer *** end"],
        });
        assert_eq!(masked(&value), want);
    }
}
