//! The seeds that a CloudProfile selects for its Shoots.

use api::garden::reference::{LabelSelectorRequirement, SeedSelector};
use formats::name;
use webhook::field::{Error, Path};

use super::refusals::Refused;

/// What is wrong with the selector: GDN-CPP-007, GDN-CPP-008.
#[must_use]
pub fn validate(selector: &SeedSelector) -> Refused {
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

/// The values are not looked at: seeds that have no such label are not selected, and that is all.
fn expression(requirement: &LabelSelectorRequirement, at: &Path) -> Refused {
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

fn malformed(at: &Path, value: &str, why: &[String]) -> Refused {
    why.iter().map(|text| Error::invalid(at, value, text)).collect()
}
