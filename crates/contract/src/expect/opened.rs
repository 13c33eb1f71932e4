//! Strings that hold a notation: opened into values, and built from them.

use std::collections::BTreeMap;

use formats::yaml;
use serde_json::{Map, Value, json};

use super::Notation;

/// What the string holds; absent where it is not of this notation.
///
/// YAML and JSON: the value. Base64: the text. A unit: section → option → list of values.
#[must_use]
pub fn open(notation: Notation, text: &str) -> Option<Value> {
    match notation {
        Notation::Yaml => yaml::from_str(text).ok(),
        Notation::Json => serde_json::from_str(text).ok(),
        Notation::Base64 => base64_decode(text).map(Value::String),
        Notation::Unit => unit(text),
    }
}

/// The string that holds this; absent where the notation cannot (Base64 of what is no text).
#[must_use]
pub fn close(notation: Notation, content: &Value) -> Option<String> {
    match notation {
        Notation::Yaml => yaml::to_string(content).ok(),
        Notation::Json => serde_json::to_string(content).ok(),
        Notation::Base64 => content.as_str().map(|text| base64_encode(text.as_bytes())),
        Notation::Unit => print_unit(content),
    }
}

/// The options of a systemd unit: comments left out, lines that end with a backslash joined by a blank.
fn unit(text: &str) -> Option<Value> {
    let mut sections: BTreeMap<String, BTreeMap<String, Vec<Value>>> = BTreeMap::new();
    let mut current: Option<String> = None;
    let mut pending = String::new();
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with(['#', ';']) || (line.is_empty() && pending.is_empty()) {
            continue;
        }
        pending.push_str(line);
        if pending.ends_with('\\') {
            pending.pop();
            let end = pending.trim_end().len();
            pending.truncate(end);
            pending.push(' ');
            continue;
        }
        let line = std::mem::take(&mut pending);
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            sections.entry(name.to_owned()).or_default();
            current = Some(name.to_owned());
        } else {
            let (option, value) = line.split_once('=')?;
            let section = sections.get_mut(current.as_ref()?)?;
            section.entry(option.trim().to_owned()).or_default().push(json!(value.trim()));
        }
    }
    pending.is_empty().then(|| json!(sections))
}

fn print_unit(content: &Value) -> Option<String> {
    let mut blocks = Vec::new();
    for (section, options) in content.as_object()? {
        let mut block = format!("[{section}]\n");
        for (option, values) in options.as_object().unwrap_or(&Map::new()) {
            for value in values.as_array().unwrap_or(&vec![values.clone()]) {
                let value = super::scalar::bare(value);
                block.push_str(&format!("{option}={value}\n"));
            }
        }
        blocks.push(block);
    }
    Some(blocks.join("\n"))
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64_encode(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word =
            chunk.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for position in 0..4 {
            let letter = ALPHABET[(word >> (18 - 6 * position) & 63) as usize];
            text.push(if position <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

fn base64_decode(text: &str) -> Option<String> {
    let letters: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let body = letters.strip_suffix(b"==").or_else(|| letters.strip_suffix(b"=")).unwrap_or(&letters);
    if letters.len() % 4 != 0 {
        return None;
    }
    let mut bytes = Vec::new();
    for chunk in body.chunks(4) {
        let mut word = 0_u32;
        for letter in chunk {
            let digit = ALPHABET.iter().position(|known| known == letter)?;
            word = word << 6 | u32::try_from(digit).ok()?;
        }
        word <<= 6 * (4 - chunk.len());
        bytes.extend(word.to_be_bytes()[1..].iter().take(chunk.len() * 3 / 4));
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
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
}
