//! Types of values: what a field holds, whether a list has keys, how a patch treats it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::definitions;
use crate::path::{Segment, segments};

/// The type of a value at one place of an object. Cheap to clone.
///
/// Two places of the same definition may differ in default and patch strategy, which belong to the place.
#[derive(Debug, Clone)]
pub struct Type(pub(crate) Arc<Node>);

/// What a type is, at its surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Has named fields: [`Type::field`].
    Object,
    /// Has free keys to values of one type: [`Type::values`].
    Map,
    /// Has elements of one type: [`Type::items`], [`Type::list_kind`].
    List,
    /// Any text.
    String,
    /// A whole number.
    Integer(IntegerWidth),
    /// A number with fraction.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A port or percentage: `8080`, `"http"`, `"25%"`.
    IntOrString,
    /// `500m`, `1Gi`, `2`: compared by value.
    Quantity,
    /// RFC 3339 with seconds.
    Time,
    /// RFC 3339 with microseconds.
    MicroTime,
    /// `1h30m`: a Go duration, compared by value.
    Duration,
    /// Base64 of any bytes.
    Bytes,
    /// Nothing is known: any value, at any depth.
    Any,
}

/// How many bits hold an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntegerWidth {
    /// 32, signed.
    Int32,
    /// 64, signed.
    Int64,
}

/// How the elements of a list are told apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListKind {
    /// As a whole, in order; also where the schema says nothing.
    Atomic,
    /// By value: each is there once.
    Set,
    /// By these fields, all of them together: `[name]`, `[containerPort, protocol]`.
    Map(Vec<String>),
}

/// What a strategic merge patch does with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// Whether the patch's value is merged into the old one or takes its place.
    pub strategy: PatchStrategy,
    /// Whether fields that the patch does not name in `$retainKeys` are dropped.
    pub retain_keys: bool,
    /// The field by which a merged list finds its elements; absent for lists of scalars.
    /// Not the same as the keys of [`ListKind::Map`]: a patch knows one key only.
    pub merge_key: Option<String>,
}

/// Merged or replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchStrategy {
    /// Merged: objects and maps unless the schema says otherwise.
    Merge,
    /// Replaced: lists and scalars unless the schema says otherwise.
    Replace,
}

/// A named field of an object.
#[derive(Debug, Clone)]
pub struct Field {
    /// `containerPort`.
    pub name: String,
    /// Whether an object without it is invalid.
    pub required: bool,
    /// What it holds.
    pub ty: Type,
}

impl Field {
    /// What the server sets where the field is absent; only defaults that the schema tells.
    #[must_use]
    pub fn default(&self) -> Option<&Value> {
        self.ty.default()
    }
}

/// What a type is made of, before references are followed.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a word of the schema, and they are independent")]
pub(crate) struct Node {
    pub(crate) form: Form,
    pub(crate) default: Option<Value>,
    pub(crate) list: Option<ListKind>,
    pub(crate) strategy: Option<PatchStrategy>,
    pub(crate) retain_keys: bool,
    pub(crate) merge_key: Option<String>,
    pub(crate) atomic: bool,
    pub(crate) open: bool,
    pub(crate) nullable: bool,
    pub(crate) embedded: bool,
    pub(crate) object: bool,
    pub(crate) allowed: Vec<Value>,
}

#[derive(Debug, Default)]
pub(crate) enum Form {
    /// A named definition of Kubernetes, looked up when it is asked for, so that types may hold themselves.
    Reference(String),
    Object(BTreeMap<String, Field>),
    Map(Type),
    List(Type),
    Scalar(Shape),
    #[default]
    Any,
}

impl Type {
    /// The type that an OpenAPI schema describes: that of a CRD, or a trimmed one of Kubernetes.
    ///
    /// Read are `type`, `format`, `properties`, `required`, `additionalProperties`, `items`, `default`, `enum`,
    /// `nullable` and the `x-kubernetes-` extensions. What they do not tell is [`Shape::Any`].
    #[must_use]
    pub fn from_openapi(schema: &Value) -> Self {
        crate::openapi::parse(schema)
    }

