//! What the schema says of one place of an object: its form, what belongs to one owner as a whole, what tells the
//! elements of a list apart.

use std::sync::LazyLock;

use schema::{ListKind, Shape, Type};
use serde_json::{Map, Value, json};
use webhook::field::quote;

use super::element::{Element, Scalar};

/// A place of an object of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// What is there.
    ty: Type,
    /// Whether the kind is built in: Go's structs are there even where nothing was said of them.
    built_in: bool,
    /// Whether the schema of a CRD keeps unknown fields somewhere above, which opens all that is below.
    open: bool,
}

/// What a value is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Named fields or free keys.
    Map,
    /// Elements.
    List,
    /// Everything else.
    Scalar,
    /// Nothing is known: the schema says nothing and there is no value to tell.
    Open,
}

/// An object of which nothing was said.
pub(crate) static EMPTY: LazyLock<Value> = LazyLock::new(|| json!({}));

static NULL: Value = Value::Null;
static TEXT: Value = Value::String(String::new());
static FALSE: Value = Value::Bool(false);
static ZERO: LazyLock<Value> = LazyLock::new(|| json!(0));

impl Place {
    /// The root of an object.
    pub(crate) fn root(ty: Type, built_in: bool) -> Self {
        Self { ty, built_in, open: false }
    }

    /// What a value is taken for here.
    pub(crate) fn form(&self, value: Option<&Value>) -> Form {
        match (self.shape(), value) {
            (Shape::Object | Shape::Map, _) | (Shape::Any, Some(Value::Object(_))) => Form::Map,
            (Shape::Any, Some(value)) if self.ty.is_bare_object() && !value.is_null() => Form::Map,
            (Shape::List, _) | (Shape::Any, Some(Value::Array(_))) => Form::List,
            (Shape::Any, None | Some(Value::Null)) => Form::Open,
            _ => Form::Scalar,
        }
    }

    /// What is there; the schema of a CRD leaves open what else stands where a number or text may stand.
    fn shape(&self) -> Shape {
        match self.ty.shape() {
            Shape::IntOrString | Shape::Quantity if !self.built_in => Shape::Any,
            shape => shape,
        }
    }

    /// Whether a map or list belongs to one owner as a whole.
    pub(crate) fn is_atomic(&self, form: Form) -> bool {
        match form {
            Form::List => !matches!(self.ty.list_kind(), Some(ListKind::Set | ListKind::Map(_))),
            Form::Map | Form::Open => self.ty.is_atomic(),
            Form::Scalar => false,
        }
    }

    /// Whether nothing is known of it, or only that it is an object.
    pub(crate) fn is_untyped(&self) -> bool {
        match self.shape() {
            Shape::Any => true,
            Shape::Object => !self.built_in && self.ty.fields().is_empty(),
            _ => false,
        }
    }

    /// The place of a field, and whether the schema declares it by name; absent where there can be no such field.
    pub(crate) fn child(&self, name: &str) -> Option<(Self, bool)> {
        let at = |ty: Type| Self { ty, built_in: self.built_in, open: self.opens() };
        match self.shape() {
            Shape::Object => match self.ty.field(name) {
                Some(field) => Some((at(field.ty), true)),
                None if self.ty.is_open() || self.opens() || self.is_untyped() => {
                    Some((at(Type::any()), false))
                }
                None => None,
            },
            Shape::Map => self.ty.values().map(|values| (at(values), false)),
            Shape::Any => Some((at(Type::any()), false)),
            _ => None,
        }
    }

    /// Whether what is below may hold fields that nobody declared.
    fn opens(&self) -> bool {
        self.open || (!self.built_in && self.ty.is_open())
    }

    /// The place below a step of a set; absent where the schema knows none.
    pub(crate) fn below(&self, element: &Element) -> Option<Self> {
        match element {
            Element::Field(name) => self.child(name).map(|(place, _)| place),
            Element::Key(_) | Element::Value(_) | Element::Index(_) => Some(self.items()),
        }
    }

    /// Whether a field of this name is declared.
    pub(crate) fn declares(&self, name: &str) -> bool {
        self.child(name).is_some_and(|(_, declared)| declared)
    }

    /// The place of the elements of a list.
    pub(crate) fn items(&self) -> Self {
        Self { ty: self.ty.items().unwrap_or_else(Type::any), built_in: self.built_in, open: self.opens() }
    }

    /// What tells an element of a keyed list or a set apart from the others.
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
                Some((name.clone(), fields.get(name).map(Scalar::of).or_else(|| items.default(name))?))
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

    /// What a key field that is left out means.
    fn default(&self, name: &str) -> Option<Scalar> {
        let field = self.ty.field(name)?;
        if let Some(default) = field.default() {
            return Some(Scalar::of(default));
        }
        // What every object has is of Go's types, of custom resources too.
        let typed = Self { built_in: self.built_in || self.ty.definition().is_some(), ..self.clone() };
        typed.absent(name).filter(|value| !value.is_null()).map(Scalar::of)
    }

    /// What Go's types say of a field that is left out of an object that is there; absent if they leave it out too.
    pub(crate) fn absent(&self, name: &str) -> Option<&'static Value> {
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

    /// The structs that an object has although it does not say so.
    pub(crate) fn unsaid(&self, fields: &Map<String, Value>) -> Vec<String> {
        if !self.built_in {
            return Vec::new();
        }
        let structs = self.ty.structs().into_iter().map(|(name, _)| name);
        structs.filter(|name| !fields.contains_key(name)).collect()
    }

    /// Why a scalar cannot stand here.
    pub(crate) fn scalar_error(&self, value: &Value) -> Option<String> {
        let wrong = |right: bool, why: String| (!right).then_some(why);
        match (self.ty.shape(), value) {
            (_, Value::Null) => None,
            (Shape::String | Shape::Bytes, _) => wrong(
                value.is_string(),
                format!("expected string, got &value.valueUnstructured{{Value:{}}}", go_syntax(value)),
            ),
            (Shape::Integer(_) | Shape::Number, _) => {
                wrong(value.is_number(), format!("expected numeric (int or float), got {}", go_type(value)))
            }
            (Shape::Boolean, _) => {
                wrong(value.is_boolean(), format!("expected boolean, got {}", held(value)))
            }
            // kube-apiserver deduces from the value what such a field is, and fails when it converts it.
            (Shape::IntOrString, _) if self.built_in => None,
            (_, Value::Object(_) | Value::Array(_)) => {
                Some(format!("expected any scalar, got {}", held(value)))
            }
            _ => None,
        }
    }
}

/// A value as Go prints what holds it: `&{map[a:b]}`.
pub(crate) fn held(value: &Value) -> String {
    format!("&{{{}}}", printed(value))
}

fn printed(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(printed).collect::<Vec<_>>().join(" ")),
        Value::Object(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|(name, value)| format!("{name}:{}", printed(value))).collect();
            format!("map[{}]", fields.join(" "))
        }
        other => other.to_string(),
    }
}

/// A value as it is written in Go.
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
        other => other.to_string(),
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
