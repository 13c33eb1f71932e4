//! Reset fields: fields that a write does not change, so that it does not make its manager their owner. Writes of the
//! object do not change the status; writes of the status change nothing else.

use schema::Resource;

use super::element::Element;
use super::set::FieldSet;
use crate::object::strategy::METADATA_STAYS;

/// The fields that a write does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reset {
    /// Nothing.
    Nothing,
    /// These fields and everything below them.
    Fields(&'static [&'static [&'static str]]),
    /// Everything except these fields; `None` matches any element.
    AllBut(&'static [&'static [Option<&'static str>]]),
}

const STATUS: Reset = Reset::Fields(&[&["status"]]);
const SPEC: Reset = Reset::Fields(&[&["spec"]]);
const SPEC_AND_METADATA: Reset = Reset::Fields(&[&["spec"], &["metadata"]]);

impl Reset {
    /// The set without the fields that the write does not change.
    pub(crate) fn filter(self, set: &FieldSet) -> FieldSet {
        match self {
            Self::Nothing => set.clone(),
            Self::Fields(paths) => {
                let path = |path: &&[&str]| path.iter().map(|name| Element::field(name)).collect();
                set.without(&paths.iter().map(path).collect())
            }
            Self::AllBut(patterns) => set.matching(patterns),
        }
    }
}

/// The fields that a write of this resource through a subresource does not change.
pub(crate) fn of(resource: &Resource, custom: bool, subresource: &str) -> Reset {
    let name = (resource.group.as_str(), resource.plural.as_str());
    match (name, subresource) {
        _ if subresource == "scale" => Reset::Nothing,
        (("certificates.k8s.io", "certificatesigningrequests"), subresource) => match subresource {
            "status" => Reset::Fields(&[&["spec"], &["status", "conditions"]]),
            "approval" => Reset::Fields(&[&["spec"], &["status", "certificate"]]),
            _ => Reset::Fields(&[&["spec"], &["status"]]),
        },
        (("certificates.k8s.io", "podcertificaterequests"), "") => Reset::Nothing,
        (("", "pods"), "status") => {
            Reset::Fields(&[&["spec"], &["metadata", "deletionTimestamp"], &["metadata", "ownerReferences"]])
        }
        (("", "pods"), "ephemeralcontainers") => {
            Reset::AllBut(&[&[Some("spec"), Some("ephemeralContainers")]])
        }
        (("", "pods"), "resize") => Reset::AllBut(&[
            &[Some("spec"), Some("containers"), None, Some("resources")],
            &[Some("spec"), Some("containers"), None, Some("resizePolicy")],
            &[Some("spec"), Some("initContainers"), None, Some("resources")],
            &[Some("spec"), Some("initContainers"), None, Some("resizePolicy")],
        ]),
        (("", "namespaces"), "finalize") => STATUS,
        (("apps", "deployments"), "status") => Reset::Fields(&[&["spec"], &["metadata", "labels"]]),
        (_, "status") if custom || METADATA_STAYS.contains(&name) => SPEC_AND_METADATA,
        (_, "status") => SPEC,
        (_, "") if resource.has_status() => STATUS,
        _ => Reset::Nothing,
    }
}
