//! Which fields a field selector may name, by resource.

use crate::resource::Resource;

/// The fields of a resource: its own first, then those that all have; `declared` are those of a CRD.
pub(crate) fn of(resource: &Resource, declared: Vec<String>) -> Vec<String> {
    let mut fields = vec!["metadata.name".to_owned()];
    if resource.namespaced {
        fields.push("metadata.namespace".to_owned());
    }
    fields.extend(built_in(&resource.group, &resource.plural).iter().map(|&field| field.to_owned()));
    fields.extend(declared);
    fields
}

fn built_in(group: &str, plural: &str) -> &'static [&'static str] {
    match (group, plural) {
        _ => &[],
    }
}
