//! The checks that tables use.

use std::net::IpAddr;

use formats::quantity::Quantity;
use serde_json::Value;
use webhook::field::{Error, ErrorKind, Shown};

use crate::object::validation::metadata;

/// A value of an object with its path and its previous value.
#[derive(Clone, Debug)]
pub(crate) struct FieldValue<'a> {
    /// The value; `None` if it is absent.
    pub(crate) value: Option<&'a Value>,
    /// The value before the update; `None` for new objects.
    pub(crate) old: Option<&'a Value>,
    /// `spec.ports[0].name`.
    pub(crate) path: String,
    /// The object that contains it.
    pub(crate) object: &'a Value,
}

/// A check with code: returns the errors of a value.
pub(super) type NamedCheck = fn(&FieldValue<'_>) -> Vec<Error>;

/// A parsed check.
#[derive(Debug)]
pub(super) enum Check {
    /// `required`, `required can not be empty`.
    Required(String),
    /// `one of A, B`, of a named Go type.
    OneOf(Vec<String>),
    /// `text of A, B`, of the Go type string.
    TextOf(Vec<String>),
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
    /// `percent`: a number or a percentage, of at most 100 % if the row says so.
    Percent {
        at_most_100: bool,
    },
    /// `address`, `range`.
    Address,
    Range,
    /// `unique name`, `unique`: elements with different fields or values.
    Unique(String),
    /// `immutable`.
    Immutable,
    /// `amounts`: quantities that are not negative.
    Amounts,
    /// `file mode`.
    FileMode,
    /// A check with its own function.
    Named(NamedCheck),
}

impl<'a> FieldValue<'a> {
    /// A complete object.
    pub(crate) fn root(value: &'a Value, old: Option<&'a Value>) -> Self {
        Self { value: Some(value), old, path: String::new(), object: value }
    }

    /// A field of this value.
    pub(crate) fn field(&self, name: &str) -> Self {
        Self {
            value: self.value.and_then(|value| value.get(name)).filter(|value| !value.is_null()),
            old: self.old.and_then(|value| value.get(name)).filter(|value| !value.is_null()),
            path: if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) },
            object: self.object,
        }
    }

    /// An element of this list.
    pub(crate) fn element(&self, index: usize) -> Self {
        Self {
            value: self.value.and_then(|value| value.get(index)),
            old: self.old.and_then(|value| value.get(index)),
            path: format!("{}[{index}]", self.path),
            object: self.object,
        }
    }

    /// An entry of this map.
    pub(crate) fn entry(&self, key: &str) -> Self {
        Self { path: format!("{}[{key}]", self.path), ..self.field(key) }
    }

    /// The elements of this list.
    pub(crate) fn elements(&self) -> Vec<Self> {
        (0..self.list().len()).map(|index| self.element(index)).collect()
    }

    /// The string; empty if there is none.
    pub(crate) fn text(&self) -> &'a str {
        self.value.and_then(Value::as_str).unwrap_or_default()
    }

    /// The number; 0 if there is none.
    pub(crate) fn number(&self) -> i64 {
        self.value.and_then(Value::as_i64).unwrap_or_default()
    }

    /// The list; empty if there is none.
    pub(crate) fn list(&self) -> &'a [Value] {
        self.value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether the value is absent, or an empty string, list or map.
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
        self.error(ErrorKind::Invalid, Some(self.formatted()), why)
    }

    /// Like `invalid`, with another value in the message.
    pub(crate) fn invalid_as(&self, shown: impl Into<Shown>, why: &str) -> Error {
        self.error(ErrorKind::Invalid, Some(shown.into()), why)
    }

    /// `PATH: Duplicate value: VALUE`.
    pub(crate) fn duplicate(&self) -> Error {
        self.error(ErrorKind::Duplicate, Some(self.formatted()), "")
    }

    /// `PATH: Unsupported value: VALUE: supported values: "A", "B"`, for a value of a named Go type.
    pub(crate) fn unsupported(&self, allowed: &[&str]) -> Error {
        let shown = self.value.and_then(Value::as_str).map(Shown::named);
        self.unsupported_as(shown.unwrap_or_else(|| self.formatted()), allowed)
    }

    /// The same for a value of the Go type string.
    pub(crate) fn unsupported_text(&self, allowed: &[&str]) -> Error {
        self.unsupported_as(self.formatted(), allowed)
    }

    /// Like `unsupported`, with another value in the message.
    pub(crate) fn unsupported_as(&self, shown: Shown, allowed: &[&str]) -> Error {
        let allowed: Vec<String> = allowed.iter().map(|word| format!("{word:?}")).collect();
        let why = format!("supported values: {}", allowed.join(", "));
        self.error(ErrorKind::NotSupported, Some(shown), &why)
    }

    /// An error about this value.
    pub(crate) fn error(&self, kind: ErrorKind, value: Option<Shown>, why: &str) -> Error {
        Error { kind, field: self.path.clone(), value, detail: why.to_owned() }
    }

    /// The value as messages show it: JSON.
    pub(crate) fn formatted(&self) -> Shown {
        match self.value {
            Some(Value::String(text)) => Shown::from(text.as_str()),
            Some(value) => Shown::verbatim(value),
            None => Shown::from(""),
        }
    }
}

