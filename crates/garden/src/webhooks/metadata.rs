//! The name of an object. An API server checks the other metadata of custom resources itself, before it calls webhooks
//! that validate.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use webhook::field::{Error, Path};

use super::field_errors::{FieldErrors, each_invalid};

/// Checks the name, and the prefix of a generated one, with a rule of [`super::names`].
pub(super) fn validate(metadata: &ObjectMeta, rule: fn(&str) -> Vec<String>) -> FieldErrors {
    let at = Path::new("metadata");
    let prefix = metadata.generate_name.as_deref().unwrap_or_default();
    let name = metadata.name.as_deref().unwrap_or_default();
    let mut errors = FieldErrors::new();
    if !prefix.is_empty() {
        errors.extend(each_invalid(&at.child("generateName"), prefix, &rule(&without_final_dash(prefix))));
    }
    match (name.is_empty(), prefix.is_empty()) {
        (false, _) => errors.extend(each_invalid(&at.child("name"), name, &rule(name))),
        (true, true) => errors.push(Error::required(&at.child("name"), "name or generateName is required")),
        // The API server generates the name later.
        (true, false) => {}
    }
    errors
}

/// A prefix may end with a dash, because something follows it.
fn without_final_dash(prefix: &str) -> String {
    match prefix.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => {
            let kept: String = rest.chars().take(rest.chars().count() - 1).collect();
            kept + "a"
        }
        _ => prefix.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webhooks::names;

    #[test]
    fn a_name_follows_its_rule_and_a_prefix_may_end_with_a_dash() {
        let table = [
            (Some("a"), None, vec![]),
            (None, None, vec!["metadata.name: Required value: name or generateName is required"]),
            (Some("a.b"), None, vec!["metadata.name: Invalid value: \"a.b\": must not contain dots"]),
            (None, Some("a-"), vec![]),
            (None, Some("a"), vec![]),
            (
                None,
                Some("a.b-"),
                vec!["metadata.generateName: Invalid value: \"a.b-\": must not contain dots"],
            ),
        ];
        for (name, prefix, texts) in table {
            let metadata = ObjectMeta {
                name: name.map(str::to_owned),
                generate_name: prefix.map(str::to_owned),
                ..ObjectMeta::default()
            };
            let errors = validate(&metadata, names::dns_label);
            assert_eq!(
                errors.iter().map(ToString::to_string).collect::<Vec<_>>(),
                texts,
                "{name:?} {prefix:?}"
            );
        }
    }
}