    /// A map with these fields and no others, none of them required.
    #[must_use]
    pub fn object<'a>(fields: impl IntoIterator<Item = (&'a str, Self)>) -> Self {
        let field = |(name, ty): (&str, Self)| {
            (name.to_owned(), Field { name: name.to_owned(), required: false, ty })
        };
        let fields = fields.into_iter().map(field).collect();
        Self(Arc::new(Node { form: Form::Object(fields), ..Node::default() }))
    }

    /// A type of which nothing is known.
    #[must_use]
    pub fn any() -> Self {
        Self(Arc::new(Node::default()))
    }

    /// What it is.
    #[must_use]
    pub fn shape(&self) -> Shape {
        match &self.resolved().0.form {
            Form::Object(_) => Shape::Object,
            Form::Map(_) => Shape::Map,
            Form::List(_) => Shape::List,
            Form::Scalar(shape) => *shape,
            Form::Reference(_) | Form::Any => Shape::Any,
        }
    }

    /// The field of this name that the schema declares; of an object only.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<Field> {
        match &self.resolved().0.form {
            Form::Object(fields) => fields.get(name).cloned(),
            _ => None,
        }
    }

    /// All declared fields, by name; empty for what is no object.
    #[must_use]
    pub fn fields(&self) -> Vec<Field> {
        match &self.resolved().0.form {
            Form::Object(fields) => fields.values().cloned().collect(),
            _ => Vec::new(),
        }
    }

    /// The fields of an object that are never absent where it is there: those whose default is an empty object, as Go
    /// writes a struct that is no pointer.
    #[must_use]
    pub fn structs(&self) -> Vec<(String, Self)> {
        let Form::Object(fields) = &self.resolved().0.form else { return Vec::new() };
        let empty = |ty: &Self| {
            matches!(ty.default(), Some(Value::Object(default)) if default.is_empty())
                && ty.shape() == Shape::Object
        };
        let structs = fields.values().filter(|field| empty(&field.ty));
        structs.map(|field| (field.name.clone(), field.ty.clone())).collect()
    }

    /// What the keys of a map lead to.
    #[must_use]
    pub fn values(&self) -> Option<Self> {
        match &self.resolved().0.form {
            Form::Map(values) => Some(values.clone()),
            _ => None,
        }
    }

    /// What a list holds.
    #[must_use]
    pub fn items(&self) -> Option<Self> {
        match &self.resolved().0.form {
            Form::List(items) => Some(items.clone()),
            _ => None,
        }
    }

    /// How the elements of a list are told apart; absent for what is no list.
    #[must_use]
    pub fn list_kind(&self) -> Option<ListKind> {
        let kind =
            || self.0.list.clone().or_else(|| self.resolved().0.list.clone()).unwrap_or(ListKind::Atomic);
        (self.shape() == Shape::List).then(kind)
    }

    /// The fields that tell the elements of a list apart: where the schema has `x-kubernetes-list-map-keys`.
    #[must_use]
    pub fn list_keys(&self) -> Option<Vec<String>> {
        match self.list_kind()? {
            ListKind::Map(keys) => Some(keys),
            ListKind::Atomic | ListKind::Set => None,
        }
    }

    /// What a strategic merge patch does with it.
    #[must_use]
    pub fn patch(&self) -> Patch {
        let merged = matches!(self.shape(), Shape::Object | Shape::Map | Shape::Any);
        let usual = if merged { PatchStrategy::Merge } else { PatchStrategy::Replace };
        Patch {
            strategy: self.0.strategy.unwrap_or(usual),
            retain_keys: self.0.retain_keys,
            merge_key: self.0.merge_key.clone(),
        }
    }

    /// What the server sets where the value is absent; only defaults that the schema tells.
    #[must_use]
    pub fn default(&self) -> Option<&Value> {
        self.0.default.as_ref()
    }

    /// The only values allowed, where the schema lists them; else empty.
    #[must_use]
    pub fn allowed(&self) -> Vec<Value> {
        self.resolved().0.allowed.clone()
    }

    /// Whether an object keeps fields that it does not declare (`x-kubernetes-preserve-unknown-fields`).
    /// Without it a server prunes them.
    #[must_use]
    pub fn is_open(&self) -> bool {
        let node = self.resolved();
        node.0.open || matches!(node.0.form, Form::Any)
    }

    /// Whether nothing is known of a value but that it is an object.
    #[must_use]
    pub fn is_bare_object(&self) -> bool {
        let node = self.resolved();
        node.0.object && matches!(node.0.form, Form::Any)
    }

    /// Whether an object or map belongs to one owner as a whole (`x-kubernetes-map-type: atomic`).
    #[must_use]
    pub fn is_atomic(&self) -> bool {
        self.0.atomic || self.resolved().0.atomic
    }

    /// Whether `null` is a value of it.
    #[must_use]
    pub fn is_nullable(&self) -> bool {
        self.0.nullable || self.resolved().0.nullable
    }

    /// Whether it holds a whole object with apiVersion, kind and metadata (`x-kubernetes-embedded-resource`).
    #[must_use]
    pub fn is_embedded_resource(&self) -> bool {
        self.0.embedded
    }

    /// The type at a path below this one: `spec.containers[].env`, `metadata.labels[a.b/c]`.
    ///
    /// Absent where the path has a field that is not declared, also in an open object, so that a typing mistake
    /// cannot pass; [`Shape::Any`] below what nothing is known of; absent for what is no path.
    #[must_use]
    pub fn at(&self, path: &str) -> Option<Self> {
        self.below(&segments(path).ok()?)
    }

    /// The same for steps that are known already.
    #[must_use]
    pub fn below(&self, path: &[Segment]) -> Option<Self> {
        path.iter().try_fold(self.clone(), |ty, segment| ty.step(segment))
    }

    fn step(&self, segment: &Segment) -> Option<Self> {
        match (&self.resolved().0.form, segment) {
            (Form::Object(fields), Segment::Key(name)) => fields.get(name).map(|field| field.ty.clone()),
            (Form::Map(values), _) => Some(values.clone()),
            (Form::List(items), Segment::Each | Segment::Index(_)) => Some(items.clone()),
            (Form::Any, _) => Some(Self::any()),
            _ => None,
        }
    }

    /// The type itself, or the definition that it names.
    fn resolved(&self) -> Self {
        let mut ty = self.clone();
        while let Form::Reference(name) = &ty.0.form {
            ty = definitions::find(name).unwrap_or_else(Self::any);
        }
        ty
    }
}
