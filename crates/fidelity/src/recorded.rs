//! Shrunk sequences that once showed a difference, from `data/recorded.yaml`. Every run sends them first.

use std::fmt::Write as _;
use std::sync::LazyLock;

use crate::request::Sequence;

static ALL: LazyLock<Vec<Sequence>> = LazyLock::new(|| {
    formats::yaml::from_str(include_str!("../data/recorded.yaml")).expect("a test reads this file")
});

/// All recorded sequences.
#[must_use]
pub fn all() -> &'static [Sequence] {
    &ALL
}

/// A sequence as an entry of the file, with one request per line.
#[must_use]
pub fn entry(sequence: &Sequence) -> String {
    let mut text = format!("- name: {}\n  requests:\n", serde_json::json!(sequence.name));
    for request in &sequence.requests {
        let request = printable(&serde_json::json!(request).to_string());
        writeln!(text, "  - {request}").expect("writing to memory does not fail");
    }
    text
}

/// JSON with escapes for the letters that YAML takes only as escapes.
fn printable(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                write!(text, "\\u{:04x}", u32::from(letter)).expect("writing to memory does not fail");
            }
            letter => text.push(letter),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;
    use crate::kinds::{self, Kind};
    use std::collections::BTreeSet;

    #[test]
    fn every_recorded_sequence_has_a_unique_name() {
        let names: BTreeSet<&str> = all().iter().map(|sequence| sequence.name.as_str()).collect();
        assert_eq!(names.len(), all().len());
    }

    #[test]
    fn an_entry_reads_back_as_the_sequence() {
        let kinds: Vec<&Kind> = kinds::all().iter().collect();
        for number in 0..50 {
            let sequence = generate::sequence(7, number, &kinds);
            let read: Vec<Sequence> = formats::yaml::from_str(&entry(&sequence)).unwrap();
            assert_eq!(read, [sequence]);
        }
    }
}
