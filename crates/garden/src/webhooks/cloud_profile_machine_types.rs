//! The machine types of a CloudProfile.

use std::collections::BTreeSet;

use api::garden::cloud_profile::{MachineType, MachineTypeStorage};
use api::garden::shoot::worker::{ARCHITECTURE_AMD64, ARCHITECTURE_ARM64};
use formats::quantity::Quantity;
use webhook::field::{Error, Path, Shown};

use super::field_errors::FieldErrors;
use super::resource_quantity;

/// The errors of the machine types: GDN-CPM-001 to -004. A type with a duplicate name is not checked any
/// further.
#[must_use]
pub fn validate(types: &[MachineType]) -> FieldErrors {
    let at = Path::new("spec").child("machineTypes");
    let mut errors = Vec::new();
    if types.is_empty() {
        errors.push(Error::required(&at, "must provide at least one machine type"));
    }
    let mut names = BTreeSet::new();
    for (index, machine_type) in types.iter().enumerate() {
        let at = at.index(index);
        if machine_type.name.is_empty() {
            errors.push(Error::required(&at.child("name"), "must provide a name"));
        }
        if !names.insert(&machine_type.name) {
            errors.push(Error::duplicate(&at.child("name"), &machine_type.name));
            break;
        }
        let MachineType { cpu, gpu, memory, .. } = machine_type;
        for (field, quantity) in [("cpu", cpu), ("gpu", gpu), ("memory", memory)] {
            errors.extend(not_negative(quantity, &at.child(field)));
        }
        let known = [ARCHITECTURE_AMD64, ARCHITECTURE_ARM64];
        let architecture = machine_type.architecture.as_deref().unwrap_or(ARCHITECTURE_AMD64);
        if !known.contains(&architecture) {
            errors.push(Error::not_supported(&at.child("architecture"), architecture, &known));
        }
        errors.extend(machine_type.storage.iter().flat_map(|value| storage(value, &at.child("storage"))));
    }
    errors
}

/// A quantity must not be negative. An unparsable one is refused when the object is decoded.
pub(super) fn not_negative(value: &api::garden::Quantity, at: &Path) -> Option<Error> {
    resource_quantity::not_negative(&Quantity::parse(&value.0).ok()?, at)
}

/// A root volume has either a size or a minimum size.
fn storage(value: &MachineTypeStorage, at: &Path) -> FieldErrors {
    let refused = |text: &str| vec![Error::invalid(at, go_value(value), text)];
    match (&value.size, &value.min_size) {
        (None, None) => refused("must either configure \"size\" or \"minSize\""),
        (Some(_), Some(_)) => refused("not allowed to configure both \"size\" and \"minSize\""),
        (Some(size), None) => not_negative(size, &at.child("size")).into_iter().collect(),
        (None, Some(size)) => not_negative(size, &at.child("minSize")).into_iter().collect(),
    }
}

/// A root volume as Go prints it; for a pointer to a quantity Go prints the address.
fn go_value(value: &MachineTypeStorage) -> Shown {
    let pointer = |value: &Option<api::garden::Quantity>| if value.is_some() { "…" } else { "nil" };
    Shown::verbatim(format!(
        "core.MachineTypeStorage{{Class:{:?}, StorageSize:(*resource.Quantity)({}), Type:{:?}, \
         MinSize:(*resource.Quantity)({})}}",
        value.class,
        pointer(&value.size),
        value.type_,
        pointer(&value.min_size),
    ))
}
