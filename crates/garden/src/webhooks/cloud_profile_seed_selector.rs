//! The seed selector of a CloudProfile.

use api::garden::reference::{LabelSelectorRequirement, SeedSelector};
use formats::name;
use webhook::field::{Error, Path};

use super::field_errors::FieldErrors;

/// The errors of the selector: GDN-CPP-007, GDN-CPP-008.
#[must_use]
pub fn validate(selector: &SeedSelector) -> FieldErrors {
    let at = Path::new("spec").child("seedSelector");
    let labels = at.child("matchLabels");
    let mut errors = Vec::new();
    for (key, value) in &selector.match_labels {
        errors.extend(malformed(&labels, key, &name::label_key(key)));
        errors.extend(malformed(&labels, value, &name::label_value(value)));
    }
    for (index, requirement) in selector.match_expressions.iter().enumerate() {
        errors.extend(expression(requirement, &at.child("matchExpressions").index(index)));
    }
    errors
}

/// The values are not checked: a value that no seed has selects nothing.
fn expression(requirement: &LabelSelectorRequirement, at: &Path) -> FieldErrors {
    let values = at.child("values");
    let mut errors = Vec::new();
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
    errors.extend(malformed(&at.child("key"), &requirement.key, &name::label_key(&requirement.key)));
    errors
}

fn malformed(at: &Path, value: &str, why: &[String]) -> FieldErrors {
    why.iter().map(|text| Error::invalid(at, value, text)).collect()
}
