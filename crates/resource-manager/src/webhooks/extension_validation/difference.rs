//! Differences of two specifications, field by field, in the original's format: `Region: new != old`.
//!
//! Where the original prints single bytes, struct internals or addresses, this prints the values.

use serde_json::Value;

use super::comparison::{entries, equal, integer, is_text, items, member, present, text};
use super::printed::{pointee, printed};
use super::shape::Shape;

/// Maximum number of listed differences.
const LIMIT: usize = 10;
const NO_POINTER: &str = "<nil pointer>";

/// The differences of `new` against `old`, in the order of the fields, at most ten.
pub(super) fn differences(shape: Shape, new: Option<&Value>, old: Option<&Value>) -> Vec<String> {
    let mut walk = Walk { path: Vec::new(), found: Vec::new() };
    walk.compare(shape, present(new), present(old));
    walk.found
}

struct Walk {
    path: Vec<String>,
    found: Vec<String>,
}

impl Walk {
    fn compare(&mut self, shape: Shape, new: Option<&Value>, old: Option<&Value>) {
        match shape {
            Shape::Struct(fields) => {
                for field in fields {
                    self.below(field.go, |walk| {
                        walk.compare(field.shape, member(new, field.name), member(old, field.name));
                    });
                }
            }
            Shape::Pointer(name, inner) => match (new, old) {
                (Some(_), Some(_)) => self.compare(*inner, new, old),
                (Some(value), None) => self.add(&pointee(name, *inner, value), NO_POINTER),
                (None, Some(value)) => self.add(NO_POINTER, &pointee(name, *inner, value)),
                (None, None) => {}
            },
            Shape::List(_, inner) => self.lists(shape, *inner, new, old),
            Shape::Map(inner) => self.maps(shape, *inner, new, old),
            Shape::IntegerOrText => self.integers_or_texts(new, old),
            Shape::Any => self.json(new, old),
            _ if equal(shape, new, old) => {}
            _ => self.add(&printed(shape, new), &printed(shape, old)),
        }
    }

    fn lists(&mut self, shape: Shape, inner: Shape, new: Option<&Value>, old: Option<&Value>) {
        match (new, old) {
            (Some(_), Some(_)) => {
                let (new, old) = (items(new), items(old));
                for index in 0..new.len().max(old.len()) {
                    self.below(&format!("slice[{index}]"), |walk| match (new.get(index), old.get(index)) {
                        (Some(value), None) => walk.add(&printed(inner, Some(value)), "<no value>"),
                        (None, Some(value)) => walk.add("<no value>", &printed(inner, Some(value))),
                        (new, old) => walk.compare(inner, present(new), present(old)),
                    });
                }
            }
            (Some(_), None) => self.add(&printed(shape, new), "<nil slice>"),
            (None, Some(_)) => self.add("<nil slice>", &printed(shape, old)),
            (None, None) => {}
        }
    }

    fn maps(&mut self, shape: Shape, inner: Shape, new: Option<&Value>, old: Option<&Value>) {
        match (entries(new), entries(old)) {
            (Some(new), Some(old)) => {
                let gone = old.keys().filter(|key| !new.contains_key(*key));
                for key in new.keys().chain(gone) {
                    self.below(&format!("map[{key}]"), |walk| match (new.get(key), old.get(key)) {
                        (Some(value), None) => walk.add(&printed(inner, Some(value)), "<does not have key>"),
                        (None, Some(value)) => walk.add("<does not have key>", &printed(inner, Some(value))),
                        (new, old) => walk.compare(inner, present(new), present(old)),
                    });
                }
            }
            (Some(_), None) => self.add(&printed(shape, new), "<nil map>"),
            (None, Some(_)) => self.add("<nil map>", &printed(shape, old)),
            (None, None) => {}
        }
    }

    /// An `intstr.IntOrString` is a struct of its kind and both values.
    fn integers_or_texts(&mut self, new: Option<&Value>, old: Option<&Value>) {
        let parts = |value| (i64::from(is_text(value)), integer(value), text(value).to_owned());
        let (new, old) = (parts(new), parts(old));
        for (name, new, old) in [
            ("Type", new.0.to_string(), old.0.to_string()),
            ("IntVal", new.1.to_string(), old.1.to_string()),
            ("StrVal", new.2, old.2),
        ] {
            if new != old {
                self.below(name, |walk| walk.add(&new, &old));
            }
        }
    }

    fn json(&mut self, new: Option<&Value>, old: Option<&Value>) {
        match (entries(new), entries(old)) {
            (Some(new), Some(old)) => {
                let gone = old.keys().filter(|key| !new.contains_key(*key));
                for key in new.keys().chain(gone) {
                    self.below(key, |walk| walk.json(present(new.get(key)), present(old.get(key))));
                }
            }
            _ if equal(Shape::Any, new, old) => {}
            _ => self.add(&printed(Shape::Any, new), &printed(Shape::Any, old)),
        }
    }

