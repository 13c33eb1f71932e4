//! Validation of Kubernetes names. Every check returns Kubernetes' error messages; an empty list means valid.

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const KEY: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

/// Checks a DNS label (RFC 1123): at most 63 bytes of `a-z`, `0-9` and `-`.
#[must_use]
pub fn dns1123_label(value: &str) -> Vec<String> {
    let mut errors = too_long(value, 63);
    if !is_dns1123_label(value) {
        errors.push(if is_dns1123_subdomain(value) {
            "must not contain dots".to_owned()
        } else {
            let what = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', \
                        and must start and end with an alphanumeric character";
            pattern(what, LABEL, &["my-name", "123-abc"])
        });
    }
    errors
}

/// Checks a DNS subdomain (RFC 1123): labels joined by dots, at most 253 bytes.
#[must_use]
pub fn dns1123_subdomain(value: &str) -> Vec<String> {
    let mut errors = too_long(value, 253);
    if !is_dns1123_subdomain(value) {
        let what = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
                    and must start and end with an alphanumeric character";
        errors.push(pattern(what, &format!("{LABEL}(\\.{LABEL})*"), &["example.com"]));
    }
    errors
}

/// Checks a DNS label (RFC 1035): as [`dns1123_label`], but starting with a letter.
#[must_use]
pub fn dns1035_label(value: &str) -> Vec<String> {
    let mut errors = too_long(value, 63);
    if !is_dns1123_label(value) || !value.starts_with(|first: char| first.is_ascii_lowercase()) {
        let what = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', \
                    start with an alphabetic character, and end with an alphanumeric character";
        errors.push(pattern(what, "[a-z]([-a-z0-9]*[a-z0-9])?", &["my-name", "abc-123"]));
    }
    errors
}

/// Checks the key of a label, an annotation or a taint: `name` or `prefix/name`.
#[must_use]
pub fn label_key(value: &str) -> Vec<String> {
    let what = "must consist of alphanumeric characters, '-', '_' or '.', \
                and must start and end with an alphanumeric character";
    let message = || pattern(what, KEY, &["MyName", "my.name", "123-abc"]);
    let mut errors = Vec::new();
    let name = match value.split('/').collect::<Vec<_>>().as_slice() {
        [name] => *name,
        ["", name] => {
            errors.push("prefix part must be non-empty".to_owned());
            *name
        }
        [prefix, name] => {
            errors.extend(dns1123_subdomain(prefix).into_iter().map(|text| format!("prefix part {text}")));
            *name
        }
        _ => {
            let optional = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {} {optional}", message())];
        }
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".to_owned());
    }
    errors.extend(too_long(name, 63).into_iter().map(|text| format!("name part {text}")));
    if !is_key(name) {
        errors.push(format!("name part {}", message()));
    }
    errors
}

/// Checks the value of a label: empty, or at most 63 bytes with the syntax of a key's name.
#[must_use]
pub fn label_value(value: &str) -> Vec<String> {
    let mut errors = too_long(value, 63);
    if !value.is_empty() && !is_key(value) {
        let what = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', \
                    and must start and end with an alphanumeric character";
        errors.push(pattern(what, &format!("({KEY})?"), &["MyValue", "my_value", "12345"]));
    }
    errors
}

fn is_dns1123_label(value: &str) -> bool {
    value.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
        && !value.is_empty()
        && !value.starts_with('-')
        && !value.ends_with('-')
}

fn is_dns1123_subdomain(value: &str) -> bool {
    value.split('.').all(is_dns1123_label)
}

fn is_key(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
        && value.starts_with(|first: char| first.is_ascii_alphanumeric())
        && value.ends_with(|last: char| last.is_ascii_alphanumeric())
}

fn too_long(value: &str, limit: usize) -> Vec<String> {
    if value.len() > limit { vec![format!("must be no more than {limit} bytes")] } else { Vec::new() }
}

fn pattern(what: &str, regex: &str, examples: &[&str]) -> String {
    let examples: Vec<String> = examples.iter().map(|example| format!("'{example}'")).collect();
    format!("{what} (e.g. {}, regex used for validation is '{regex}')", examples.join(",  or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_check_accepts_its_own_names() {
        let long = "a".repeat(64);
        let table: [(&str, bool, bool, bool, bool, bool); 12] = [
            // value, label, subdomain, RFC 1035 label, label key, label value
            ("a", true, true, true, true, true),
            ("a-b", true, true, true, true, true),
            ("1a", true, true, false, true, true),
            ("a.b", false, true, false, true, true),
            ("", false, false, false, false, true),
            ("A", false, false, false, true, true),
            ("-a", false, false, false, false, false),
            ("a_", false, false, false, false, false),
            ("a..b", false, false, false, true, true),
            ("x.y/Name_1", false, false, false, true, false),
            ("/a", false, false, false, false, false),
            (&long, false, true, false, false, false),
        ];
        for (value, label, subdomain, rfc1035, key, text) in table {
            let got = (
                dns1123_label(value).is_empty(),
                dns1123_subdomain(value).is_empty(),
                dns1035_label(value).is_empty(),
                label_key(value).is_empty(),
                label_value(value).is_empty(),
            );
            assert_eq!(got, (label, subdomain, rfc1035, key, text), "{value:?}");
        }
    }

    #[test]
    fn messages_are_those_of_kubernetes() {
        assert_eq!(
            label_key("a b"),
            [
                "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
              alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
              '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
            ]
        );
        assert_eq!(
            label_key("a/b/c"),
            [
                "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end \
              with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for \
              validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and \
              '/' (e.g. 'example.com/MyName')"
            ]
        );
        assert_eq!(dns1123_label("a.b"), ["must not contain dots"]);
        assert_eq!(label_value(&"a".repeat(64)), ["must be no more than 63 bytes"]);
        assert_eq!(
            dns1123_subdomain("A"),
            [
                "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and \
              must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
              '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
            ]
        );
    }
}
