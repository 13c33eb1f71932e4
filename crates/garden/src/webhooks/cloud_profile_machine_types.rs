//! The types of machines that a CloudProfile offers.

use std::collections::BTreeSet;

use api::garden::Quantity;
use api::garden::cloud_profile::{MachineType, MachineTypeStorage};
use api::garden::shoot::worker::{ARCHITECTURE_AMD64, ARCHITECTURE_ARM64};
use formats::quantity;
use webhook::field::{Error, Path, Shown};

use super::refusals::Refused;

/// What is wrong with the types of machines: GDN-CPM-001 to -004. Behind a name that is there twice, nothing is looked
/// at.
#[must_use]
pub fn validate(types: &[MachineType]) -> Refused {
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
        errors.extend(machine_type.storage.iter().flat_map(|said| storage(said, &at.child("storage"))));
    }
    errors
}

/// A quantity is not below zero. One that is none is refused where the object is read.
pub(super) fn not_negative(said: &Quantity, at: &Path) -> Option<Error> {
    let parsed = quantity::Quantity::parse(&said.0).ok()?;
    let is_negative = parsed < quantity::Quantity::from_integer(0);
    is_negative.then(|| Error::invalid(at, parsed.to_string().as_str(), "must be greater than or equal to 0"))
}

/// A root volume has a size or a least one, and not both.
fn storage(said: &MachineTypeStorage, at: &Path) -> Refused {
    let refused = |text: &str| vec![Error::invalid(at, shown(said), text)];
    match (&said.size, &said.min_size) {
        (None, None) => refused("must either configure \"size\" or \"minSize\""),
        (Some(_), Some(_)) => refused("not allowed to configure both \"size\" and \"minSize\""),
        (Some(size), None) => not_negative(size, &at.child("size")).into_iter().collect(),
        (None, Some(size)) => not_negative(size, &at.child("minSize")).into_iter().collect(),
    }
}

/// A root volume as Go prints it; where it points to a quantity, Go prints where that lies in memory.
fn shown(said: &MachineTypeStorage) -> Shown {
    let pointer = |said: &Option<Quantity>| if said.is_some() { "…" } else { "nil" };
    Shown::verbatim(format!(
        "core.MachineTypeStorage{{Class:{:?}, StorageSize:(*resource.Quantity)({}), Type:{:?}, \
         MinSize:(*resource.Quantity)({})}}",
        said.class,
        pointer(&said.size),
        said.type_,
        pointer(&said.min_size),
    ))
}
