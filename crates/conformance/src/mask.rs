//! Masks secrets in everything that is shown or written.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// The replacement of a secret.
pub const MASK: &str = "***";

/// Masks secrets in consecutive lines.
#[derive(Debug, Default)]
pub struct Lines {
    /// Whether the last line was inside of a private key.
    inside: bool,
}

impl Lines {
    /// The line with masked secrets; `None` if it must not be shown.
    pub fn masked(&mut self, line: &str) -> Option<String> {
        if self.inside {
            self.inside = !line.contains("-----END");
            None
        } else if line.contains("-----BEGIN") && line.contains("PRIVATE KEY") {
            // A key on a single line also ends there.
            self.inside = !line.contains("-----END");
            Some(MASK.to_owned())
        } else {
            Some(without_token(line))
        }
    }
}

/// A copy without secrets: the data of Secrets, private keys, tokens, passwords and kubeconfigs.
#[must_use]
pub fn masked(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let secret = is_secret(value);
            let variable = value["name"].as_str().is_some_and(is_secret_variable);
            let mask = |(name, value): (&String, &Value)| {
                let hidden =
                    (secret && is_data(name)) || (variable && name == "value") || is_secret_name(name);
                (name.clone(), if hidden { hide(value) } else { masked(value) })
            };
            Value::Object(fields.iter().map(mask).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(masked).collect()),
        Value::String(text) => Value::String(opened(text).unwrap_or_else(|| masked_text(text))),
        other => other.clone(),
    }
}

/// A text without private keys and bearer tokens.
#[must_use]
pub fn masked_text(text: &str) -> String {
    let mut mask = Lines::default();
    text.split('\n').filter_map(|line| mask.masked(line)).collect::<Vec<_>>().join("\n")
}

/// A value at a path of an object (`data.key`), without secrets.
#[must_use]
pub fn masked_at(object: Option<&Value>, path: &str, value: &Value) -> Value {
    let steps: Vec<&str> = path.split(['.', '[']).collect();
    let first = steps.first().copied().unwrap_or_default();
    let in_secret = object.is_some_and(is_secret) && is_data(first);
    if in_secret || steps.iter().any(|name| is_secret_name(name)) { hide(value) } else { masked(value) }
}

/// An AdmissionReview with a response and a decoded patch; `request` has the object of the patch.
#[must_use]
pub fn masked_response(review: &Value, request: &Value) -> Value {
    let mut result = masked(review);
    let text = review["response"]["patch"].as_str();
    let bytes = text.and_then(|text| STANDARD.decode(text).ok());
    if let Some(patch) = bytes.and_then(|bytes| formats::json::document(&bytes).ok()) {
        result["response"]["patch"] = masked_patch(&patch, &request["request"]["object"]);
    }
    result
}

fn masked_patch(patch: &Value, object: &Value) -> Value {
    let Some(operations) = patch.as_array() else { return masked(patch) };
    let mask = |operation: &Value| {
        let mut operation = operation.clone();
        let pointer = operation["path"].as_str().unwrap_or_default();
        let place = pointer.trim_start_matches('/').replace('/', ".").replace("~1", "/").replace("~0", "~");
        if let Some(value) = operation.get_mut("value") {
            // The root is the object itself.
            *value = if place.is_empty() { masked(value) } else { masked_at(Some(object), &place, value) };
        }
        operation
    };
    Value::Array(operations.iter().map(mask).collect())
}

/// A masked text that is JSON, such as the annotation of `kubectl apply`; `None` if it is not JSON.
fn opened(text: &str) -> Option<String> {
    text.trim_start().starts_with(['{', '[']).then_some(())?;
    let inner = formats::json::document(text.as_bytes()).ok()?;
    let result = masked(&inner);
    // A text without secrets stays as it is.
    Some(if result == inner { text.to_owned() } else { result.to_string() })
}

fn is_secret(object: &Value) -> bool {
    object["kind"] == json!("Secret")
}

fn is_data(field: &str) -> bool {
    matches!(field, "data" | "stringData")
}

