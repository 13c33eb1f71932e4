//! Types of values: shapes, keys of lists, strategies of patches.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::definitions;
use crate::kubernetes_version::NEWEST;
use crate::path::{Segment, segments};

/// The type of a field or element. Cheap to clone.
///
/// Two fields of the same definition may differ in default and patch strategy, which belong to the field.
#[derive(Debug, Clone)]
pub struct Type(pub(crate) Arc<TypeNode>);

/// The outermost structure of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Has named fields: [`Type::field`].
    Object,
    /// Has arbitrary keys and values of one type: [`Type::values`].
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
    /// Any value, at any depth.
    Any,
}

/// Width of an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntegerWidth {
    /// 32 bits, signed.
    Int32,
    /// 64 bits, signed.
    Int64,
}

/// How the elements of a list are identified (`x-kubernetes-list-type`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListKind {
    /// They are not: the list is one value. The default.
    Atomic,
    /// By value, which is unique.
    Set,
    /// By the combination of these fields: `[name]`, `[containerPort, protocol]`.
    Map(Vec<String>),
}

/// How a strategic merge patch changes a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// Whether the patch's value is merged into the old one or replaces it.
    pub strategy: PatchStrategy,
    /// Whether fields that the patch does not list in `$retainKeys` are dropped.
    pub retain_keys: bool,
    /// The key of the elements of a merged list; `None` for lists of scalars. May differ from the keys of
    /// [`ListKind::Map`], because a patch supports one key only.
    pub merge_key: Option<String>,
}

/// Strategy of a strategic merge patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchStrategy {
    /// Merge; the default for objects and maps.
    Merge,
    /// Replace; the default for lists and scalars.
    Replace,
}

/// A named field of an object.
#[derive(Debug, Clone)]
pub struct Field {
    /// `containerPort`.
    pub name: String,
    /// Whether an object without it is invalid.
    pub required: bool,
    /// Its type.
    pub ty: Type,
}

impl Field {
    /// The value that the server sets if the field is absent; only defaults of the schema.
    #[must_use]
    pub fn default(&self) -> Option<&Value> {
        self.ty.default()
    }
}

/// The content of a type, with unresolved references.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a keyword of the schema, and they are independent"
)]
pub(crate) struct TypeNode {
    pub(crate) form: TypeForm,
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
pub(crate) enum TypeForm {
    /// A definition of a minor of Kubernetes, by name; resolved on use, so that types can be recursive.
    Reference(u8, String),
    Object(BTreeMap<String, Field>),
    Map(Type),
    List(Type),
    Scalar(Shape),
    #[default]
    Any,
}

impl Type {
    /// The type of an OpenAPI schema: that of a CRD, or a reduced one of Kubernetes.
    ///
    /// It depends on `type`, `format`, `properties`, `required`, `additionalProperties`, `items`, `default`, `enum`,
    /// `nullable` and the `x-kubernetes-` extensions. Without them it is [`Shape::Any`].
    #[must_use]
    pub fn from_openapi(schema: &Value) -> Self {
        crate::openapi::parse(NEWEST, schema)
    }

