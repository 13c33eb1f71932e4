//! A structural schema, read from a CRD: what objects hold, what is set where it is absent, what is checked.

use std::collections::BTreeMap;

use formats::pattern::Pattern;
use serde_json::{Number, Value};

#[cfg(feature = "cel")]
use super::rules::Rule;

/// The schema of one place of an object.
#[derive(Debug, Default)]
pub(crate) struct Schema {
    /// What fields of these names hold.
    pub(crate) properties: BTreeMap<String, Self>,
    /// What all other fields hold.
    pub(crate) additional: Additional,
    /// What elements hold.
    pub(crate) items: Option<Box<Self>>,
    /// What is set where nothing is.
    pub(crate) default: Option<Value>,
    /// Whether `null` is a value.
    pub(crate) nullable: bool,
    /// Whether unknown fields stay (`x-kubernetes-preserve-unknown-fields`).
    pub(crate) preserves: bool,
    /// Whether it holds a whole object (`x-kubernetes-embedded-resource`).
    pub(crate) embedded: bool,
    /// How elements are told apart.
    pub(crate) list: List,
    /// What values must be.
    pub(crate) checks: Checks,
    /// What rules in CEL say of values.
    #[cfg(feature = "cel")]
    pub(crate) rules: Vec<Rule>,
}

/// What fields hold that have no name in the schema.
#[derive(Debug, Default)]
pub(crate) enum Additional {
    /// There are none.
    #[default]
    None,
    /// Anything.
    Any,
    /// What the schema says.
    Of(Box<Schema>),
}

/// How the elements of a list are told apart (`x-kubernetes-list-type`).
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) enum List {
    /// By their place.
    #[default]
    Atomic,
    /// By value.
    Set,
    /// By these fields.
    Map(Vec<String>),
}

/// What the value of one place must be.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    /// `string`, `integer`; both for `x-kubernetes-int-or-string`; empty for anything.
    pub(crate) types: Vec<String>,
    /// `date-time`, `int32`.
    pub(crate) format: Option<String>,
    /// The values allowed; empty for all.
    pub(crate) allowed: Vec<Value>,
    /// The fields that must be there.
    pub(crate) required: Vec<String>,
    /// The least number, and whether it is itself too small.
    pub(crate) minimum: Option<(Number, bool)>,
    /// The greatest number, and whether it is itself too great.
    pub(crate) maximum: Option<(Number, bool)>,
    /// What a number is a multiple of.
    pub(crate) multiple_of: Option<Number>,
    /// The fewest characters.
    pub(crate) min_length: Option<u64>,
    /// The most characters.
    pub(crate) max_length: Option<u64>,
    /// As written, and as understood; one that is not understood holds everywhere.
    pub(crate) pattern: Option<(String, Option<Pattern>)>,
    /// The fewest elements.
    pub(crate) min_items: Option<u64>,
    /// The most elements.
    pub(crate) max_items: Option<u64>,
    /// Whether an element may be there once only.
    pub(crate) unique: bool,
    /// The fewest fields.
    pub(crate) min_properties: Option<u64>,
    /// The most fields.
    pub(crate) max_properties: Option<u64>,
    /// All of these hold.
    pub(crate) all_of: Vec<Schema>,
    /// At least one of these holds.
    pub(crate) any_of: Vec<Schema>,
    /// Exactly one of these holds.
    pub(crate) one_of: Vec<Schema>,
    /// This does not hold.
    pub(crate) not: Option<Box<Schema>>,
}

impl Schema {
    /// Reads `openAPIV3Schema` or a part of it; what is none is a schema that says nothing.
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
            preserves: flag(json, "x-kubernetes-preserve-unknown-fields"),
            embedded: flag(json, "x-kubernetes-embedded-resource"),
            list: List::read(json),
            checks: Checks::read(json),
            #[cfg(feature = "cel")]
            rules: Rule::all(json),
        }
    }

    /// The schema of a field; absent where the schema does not know it.
    pub(crate) fn field(&self, name: &str) -> Option<&Self> {
        self.properties.get(name).or(match &self.additional {
            Additional::Of(schema) => Some(schema),
            Additional::Any | Additional::None => None,
        })
    }
}

impl List {
    fn read(json: &Value) -> Self {
        match json.get("x-kubernetes-list-type").and_then(Value::as_str) {
            Some("set") => Self::Set,
            Some("map") => Self::Map(words(json, "x-kubernetes-list-map-keys")),
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
            format: text("format"),
            allowed: json.get("enum").and_then(Value::as_array).cloned().unwrap_or_default(),
            required: words(json, "required"),
            minimum: limit("minimum", "exclusiveMinimum"),
            maximum: limit("maximum", "exclusiveMaximum"),
            multiple_of: number("multipleOf"),
            min_length: size("minLength"),
            max_length: size("maxLength"),
            pattern: text("pattern").map(|pattern| {
                let understood = Pattern::new(&pattern).ok();
                (pattern, understood)
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

fn words(json: &Value, key: &str) -> Vec<String> {
    let list = json.get(key).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}
