//! What is asserted, as a tree over an answer, and the comparison (contracts/README.md).

mod assertions;
pub(crate) mod cel;
mod changes;
mod compare;
mod flags;
mod keys;
mod opened;
mod place;
#[cfg(test)]
mod properties;
mod read;
mod refused;
mod rules;
mod scalar;
mod shown;
#[cfg(test)]
mod tests;
mod words;

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

pub use assertions::{Assertion, assertions};
pub use changes::{Change, changes, double_keys, outside, same};
pub use compare::{compare, holds, only, without};
pub use flags::words_beside_flags;
pub use keys::is_like;
pub use opened::{close, inside as open_value, open};
pub use place::{get, put};
pub use read::Reader;
pub use refused::{Replacement, non_matching, refused};
pub use rules::{ListRule, Rules};
pub use scalar::equal;
pub use shown::{Pruned, pruned};
pub use words::words;

/// What must hold at one place of the answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Expect {
    /// This scalar, compared by value where the schema says quantity or duration.
    Value(Value),
    /// A map, partial: each named field must hold.
    Map(BTreeMap<String, Self>),
    /// A list that goes by key, partial.
    Keyed {
        /// The key fields, in the schema's order.
        keys: Vec<String>,
        /// Elements expected by their key.
        items: Vec<KeyedItem>,
    },
    /// A list, whole and in order (or, `unordered`, as a multiset).
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
    /// What must hold of the element (`Operator::Absent`: there is none).
    pub expect: Expect,
}

/// The operators of the language.
#[derive(Clone, Debug, PartialEq)]
pub enum Operator {
    /// There is none (absent or null).
    Absent,
    /// There is one.
    Present,
    /// What the target states under this name; until it has, nothing keeps it.
    Parameter {
        /// The name.
        name: String,
        /// Whether the value lists members that must be there.
        members: bool,
    },
    /// It differs from the input.
    Changed,
    /// It is as in the input (absent there: absent here).
    Unchanged,
    /// A map whose keys are as in the input, but for these.
    UnchangedBut(Vec<String>),
    /// A map whose keys that are like these are as in the input; `*` stands for any letters.
    UnchangedLike(Vec<String>),
    /// Anything, also nothing: asserts nothing.
    Any,
    /// The whole string matches.
    Matches {
        /// The expression, without anchors.
        regex: String,
        /// A value the expression must refuse, for the proof.
        not_for: Option<Value>,
    },
    /// The list (or string) contains each of these.
    Contains(Vec<Expect>),
    /// The list holds exactly these, order ignored.
    Exactly(Vec<Expect>),
    /// One of these.
    OneOf(Vec<Value>),
    /// So many elements.
    Count(usize),
    /// Each element.
    Each(Box<Expect>),
    /// Nothing, or what holds.
    AbsentOr(Box<Expect>),
    /// Nothing, or a text that does not match as a whole.
    NotMatches {
        /// The expression, without anchors.
        regex: String,
        /// A value that matches, for the proof.
        not_for: Value,
    },
    /// A map with a key like one of these; `*` stands for any letters.
    AnyKey(Vec<String>),
    /// A map without a key like any of these; nothing has no keys.
    NoKey(Vec<String>),
    /// A list, map or text with something in it.
    Filled,
    /// A number, quantity, duration or time in this range, both ends included.
    Between(Value, Value),
    /// A CEL expression over `self` is true.
    Cel {
        /// The expression.
        expression: String,
        /// A value the expression must refuse, for the proof.
        not_for: Option<Value>,
    },
    /// It opens as this notation and its content must hold: `$yaml`, `$json`, `$base64`, `$jwt`, `$unit`, `$flags`.
    Opened(Notation, Box<Expect>),
}

/// A notation that opens a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Notation {
    /// YAML 1.1 as Kubernetes reads it.
    Yaml,
    /// JSON.
    Json,
    /// Base64 of a text.
    Base64,
    /// A JSON web token: its claims. It is opened only, as nobody here can sign one.
    Jwt,
    /// A certificate request in PEM: what it asks for. It is built only.
    CertificateRequest,
    /// A systemd unit: section → option → values.
    Unit,
    /// A command line, of a container, a list of words or a line: flag → value, or member → true, or key → value.
    Flags,
}

/// One step from an object to a place inside it.
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

/// A place inside an object; prints as `spec.containers[name=app].env`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(pub Vec<Step>);

/// One assertion that an answer does not keep.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// Where.
    pub path: Path,
    /// What was wanted, as shown to a person.
    pub want: String,
    /// What was there; `None`: nothing.
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
