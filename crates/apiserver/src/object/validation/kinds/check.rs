//! The checks that tables name.

use std::net::IpAddr;

use formats::name;
use formats::quantity::Quantity;
use serde_json::Value;
use webhook::field::{Error, ErrorKind, Shown};

use super::named;
use crate::object::validation::metadata;

/// What is found at a place of an object: the value, the one before a change, the path.
#[derive(Clone, Debug)]
pub(crate) struct Found<'a> {
    /// The value; absent where there is none.
    pub(crate) value: Option<&'a Value>,
    /// The value before the change; absent for new objects.
    pub(crate) old: Option<&'a Value>,
    /// `spec.ports[0].name`.
    pub(crate) path: String,
    /// The whole object.
    pub(crate) whole: &'a Value,
}

/// A check as a row says it.
#[derive(Debug)]
pub(super) enum Check {
    /// `required`, `required can not be empty`.
    Required(String),
    /// `one of A, B`.
    OneOf(Vec<String>),
    /// `at least 0`.
    AtLeast(i64),
    /// `more than 0`.
    MoreThan(i64),
    /// `between 1 65535`.
    Between(i64, i64),
    /// `dns label`, `dns subdomain`, `dns 1035 label`, `key`.
    Name(fn(&str) -> Vec<String>),
    /// `labels`: keys and values.
    Labels,
    /// `port`: a number or the name of one.
    Port,
    /// `port name`.
    PortName,
    /// `percent`: a number or a share, at most the whole where it says so.
    Percent {
        at_most_all: bool,
    },
    /// `address`, `range`.
    Address,
    Range,
    /// `unique name`, `unique`: elements differ in a field, or as a whole.
    Unique(String),
    /// `immutable`.
    Immutable,
    /// `amounts`: quantities that are not negative.
    Amounts,
    /// `file mode`.
    FileMode,
    /// A check of its own, by name.
    Named(named::Named),
}

impl<'a> Found<'a> {
    /// An object as a whole.
    pub(crate) fn root(value: &'a Value, old: Option<&'a Value>) -> Self {
        Self { value: Some(value), old, path: String::new(), whole: value }
    }

    /// A field of what is found.
    pub(crate) fn field(&self, name: &str) -> Self {
        Self {
            value: self.value.and_then(|value| value.get(name)).filter(|value| !value.is_null()),
            old: self.old.and_then(|value| value.get(name)).filter(|value| !value.is_null()),
            path: if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) },
            whole: self.whole,
        }
    }

    /// An element of what is found.
    pub(crate) fn element(&self, index: usize) -> Self {
        Self {
            value: self.value.and_then(|value| value.get(index)),
            old: self.old.and_then(|value| value.get(index)),
            path: format!("{}[{index}]", self.path),
            whole: self.whole,
        }
    }

    /// An entry of a map that is found.
    pub(crate) fn entry(&self, key: &str) -> Self {
        Self { path: format!("{}[{key}]", self.path), ..self.field(key) }
    }

    /// The elements of a list that is found.
    pub(crate) fn elements(&self) -> Vec<Self> {
        (0..self.list().len()).map(|index| self.element(index)).collect()
    }

    /// The text that is found; empty for none.
    pub(crate) fn text(&self) -> &'a str {
        self.value.and_then(Value::as_str).unwrap_or_default()
    }

    /// The number that is found; 0 for none.
    pub(crate) fn number(&self) -> i64 {
        self.value.and_then(Value::as_i64).unwrap_or_default()
    }

    /// The list that is found; empty for none.
    pub(crate) fn list(&self) -> &'a [Value] {
        self.value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether there is nothing, or an empty text, list or map.
    pub(crate) fn is_empty(&self) -> bool {
        match self.value {
            None | Some(Value::Null) => true,
            Some(Value::String(text)) => text.is_empty(),
            Some(Value::Array(list)) => list.is_empty(),
            Some(Value::Object(fields)) => fields.is_empty(),
            Some(_) => false,
        }
    }

    /// `PATH: Required value: why`.
    pub(crate) fn required(&self, why: &str) -> Error {
        self.error(ErrorKind::Required, None, why)
    }

    /// `PATH: Forbidden: why`.
    pub(crate) fn forbidden(&self, why: &str) -> Error {
        self.error(ErrorKind::Forbidden, None, why)
    }

    /// `PATH: Invalid value: VALUE: why`.
    pub(crate) fn invalid(&self, why: &str) -> Error {
        self.error(ErrorKind::Invalid, Some(self.shown()), why)
    }

    /// The same with something else shown.
    pub(crate) fn invalid_as(&self, shown: impl Into<Shown>, why: &str) -> Error {
        self.error(ErrorKind::Invalid, Some(shown.into()), why)
    }

    /// `PATH: Duplicate value: VALUE`.
    pub(crate) fn duplicate(&self) -> Error {
        self.error(ErrorKind::Duplicate, Some(self.shown()), "")
    }

    /// `PATH: Unsupported value: VALUE: supported values: "A", "B"`.
    pub(crate) fn unsupported(&self, allowed: &[&str]) -> Error {
        self.unsupported_as(self.shown(), allowed)
    }

    /// The same with something else shown.
    pub(crate) fn unsupported_as(&self, shown: Shown, allowed: &[&str]) -> Error {
        let allowed: Vec<String> = allowed.iter().map(|word| format!("{word:?}")).collect();
        let why = format!("supported values: {}", allowed.join(", "));
        self.error(ErrorKind::NotSupported, Some(shown), &why)
    }

    /// Any error of this place.
    pub(crate) fn error(&self, kind: ErrorKind, value: Option<Shown>, why: &str) -> Error {
        Error { kind, field: self.path.clone(), value, detail: why.to_owned() }
    }

    /// The value as errors show it: JSON.
    pub(crate) fn shown(&self) -> Shown {
        match self.value {
            Some(Value::String(text)) => Shown::from(text.as_str()),
            Some(value) => Shown::verbatim(value),
            None => Shown::from(""),
        }
    }
}

