//! Finds few patterns that match the functions that ran, and hardly any others.

/// Patterns may match functions that did not run, of at most this fraction of the size of those that did: one in `TOLERANCE`.
const TOLERANCE: u64 = 16;

/// A function, and whether it ran.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) stem: String,
    /// Bytes.
    pub(super) size: u64,
    pub(super) ran: bool,
}

/// Patterns, and the functions that they match.
#[derive(Debug, Default)]
pub(super) struct Cover {
    /// The patterns in order.
    pub(super) patterns: Vec<String>,
    /// The size of all matched functions in bytes.
    pub(super) size: u64,
    stems: std::collections::BTreeSet<String>,
}

impl Cover {
    /// Whether a pattern matches a function with this stem.
    pub(super) fn covers(&self, stem: &str) -> bool {
        self.stems.contains(stem)
    }

    /// Adds patterns for functions, each as short as distinguishes those that ran from those that did not. The first `prefix` bytes
    /// distinguish `functions` from all others.
    fn add(&mut self, functions: &[Function], prefix: usize) {
        let (Some(first), Some(last)) = (functions.first(), functions.last()) else { return };
        let ran: u64 = functions.iter().filter(|function| function.ran).map(|function| function.size).sum();
        let all: u64 = functions.iter().map(|function| function.size).sum();
        if ran == 0 {
            return;
        }
        if first.stem == last.stem || all - ran <= ran / TOLERANCE {
            let is_complete = prefix > first.stem.len();
            self.patterns.push(if is_complete {
                first.stem.clone()
            } else {
                format!("{}*", &first.stem[..prefix])
            });
            self.stems.extend(functions.iter().map(|function| function.stem.clone()));
            self.size += all;
            return;
        }
        let same = common_prefix(&first.stem, &last.stem);
        for part in functions.chunk_by(|a, b| next(a, same) == next(b, same)) {
            self.add(part, same + 1);
        }
    }
}

/// Finds patterns for the functions that ran.
pub(super) fn cover(mut functions: Vec<Function>) -> Cover {
    functions.sort_by(|a, b| a.stem.cmp(&b.stem));
    let mut cover = Cover::default();
    cover.add(&functions, 1);
    cover
}

/// The length of the common prefix of two names, and so of all sorted names between them. Symbols are ASCII.
fn common_prefix(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

/// The byte at an offset; `None` at the end of the name, which differs from all bytes.
fn next(function: &Function, at: usize) -> Option<u8> {
    function.stem.as_bytes().get(at).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(functions: &[(&str, u64, bool)]) -> Cover {
        let functions = functions.iter();
        cover(functions.map(|&(stem, size, ran)| Function { stem: stem.to_owned(), size, ran }).collect())
    }

    #[test]
    fn patterns_are_as_short_as_possible() {
        let found = of(&[
            ("drop_a", 100, true),
            ("drop_b", 100, true),
            ("watch_pod", 100, false),
            ("watch_node", 100, true),
            ("never", 100, false),
        ]);
        assert_eq!(found.patterns, ["d*", "watch_n*"]);
        assert_eq!(found.size, 300);
        assert!(found.covers("drop_b") && !found.covers("watch_pod"));
    }

    #[test]
    fn a_pattern_may_match_small_functions_that_did_not_run() {
        assert_eq!(of(&[("a1", 160, true), ("a2", 160, true), ("a3", 20, false)]).patterns, ["a*"]);
        assert_eq!(of(&[("a1", 160, true), ("a2", 160, true), ("a3", 21, false)]).patterns, ["a1*", "a2*"]);
    }

    #[test]
    fn functions_with_the_same_name_are_matched_together() {
        let found = of(&[("a", 10, true), ("a", 500, false), ("b", 1, false)]);
        assert_eq!((found.patterns, found.size), (vec!["a*".to_owned()], 510));
    }

    #[test]
    fn a_name_that_is_a_prefix_of_others_is_matched_exactly() {
        assert_eq!(of(&[("free", 10, true), ("free_all", 10, false)]).patterns, ["free"]);
    }
}
