//! A changed value as a person reads it: texts in Base64 decoded, also compressed ones, and of long texts the first lines.

use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use serde_json::{Map, Value};

use crate::mask;
use crate::observation::format_value;

/// Number of lines and characters of a long text that are shown.
const LINES: usize = 3;
const CHARACTERS: usize = 160;
/// The shortest text that counts as Base64: shorter ones may be words.
const SHORTEST: usize = 16;
/// The largest text that is decompressed, in bytes.
const LARGEST: u64 = 4 << 20;
/// What a compressed text begins with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A value in one line, and its whole text where the line has notes or holds a part of it.
pub(super) struct Readable {
    pub(super) line: String,
    pub(super) whole: Option<String>,
}

impl Readable {
    /// The whole text.
    pub(super) fn into_whole(self) -> String {
        self.whole.unwrap_or(self.line)
    }
}

/// The readable form of a value without secrets.
pub(super) fn readable(value: Option<&Value>) -> Readable {
    let mut notes = Vec::new();
    let decoded = value.map(|value| decode_all(value, &mut notes));
    let text = match &decoded {
        Some(fields @ (Value::Object(_) | Value::Array(_))) if is_long(fields) => {
            formats::yaml::to_string(fields).unwrap_or_else(|_| fields.to_string())
        }
        other => format_value(other.as_ref()),
    };
    let text = text.trim_start_matches("---\n").trim_end();
    let lines: Vec<&str> = text.lines().collect();
    let is_short = lines.len() <= 1 && text.chars().count() <= CHARACTERS;
    if is_short && notes.is_empty() {
        return Readable { line: text.to_owned(), whole: None };
    }
    let shown: Vec<&str> =
        lines.iter().map(|line| line.trim_end()).filter(|line| !line.is_empty()).take(LINES).collect();
    let mut excerpt: String = shown.join(" ⏎ ");
    let is_cut = shown.len() < lines.len() || excerpt.chars().count() > CHARACTERS;
    if is_cut {
        excerpt = excerpt.chars().take(CHARACTERS).collect();
        excerpt.push_str(" …");
        let count = if lines.len() == 1 { "1 line".to_owned() } else { format!("{} lines", lines.len()) };
        notes.push(format!("{count}, whole in report.json"));
    }
    let whole = (is_cut || !notes.is_empty()).then(|| text.to_owned());
    let notes = if notes.is_empty() { String::new() } else { format!("({}) ", notes.join(", ")) };
    Readable { line: format!("{notes}{excerpt}"), whole }
}

/// Whether a value in one line would not be read to its end.
fn is_long(value: &Value) -> bool {
    value.to_string().chars().count() > CHARACTERS
}

/// The value with all its encoded texts decoded; `notes` get how.
fn decode_all(value: &Value, notes: &mut Vec<String>) -> Value {
    match value {
        Value::String(text) => match decode(text) {
            Some((decoded, note)) => {
                if !notes.iter().any(|other| other == note) {
                    notes.push(note.to_owned());
                }
                Value::String(mask::masked_text(&decoded))
            }
            None => value.clone(),
        },
        Value::Array(items) => items.iter().map(|item| decode_all(item, notes)).collect(),
        Value::Object(fields) => {
            let decoded = fields.iter().map(|(key, field)| (key.clone(), decode_all(field, notes)));
            Value::Object(decoded.collect::<Map<_, _>>())
        }
        scalar => scalar.clone(),
    }
}

/// The text of another text in Base64, possibly compressed, and a note; `None` if it is not such a text.
fn decode(text: &str) -> Option<(String, &'static str)> {
    let packed: String = text.split_whitespace().collect();
    if packed.len() < SHORTEST {
        return None;
    }
    let bytes = STANDARD.decode(packed).ok()?;
    if bytes.starts_with(&GZIP) {
        let mut decompressed = String::new();
        GzDecoder::new(bytes.as_slice()).take(LARGEST).read_to_string(&mut decompressed).ok()?;
        return Some((decompressed, "gzip and Base64 decoded"));
    }
    let decoded = String::from_utf8(bytes).ok()?;
    let is_text = decoded.chars().all(|letter| !letter.is_control() || letter.is_whitespace());
    is_text.then_some((decoded, "Base64 decoded"))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use serde_json::json;

    use super::*;

    fn gzip(text: &str) -> String {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        STANDARD.encode(encoder.finish().unwrap())
    }

    #[test]
    fn a_value_is_decoded_and_shows_its_first_lines() {
        let script = "#!/bin/sh\nset -e\n\necho one\necho two\n";
        let notes = "5 lines, whole in report.json";
        let lines = "#!/bin/sh ⏎ set -e ⏎ echo one …";
        let table = [
            (Some(json!("external")), "external".to_owned(), None),
            (Some(json!({"a": 1})), "{\"a\":1}".to_owned(), None),
            (None, "absent".to_owned(), None),
            (Some(json!(script)), format!("({notes}) {lines}"), Some(script)),
            (
                Some(json!(STANDARD.encode(script))),
                format!("(Base64 decoded, {notes}) {lines}"),
                Some(script),
            ),
            (Some(json!(gzip(script))), format!("(gzip and Base64 decoded, {notes}) {lines}"), Some(script)),
            (
                Some(json!(STANDARD.encode("one short line"))),
                "(Base64 decoded) one short line".to_owned(),
                Some("one short line"),
            ),
            // A word that happens to be valid Base64.
            (Some(json!("shoot")), "shoot".to_owned(), None),
            (Some(json!("abcdefghijklmnop")), "abcdefghijklmnop".to_owned(), None),
        ];
        for (value, line, whole) in table {
            let found = readable(value.as_ref());
            assert_eq!(found.line, line, "{value:?}");
            assert_eq!(found.whole.as_deref(), whole.map(str::trim_end), "{value:?}");
        }
    }

    #[test]
    fn a_file_is_shown_with_its_content_and_without_its_secrets() {
        let content =
            format!("[Global]\n{}password=\"x\"\n", "# a comment that makes the file long\n".repeat(4));
        let file = json!({"path": "/etc/cloud.conf", "content": {"inline": {"encoding": "b64", "data": STANDARD.encode(content)}}});
        let found = readable(Some(&file));
        assert!(found.line.starts_with("(Base64 decoded, "), "{}", found.line);
        let whole = found.whole.unwrap();
        assert!(whole.contains("[Global]") && whole.contains("path: /etc/cloud.conf"), "{whole}");
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n";
        let masked = readable(Some(&json!(STANDARD.encode(format!("{key}{key}")))));
        assert!(!masked.whole.unwrap_or(masked.line).contains("MIIE"));
    }
}
