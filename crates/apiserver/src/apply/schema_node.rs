//! The schema of one position in an object: its form, whether it is atomic, and the keys of its list elements.

use std::sync::LazyLock;

use schema::{ListKind, Shape, Type};
use serde_json::{Map, Value, json};
use webhook::field::quote;

use super::element::{Element, Scalar};

/// The schema of one position in an object.
#[derive(Clone, Debug)]
pub(crate) struct SchemaNode {
    /// The type.
    ty: Type,
    /// Whether the kind is built in: Go structs exist even if the JSON leaves them out.
    built_in: bool,
    /// Whether a CRD schema preserves unknown fields at a parent, which then applies to everything below.
    open: bool,
}

/// How a value is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Named fields or arbitrary keys.
    Map,
    /// Elements.
    List,
    /// Everything else.
    Scalar,
    /// Unknown: there is neither a schema nor a value.
    Open,
}

/// An object without any fields.
pub(crate) static EMPTY: LazyLock<Value> = LazyLock::new(|| json!({}));

static NULL: Value = Value::Null;
static TEXT: Value = Value::String(String::new());
static FALSE: Value = Value::Bool(false);
static ZERO: LazyLock<Value> = LazyLock::new(|| json!(0));

impl SchemaNode {
    /// The root of an object.
    pub(crate) fn root(ty: Type, built_in: bool) -> Self {
        Self { ty, built_in, open: false }
    }

    /// The form of a value at this position.
    pub(crate) fn form(&self, value: Option<&Value>) -> Form {
        match (self.shape(), value) {
            (Shape::Object | Shape::Map, _) | (Shape::Any, Some(Value::Object(_))) => Form::Map,
            (Shape::Any, Some(value)) if self.ty.is_bare_object() && !value.is_null() => Form::Map,
            (Shape::List, _) | (Shape::Any, Some(Value::Array(_))) => Form::List,
            (Shape::Any, None | Some(Value::Null)) => Form::Open,
            _ => Form::Scalar,
        }
    }

    /// The type's shape. A CRD schema does not restrict what replaces an int-or-string or a quantity.
    fn shape(&self) -> Shape {
        match self.ty.shape() {
            Shape::IntOrString | Shape::Quantity if !self.built_in => Shape::Any,
            shape => shape,
        }
    }

    /// Whether one manager owns the map or list as a whole.
    pub(crate) fn is_atomic(&self, form: Form) -> bool {
        match form {
            Form::List => !matches!(self.ty.list_kind(), Some(ListKind::Set | ListKind::Map(_))),
            Form::Map | Form::Open => self.ty.is_atomic(),
            Form::Scalar => false,
        }
    }

    /// Whether the schema says nothing, or only that the value is an object.
    pub(crate) fn is_untyped(&self) -> bool {
        match self.shape() {
            Shape::Any => true,
            Shape::Object => !self.built_in && self.ty.fields().is_empty(),
            _ => false,
        }
    }

    /// The schema of a field, and whether the schema declares the field by name; `None` if no such field is allowed.
    pub(crate) fn child(&self, name: &str) -> Option<(Self, bool)> {
        let at = |ty: Type| Self { ty, built_in: self.built_in, open: self.allows_undeclared() };
        match self.shape() {
            Shape::Object => match self.ty.field(name) {
                Some(field) => Some((at(field.ty), true)),
                None if self.ty.is_open() || self.allows_undeclared() || self.is_untyped() => {
                    Some((at(Type::any()), false))
                }
                None => None,
            },
            Shape::Map => self.ty.values().map(|values| (at(values), false)),
            Shape::Any => Some((at(Type::any()), false)),
            _ => None,
        }
    }

    /// Whether undeclared fields are allowed below.
    fn allows_undeclared(&self) -> bool {
        self.open || (!self.built_in && self.ty.is_open())
    }

    /// The schema below an element of a field set; `None` if the schema does not allow it.
    pub(crate) fn below(&self, element: &Element) -> Option<Self> {
        match element {
            Element::Field(name) => self.child(name).map(|(node, _)| node),
            Element::Key(_) | Element::Value(_) | Element::Index(_) => Some(self.items()),
        }
    }

    /// Whether the schema declares a field of this name.
    pub(crate) fn declares(&self, name: &str) -> bool {
        self.child(name).is_some_and(|(_, declared)| declared)
    }

    /// The schema of a list's elements.
    pub(crate) fn items(&self) -> Self {
        Self {
            ty: self.ty.items().unwrap_or_else(Type::any),
            built_in: self.built_in,
            open: self.allows_undeclared(),
        }
    }

    /// The key of an element of a keyed list or a set.
    pub(crate) fn element(&self, item: &Value) -> Result<Element, String> {
        match self.ty.list_kind() {
            Some(ListKind::Map(keys)) => self.key_of(item, &keys),
            Some(ListKind::Set) => match item {
                Value::Object(_) => {
                    Err("associative list without keys has an element that's a map type".to_owned())
                }
                Value::Array(_) => Err("not supported: associative list with lists as elements".to_owned()),
                Value::Null => {
                    Err("associative list without keys has an element that's an explicit null".to_owned())
                }
                scalar => Ok(Element::Value(Scalar::of(scalar))),
            },
            _ => Err("invalid indexing of non-associative list".to_owned()),
        }
    }