    fn below(&mut self, name: &str, look: impl FnOnce(&mut Self)) {
        self.path.push(name.to_owned());
        look(self);
        self.path.pop();
    }

    fn add(&mut self, new: &str, old: &str) {
        if self.found.len() < LIMIT {
            self.found.push(format!("{}: {new} != {old}", self.path.join(".")));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::shape::{OPTIONAL_TEXT, OPTIONAL_TRUTH, RAW, TEXT_MAP, TEXTS, field};
    use super::*;

    const ELEMENT: Shape =
        Shape::Struct(&[field("name", "Name", Shape::Text), field("on", "On", OPTIONAL_TRUTH)]);
    const ALL: Shape = Shape::Struct(&[
        field("texts", "Texts", TEXTS),
        field("map", "Map", TEXT_MAP),
        field("list", "List", Shape::List("v1.Element", &ELEMENT)),
        field("one", "One", Shape::Pointer("v1.Element", &ELEMENT)),
        field("shown", "Shown", Shape::Pointer("", &ELEMENT)),
        field("bytes", "Bytes", Shape::Bytes),
        field("raw", "Raw", RAW),
        field("amount", "Amount", Shape::Quantity),
        field("wait", "Wait", Shape::Duration),
        field("either", "Either", Shape::IntegerOrText),
        field("optional", "Optional", OPTIONAL_TEXT),
    ]);

    fn diff(new: &Value, old: &Value) -> Vec<String> {
        differences(ALL, Some(new), Some(old))
    }

    #[test]
    fn each_changed_field_is_listed_with_new_and_old_value() {
        for (new, old, difference) in [
            (json!({"texts": ["a", "b"]}), json!({}), "Texts: [a b] != <nil slice>"),
            (json!({}), json!({"texts": []}), "Texts: <nil slice> != []"),
            (json!({"texts": ["a"]}), json!({"texts": ["b"]}), "Texts.slice[0]: a != b"),
            (json!({"texts": []}), json!({"texts": ["b"]}), "Texts.slice[0]: <no value> != b"),
            (json!({"map": {"a": "b", "c": "d"}}), json!({}), "Map: map[a:b c:d] != <nil map>"),
            (json!({"map": {"a": "b"}}), json!({"map": {}}), "Map.map[a]: b != <does not have key>"),
            (json!({"map": {}}), json!({"map": {"a": "b"}}), "Map.map[a]: <does not have key> != b"),
            (json!({"list": [{"name": "a"}]}), json!({}), "List: [{a <nil>}] != <nil slice>"),
            (json!({"one": {}}), json!({}), "One: v1.Element != <nil pointer>"),
            (json!({"one": {"on": true}}), json!({"one": {"on": false}}), "One.On: true != false"),
            (json!({"shown": {"name": "a"}}), json!({}), "Shown: {a <nil>} != <nil pointer>"),
            (json!({"bytes": "Zm9v"}), json!({"bytes": "YmFycw=="}), "Bytes: <3 bytes> != <4 bytes>"),
            (json!({"raw": {"a": {"b": 1}}}), json!({"raw": {"a": {"b": 2}}}), "Raw.a.b: 1 != 2"),
            (json!({"raw": {"a": [1]}}), json!({"raw": {}}), "Raw.a: [1] != <nil>"),
            (json!({"amount": "1500m"}), json!({"amount": 1}), "Amount: 1500m != 1"),
            (json!({"wait": "60s"}), json!({"wait": "2m"}), "Wait: 1m0s != 2m0s"),
            (json!({"either": 1}), json!({"either": 2}), "Either.IntVal: 1 != 2"),
            (json!({"optional": ""}), json!({}), "Optional: string != <nil pointer>"),
        ] {
            assert_eq!(diff(&new, &old), [difference], "{new} {old}");
        }
    }

    #[test]
    fn different_notations_of_one_value_are_no_difference() {
        let new = json!({"amount": "1000m", "wait": "60s", "bytes": "Zm9v\n", "optional": null, "other": 1});
        let old = json!({"amount": 1, "wait": "1m", "bytes": "Zm9v"});
        assert_eq!(diff(&new, &old), Vec::<String>::new());
    }

    #[test]
    fn ten_differences_are_listed_at_most() {
        let texts: Vec<String> = (0..20).map(|number| number.to_string()).collect();
        assert_eq!(diff(&json!({"texts": texts}), &json!({"texts": []})).len(), LIMIT);
    }
}
