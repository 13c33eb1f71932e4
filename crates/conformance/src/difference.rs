//! Differences between two values as people read them: lists by member, command lines by flag, texts by line, systemd units
//! by option. Every rendering of a report shows differences through this module.

use serde_json::Value;

mod checks;
mod flags;
mod lines;
mod lists;
mod place;
#[cfg(test)]
mod tests;
mod texts;

pub use lines::{DiffLine, diff, diff_of_changes, first_of, sentence_of_changes, sentences};
pub use place::{place, segments};

/// One difference between two values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The places on the way to it: a field, a flag with members, an option of a unit.
    pub place: Vec<String>,
    /// The name of the value at this place, such as a flag; `None` for a member of a list and for a line.
    pub name: Option<String>,
    /// What happened to it.
    pub kind: EditKind,
}

/// What happened to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditKind {
    /// Only the first has it.
    Gone(String),
    /// Only the second has it.
    Added(String),
    /// Both have it, with different values.
    Changed {
        /// The value of the first.
        before: String,
        /// The value of the second.
        after: String,
    },
    /// The second has the same member several times, the first less often.
    Repeated {
        /// The member.
        member: String,
        /// How often the second has it.
        times: usize,
    },
    /// Both have the same members in different orders.
    Reordered,
}

/// The differences between two values; `Null` stands for no value.
#[must_use]
pub fn edits(before: &Value, after: &Value) -> Vec<Edit> {
    let mut found = Edits::default();
    found.collect(before, after);
    found.edits
}

/// The same for values as reports write them: JSON, or a text without quotes; `None` and `absent` stand for no value.
#[must_use]
pub fn edits_of_texts(before: Option<&str>, after: Option<&str>) -> Vec<Edit> {
    let (before, after) = (texts::read(before), texts::read(after));
    let (before, after) = texts::alike(before, after);
    edits(&before, &after)
}

/// Collects differences; knows where it is.
#[derive(Default)]
struct Edits {
    edits: Vec<Edit>,
    place: Vec<String>,
}

impl Edits {
    fn add(&mut self, name: Option<&str>, kind: EditKind) {
        self.edits.push(Edit { place: self.place.clone(), name: name.map(str::to_owned), kind });
    }

    /// Collects the differences at a place below.
    fn within(&mut self, place: impl Into<String>, collect: impl FnOnce(&mut Self)) {
        self.place.push(place.into());
        collect(self);
        self.place.pop();
    }

    fn collect(&mut self, before: &Value, after: &Value) {
        self.named(None, before, after);
    }

    /// Collects the differences of a value that has a name at this place.
    fn named(&mut self, name: Option<&str>, before: &Value, after: &Value) {
        let below = |edits: &mut Self, collect: &dyn Fn(&mut Self)| match name {
            Some(name) => edits.within(name, collect),
            None => collect(edits),
        };
        match (before, after) {
            (before, after) if before == after => {}
            (Value::Null, after) => self.add(name, EditKind::Added(written(after))),
            (before, Value::Null) => self.add(name, EditKind::Gone(written(before))),
            (Value::Object(a), Value::Object(b)) => below(self, &|edits| {
                let names = a.keys().chain(b.keys().filter(|name| !a.contains_key(*name)));
                for name in names {
                    let value =
                        |map: &serde_json::Map<String, Value>| map.get(name).cloned().unwrap_or_default();
                    edits.named(Some(name), &value(a), &value(b));
                }
            }),
            (Value::Array(a), Value::Array(b)) => below(self, &|edits| lists::collect(edits, a, b)),
            (Value::String(a), Value::String(b)) if texts::has_parts(a, b) => {
                below(self, &|edits| texts::collect(edits, a, b));
            }
            (before, after) => {
                self.add(name, EditKind::Changed { before: written(before), after: written(after) });
            }
        }
    }
}

/// What two values are to a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sides {
    /// A value of the first that differs in the second.
    pub first: &'static str,
    /// A value of the second that differs from the first.
    pub second: &'static str,
    /// A member that only the first has.
    pub gone: &'static str,
    /// A member that only the second has.
    pub added: &'static str,
}

impl Sides {
    /// What a clause expects, and the answer.
    pub const EXPECTED: Self =
        Self { first: "wanted", second: "got", gone: "is missing", added: "is not wanted" };
    /// The object of a request, which a clause wants unchanged, and the answer.
    pub const KEPT: Self = Self { first: "wanted", second: "got", gone: "is gone", added: "is added" };
    /// The first and the second answer of a target to one request.
    pub const ANSWERS: Self =
        Self { first: "first answer", second: "second answer", gone: "is gone", added: "is added" };
    /// An object before and after a target changed it.
    pub const CHANGED: Self = Self { first: "before", second: "after", gone: "is gone", added: "is added" };
    /// The answers of two targets.
    pub const TARGETS: Self = Self { first: "a", second: "b", gone: "only a", added: "only b" };
}

impl Edit {
    /// What happened, without place and name: `2 → 4`, `--a=b is gone`.
    #[must_use]
    pub fn words(&self, sides: Sides) -> String {
        match &self.kind {
            EditKind::Gone(value) => format!("{} {}", on_one_line(value), sides.gone),
            EditKind::Added(value) => format!("{} {}", on_one_line(value), sides.added),
            EditKind::Changed { before, after } => {
                let (before, after) = (on_one_line(before), on_one_line(after));
                if sides.first == "wanted" {
                    format!("wanted {before}, got {after}")
                } else {
                    format!("{before} → {after}")
                }
            }
            EditKind::Repeated { member, times } => format!("{} {}", on_one_line(member), occurs(*times)),
            EditKind::Reordered => REORDERED.to_owned(),
        }
    }
}

const REORDERED: &str = "the same members in another order";

/// `occurs twice`.
fn occurs(times: usize) -> String {
    if times == 2 { "occurs twice".to_owned() } else { format!("occurs {times} times") }
}

/// A value as reports write it.
fn written(value: &Value) -> String {
    crate::observation::format_value(Some(value).filter(|value| !value.is_null()))
}

/// A text with its line breaks written as `⏎`.
fn on_one_line(text: &str) -> String {
    text.trim_end_matches('\n').replace('\n', " ⏎ ")
}
