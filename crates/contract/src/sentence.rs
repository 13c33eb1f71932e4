//! The hash that ties a clause to one sentence of its source document, however the document is set.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// The first 8 hex digits of SHA-256 over the letters and digits of `sentence`, lower case.
#[must_use]
pub fn hash(sentence: &str) -> String {
    let digest = Sha256::digest(normal(sentence).as_bytes());
    digest.iter().take(4).fold(String::new(), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Whether any run of words in `document` has this hash; `words` bounds the length of a sentence.
///
/// Sentences end where the document says so (full stop, colon, list item, line end), so every run of consecutive
/// fragments up to `words` words is tried.
#[must_use]
pub fn is_in(document: &str, wanted: &str, words: usize) -> bool {
    let fragments = fragments(document);
    (0..fragments.len()).any(|first| {
        let mut run = String::new();
        let mut length = 0;
        fragments[first..].iter().any(|fragment| {
            length += fragment.split_whitespace().count();
            run.push_str(fragment);
            run.push(' ');
            length <= words && hash(&run) == wanted
        })
    })
}

/// The hashes of all runs of words that [`is_in`] would try: for many hashes against one document.
#[must_use]
pub fn hashes(document: &str, words: usize) -> BTreeSet<String> {
    let fragments = fragments(document);
    let mut found = BTreeSet::new();
    for first in 0..fragments.len() {
        let mut run = String::new();
        let mut length = 0;
        for fragment in &fragments[first..] {
            length += fragment.split_whitespace().count();
            if length > words {
                break;
            }
            run.push_str(fragment);
            found.insert(hash(&run));
        }
    }
    found
}

fn normal(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The pieces between full stops (and the like) that a space follows, and between lines.
fn fragments(document: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in document.lines() {
        let mut rest = line;
        while let Some(end) = rest.find(['.', ':', ';', '!', '?']) {
            let after = end + 1;
            let closes = rest[after..].starts_with(char::is_whitespace) || rest[after..].is_empty();
            let longer = if closes {
                after
            } else {
                after + rest[after..].find([' ', '\t']).unwrap_or(rest.len() - after)
            };
            found.push(&rest[..longer]);
            rest = &rest[longer..];
        }
        found.push(rest);
    }
    found.retain(|fragment| fragment.chars().any(char::is_alphanumeric));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_and_case_do_not_matter() {
        assert_eq!(hash("The Pod’s `.spec` is set."), hash("the pod's spec IS  set"));
        assert_ne!(hash("is set"), hash("is not set"));
        assert_eq!(hash("").len(), 8);
    }

    #[test]
    fn a_sentence_is_found_inside_a_document_and_a_changed_one_is_not() {
        let document = "Title\n\nFirst one. The second sentence names spec.foo and\nends here: yes. Third.";
        let found = |sentence: &str| is_in(document, &hash(sentence), 60);
        assert!(found("First one."));
        assert!(found("The second sentence names spec.foo and ends here"));
        assert!(!found("The second sentence names spec.bar and ends here"));
    }
}
