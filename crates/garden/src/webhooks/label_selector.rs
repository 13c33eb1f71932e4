//! Label selectors.

use std::collections::BTreeMap;

use api::garden::reference::{LabelSelector, LabelSelectorRequirement};
use webhook::field::{Error, Path};

use super::field_errors::{FieldErrors, each_invalid};
use super::{labels, names};

/// The errors of a selector of labels.
pub(super) fn validate(
    match_labels: &BTreeMap<String, String>,
    expressions: &[LabelSelectorRequirement],
    at: &Path,
) -> FieldErrors {
    let mut errors = labels::validate(match_labels, &at.child("matchLabels"));
    for (index, requirement) in expressions.iter().enumerate() {
        errors.extend(expression(requirement, &at.child("matchExpressions").index(index)));
    }
    errors
}

/// The errors of a selector whose values could be those of labels.
pub(super) fn validate_values(selector: &LabelSelector, at: &Path) -> FieldErrors {
    let mut errors = labels::validate(&selector.match_labels, &at.child("matchLabels"));
    for (index, requirement) in selector.match_expressions.iter().enumerate() {
        let at = at.child("matchExpressions").index(index);
        errors.extend(expression(requirement, &at));
        let values = requirement.values.iter().enumerate();
        errors.extend(values.flat_map(|(index, value)| {
            each_invalid(&at.child("values").index(index), value, &names::label_value(value))
        }));
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
