//! Reads many paths of one object.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::Value;

use super::notation::open_value;
use super::{Path, Step, get};

/// Reads an object at many paths and parses each string in a notation only once.
#[derive(Debug)]
pub struct Reader<'a> {
    object: &'a Value,
    /// Parsed content by the path of the string and its notation; `None`: it cannot be parsed.
    opened: RefCell<BTreeMap<Vec<Step>, Option<Value>>>,
}

impl<'a> Reader<'a> {
    /// A reader of this object.
    #[must_use]
    pub fn new(object: &'a Value) -> Self {
        Self { object, opened: RefCell::default() }
    }

    /// The value at a path, as [`get`] returns it.
    #[must_use]
    pub fn get(&self, path: &Path) -> Option<Value> {
        let opened = path.0.iter().enumerate().find_map(|(depth, step)| match step {
            Step::Opened(notation) => Some((depth, *notation)),
            _ => None,
        });
        let Some((depth, notation)) = opened else { return get(self.object, path) };
        let (to, within) = path.0.split_at(depth + 1);
        let mut known = self.opened.borrow_mut();
        if !known.contains_key(to) {
            let text = get(self.object, &Path(to[..depth].to_vec()));
            known.insert(to.to_vec(), text.and_then(|text| open_value(notation, &text)));
        }
        get(known.get(to)?.as_ref()?, &Path(within.to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Notation;
    use super::*;

    #[test]
    fn the_reader_returns_the_same_as_get() {
        let object = json!({"data": {"x": "a: 1\nb: 'c: 2'\n", "broken": "{"}, "y": 3});
        let field = |name: &str| Step::Field(name.to_owned());
        let yaml = Step::Opened(Notation::Yaml);
        let paths = [
            vec![field("y")],
            vec![field("data"), field("x"), yaml.clone()],
            vec![field("data"), field("x"), yaml.clone(), field("a")],
            vec![field("data"), field("x"), yaml.clone(), field("b"), yaml.clone(), field("c")],
            vec![field("data"), field("x"), yaml.clone(), field("none")],
            vec![field("data"), field("broken"), yaml.clone(), field("a")],
            vec![field("data"), field("none"), yaml, field("a")],
        ]
        .map(Path);
        let reader = Reader::new(&object);
        for path in paths.iter().chain(&paths) {
            assert_eq!(reader.get(path), get(&object, path), "{path}");
        }
    }
}
