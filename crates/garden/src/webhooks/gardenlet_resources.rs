//! Capacity of a seed, and what of it is reserved.

use api::gardenlet::Resources;
use formats::quantity::Quantity;
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;

use super::field_errors::FieldErrors;
use super::resource_quantity;

/// What is reserved is part of a capacity, both as whole numbers: GDN-GLC-009.
///
/// # Errors
/// 400 when an amount is no quantity.
pub(super) fn validate(kind: &str, resources: &Resources, at: &Path) -> Result<FieldErrors, Rejection> {
    let (mut errors, mut without) = (FieldErrors::new(), FieldErrors::new());
    for (name, written) in &resources.reserved {
        let reserved = resource_quantity::parse(kind, written)?;
        let shown = || resource_quantity::unprinted(&written.0, &reserved);
        let at = at.child("reserved").child(name);
        match resources.capacity.get(name) {
            None => without.push(Error::invalid(&at, shown(), "reserved without capacity")),
            Some(capacity) if whole(&reserved) > whole(&resource_quantity::parse(kind, capacity)?) => {
                errors.push(Error::invalid(&at, shown(), "reserved must be lower or equal to capacity"));
            }
            Some(_) => {}
        }
    }
    errors.extend(without);
    Ok(errors)
}

/// The number, rounded up.
fn whole(quantity: &Quantity) -> i128 {
    const ONE: i128 = 1_000_000_000;
    let nanos = quantity.nanos().unwrap_or(i128::MAX);
    nanos.div_euclid(ONE) + i128::from(nanos.rem_euclid(ONE) != 0)
}
