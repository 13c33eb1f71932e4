//! Strings in a notation: parsed into values, and built from them.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use formats::{unit, yaml};
use serde_json::Value;

use super::{Notation, flags};
use crate::certificate_request;

/// Parses the string; `None` if it is not in this notation.
///
/// YAML and JSON: the value; several YAML documents: the list of them. Base64: the string. JSON web token: the claims; the
/// signature is not checked. Unit: section → option → list of values.
#[must_use]
pub fn open(notation: Notation, text: &str) -> Option<Value> {
    match notation {
        Notation::Yaml => {
            let mut documents = yaml::documents(text).ok()?;
            let several = documents.len() > 1;
            Some(if several { Value::Array(documents) } else { documents.pop().unwrap_or_default() })
        }
        Notation::Json => formats::json::document(text.as_bytes()).ok(),
        Notation::Base64 => {
            let letters: String = text.chars().filter(|letter| !letter.is_ascii_whitespace()).collect();
            String::from_utf8(STANDARD.decode(letters).ok()?).ok().map(Value::String)
        }
        Notation::Jwt => {
            let mut parts = text.split('.');
            let (Some(_), Some(claims), Some(_), None) =
                (parts.next(), parts.next(), parts.next(), parts.next())
            else {
                return None;
            };
            formats::json::document(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()
        }
        Notation::CertificateRequest => None,
        Notation::Unit => unit::parse(text).ok(),
        Notation::Flags => flags::open(&Value::from(text)),
    }
}

/// Parses a value: a string, or for a command line also a container or a list of words.
#[must_use]
pub fn open_value(notation: Notation, value: &Value) -> Option<Value> {
    match notation {
        Notation::Flags => flags::open(value),
        _ => open(notation, value.as_str()?),
    }
}

/// The value `before` with its content replaced.
pub(super) fn replace_content(notation: Notation, content: &Value, before: &Value) -> Option<Value> {
    match (notation, before) {
        (Notation::Flags, before) => flags::close(content, before),
        (_, Value::String(before)) => close_like(notation, content, before).map(Value::String),
        _ => close(notation, content).map(Value::String),
    }
}

/// Builds the string with this content; `None` if that is impossible (Base64 of a value that is not a string, a JSON web
/// token without a signature).
#[must_use]
pub fn close(notation: Notation, content: &Value) -> Option<String> {
    match notation {
        Notation::Yaml => yaml::to_string(content).ok(),
        Notation::Json => serde_json::to_string(content).ok(),
        Notation::Base64 => content.as_str().map(|text| STANDARD.encode(text)),
        Notation::Jwt => None,
        Notation::CertificateRequest => certificate_request::pem(content),
        Notation::Unit => unit::to_string(content),
        Notation::Flags => flags::close(content, &Value::from(""))?.as_str().map(str::to_owned),
    }
}

/// Builds a string that replaces `before`: several YAML documents stay several, a JSON web token
/// keeps its header and its signature.
fn close_like(notation: Notation, content: &Value, before: &str) -> Option<String> {
    let several = || yaml::documents(before).is_ok_and(|documents| documents.len() > 1);
    match (notation, content) {
        (Notation::Yaml, Value::Array(documents)) if several() => {
            let texts = documents.iter().map(|document| yaml::to_string(document).ok());
            texts.collect::<Option<Vec<_>>>().map(|texts| texts.join("---\n"))
        }
        (Notation::Jwt, claims) => {
            let (header, rest) = before.split_once('.')?;
            let (_, signature) = rest.split_once('.')?;
            Some(format!("{header}.{}.{signature}", URL_SAFE_NO_PAD.encode(claims.to_string())))
        }
        _ => close(notation, content),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_unit_opens_to_sections_options_and_values() {
        let text = "# made by us\n[Unit]\nDescription=a\n\n[Service]\nExecStart=/bin/a \\\n  --b\nExecStart=\nEnvironment=\"A=b\"\n";
        let wanted = json!({"Unit": {"Description": ["a"]},
            "Service": {"ExecStart": ["/bin/a --b", ""], "Environment": ["\"A=b\""]}});
        assert_eq!(open(Notation::Unit, text), Some(wanted.clone()));
        let printed = close(Notation::Unit, &wanted).expect("a unit");
        assert_eq!(open(Notation::Unit, &printed), Some(wanted));
        assert_eq!(open(Notation::Unit, "no section"), None);
    }

    #[test]
    fn base64_opens_and_closes_texts_of_every_length() {
        for text in ["", "a", "ab", "abc", "abcd", "ä€😀"] {
            let closed = close(Notation::Base64, &json!(text)).expect("a text");
            assert_eq!(open(Notation::Base64, &closed), Some(json!(text)));
        }
        assert_eq!(close(Notation::Base64, &json!("hello")), Some("aGVsbG8=".to_owned()));
        assert_eq!(open(Notation::Base64, "aGVsbG8"), None);
        assert_eq!(open(Notation::Base64, "a*=="), None);
    }

    #[test]
    fn several_documents_stay_several() {
        let text = "a: 1\n---\na: 2\n";
        assert_eq!(open(Notation::Yaml, text), Some(json!([{"a": 1}, {"a": 2}])));
        assert_eq!(
            close_like(Notation::Yaml, &json!([{"a": 3}, {"a": 2}]), text).as_deref(),
            Some("a: 3\n---\na: 2\n")
        );
        assert_eq!(close_like(Notation::Yaml, &json!([1]), "- 2\n").as_deref(), Some("- 1\n"));
    }

    #[test]
    fn a_json_web_token_opens_into_its_claims() {
        let text = "e30.eyJzdWIiOiJhIn0.c2ln";
        assert_eq!(open(Notation::Jwt, text), Some(json!({"sub": "a"})));
        let other = close_like(Notation::Jwt, &json!({"sub": "b"}), text).expect("a token");
        assert_eq!(other, "e30.eyJzdWIiOiJiIn0.c2ln");
        assert_eq!(open(Notation::Jwt, &other), Some(json!({"sub": "b"})));
        for none in ["", "a.b", "e30.e30", "e30.e30.a.b", "e30.*.a"] {
            assert_eq!(open(Notation::Jwt, none), None, "{none}");
        }
        assert_eq!(close(Notation::Jwt, &json!({})), None);
    }
}
