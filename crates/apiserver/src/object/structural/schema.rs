//! A structural schema, parsed from a CRD.

use std::collections::BTreeMap;

use formats::pattern::Pattern;
use formats::strfmt;
use serde_json::{Number, Value};

#[cfg(feature = "cel")]
use super::rules::ValidationRule;

/// The schema of one value.
#[derive(Debug, Default)]
pub(crate) struct Schema {
    /// The schemas of named fields.
    pub(crate) properties: BTreeMap<String, Self>,
    /// The schema of all other fields.
    pub(crate) additional: Additional,
    /// The schema of a list's elements.
    pub(crate) items: Option<Box<Self>>,
    /// The value of an absent field.
    pub(crate) default: Option<Value>,
    /// Whether `null` is valid.
    pub(crate) nullable: bool,
    /// Whether unknown fields are preserved (`x-kubernetes-preserve-unknown-fields`).
    pub(crate) preserves_unknown: bool,
    /// Whether the value is a complete object (`x-kubernetes-embedded-resource`).
    pub(crate) embedded: bool,
    /// The identity of list elements.
    pub(crate) list: ListType,
    /// The constraints on values.
    pub(crate) checks: Checks,
    /// The CEL rules.
    #[cfg(feature = "cel")]
    pub(crate) rules: Vec<ValidationRule>,
}

/// The schema of fields that are not in `properties`.
#[derive(Debug, Default)]
pub(crate) enum Additional {
    /// No such fields are allowed.
    #[default]
    None,
    /// Anything.
    Any,
    /// This schema.
    Of(Box<Schema>),
}

/// The identity of list elements (`x-kubernetes-list-type`).
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) enum ListType {
    /// The position.
    #[default]
    Atomic,
    /// The value.
    Set,
    /// The values of these fields.
    Map(Vec<String>),
}

/// The constraints on a value.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    /// `string`, `integer`; both for `x-kubernetes-int-or-string`; empty for anything.
    pub(crate) types: Vec<String>,
    /// `date-time`, `int32`.
    pub(crate) format: Option<String>,
    /// The allowed values; empty if all are allowed.
    pub(crate) allowed: Vec<Value>,
    /// The required fields.
    pub(crate) required: Vec<String>,
    /// The minimum, and whether it is exclusive.
    pub(crate) minimum: Option<(Number, bool)>,
    /// The maximum, and whether it is exclusive.
    pub(crate) maximum: Option<(Number, bool)>,
    /// A divisor of the number.
    pub(crate) multiple_of: Option<Number>,
    /// The minimum number of characters.
    pub(crate) min_length: Option<u64>,
    /// The maximum number of characters.
    pub(crate) max_length: Option<u64>,
    /// The regular expression as written, and compiled; if it cannot be compiled, it matches everything.
    pub(crate) pattern: Option<(String, Option<Pattern>)>,
    /// The minimum number of elements.
    pub(crate) min_items: Option<u64>,
    /// The maximum number of elements.
    pub(crate) max_items: Option<u64>,
    /// Whether elements must be unique.
    pub(crate) unique: bool,
    /// The minimum number of fields.
    pub(crate) min_properties: Option<u64>,
    /// The maximum number of fields.
    pub(crate) max_properties: Option<u64>,
    /// All of these schemas must match.
    pub(crate) all_of: Vec<Schema>,
    /// At least one of these schemas must match.
    pub(crate) any_of: Vec<Schema>,
    /// Exactly one of these schemas must match.
    pub(crate) one_of: Vec<Schema>,
    /// This schema must not match.
    pub(crate) not: Option<Box<Schema>>,
}

impl Schema {
    /// Parses `openAPIV3Schema` or a part of it; any other value is a schema without constraints.
    pub(crate) fn read(json: &Value) -> Self {
        let schema = |key: &str| json.get(key).filter(|below| below.is_object()).map(Self::read);
        let properties = json.get("properties").and_then(Value::as_object).into_iter().flatten();
        Self {
            properties: properties.map(|(name, below)| (name.clone(), Self::read(below))).collect(),
            additional: match json.get("additionalProperties") {
                Some(below @ Value::Object(_)) => Additional::Of(Box::new(Self::read(below))),
                Some(Value::Bool(true)) => Additional::Any,
                _ => Additional::None,
            },
            items: schema("items").map(Box::new),
            default: json.get("default").filter(|value| !value.is_null()).cloned(),
            nullable: flag(json, "nullable"),
            preserves_unknown: flag(json, "x-kubernetes-preserve-unknown-fields"),
            embedded: flag(json, "x-kubernetes-embedded-resource"),
            list: ListType::read(json),
            checks: Checks::read(json),
            #[cfg(feature = "cel")]
            rules: ValidationRule::all(json),
        }
    }

    /// The schema of a field; `None` if the schema does not declare it.
    pub(crate) fn field(&self, name: &str) -> Option<&Self> {
        self.properties.get(name).or(match &self.additional {
            Additional::Of(schema) => Some(schema),
            Additional::Any | Additional::None => None,
        })
    }
}

impl ListType {
    fn read(json: &Value) -> Self {
        match json.get("x-kubernetes-list-type").and_then(Value::as_str) {
            Some("set") => Self::Set,
            Some("map") => Self::Map(strings(json, "x-kubernetes-list-map-keys")),
            _ => Self::Atomic,
        }
    }
}

impl Checks {
    fn read(json: &Value) -> Self {
        let text = |key: &str| json.get(key).and_then(Value::as_str).map(str::to_owned);
        let size = |key: &str| json.get(key).and_then(Value::as_u64);
        let number = |key: &str| json.get(key).and_then(Value::as_number).cloned();
        let limit = |key: &str, exclusive: &str| number(key).map(|number| (number, flag(json, exclusive)));
        let schemas = |key: &str| {
            json.get(key).and_then(Value::as_array).into_iter().flatten().map(Schema::read).collect()
        };
        Self {
            types: if flag(json, "x-kubernetes-int-or-string") {
                vec!["integer".to_owned(), "string".to_owned()]
            } else {
                text("type").filter(|name| !name.is_empty()).into_iter().collect()
            },
            format: text("format")
                .filter(|format| strfmt::is_known(format, &text("type").unwrap_or_default())),
            allowed: json.get("enum").and_then(Value::as_array).cloned().unwrap_or_default(),
            required: strings(json, "required"),
            minimum: limit("minimum", "exclusiveMinimum"),
            maximum: limit("maximum", "exclusiveMaximum"),
            multiple_of: number("multipleOf"),
            min_length: size("minLength"),
            max_length: size("maxLength"),
            pattern: text("pattern").map(|pattern| {
                let compiled = Pattern::new(&pattern).ok();
                (pattern, compiled)
            }),
            min_items: size("minItems"),
            max_items: size("maxItems"),
            unique: flag(json, "uniqueItems"),
            min_properties: size("minProperties"),
            max_properties: size("maxProperties"),
            all_of: schemas("allOf"),
            any_of: schemas("anyOf"),
            one_of: schemas("oneOf"),
            not: json.get("not").filter(|not| not.is_object()).map(|not| Box::new(Schema::read(not))),
        }
    }
}

fn flag(json: &Value, key: &str) -> bool {
    json.get(key).and_then(Value::as_bool).unwrap_or_default()
}

fn strings(json: &Value, key: &str) -> Vec<String> {
    let list = json.get(key).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}
