//! Quantities of resources.

use formats::quantity::{Notation, Quantity};
use webhook::field::{Error, Path, Shown};

use super::field_errors::FieldErrors;
use super::names;

/// Resources that are counted.
const COUNTED: [&str; 9] = [
    "configmaps",
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "services",
    "services.loadbalancers",
    "services.nodeports",
];

/// A quantity is not negative, and has no fraction if its resource is counted.
pub(super) fn validate(resource: &str, quantity: &Quantity, at: &Path) -> FieldErrors {
    let mut errors: FieldErrors = not_negative(quantity, at).into_iter().collect();
    if (COUNTED.contains(&resource) || is_extended(resource)) && !is_whole(quantity) {
        errors.push(Error::invalid(at, shown(quantity), "must be an integer"));
    }
    errors
}

/// A quantity is not negative.
pub(super) fn not_negative(quantity: &Quantity, at: &Path) -> Option<Error> {
    let is_negative = *quantity < Quantity::from_integer(0);
    is_negative
        .then(|| Error::invalid(at, quantity.to_string().as_str(), "must be greater than or equal to 0"))
}

/// Resources of others than Kubernetes: `example.com/gpu`.
fn is_extended(resource: &str) -> bool {
    resource.contains('/')
        && !resource.contains("kubernetes.io/")
        && !resource.starts_with("requests.")
        && names::label_key(&format!("requests.{resource}")).is_empty()
}

/// Whether it is an integer after rounding up to thousandths, as the original rounds.
fn is_whole(quantity: &Quantity) -> bool {
    const MILLI: i128 = 1_000_000;
    quantity.nanos().is_none_or(|nanos| {
        let rounded = nanos.div_euclid(MILLI) + i128::from(nanos.rem_euclid(MILLI) != 0);
        rounded % 1000 == 0
    })
}

/// The struct that the original prints here.
fn shown(quantity: &Quantity) -> Shown {
    let format = match quantity.notation() {
        Notation::Decimal => "DecimalSI",
        Notation::Binary => "BinarySI",
        Notation::Exponent => "DecimalExponent",
    };
    let nanos = quantity.nanos().unwrap_or_default();
    let (mut value, mut scale) = (nanos, -9);
    while value != 0 && value % 10 == 0 {
        (value, scale) = (value / 10, scale + 1);
    }
    Shown::verbatim(format!(
        "resource.Quantity{{i:resource.int64Amount{{value:{value}, scale:{scale}}}, \
         d:resource.infDecAmount{{Dec:(*inf.Dec)(nil)}}, s:\"\", Format:\"{format}\"}}"
    ))
}