impl Check {
    /// The errors of a value.
    pub(super) fn errors(&self, field: &FieldValue<'_>) -> Vec<Error> {
        match self {
            Self::Required(why) => {
                return if field.is_empty() { vec![field.required(why)] } else { Vec::new() };
            }
            Self::Named(check) => return check(field),
            Self::Immutable => return immutable(field),
            _ => {}
        }
        if field.value.is_none() {
            return Vec::new();
        }
        match self {
            Self::AtLeast(_) | Self::MoreThan(_) | Self::Between(..) | Self::FileMode => {
                self.number(field).into_iter().collect()
            }
            Self::OneOf(allowed) => one_of(field, allowed, FieldValue::unsupported),
            Self::TextOf(allowed) => one_of(field, allowed, FieldValue::unsupported_text),
            Self::Name(check) => invalid_all(field, &check(field.text())),
            Self::Labels => metadata::labels(&field.path, field.value),
            Self::Port => port(field),
            Self::PortName => invalid_all(field, &port_name(field.text())),
            Self::Percent { at_most_100 } => percent(field, *at_most_100),
            Self::Address => address(field),
            Self::Range => range(field),
            Self::Unique(name) => unique(field, name),
            Self::Amounts => amounts(field),
            Self::Required(_) | Self::Named(_) | Self::Immutable => Vec::new(),
        }
    }

    fn number(&self, field: &FieldValue<'_>) -> Option<Error> {
        let number = field.number();
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
        Some(field.invalid(&why))
    }
}

fn one_of<'a>(
    field: &FieldValue<'a>,
    allowed: &[String],
    error: fn(&FieldValue<'a>, &[&str]) -> Error,
) -> Vec<Error> {
    let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
    when(!allowed.contains(&field.text()), || error(field, &allowed))
}

fn invalid_all(field: &FieldValue<'_>, why: &[String]) -> Vec<Error> {
    why.iter().map(|why| field.invalid(why)).collect()
}

fn immutable(field: &FieldValue<'_>) -> Vec<Error> {
    let shown = if field.value.is_none() { Shown::verbatim("null") } else { field.formatted() };
    let is_same = field.value == field.old;
    if is_same { Vec::new() } else { vec![field.invalid_as(shown, "field is immutable")] }
}

fn port(field: &FieldValue<'_>) -> Vec<Error> {
    match field.value {
        Some(Value::String(text)) => invalid_all(field, &port_name(text)),
        _ => Check::Between(1, 65_535).number(field).into_iter().collect(),
    }
}

/// The errors of a port name: letters, digits and hyphens, with at least one letter.
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

/// The error, if the condition holds.
pub(super) fn when(condition: bool, error: impl FnOnce() -> Error) -> Vec<Error> {
    if condition { vec![error()] } else { Vec::new() }
}

fn percent(field: &FieldValue<'_>, at_most_100: bool) -> Vec<Error> {
    let Some(Value::String(text)) = field.value else {
        return Check::AtLeast(0).number(field).into_iter().collect();
    };
    let percentage = text
        .strip_suffix('%')
        .filter(|digits| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()));
    match percentage.map(str::parse::<u64>) {
        Some(Ok(percentage)) if at_most_100 && percentage > 100 => {
            vec![field.invalid("must not be greater than 100%")]
        }
        Some(_) => Vec::new(),
        None => {
            let why = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or \
                       '93%', regex used for validation is '[0-9]+%')";
            vec![field.invalid(why)]
        }
    }
}

fn address(field: &FieldValue<'_>) -> Vec<Error> {
    if field.text().parse::<IpAddr>().is_ok() {
        return Vec::new();
    }
    vec![field.invalid("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")]
}

fn range(field: &FieldValue<'_>) -> Vec<Error> {
    let parts = field.text().split_once('/').map(|(address, length)| (address.parse(), length.parse::<u8>()));
    match parts {
        Some((Ok(IpAddr::V4(_)), Ok(0..=32)) | (Ok(IpAddr::V6(_)), Ok(0..=128))) => Vec::new(),
        _ => vec![field.invalid("must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)")],
    }
}

fn unique(list: &FieldValue<'_>, name: &str) -> Vec<Error> {
    let elements = list.elements();
    let values: Vec<FieldValue<'_>> = elements
        .iter()
        .map(|element| if name.is_empty() { element.clone() } else { element.field(name) })
        .collect();
    let repeated = |(index, value): &(usize, &FieldValue<'_>)| {
        !value.is_empty() && values[..*index].iter().any(|earlier| earlier.value == value.value)
    };
    values.iter().enumerate().filter(repeated).map(|(_, value)| value.duplicate()).collect()
}

fn amounts(field: &FieldValue<'_>) -> Vec<Error> {
    let entries = field.value.and_then(Value::as_object).into_iter().flatten();
    let negative = entries.filter(|(_, amount)| {
        let amount = amount.as_str().and_then(|text| Quantity::parse(text).ok()).and_then(|q| q.nanos());
        amount.is_some_and(|nanos| nanos < 0)
    });
    negative.map(|(name, _)| field.entry(name).invalid("must be greater than or equal to 0")).collect()
}
