//! References and subjects as values of the original's types.

use api::garden::reference::{
    LabelSelectorRequirement, ObjectReference, SecretReference, Subject, Toleration,
};

use webhook::field::Path;

use super::field_errors::{FieldErrors, required};
use super::go_value::GoValue;

/// A reference to any object.
pub(super) fn object(reference: &ObjectReference) -> GoValue {
    let text = |text: &Option<String>| GoValue::text_or_empty(text.as_ref());
    let fields = vec![
        ("Kind", text(&reference.kind)),
        ("Namespace", text(&reference.namespace)),
        ("Name", text(&reference.name)),
        ("UID", text(&reference.uid)),
        ("APIVersion", text(&reference.api_version)),
        ("ResourceVersion", text(&reference.resource_version)),
        ("FieldPath", text(&reference.field_path)),
    ];
    GoValue::Struct("v1.ObjectReference", fields)
}

/// A reference to a Secret.
pub(crate) fn secret(reference: &SecretReference) -> GoValue {
    let text = |text: &Option<String>| GoValue::text_or_empty(text.as_ref());
    let fields = vec![("Name", text(&reference.name)), ("Namespace", text(&reference.namespace))];
    GoValue::Struct("v1.SecretReference", fields)
}

/// A reference to a Secret has a name and a namespace.
pub(super) fn required_secret(reference: &SecretReference, at: &Path) -> FieldErrors {
    let fields = [("name", &reference.name), ("namespace", &reference.namespace)];
    let missing = fields.into_iter().filter_map(|(field, text)| {
        let detail = format!("must provide a {field}");
        required(&at.child(field), text.as_deref().unwrap_or_default(), &detail)
    });
    missing.collect()
}

/// A user, a group or a ServiceAccount.
pub(super) fn subject(subject: &Subject) -> GoValue {
    let fields = vec![
        ("Kind", GoValue::text(&subject.kind)),
        ("APIGroup", GoValue::text_or_empty(subject.api_group.as_ref())),
        ("Name", GoValue::text(&subject.name)),
        ("Namespace", GoValue::text_or_empty(subject.namespace.as_ref())),
    ];
    GoValue::Struct("v1.Subject", fields)
}

/// Requirements on labels.
pub(super) fn requirements(requirements: &[LabelSelectorRequirement]) -> GoValue {
    let requirement = |requirement: &LabelSelectorRequirement| {
        let fields = vec![
            ("Key", GoValue::text(&requirement.key)),
            ("Operator", GoValue::text(&requirement.operator)),
            ("Values", GoValue::texts(&requirement.values)),
        ];
        GoValue::Struct("v1.LabelSelectorRequirement", fields)
    };
    GoValue::List("v1.LabelSelectorRequirement", requirements.iter().map(requirement).collect())
}

/// Tolerations of seeds' taints.
pub(super) fn tolerations(tolerations: &[Toleration]) -> GoValue {
    let toleration = |toleration: &Toleration| {
        let value = GoValue::pointer("string", toleration.value.as_ref().map(GoValue::text));
        GoValue::Struct("core.Toleration", vec![("Key", GoValue::text(&toleration.key)), ("Value", value)])
    };
    GoValue::List("core.Toleration", tolerations.iter().map(toleration).collect())
}
