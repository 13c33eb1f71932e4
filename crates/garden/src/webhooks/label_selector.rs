//! Label selectors.

use std::collections::BTreeMap;

use api::garden::reference::LabelSelectorRequirement;
use webhook::field::{Error, Path};

use super::field_errors::{FieldErrors, each_invalid};
use super::names;

/// The errors of a selector of labels.
pub(super) fn validate(
    labels: &BTreeMap<String, String>,
    expressions: &[LabelSelectorRequirement],
    at: &Path,
) -> FieldErrors {
    let mut errors = FieldErrors::new();
    for (key, value) in labels {
        errors.extend(each_invalid(&at.child("matchLabels"), key, &names::label_key(key)));
        errors.extend(each_invalid(&at.child("matchLabels"), value, &names::label_value(value)));
    }
    for (index, requirement) in expressions.iter().enumerate() {
        errors.extend(expression(requirement, &at.child("matchExpressions").index(index)));
    }
    errors
}

/// The values are not checked: a value that no object has selects nothing.
fn expression(requirement: &LabelSelectorRequirement, at: &Path) -> FieldErrors {
    let values = at.child("values");
    let mut errors = FieldErrors::new();
    match (requirement.operator.as_str(), requirement.values.is_empty()) {
        ("In" | "NotIn", true) => {
            errors.push(Error::required(&values, "must be specified when `operator` is 'In' or 'NotIn'"));
        }
        ("Exists" | "DoesNotExist", false) => {
            let text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            errors.push(Error::forbidden(&values, text));
        }
        ("In" | "NotIn" | "Exists" | "DoesNotExist", _) => {}
        (other, _) => {
            errors.push(Error::invalid(&at.child("operator"), other, "not a valid selector operator"));
        }
    }
    errors.extend(each_invalid(&at.child("key"), &requirement.key, &names::label_key(&requirement.key)));
    errors
}