impl Check {
    /// Reads what stands behind the colon; a name of no check is told by the tests of the tables.
    pub(super) fn read(text: &str) -> Self {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let number = |text: &str| text.parse::<i64>().unwrap_or_default();
        match (word, rest) {
            ("required", why) => Self::Required(why.to_owned()),
            ("one", list) => {
                let list =
                    list.trim_start_matches("of ").split(',').map(|word| word.trim().trim_matches('"'));
                Self::OneOf(list.map(str::to_owned).collect())
            }
            ("at", least) => Self::AtLeast(number(least.trim_start_matches("least "))),
            ("more", than) => Self::MoreThan(number(than.trim_start_matches("than "))),
            ("between", limits) => {
                let (from, to) = limits.split_once(' ').unwrap_or_default();
                Self::Between(number(from), number(to))
            }
            ("dns", "label") => Self::Name(name::dns1123_label),
            ("dns", "1035 label") => Self::Name(name::dns1035_label),
            ("dns", _) => Self::Name(name::dns1123_subdomain),
            ("key", _) => Self::Name(name::label_key),
            ("labels", _) => Self::Labels,
            ("port", "name") => Self::PortName,
            ("port", _) => Self::Port,
            ("percent", rest) => Self::Percent { at_most_all: rest == "at most all" },
            ("address", _) => Self::Address,
            ("range", _) => Self::Range,
            ("unique", field) => Self::Unique(field.to_owned()),
            ("immutable", _) => Self::Immutable,
            ("amounts", _) => Self::Amounts,
            ("file", _) => Self::FileMode,
            (name, _) => Self::Named(named::find(name).expect("every row is read by a test")),
        }
    }

    /// What is wrong with what is found.
    pub(super) fn errors(&self, found: &Found<'_>) -> Vec<Error> {
        match self {
            Self::Required(why) => {
                return if found.is_empty() { vec![found.required(why)] } else { Vec::new() };
            }
            Self::Named(check) => return check(found),
            Self::Immutable => return immutable(found),
            _ => {}
        }
        if found.value.is_none() {
            return Vec::new();
        }
        match self {
            Self::AtLeast(_) | Self::MoreThan(_) | Self::Between(..) | Self::FileMode => {
                self.number(found).into_iter().collect()
            }
            Self::OneOf(allowed) => {
                let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
                let known = allowed.contains(&found.text());
                if known { Vec::new() } else { vec![found.unsupported(&allowed)] }
            }
            Self::Name(check) => wrong(found, &check(found.text())),
            Self::Labels => metadata::labels(&found.path, found.value),
            Self::Port => port(found),
            Self::PortName => wrong(found, &port_name(found.text())),
            Self::Percent { at_most_all } => percent(found, *at_most_all),
            Self::Address => address(found),
            Self::Range => range(found),
            Self::Unique(field) => unique(found, field),
            Self::Amounts => amounts(found),
            Self::Required(_) | Self::Named(_) | Self::Immutable => Vec::new(),
        }
    }

