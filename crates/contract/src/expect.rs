//! Assertions as a tree over an answer, and the comparison (contracts/README.md).

mod assertions;
pub(crate) mod cel;
mod changes;
mod compare;
mod describe;
mod flags;
mod keys;
mod notation;
mod path;
#[cfg(test)]
mod properties;
mod pruned;
mod reader;
mod refused;
mod rules;
mod scalar;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

pub use assertions::{Assertion, assertions};
pub use changes::{Change, changes, double_keys, outside, same};
pub use compare::{compare, holds, only, without};
pub use describe::words;
pub use flags::words_beside_flags;
pub use keys::is_like;
pub use notation::{close, open, open_value};
pub use path::{get, put};
pub use pruned::{Pruned, pruned};
pub use reader::Reader;
pub use refused::{Replacement, non_matching, refused};
pub(crate) use rules::type_of;
pub use rules::{ListRule, Rules};
pub use scalar::equal;

/// An assertion about one value of the answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Expect {
    /// This scalar, compared by value where the schema says quantity or duration.
    Value(Value),
    /// A map, partial: each named field must hold.
    Map(BTreeMap<String, Self>),
    /// A list whose elements have keys, partial.
    Keyed {
        /// The key fields, in the schema's order.
        keys: Vec<String>,
        /// Elements expected by their key.
        items: Vec<KeyedItem>,
    },
    /// A whole list, in order or, if not `ordered`, as a multiset.
    List {
        /// The elements.
        items: Vec<Self>,
        /// Whether order matters.
        ordered: bool,
    },
    /// An operator.
    Operator(Operator),
}

/// One expected element of a keyed list.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyedItem {
    /// Key fields and their values, in the order of the keys.
    pub key: Vec<(String, Value)>,
    /// The assertion about the element (`Operator::Absent`: there is no such element).
    pub expect: Expect,
}

/// The operators of the language.
#[derive(Clone, Debug, PartialEq)]
pub enum Operator {
    /// The value is absent or null.
    Absent,
    /// The value is present.
    Present,
    /// The value that the target states for this parameter; before it is known, no answer satisfies it.
    Parameter {
        /// The name.
        name: String,
        /// Whether the value is a list of members that the map must have.
        members: bool,
    },
    /// It differs from the input.
    Changed,
    /// It is as in the input (absent if absent there).
    Unchanged,
    /// A map whose keys, except these, are as in the input.
    UnchangedBut(Vec<String>),
    /// A map whose keys that match these patterns are as in the input; `*` matches any characters.
    UnchangedLike(Vec<String>),
    /// Anything or nothing: asserts nothing.
    Any,
    /// The whole string matches.
    Matches {
        /// The expression, without anchors.
        regex: String,
        /// A value that must not satisfy the operator, for the proof.
        not_for: Option<Value>,
    },
    /// The list (or string) contains each of these.
    Contains(Vec<Expect>),
    /// The list holds exactly these, order ignored.
    Exactly(Vec<Expect>),
    /// One of these values.
    OneOf(Vec<Value>),
    /// This number of elements.
    Count(usize),
    /// Each element satisfies this.
    Each(Box<Expect>),
    /// Absent, or a value that satisfies this.
    AbsentOr(Box<Expect>),
    /// Absent, or a string that does not match as a whole.
    NotMatches {
        /// The expression, without anchors.
        regex: String,
        /// A value that matches, for the proof.
        not_for: Value,
    },
    /// A map with a key that matches one of these patterns; `*` matches any characters.
    AnyKey(Vec<String>),
    /// Absent, or a map without a key that matches one of these patterns.
    NoKey(Vec<String>),
    /// A list, map or string that is not empty.
    Filled,
    /// A number, quantity, duration or time in this range, both ends included.
    Between(Value, Value),
    /// A CEL expression over `self` is true.
    Cel {
        /// The expression.
        expression: String,
        /// A value that must not satisfy the operator, for the proof.
        not_for: Option<Value>,
    },
    /// It parses in this notation and the content satisfies this: `$yaml`, `$json`, `$base64`, `$jwt`, `$unit`, `$flags`.
    Opened(Notation, Box<Expect>),
}

/// A notation of the content of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Notation {
    /// YAML 1.1 as Kubernetes reads it.
    Yaml,
    /// JSON.
    Json,
    /// Base64 of a string.
    Base64,
    /// A JSON web token: its claims. It can be parsed, but not built, as that needs a signature.
    Jwt,
    /// A certificate request in PEM: the names that it requests. It can be built, but not parsed.
    CertificateRequest,
    /// A systemd unit: section → option → values.
    Unit,
    /// A command line, as a container, a list of words or a line: flag → value; the value of a list is member → true,
    /// of a map key → value.
    Flags,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// A field of a map.
    Field(String),
    /// An element of a list by position.
    Index(usize),
    /// An element of a keyed list.
    Key(Vec<(String, String)>),
    /// Into the content of a string, or of a container's command line.
    Opened(Notation),
}

/// The path of a value inside an object; prints as `spec.containers[name=app].env`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(pub Vec<Step>);

/// One assertion that an answer does not satisfy.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// The path.
    pub path: Path,
    /// The expected value, as text for users.
    pub want: String,
    /// The actual value; `None`: absent.
    pub got: Option<Value>,
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Field(name) if position == 0 => write!(f, "{name}")?,
                Step::Field(name) => write!(f, ".{name}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) => {
                    let key: Vec<String> =
                        key.iter().map(|(name, value)| format!("{name}={value}")).collect();
                    write!(f, "[{}]", key.join(","))?;
                }
                Step::Opened(notation) => write!(f, "<{notation:?}>")?,
            }
        }
        Ok(())
    }
}
