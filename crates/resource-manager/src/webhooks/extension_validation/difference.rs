//! What differs between two specifications, field by field, in the words of the original: `Region: new != old`.
//!
//! Where the original prints single bytes, struct internals or memory addresses, the values themselves stand here.

use serde_json::{Map, Value};

use super::comparison::{duration, entries, equal, integer, is_text, items, member, present, text, truth};
use super::decoding::{bytes, quantity};
use super::shape::Shape;

/// So many differences are listed at most.
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
                (Some(value), None) => self.say(&pointee(name, *inner, value), NO_POINTER),
                (None, Some(value)) => self.say(NO_POINTER, &pointee(name, *inner, value)),
                (None, None) => {}
            },
            Shape::List(_, inner) => self.lists(shape, *inner, new, old),
            Shape::Map(inner) => self.maps(shape, *inner, new, old),
            Shape::IntegerOrText => self.integers_or_texts(new, old),
            Shape::Any => self.json(new, old),
            _ if equal(shape, new, old) => {}
            _ => self.say(&printed(shape, new), &printed(shape, old)),
        }
    }

    fn lists(&mut self, shape: Shape, inner: Shape, new: Option<&Value>, old: Option<&Value>) {
        match (new, old) {
            (Some(_), Some(_)) => {
                let (new, old) = (items(new), items(old));
                for index in 0..new.len().max(old.len()) {
                    self.below(&format!("slice[{index}]"), |walk| match (new.get(index), old.get(index)) {
                        (Some(value), None) => walk.say(&printed(inner, Some(value)), "<no value>"),
                        (None, Some(value)) => walk.say("<no value>", &printed(inner, Some(value))),
                        (new, old) => walk.compare(inner, present(new), present(old)),
                    });
                }
            }
            (Some(_), None) => self.say(&printed(shape, new), "<nil slice>"),
            (None, Some(_)) => self.say("<nil slice>", &printed(shape, old)),
            (None, None) => {}
        }
    }

    fn maps(&mut self, shape: Shape, inner: Shape, new: Option<&Value>, old: Option<&Value>) {
        match (entries(new), entries(old)) {
            (Some(new), Some(old)) => {
                let gone = old.keys().filter(|key| !new.contains_key(*key));
                for key in new.keys().chain(gone) {
                    self.below(&format!("map[{key}]"), |walk| match (new.get(key), old.get(key)) {
                        (Some(value), None) => walk.say(&printed(inner, Some(value)), "<does not have key>"),
                        (None, Some(value)) => walk.say("<does not have key>", &printed(inner, Some(value))),
                        (new, old) => walk.compare(inner, present(new), present(old)),
                    });
                }
            }
            (Some(_), None) => self.say(&printed(shape, new), "<nil map>"),
            (None, Some(_)) => self.say("<nil map>", &printed(shape, old)),
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
                self.below(name, |walk| walk.say(&new, &old));
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
            _ => self.say(&printed(Shape::Any, new), &printed(Shape::Any, old)),
        }
    }

    fn below(&mut self, name: &str, look: impl FnOnce(&mut Self)) {
        self.path.push(name.to_owned());
        look(self);
        self.path.pop();
    }

    fn say(&mut self, new: &str, old: &str) {
        if self.found.len() < LIMIT {
            self.found.push(format!("{}: {new} != {old}", self.path.join(".")));
        }
    }
}

/// What stands for a set pointer beside an unset one: its type, or its value where no type is named.
fn pointee(name: &str, inner: Shape, value: &Value) -> String {
    if name.is_empty() { printed(inner, Some(value)) } else { name.to_owned() }
}

/// A value as Go's `%v` prints it.
fn printed(shape: Shape, value: Option<&Value>) -> String {
    let joined = |texts: Vec<String>| texts.join(" ");
    match shape {
        Shape::Text | Shape::Time => text(value).to_owned(),
        Shape::Truth => truth(value).to_string(),
        Shape::Integer32 | Shape::Integer64 => integer(value).to_string(),
        Shape::Bytes => format!("<{} bytes>", bytes(value).len()),
        Shape::Quantity => quantity(value).to_string(),
        Shape::Duration => duration(value).to_string(),
        Shape::IntegerOrText if is_text(value) => text(value).to_owned(),
        Shape::IntegerOrText => integer(value).to_string(),
        Shape::Any => value.map_or_else(|| "<nil>".to_owned(), Value::to_string),
        Shape::Pointer(_, inner) => {
            value.map_or_else(|| "<nil>".to_owned(), |value| printed(*inner, Some(value)))
        }
        Shape::List(_, inner) => {
            format!("[{}]", joined(items(value).iter().map(|item| printed(*inner, Some(item))).collect()))
        }
        Shape::Map(inner) => {
            let entries = entries(value).into_iter().flat_map(Map::iter);
            format!(
                "map[{}]",
                joined(
                    entries.map(|(key, entry)| format!("{key}:{}", printed(*inner, Some(entry)))).collect()
                )
            )
        }
        Shape::Struct(fields) => {
            format!(
                "{{{}}}",
                joined(fields.iter().map(|field| printed(field.shape, member(value, field.name))).collect())
            )
        }
    }
}
