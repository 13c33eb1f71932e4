//! Reads control plane namespaces and provider profiles, and joins those of a component.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use formats::yaml::Node;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::report::{Report, nearest};
use super::tree::Span;
use crate::document::provider_profile::{
    ControlPlaneNamespace, NamespaceFile, ProfileFile, Profiles, ProviderProfile, check_object, describe,
    is_same, known_placeholders, unknown_placeholder,
};

/// The name of the rule for errors.
const CODE: &str = "profile";

/// A document as it is written.
pub(crate) struct ProfileDraft {
    content: Content,
    /// Position of the document, and of each object.
    span: Span,
    objects: Vec<Span>,
}

enum Content {
    Namespace(ControlPlaneNamespace),
    Profile(String, ProviderProfile),
}

/// Reads a document of kind ControlPlaneNamespace or ProviderProfile; `None` if it cannot be read.
pub(super) fn read(file: usize, node: &Node, report: &Report<'_>) -> Option<ProfileDraft> {
    let is_namespace = node.get("kind").and_then(Node::as_str) == Some("ControlPlaneNamespace");
    let content = if is_namespace {
        Content::Namespace(deserialize::<NamespaceFile>(file, node, report)?.spec)
    } else {
        let read: ProfileFile = deserialize(file, node, report)?;
        Content::Profile(read.metadata.name, read.spec)
    };
    let items = node.get("spec").and_then(|spec| spec.get("objects")).and_then(Node::items);
    let objects = items.unwrap_or_default().iter().map(|item| Span::of(file, item)).collect();
    Some(ProfileDraft { content, span: Span::of(file, node), objects })
}

fn deserialize<T: DeserializeOwned>(file: usize, node: &Node, report: &Report<'_>) -> Option<T> {
    let wrong = |error: formats::yaml::Error| {
        report.push(report.files[file].error(error.mark, 1, error.message, None).coded(CODE));
    };
    node.read().map_err(wrong).ok()
}

/// The profiles of each component, with the namespace that they belong to.
pub(super) fn join(drafts: Vec<ProfileDraft>, report: &Report<'_>) -> BTreeMap<String, Arc<Profiles>> {
    let mut joined: BTreeMap<String, Profiles> = BTreeMap::new();
    let (namespaces, profiles): (Vec<_>, Vec<_>) =
        drafts.into_iter().partition(|draft| matches!(draft.content, Content::Namespace(_)));
    for draft in namespaces {
        let Content::Namespace(namespace) = draft.content else { continue };
        check_objects(
            (namespace.objects.as_slice(), &draft.objects[..]),
            &namespace,
            [&namespace.values],
            report,
        );
        let component = namespace.component.clone();
        if joined.contains_key(&component) {
            let message = format!("two control plane namespaces are of the component {component}");
            report.add(CODE, draft.span, message, "write Gardener's objects into one file");
        }
        joined.insert(component, Profiles { namespace, by_name: BTreeMap::new() });
    }
    for draft in profiles {
        let Content::Profile(name, profile) = draft.content else { continue };
        let Some(of_component) = joined.get_mut(&profile.component) else {
            let message = format!("component {:?} has no control plane namespace", profile.component);
            report.add(CODE, draft.span, message, "write `component: controlplane`");
            continue;
        };
        let namespace = &of_component.namespace;
        let values = [&namespace.values, &profile.values];
        check_objects((profile.objects.as_slice(), &draft.objects[..]), namespace, values, report);
        let other = of_component.find(profile.type_of(&name)).or_else(|| of_component.find(&name));
        if let Some((other, _)) = other {
            let message = format!("profile {name} has the name or type of profile {other}");
            report.add(CODE, draft.span, message, "rename one of the two");
        }
        of_component.by_name.insert(name, profile);
    }
    joined.into_iter().map(|(component, profiles)| (component, Arc::new(profiles))).collect()
}

/// Checks that each object belongs to the namespace, is there once, and has placeholders with values.
fn check_objects<'a>(
    (objects, spans): (&[Value], &[Span]),
    namespace: &ControlPlaneNamespace,
    values: impl IntoIterator<Item = &'a BTreeMap<String, Value>>,
    report: &Report<'_>,
) {
    let known: BTreeSet<&str> = known_placeholders(values);
    for (at, (object, span)) in objects.iter().zip(spans).enumerate() {
        if let Err((message, remedy)) = check_object(object, &namespace.namespace) {
            report.add(CODE, *span, message, remedy);
        }
        if objects[..at].iter().any(|other| is_same(other, object)) {
            let message = format!("{} is there twice", describe(object));
            report.add(CODE, *span, message, "remove one of the two");
        }
        if let Some(name) = unknown_placeholder(object, &known) {
            let message = format!("{} has the placeholder <{name}> without a value", describe(object));
            let remedy = nearest(&name, known.iter().copied());
            report.add(CODE, *span, message, format!("add `{name}` to `values`; {remedy}"));
        }
    }
}