fn without_token(line: &str) -> String {
    let words = line.split(' ').map(|word| {
        let token = word.starts_with("eyJ") && word.matches('.').count() == 2;
        // With or without dashes of a flag.
        let bare = word.trim_start_matches('-');
        let secret_field =
            ["token=", "password=", "client-key-data:"].iter().find(|name| bare.starts_with(**name));
        match (token, secret_field) {
            (true, _) => MASK.to_owned(),
            (_, Some(name)) => format!("{}{name}{MASK}", &word[..word.len() - bare.len()]),
            _ => word.to_owned(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn is_secret_name(name: &str) -> bool {
    matches!(name, "token" | "password" | "client-key-data" | "clientKey" | "privateKey" | "kubeconfig")
}

/// Whether an environment variable contains a secret, by the end of its name: `AWS_SECRET_ACCESS_KEY`, `OS_PASSWORD`.
fn is_secret_variable(name: &str) -> bool {
    let is_variable =
        name.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_');
    let last = name.rsplit('_').next().unwrap_or_default();
    is_variable && matches!(last, "PASSWORD" | "PASSWD" | "TOKEN" | "SECRET" | "KEY" | "CREDENTIALS")
}

/// Masks values and keeps the keys of maps.
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
    fn secrets_are_masked_and_everything_else_is_kept() {
        let pem = "a\n-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nb";
        let value = json!({
            "object": {"kind": "Secret", "data": {"a": "Yg==", "n": null}, "type": "Opaque"},
            "other": {"kind": "ConfigMap", "data": {"a": "b"}, "password": "x"},
            "texts": [pem, "Bearer eyJhbGciOi.eyJzdWIi.c2ln end", "--token=x --password=y --token-auth-file=z"],
            "env": [{"name": "OS_PASSWORD", "value": "x"}, {"name": "KEY_FILE", "value": "x"}, {"name": "key", "value": "x"}],
        });
        let want = json!({
            "object": {"kind": "Secret", "data": {"a": "***", "n": null}, "type": "Opaque"},
            "other": {"kind": "ConfigMap", "data": {"a": "b"}, "password": "***"},
            "texts": ["a\n***\nb", "Bearer *** end", "--token=*** --password=*** --token-auth-file=z"],
            "env": [{"name": "OS_PASSWORD", "value": "***"}, {"name": "KEY_FILE", "value": "x"}, {"name": "key", "value": "x"}],
        });
        assert_eq!(masked(&value), want);
    }

    #[test]
    fn json_in_texts_is_opened() {
        let secret = json!({"kind": "Secret", "data": {"a": "Yg=="}}).to_string();
        let plain = r#"{ "kind": "ConfigMap", "data": {"a": "b"} }"#;
        let value = json!({"last-applied": secret, "plain": plain, "template": "{{ .x }}"});
        let hidden = json!({"kind": "Secret", "data": {"a": "***"}}).to_string();
        assert_eq!(masked(&value), json!({"last-applied": hidden, "plain": plain, "template": "{{ .x }}"}));
    }

    #[test]
    fn patches_are_decoded_and_masked_by_the_kind_of_their_object() {
        let patch = json!([
            {"op": "add", "path": "/data/key", "value": "Yg=="},
            {"op": "add", "path": "/metadata/labels", "value": {"a": "b"}},
            {"op": "replace", "path": "/spec/token", "value": "x"},
            {"op": "remove", "path": "/data/old"},
        ]);
        let review =
            json!({"response": {"patch": STANDARD.encode(patch.to_string()), "patchType": "JSONPatch"}});
        let mask = |kind: &str| masked_response(&review, &json!({"request": {"object": {"kind": kind}}}));
        let mut want = patch.clone();
        want[2]["value"] = json!("***");
        assert_eq!(mask("ConfigMap")["response"]["patch"], want);
        want[0]["value"] = json!("***");
        assert_eq!(mask("Secret")["response"]["patch"], want);
        let garbled = json!({"response": {"patch": "no base64"}});
        assert_eq!(masked_response(&garbled, &json!({})), garbled);
    }

    #[test]
    fn no_line_of_a_long_key_is_shown() {
        let mut mask = Lines::default();
        let key = (0..40).map(|_| "MIIEpAIBAAKCAQEA".to_owned());
        let lines = ["-----BEGIN RSA PRIVATE KEY-----".to_owned()].into_iter().chain(key);
        let lines = lines.chain(["-----END RSA PRIVATE KEY-----".to_owned(), "after".to_owned()]);
        let masked: Vec<String> = lines.filter_map(|line| mask.masked(&line)).collect();
        assert_eq!(masked, ["***", "after"]);
        assert_eq!(masked_text("-----BEGIN PRIVATE KEY-----x-----END PRIVATE KEY-----\nafter"), "***\nafter");
    }

    #[test]
    fn values_are_masked_by_the_kind_of_their_object() {
        let (secret, map) = (json!({"kind": "Secret"}), json!({"kind": "ConfigMap"}));
        let table = [
            (&secret, "data.key", json!("Yg=="), json!("***")),
            (&secret, "data", json!({"key": "Yg=="}), json!({"key": "***"})),
            (&secret, "metadata.name", json!("x"), json!("x")),
            (&map, "data.key", json!("x"), json!("x")),
            (&map, "spec.token", json!("x"), json!("***")),
        ];
        for (object, path, value, want) in table {
            assert_eq!(masked_at(Some(object), path, &value), want, "{path}");
        }
    }
}
