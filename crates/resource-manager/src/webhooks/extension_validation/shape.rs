//! The Go types of specifications, as far as decoding, comparison and printing depend on them.

/// The type of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// `string` and types derived from it.
    Text,
    /// `bool`.
    Truth,
    /// `int32`.
    Integer32,
    /// `int64`.
    Integer64,
    /// `[]byte`, base64 in JSON.
    Bytes,
    /// `resource.Quantity`, compared by value.
    Quantity,
    /// `metav1.Duration`, compared by value.
    Duration,
    /// `metav1.Time`, compared by value.
    Time,
    /// `intstr.IntOrString`.
    IntegerOrText,
    /// Any JSON; compared as JSON.
    Any,
    /// `*T`, with the name of T as Go prints it; absent differs from empty.
    Pointer(&'static str, &'static Self),
    /// `[]T`, with the name of T; absent equals empty.
    List(&'static str, &'static Self),
    /// `map[string]T`; absent equals empty.
    Map(&'static Self),
    /// A struct.
    Struct(&'static [Field]),
}

/// A field of a struct.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    /// Its name in JSON.
    pub(super) name: &'static str,
    /// Its name in Go, that of an embedded struct before it: `DefaultSpec.Type`.
    pub(super) go: &'static str,
    /// Its type.
    pub(super) shape: Shape,
}

/// A field by its names and type.
pub(super) const fn field(name: &'static str, go: &'static str, shape: Shape) -> Field {
    Field { name, go, shape }
}

/// `*string`.
pub(super) const OPTIONAL_TEXT: Shape = Shape::Pointer("string", &Shape::Text);
/// `*bool`.
pub(super) const OPTIONAL_TRUTH: Shape = Shape::Pointer("bool", &Shape::Truth);
/// `*runtime.RawExtension`.
pub(super) const RAW: Shape = Shape::Pointer("runtime.RawExtension", &Shape::Any);
/// `[]string`.
pub(super) const TEXTS: Shape = Shape::List("string", &Shape::Text);
/// `map[string]string`.
pub(super) const TEXT_MAP: Shape = Shape::Map(&Shape::Text);
/// `corev1.SecretReference`.
pub(super) const SECRET_REFERENCE: Shape =
    Shape::Struct(&[field("name", "Name", Shape::Text), field("namespace", "Namespace", Shape::Text)]);
/// `type` of `extensionsv1alpha1.DefaultSpec`.
pub(super) const TYPE: Field = field("type", "DefaultSpec.Type", Shape::Text);
/// `providerConfig` of `extensionsv1alpha1.DefaultSpec`.
pub(super) const PROVIDER_CONFIG: Field = field("providerConfig", "DefaultSpec.ProviderConfig", RAW);
/// `region`.
pub(super) const REGION: Field = field("region", "Region", Shape::Text);
/// `secretRef`.
pub(super) const SECRET_REF: Field = field("secretRef", "SecretRef", SECRET_REFERENCE);
/// `metav1.LabelSelector`.
pub(super) const LABEL_SELECTOR: Shape = Shape::Struct(&[
    field("matchLabels", "MatchLabels", TEXT_MAP),
    field("matchExpressions", "MatchExpressions", Shape::List("v1.LabelSelectorRequirement", &REQUIREMENT)),
]);

const REQUIREMENT: Shape = Shape::Struct(&[
    field("key", "Key", Shape::Text),
    field("operator", "Operator", Shape::Text),
    field("values", "Values", TEXTS),
]);