    fn key_of(&self, item: &Value, keys: &[String]) -> Result<Element, String> {
        let fields = match item {
            Value::Object(fields) => fields,
            Value::Null => return Err("associative list with keys may not have a null element".to_owned()),
            _ => return Err("associative list with keys may not have non-map elements".to_owned()),
        };
        let items = self.items();
        let mut key: Vec<(String, Scalar)> = keys
            .iter()
            .filter_map(|name| {
                Some((name.clone(), fields.get(name).map(Scalar::of).or_else(|| items.default_key(name))?))
            })
            .collect();
        if key.is_empty() && !keys.is_empty() {
            let quoted: Vec<String> = keys.iter().map(|key| format!("{key:?}")).collect();
            return Err(format!(
                "associative list with keys has an element that omits all key fields [{}] (and doesn't have default \
                 values for any key fields)",
                quoted.join(" ")
            ));
        }
        key.sort();
        Ok(Element::Key(key))
    }

    /// The value of a key field that an element leaves out.
    fn default_key(&self, name: &str) -> Option<Scalar> {
        let field = self.ty.field(name)?;
        if let Some(default) = field.default() {
            return Some(Scalar::of(default));
        }
        // `ObjectMeta` is a Go type in custom resources too.
        let of_go_type = Self { built_in: self.built_in || self.ty.definition().is_some(), ..self.clone() };
        of_go_type.go_zero_value(name).filter(|value| !value.is_null()).map(Scalar::of)
    }

    /// The value that a Go type serializes for an absent field of an existing object; `None` if it omits the field.
    pub(crate) fn go_zero_value(&self, name: &str) -> Option<&'static Value> {
        if !self.built_in {
            return None;
        }
        let field = self.ty.field(name)?;
        let is_struct = matches!(field.default(), Some(Value::Object(default)) if default.is_empty());
        match field.ty.shape() {
            Shape::Object if is_struct => Some(&EMPTY),
            _ if !field.required => None,
            Shape::String => Some(&TEXT),
            Shape::Integer(_) => Some(&ZERO),
            Shape::Boolean => Some(&FALSE),
            _ => Some(&NULL),
        }
    }

    /// The struct fields that exist although the JSON leaves them out.
    pub(crate) fn omitted_structs(&self, fields: &Map<String, Value>) -> Vec<String> {
        if !self.built_in {
            return Vec::new();
        }
        let structs = self.ty.structs().into_iter().map(|(name, _)| name);
        structs.filter(|name| !fields.contains_key(name)).collect()
    }

    /// The error if a value is not valid for a scalar.
    pub(crate) fn scalar_error(&self, value: &Value) -> Option<String> {
        match (self.ty.shape(), value) {
            (_, Value::Null)
            | (Shape::String | Shape::Bytes, Value::String(_))
            | (Shape::Integer(_) | Shape::Number, Value::Number(_))
            | (Shape::Boolean, Value::Bool(_)) => None,
            (Shape::String | Shape::Bytes, _) => {
                Some(format!("expected string, got &value.valueUnstructured{{Value:{}}}", go_syntax(value)))
            }
            (Shape::Integer(_) | Shape::Number, _) => {
                Some(format!("expected numeric (int or float), got {}", go_type(value)))
            }
            (Shape::Boolean, _) => Some(format!("expected boolean, got {}", format_go_struct(value))),
            // kube-apiserver infers the type of such a field from the value, and fails later, when it converts it.
            (Shape::IntOrString, _) if self.built_in => None,
            (_, Value::Object(_) | Value::Array(_)) => {
                Some(format!("expected any scalar, got {}", format_go_struct(value)))
            }
            _ => None,
        }
    }
}

/// Go's `%v` of a pointer to a struct with this value: `&{map[a:b]}`.
pub(crate) fn format_go_struct(value: &Value) -> String {
    format!("&{{{}}}", format_go_value(value))
}

fn format_go_value(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(format_go_value).collect::<Vec<_>>().join(" "))
        }
        Value::Object(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|(name, value)| format!("{name}:{}", format_go_value(value))).collect();
            format!("map[{}]", fields.join(" "))
        }
        other => other.to_string(),
    }
}

/// Go's `%#v` of a value.
fn go_syntax(value: &Value) -> String {
    let all = |items: Vec<String>| items.join(", ");
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::String(text) => quote(text),
        Value::Array(items) => format!("[]interface {{}}{{{}}}", all(items.iter().map(go_syntax).collect())),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| format!("{}:{}", quote(name), go_syntax(value)));
            format!("map[string]interface {{}}{{{}}}", all(fields.collect()))
        }
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) => formats::json::display(float),
            None => number.to_string(),
        },
        Value::Bool(value) => value.to_string(),
    }
}

fn go_type(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "string",
        Value::Bool(_) => "bool",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
        Value::Number(_) | Value::Null => "float64",
    }
}
