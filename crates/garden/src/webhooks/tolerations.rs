//! Tolerations of seeds' taints.

use std::collections::BTreeSet;

use api::garden::reference::Toleration;
use webhook::field::{Error, Path};

use super::field_errors::{FieldErrors, required};

/// A toleration has a key and occurs once; after one without value, none with the same key may follow.
pub(crate) fn validate(tolerations: &[Toleration], at: &Path) -> FieldErrors {
    let (mut errors, mut seen) = (FieldErrors::new(), BTreeSet::new());
    for (index, toleration) in tolerations.iter().enumerate() {
        let at = at.index(index);
        errors.extend(required(&at.child("key"), &toleration.key, "cannot be empty"));
        let text = written(toleration);
        if seen.contains(&text) || seen.contains(&toleration.key) {
            errors.push(Error::duplicate(&at, &text));
        }
        seen.insert(text);
    }
    errors
}

/// Each of them is on the list, itself or its key without value.
pub(crate) fn validate_allowed(tolerations: &[Toleration], allowed: &[Toleration], at: &Path) -> FieldErrors {
    // The original lists them in random order.
    let allowed: BTreeSet<String> = allowed.iter().map(written).collect();
    let listed = allowed.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    let others = tolerations.iter().enumerate().filter(|(_, toleration)| {
        !allowed.contains(&toleration.key) && !allowed.contains(&written(toleration))
    });
    let text = format!("only the following tolerations are allowed: [{listed}]");
    others.map(|(index, _)| Error::forbidden(&at.index(index), &text)).collect()
}

/// `key` or `key=value`.
pub(crate) fn written(toleration: &Toleration) -> String {
    match &toleration.value {
        Some(value) => format!("{}={value}", toleration.key),
        None => toleration.key.clone(),
    }
}
