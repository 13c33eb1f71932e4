//! Label selectors; values of requirements are not checked.

use api::garden::reference::LabelSelector;
use formats::name;
use webhook::field::{Error, Path};

use super::FieldErrors;

/// OPR-GRD-006.
pub(super) fn errors(selector: &LabelSelector, at: &Path) -> FieldErrors {
    let (mut errors, labels) = (Vec::new(), at.child("matchLabels"));
    for (key, value) in &selector.match_labels {
        invalid(key, &name::label_key(key), &labels, &mut errors);
        invalid(value, &name::label_value(value), &labels, &mut errors);
    }
    let requirements = at.child("matchExpressions");
    for (index, requirement) in selector.match_expressions.iter().enumerate() {
        let at = requirements.index(index);
        match (requirement.operator.as_str(), requirement.values.is_empty()) {
            ("In" | "NotIn", true) => {
                let text = "must be specified when `operator` is 'In' or 'NotIn'";
                errors.push(Error::required(&at.child("values"), text));
            }
            ("Exists" | "DoesNotExist", false) => {
                let text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.push(Error::forbidden(&at.child("values"), text));
            }
            ("In" | "NotIn" | "Exists" | "DoesNotExist", _) => {}
            (other, _) => {
                errors.push(Error::invalid(&at.child("operator"), other, "not a valid selector operator"));
            }
        }
        invalid(&requirement.key, &name::label_key(&requirement.key), &at.child("key"), &mut errors);
    }
    errors
}

fn invalid(text: &str, details: &[String], at: &Path, errors: &mut FieldErrors) {
    errors.extend(details.iter().map(|detail| Error::invalid(at, text, detail)));
}
