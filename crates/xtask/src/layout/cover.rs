//! Few patterns that match the functions that ran, and hardly another.

/// What may be matched beside what ran: one part in so many.
const TOLERANCE: u64 = 16;

/// A function, and whether it ran.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) stem: String,
    /// Bytes.
    pub(super) size: u64,
    pub(super) ran: bool,
}

/// Patterns, and what they match.
#[derive(Debug, Default)]
pub(super) struct Cover {
    /// In order.
    pub(super) patterns: Vec<String>,
    /// Bytes of all functions that they match.
    pub(super) size: u64,
    stems: std::collections::BTreeSet<String>,
}

impl Cover {
    /// Whether a function of this stem is matched.
    pub(super) fn covers(&self, stem: &str) -> bool {
        self.stems.contains(stem)
    }

    /// Ends each pattern as early as those that ran can be told from those that did not; `told` bytes tell these
    /// functions from all others.
    fn add(&mut self, functions: &[Function], told: usize) {
        let (Some(first), Some(last)) = (functions.first(), functions.last()) else { return };
        let ran: u64 = functions.iter().filter(|function| function.ran).map(|function| function.size).sum();
        let all: u64 = functions.iter().map(|function| function.size).sum();
        if ran == 0 {
            return;
        }
        if first.stem == last.stem || all - ran <= ran / TOLERANCE {
            let is_whole = told > first.stem.len();
            self.patterns.push(if is_whole {
                first.stem.clone()
            } else {
                format!("{}*", &first.stem[..told])
            });
            self.stems.extend(functions.iter().map(|function| function.stem.clone()));
            self.size += all;
            return;
        }
        let same = common(&first.stem, &last.stem);
        for part in functions.chunk_by(|a, b| next(a, same) == next(b, same)) {
            self.add(part, same + 1);
        }
    }
}

/// Patterns for those of the functions that ran.
pub(super) fn cover(mut functions: Vec<Function>) -> Cover {
    functions.sort_by(|a, b| a.stem.cmp(&b.stem));
    let mut cover = Cover::default();
    cover.add(&functions, 1);
    cover
}

/// How many bytes both begin with; of sorted names, all between the two as well. Symbols are ASCII.
fn common(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

/// What comes then; a name that ends there is told from those that go on by its end.
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
    fn what_ran_is_told_from_what_did_not_by_as_little_as_possible() {
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
    fn a_little_that_did_not_run_is_matched_rather_than_many_patterns_made() {
        assert_eq!(of(&[("a1", 160, true), ("a2", 160, true), ("a3", 20, false)]).patterns, ["a*"]);
        assert_eq!(of(&[("a1", 160, true), ("a2", 160, true), ("a3", 21, false)]).patterns, ["a1*", "a2*"]);
    }

    #[test]
    fn functions_of_one_name_are_one() {
        let found = of(&[("a", 10, true), ("a", 500, false), ("b", 1, false)]);
        assert_eq!((found.patterns, found.size), (vec!["a*".to_owned()], 510));
    }

    #[test]
    fn a_name_that_others_begin_with_is_matched_as_a_whole() {
        assert_eq!(of(&[("free", 10, true), ("free_all", 10, false)]).patterns, ["free"]);
    }
}