    fn number(&self, found: &Found<'_>) -> Option<Error> {
        let number = found.number();
        let why = match self {
            Self::AtLeast(least) if number < *least => format!("must be greater than or equal to {least}"),
            Self::MoreThan(limit) if number <= *limit => format!("must be greater than {limit}"),
            Self::Between(from, to) if !(from..=to).contains(&&number) => {
                format!("must be between {from} and {to}, inclusive")
            }
            Self::FileMode if !(0..=0o777).contains(&number) => {
                "must be a number between 0 and 0777 (octal), both inclusive".to_owned()
            }
            _ => return None,
        };
        Some(found.invalid(&why))
    }
}

fn wrong(found: &Found<'_>, why: &[String]) -> Vec<Error> {
    why.iter().map(|why| found.invalid(why)).collect()
}

fn immutable(found: &Found<'_>) -> Vec<Error> {
    let shown = if found.value.is_none() { Shown::verbatim("null") } else { found.shown() };
    let same = found.value == found.old;
    if same { Vec::new() } else { vec![found.invalid_as(shown, "field is immutable")] }
}

fn port(found: &Found<'_>) -> Vec<Error> {
    match found.value {
        Some(Value::String(text)) => wrong(found, &port_name(text)),
        _ => Check::Between(1, 65_535).number(found).into_iter().collect(),
    }
}

/// The name of a port: letters, digits and hyphens, at least one letter.
fn port_name(text: &str) -> Vec<String> {
    let mut why = Vec::new();
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if text.len() > 15 {
        why.push("must be no more than 15 characters".to_owned());
    }
    if !text.chars().all(allowed) {
        why.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned());
    }
    if !text.contains(|c: char| c.is_ascii_lowercase()) {
        why.push("must contain at least one letter (a-z)".to_owned());
    }
    if text.contains("--") {
        why.push("must not contain consecutive hyphens".to_owned());
    }
    if text.starts_with('-') || text.ends_with('-') {
        why.push("must not begin or end with a hyphen".to_owned());
    }
    why
}

fn percent(found: &Found<'_>, at_most_all: bool) -> Vec<Error> {
    let Some(Value::String(text)) = found.value else {
        return Check::AtLeast(0).number(found).into_iter().collect();
    };
    let share = text
        .strip_suffix('%')
        .filter(|digits| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()));
    match share.map(str::parse::<u64>) {
        Some(Ok(share)) if at_most_all && share > 100 => vec![found.invalid("must not be greater than 100%")],
        Some(_) => Vec::new(),
        None => {
            let why = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or \
                       '93%', regex used for validation is '[0-9]+%')";
            vec![found.invalid(why)]
        }
    }
}

fn address(found: &Found<'_>) -> Vec<Error> {
    if found.text().parse::<IpAddr>().is_ok() {
        return Vec::new();
    }
    vec![found.invalid("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")]
}

fn range(found: &Found<'_>) -> Vec<Error> {
    let parts = found.text().split_once('/').map(|(address, length)| (address.parse(), length.parse::<u8>()));
    match parts {
        Some((Ok(IpAddr::V4(_)), Ok(0..=32)) | (Ok(IpAddr::V6(_)), Ok(0..=128))) => Vec::new(),
        _ => vec![found.invalid("must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)")],
    }
}

fn unique(found: &Found<'_>, field: &str) -> Vec<Error> {
    let elements = found.elements();
    let places: Vec<Found<'_>> = elements
        .iter()
        .map(|element| if field.is_empty() { element.clone() } else { element.field(field) })
        .collect();
    let repeated = |(index, place): &(usize, &Found<'_>)| {
        !place.is_empty() && places[..*index].iter().any(|earlier| earlier.value == place.value)
    };
    places.iter().enumerate().filter(repeated).map(|(_, place)| place.duplicate()).collect()
}

fn amounts(found: &Found<'_>) -> Vec<Error> {
    let entries = found.value.and_then(Value::as_object).into_iter().flatten();
    let negative = entries.filter(|(_, amount)| {
        let amount = amount.as_str().and_then(|text| Quantity::parse(text).ok()).and_then(|q| q.nanos());
        amount.is_some_and(|nanos| nanos < 0)
    });
    negative.map(|(name, _)| found.entry(name).invalid("must be greater than or equal to 0")).collect()
}
