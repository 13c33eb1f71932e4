//! Names and labels, with the messages of Kubernetes 0.28, which gardener-apiserver v1.82 is built with.

use formats::name;

/// A DNS label (RFC 1123).
pub(super) fn dns_label(value: &str) -> Vec<String> {
    worded(name::dns1123_label(value))
}

/// A DNS subdomain (RFC 1123).
pub(super) fn dns_subdomain(value: &str) -> Vec<String> {
    worded(name::dns1123_subdomain(value))
}

/// The key of a label.
pub(super) fn label_key(value: &str) -> Vec<String> {
    worded(name::label_key(value))
}

/// The value of a label.
pub(super) fn label_value(value: &str) -> Vec<String> {
    worded(name::label_value(value))
}

/// Newer releases count bytes, and call the key of a label by its name.
fn worded(messages: Vec<String>) -> Vec<String> {
    let worded = |message: String| match message.strip_suffix(" bytes") {
        Some(limit) => format!("{limit} characters"),
        None => message.replacen("a valid label key must", "a qualified name must", 1),
    };
    messages.into_iter().map(worded).collect()
}

/// A key of data.
pub(super) fn config_key(value: &str) -> Vec<String> {
    let mut messages = Vec::new();
    if value.len() > 253 {
        messages.push("must be no more than 253 characters".to_owned());
    }
    let is_legal = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    if value.is_empty() || !value.chars().all(is_legal) {
        let why = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or \
                   'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
        messages.push(why.to_owned());
    }
    match value {
        "." | ".." => messages.push(format!("must not be '{value}'")),
        _ if value.starts_with("..") => messages.push("must not start with '..'".to_owned()),
        _ => {}
    }
    messages
}

/// A segment of a path: what stands in the name of an object that another object's name is made of.
pub(super) fn path_segment(value: &str) -> Vec<String> {
    if matches!(value, "." | "..") {
        return vec![format!("may not be '{value}'")];
    }
    let forbidden = ["/", "%"].into_iter().filter(|text| value.contains(text));
    forbidden.map(|text| format!("may not contain '{text}'")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_those_of_the_release() {
        let long = "a".repeat(254);
        let limit = |limit: usize| format!("must be no more than {limit} characters");
        assert_eq!(dns_label(&long), [limit(63)]);
        assert_eq!(dns_subdomain(&long), [limit(253)]);
        assert_eq!(label_key(&long), [format!("name part {}", limit(63))]);
        assert_eq!(label_value(&long), [limit(63)]);
        assert!(label_key("a/b/c")[0].starts_with("a qualified name must consist of"));
        assert_eq!(path_segment(".."), ["may not be '..'"]);
        assert_eq!(path_segment("a%/"), ["may not contain '/'", "may not contain '%'"]);
        assert!(path_segment("").is_empty());
    }
}
