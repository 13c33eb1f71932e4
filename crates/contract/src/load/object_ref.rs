//! Objects by name: `kind[.group]/[namespace/]name`.

use schema::{Kinds, Resource};

use super::report::{Report, nearest};
use super::tree::Span;
use crate::scenario::{NAMESPACE, ObjectRef};

const REMEDY: &str = "write `secret/name`, `secret/namespace/name` or `kind.group/name`";

/// The object that a string names; reports errors.
pub(super) fn read(text: &str, span: Span, report: &Report<'_>) -> Option<ObjectRef> {
    let parts: Vec<&str> = text.split('/').collect();
    let (kind, namespace, name) = match parts.as_slice() {
        [kind, name] => (*kind, None, *name),
        [kind, namespace, name] => (*kind, Some(*namespace), *name),
        _ => {
            report.add("object-ref", span, format!("{text:?} does not name an object"), REMEDY);
            return None;
        }
    };
    if name.is_empty() {
        report.add("object-ref", span, format!("{text:?} has no name"), REMEDY);
        return None;
    }
    let resource = resource(kind, span, report)?;
    if let (Some(_), false) = (namespace, resource.namespaced) {
        let message = format!("objects of kind {} have no namespace", resource.kind);
        report.add("object-ref", span, message, "write `kind/name`");
    }
    let namespace = if resource.namespaced { namespace.unwrap_or(NAMESPACE) } else { "" };
    Some(ObjectRef {
        api_version: resource.api_version(),
        kind: resource.kind.clone(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    })
}

/// The resource of a kind in lower case; reports an unknown kind.
pub(super) fn resource(kind: &str, span: Span, report: &Report<'_>) -> Option<&'static Resource> {
    let found = find(kind);
    if found.is_none() {
        let known: Vec<String> =
            Kinds::gardener().resources().map(|resource| resource.kind.to_lowercase()).collect();
        let remedy = nearest(kind, known.iter().map(String::as_str));
        report.add("object-ref", span, format!("unknown kind {kind:?}"), remedy);
    }
    found
}

/// The first resource of this kind: `pod` is the core group's, not that of metrics.k8s.io.
fn find(kind: &str) -> Option<&'static Resource> {
    let (kind, group) = kind.split_once('.').map_or((kind, None), |(kind, group)| (kind, Some(group)));
    let named = Kinds::gardener().named(kind);
    named.into_iter().find(|resource| {
        resource.kind.to_lowercase() == kind && group.is_none_or(|group| resource.group == group)
    })
}
