//! The differences of two values as texts, as the original lists them for an object that is being deleted.

use std::collections::BTreeMap;

use webhook::field::{Error, Path};

use super::go_value::GoValue;

/// The original lists at most this many.
const MOST: usize = 10;

/// A spec that changed although its object is being deleted.
pub(super) fn forbidden(at: &Path, new: &GoValue, old: &GoValue) -> Error {
    Error::forbidden(at, &between(new, old).join(","))
}

/// The differences of two values of one type, each as `<path>: <new> != <old>`; a path joins fields of Go's types by dots.
fn between(new: &GoValue, old: &GoValue) -> Vec<String> {
    let mut found = Found { path: Vec::new(), differences: Vec::new() };
    found.compare(new, old);
    found.differences
}

struct Found {
    path: Vec<String>,
    differences: Vec<String>,
}

impl Found {
    fn compare(&mut self, new: &GoValue, old: &GoValue) {
        match (new, old) {
            (GoValue::Pointer(_, Some(new)), GoValue::Pointer(_, Some(old))) => self.compare(new, old),
            (GoValue::Pointer(of, Some(_)), GoValue::Pointer(_, None)) => self.add(of, "<nil pointer>"),
            (GoValue::Pointer(_, None), GoValue::Pointer(of, Some(_))) => self.add("<nil pointer>", of),
            (GoValue::Struct(_, new), GoValue::Struct(_, old)) => {
                let fields = new.iter().zip(old).map(|((name, new), (_, old))| (*name, new, old));
                for (name, new, old) in fields {
                    self.below(name.to_owned(), |found| found.compare(new, old));
                    if self.differences.len() >= MOST {
                        break;
                    }
                }
            }
            (GoValue::List(_, items), GoValue::List(..)) if new != old && items.is_empty() => {
                self.add("<nil slice>", &old.plain());
            }
            (GoValue::List(..), GoValue::List(_, items)) if new != old && items.is_empty() => {
                self.add(&new.plain(), "<nil slice>");
            }
            (GoValue::List(_, new), GoValue::List(_, old)) => self.compare_lists(new, old),
            (GoValue::Map(entries), GoValue::Map(_)) if new != old && entries.is_empty() => {
                self.add("<nil map>", &old.plain());
            }
            (GoValue::Map(_), GoValue::Map(entries)) if new != old && entries.is_empty() => {
                self.add(&new.plain(), "<nil map>");
            }
            (GoValue::Map(new), GoValue::Map(old)) => self.compare_maps(new, old),
            _ if new != old => self.add(&new.plain(), &old.plain()),
            _ => {}
        }
    }

    fn compare_lists(&mut self, new: &[GoValue], old: &[GoValue]) {
        for index in 0..new.len().max(old.len()) {
            self.below(format!("slice[{index}]"), |found| match (new.get(index), old.get(index)) {
                (Some(new), Some(old)) => found.compare(new, old),
                (Some(new), None) => found.add(&new.plain(), "<no value>"),
                (None, old) => found.add("<no value>", &old.map(GoValue::plain).unwrap_or_default()),
            });
            if self.differences.len() >= MOST {
                break;
            }
        }
    }

    /// In the original, the order of the keys is random.
    fn compare_maps(&mut self, new: &BTreeMap<String, String>, old: &BTreeMap<String, String>) {
        const ABSENT: &str = "<does not have key>";
        let added = old.keys().filter(|key| !new.contains_key(*key));
        for key in new.keys().chain(added) {
            let (new, old) =
                (new.get(key).map_or(ABSENT, |value| value), old.get(key).map_or(ABSENT, |value| value));
            if new != old {
                self.below(format!("map[{key}]"), |found| found.add(new, old));
            }
            if self.differences.len() >= MOST {
                break;
            }
        }
    }

    fn below(&mut self, name: String, compare: impl FnOnce(&mut Self)) {
        self.path.push(name);
        compare(self);
        self.path.pop();
    }

    fn add(&mut self, new: &str, old: &str) {
        let path = self.path.join(".");
        let separator = if path.is_empty() { "" } else { ": " };
        self.differences.push(format!("{path}{separator}{new} != {old}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_listed_as_the_original_lists_them() {
        let texts =
            |texts: &[&str]| GoValue::texts(&texts.iter().map(ToString::to_string).collect::<Vec<_>>());
        let map = |key: &str, value: &str| GoValue::Map(BTreeMap::from([(key.to_owned(), value.to_owned())]));
        let one = |name, value| GoValue::Struct("core.Thing", vec![(name, value)]);
        let pointer = |value: Option<bool>| GoValue::pointer("bool", value.map(GoValue::Bool));
        let table: [(GoValue, GoValue, &[&str]); 12] = [
            (one("A", texts(&["a"])), one("A", texts(&["a"])), &[]),
            (
                one("A", texts(&["a", "b"])),
                one("A", texts(&["c"])),
                &["A.slice[0]: a != c", "A.slice[1]: b != <no value>"],
            ),
            (one("A", texts(&["a"])), one("A", texts(&["a", "b"])), &["A.slice[1]: <no value> != b"]),
            (one("A", texts(&[])), one("A", texts(&["a", "b"])), &["A: <nil slice> != [a b]"]),
            (one("A", texts(&["a"])), one("A", texts(&[])), &["A: [a] != <nil slice>"]),
            (one("A", pointer(Some(true))), one("A", pointer(Some(false))), &["A: true != false"]),
            (one("A", pointer(Some(true))), one("A", pointer(None)), &["A: bool != <nil pointer>"]),
            (one("A", pointer(None)), one("A", pointer(Some(true))), &["A: <nil pointer> != bool"]),
            (map("a", "b"), map("a", "c"), &["map[a]: b != c"]),
            (
                map("a", "b"),
                map("c", "b"),
                &["map[a]: b != <does not have key>", "map[c]: <does not have key> != b"],
            ),
            (one("A", map("a", "b")), one("A", GoValue::Map(BTreeMap::new())), &["A: map[a:b] != <nil map>"]),
            (one("A", GoValue::Map(BTreeMap::new())), one("A", map("a", "b")), &["A: <nil map> != map[a:b]"]),
        ];
        for (new, old, differences) in table {
            assert_eq!(between(&new, &old), differences);
        }
        let many = |text: &str| GoValue::texts(&vec![text.to_owned(); 11]);
        assert_eq!(between(&many("a"), &many("b")).len(), 10);
    }
}
