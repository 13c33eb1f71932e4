//! Warnings and audit annotations of a request.

use std::collections::BTreeMap;

/// The number of characters of all warnings above which each is shortened.
const MOST: usize = 4096;
/// The number of characters of a shortened warning.
const CUT: usize = 256;

/// Warnings and audit annotations, collected while a request is answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Notes {
    /// Warnings for the user, each once.
    warnings: Vec<String>,
    /// For the audit log, as `webhook/key`.
    pub(crate) annotations: BTreeMap<String, String>,
    /// Whether the stored form differs from the form as read, so that writing the same object again is a change.
    pub(crate) non_canonical: bool,
    /// Whether the request sets a list or map to empty where kube-apiserver distinguishes this from leaving it out.
    pub(crate) empty_collections: bool,
    /// Whether the request is an update or a patch that left the object as it was.
    pub(crate) unchanged: bool,
}

impl Notes {
    /// Adds warnings; ignores duplicates.
    pub(crate) fn warn(&mut self, warnings: impl IntoIterator<Item = String>) {
        for warning in warnings {
            if !warning.is_empty() && !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
    }

    /// The values of `Warning` headers, as kube-apiserver writes them: a warning with a control character is dropped;
    /// if all together exceed 4,096 characters, each is shortened to 256, and those after 4,096 are dropped.
    pub(crate) fn headers(&self) -> Vec<String> {
        let (mut texts, mut written, mut cut) = (Vec::new(), 0, false);
        for (index, warning) in self.warnings.iter().enumerate() {
            if cut && written >= MOST {
                break;
            }
            let text = if cut { shortened(warning) } else { warning.clone() };
            if text.chars().any(char::is_control) {
                continue;
            }
            let length = text.chars().count();
            if cut || written + length <= MOST {
                written += length;
                texts.push(text);
                continue;
            }
            cut = true;
            let all = self.warnings[..=index].iter().map(|warning| shortened(warning));
            texts = all.filter(|text| !text.chars().any(char::is_control)).collect();
            written = texts.iter().map(|text| text.chars().count()).sum();
        }
        texts
            .iter()
            .map(|text| format!("299 - \"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
            .collect()
    }

    /// Adds the notes of another part of the same request.
    pub(crate) fn extend(&mut self, other: Self) {
        self.warn(other.warnings);
        self.annotations.extend(other.annotations);
        self.non_canonical |= other.non_canonical;
        self.empty_collections |= other.empty_collections;
        self.unchanged |= other.unchanged;
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(CUT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warning_headers_are_shortened_as_in_kube_apiserver() {
        let headers = |warnings: &[&str]| {
            let mut notes = Notes::default();
            notes.warn(warnings.iter().map(|text| (*text).to_owned()));
            notes.headers()
        };
        assert_eq!(headers(&["first\nsecond", "plain"]), ["299 - \"plain\""]);
        assert_eq!(headers(&["a\tb"]), [""; 0]);
        assert_eq!(headers(&[r#"say "hi" \ there"#]), [r#"299 - "say \"hi\" \\ there""#]);
        let lengths = |warnings: &[String]| {
            let texts: Vec<&str> = warnings.iter().map(String::as_str).collect();
            headers(&texts).iter().map(|header| header.chars().count() - 8).collect::<Vec<_>>()
        };
        let long = ["x".repeat(3000), "y".repeat(3000), "z".repeat(10)];
        assert_eq!(lengths(&long), [256, 256, 10]);
        assert_eq!(lengths(&long[..1]), [3000]);
        let many: Vec<String> = (0..40).map(|index| format!("{index:02}{}", "w".repeat(300))).collect();
        assert_eq!(lengths(&many), [256; 16]);
        // Characters are counted, not bytes.
        assert_eq!(lengths(&["ü".repeat(4096)]), [4096]);
    }

    #[test]
    fn duplicate_warnings_are_ignored() {
        let mut notes = Notes::default();
        notes.warn(["a", "", "b", "a"].map(str::to_owned));
        let mut other = Notes::default();
        other.warn(["c", "b"].map(str::to_owned));
        notes.extend(other);
        assert_eq!(notes.warnings, ["a", "b", "c"]);
    }
}
