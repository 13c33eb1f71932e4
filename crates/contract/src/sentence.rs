//! The hash that ties a clause or an entry of a ledger to a sentence of its source document, independent of the
//! document's layout.

mod split;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

use sha2::{Digest as _, Sha256};

pub use split::{Sentence, sentences};

/// The first 8 hex digits of SHA-256 over the letters and digits of `sentence`, lower case.
#[must_use]
pub fn hash(sentence: &str) -> String {
    shortened(&Sha256::digest(normal(sentence).as_bytes()))
}

/// The byte ranges in `document` whose hash is wanted; `words` limits the length of a range.
///
/// A quotation may be a sentence, a part of one or several, so every run of consecutive fragments is tried. Fragments end at
/// full stops, colons and the like, and at line ends.
#[must_use]
pub fn quoted(document: &str, wanted: &BTreeSet<&str>, words: usize) -> Vec<(String, Range<usize>)> {
    let fragments = fragments(document);
    let mut found = Vec::new();
    for (first, fragment) in fragments.iter().enumerate() {
        let mut digest = Sha256::new();
        let mut length = 0;
        for last in &fragments[first..] {
            length += last.words;
            if length > words {
                break;
            }
            digest.update(last.normal.as_bytes());
            let hash = shortened(&digest.clone().finalize());
            if wanted.contains(hash.as_str()) {
                found.push((hash, fragment.range.start..last.range.end));
            }
        }
    }
    found
}

fn shortened(digest: &[u8]) -> String {
    digest.iter().take(4).fold(String::new(), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn normal(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The smallest unit of quotations.
struct Fragment {
    range: Range<usize>,
    normal: String,
    words: usize,
}

/// The fragments between full stops (and the like) that a space follows, and between lines.
fn fragments(document: &str) -> Vec<Fragment> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in document.split_inclusive('\n') {
        let mut rest = line;
        while let Some(end) = rest.find(['.', ':', ';', '!', '?']) {
            let after = end + 1;
            let closes = rest[after..].starts_with(char::is_whitespace) || rest[after..].is_empty();
            let longer = if closes {
                after
            } else {
                after + rest[after..].find([' ', '\t', '\n']).unwrap_or(rest.len() - after)
            };
            found.push(start..start + longer);
            start += longer;
            rest = &rest[longer..];
        }
        found.push(start..start + rest.len());
        start += rest.len();
    }
    let fragment = |range: Range<usize>| {
        let text = &document[range.clone()];
        Fragment { range, normal: normal(text), words: text.split_whitespace().count() }
    };
    found.into_iter().map(fragment).filter(|fragment| !fragment.normal.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_and_case_do_not_matter() {
        assert_eq!(hash("The Pod’s `.spec` is set."), hash("the pod's spec IS  set"));
        assert_ne!(hash("is set"), hash("is not set"));
        assert_eq!(hash("").len(), 8);
    }

    #[test]
    fn a_sentence_is_found_inside_a_document_and_a_changed_one_is_not() {
        let document = "Title\n\nFirst one. The second sentence names spec.foo and\nends here: yes. Third.";
        let found = |sentence: &str| {
            let found = quoted(document, &BTreeSet::from([hash(sentence).as_str()]), 60);
            found.into_iter().map(|(_, range)| document[range].trim()).collect::<Vec<_>>()
        };
        assert_eq!(found("First one."), ["First one."]);
        let second = "The second sentence names spec.foo and ends here";
        assert_eq!(found(second), ["The second sentence names spec.foo and\nends here:"]);
        assert_eq!(found("The second sentence names spec.bar and ends here"), Vec::<&str>::new());
    }
}