    /// An object with these fields, all of them optional.
    #[must_use]
    pub fn object<'a>(fields: impl IntoIterator<Item = (&'a str, Self)>) -> Self {
        let field = |(name, ty): (&str, Self)| {
            (name.to_owned(), Field { name: name.to_owned(), required: false, ty })
        };
        let fields = fields.into_iter().map(field).collect();
        Self(Arc::new(TypeNode { form: TypeForm::Object(fields), ..TypeNode::default() }))
    }

    /// The type of any value.
    #[must_use]
    pub fn any() -> Self {
        Self(Arc::new(TypeNode::default()))
    }

    /// The outermost structure.
    #[must_use]
    pub fn shape(&self) -> Shape {
        match &self.resolved().0.form {
            TypeForm::Object(_) => Shape::Object,
            TypeForm::Map(_) => Shape::Map,
            TypeForm::List(_) => Shape::List,
            TypeForm::Scalar(shape) => *shape,
            TypeForm::Reference(..) | TypeForm::Any => Shape::Any,
        }
    }

    /// The declared field of this name; `None` if this is not an object.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<Field> {
        match &self.resolved().0.form {
            TypeForm::Object(fields) => fields.get(name).cloned(),
            _ => None,
        }
    }

    /// All declared fields, by name; empty if this is not an object.
    #[must_use]
    pub fn fields(&self) -> Vec<Field> {
        match &self.resolved().0.form {
            TypeForm::Object(fields) => fields.values().cloned().collect(),
            _ => Vec::new(),
        }
    }

    /// The fields that an object always has: those whose default is an empty object, because Go writes a struct that is
    /// not a pointer.
    #[must_use]
    pub fn structs(&self) -> Vec<(String, Self)> {
        let TypeForm::Object(fields) = &self.resolved().0.form else { return Vec::new() };
        let empty = |ty: &Self| {
            matches!(ty.default(), Some(Value::Object(default)) if default.is_empty())
                && ty.shape() == Shape::Object
        };
        let structs = fields.values().filter(|field| empty(&field.ty));
        structs.map(|field| (field.name.clone(), field.ty.clone())).collect()
    }

    /// The type of the values of a map.
    #[must_use]
    pub fn values(&self) -> Option<Self> {
        match &self.resolved().0.form {
            TypeForm::Map(values) => Some(values.clone()),
            _ => None,
        }
    }

    /// The type of the elements of a list.
    #[must_use]
    pub fn items(&self) -> Option<Self> {
        match &self.resolved().0.form {
            TypeForm::List(items) => Some(items.clone()),
            _ => None,
        }
    }

    /// How the elements of a list are identified; `None` if this is not a list.
    #[must_use]
    pub fn list_kind(&self) -> Option<ListKind> {
        let kind =
            || self.0.list.clone().or_else(|| self.resolved().0.list.clone()).unwrap_or(ListKind::Atomic);
        (self.shape() == Shape::List).then(kind)
    }

    /// The keys of a list, if the schema has `x-kubernetes-list-map-keys`.
    #[must_use]
    pub fn list_keys(&self) -> Option<Vec<String>> {
        match self.list_kind()? {
            ListKind::Map(keys) => Some(keys),
            ListKind::Atomic | ListKind::Set => None,
        }
    }

    /// How a strategic merge patch changes a value of this type.
    #[must_use]
    pub fn patch(&self) -> Patch {
        let merged = matches!(self.shape(), Shape::Object | Shape::Map | Shape::Any);
        let default = if merged { PatchStrategy::Merge } else { PatchStrategy::Replace };
        Patch {
            strategy: self.0.strategy.unwrap_or(default),
            retain_keys: self.0.retain_keys,
            merge_key: self.0.merge_key.clone(),
        }
    }

    /// The value that the server sets if the field is absent; only defaults of the schema.
    #[must_use]
    pub fn default(&self) -> Option<&Value> {
        self.0.default.as_ref()
    }

    /// The allowed values, if the schema lists them; otherwise empty.
    #[must_use]
    pub fn allowed(&self) -> Vec<Value> {
        self.resolved().0.allowed.clone()
    }

    /// Whether an object keeps undeclared fields (`x-kubernetes-preserve-unknown-fields`). Otherwise a server prunes them.
    #[must_use]
    pub fn is_open(&self) -> bool {
        let node = self.resolved();
        node.0.open || matches!(node.0.form, TypeForm::Any)
    }

    /// Whether this is an object of unknown structure.
    #[must_use]
    pub fn is_bare_object(&self) -> bool {
        let node = self.resolved();
        node.0.object && matches!(node.0.form, TypeForm::Any)
    }

    /// Whether an object or map has one field owner as a whole (`x-kubernetes-map-type: atomic`).
    #[must_use]
    pub fn is_atomic(&self) -> bool {
        self.0.atomic || self.resolved().0.atomic
    }

    /// Whether `null` is an allowed value.
    #[must_use]
    pub fn is_nullable(&self) -> bool {
        self.0.nullable || self.resolved().0.nullable
    }

    /// Whether this is an object with apiVersion, kind and metadata (`x-kubernetes-embedded-resource`).
    #[must_use]
    pub fn is_embedded_resource(&self) -> bool {
        self.0.embedded
    }

    /// The type at a path below this one: `spec.containers[].env`, `metadata.labels[a.b/c]`.
    ///
    /// `None` if the path is malformed or has an undeclared field, also in an open object, so that typing mistakes are
    /// found. Everything below [`Shape::Any`] is [`Shape::Any`].
    #[must_use]
    pub fn at(&self, path: &str) -> Option<Self> {
        self.below(&segments(path).ok()?)
    }

    /// The same for a parsed path.
    #[must_use]
    pub fn below(&self, path: &[Segment]) -> Option<Self> {
        path.iter().try_fold(self.clone(), |ty, segment| ty.step(segment))
    }

    fn step(&self, segment: &Segment) -> Option<Self> {
        match (&self.resolved().0.form, segment) {
            (TypeForm::Object(fields), Segment::Key(name)) => fields.get(name).map(|field| field.ty.clone()),
            (TypeForm::Map(values), _) => Some(values.clone()),
            (TypeForm::List(items), Segment::Each | Segment::Index(_)) => Some(items.clone()),
            (TypeForm::Any, _) => Some(Self::any()),
            _ => None,
        }
    }

    /// The type itself, or the definition that it names.
    fn resolved(&self) -> Self {
        let mut ty = self.clone();
        while let TypeForm::Reference(minor, name) = &ty.0.form {
            ty = definitions::find(*minor, name).unwrap_or_else(Self::any);
        }
        ty
    }
}
