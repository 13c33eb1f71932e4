//! The resources of a Shoot that count for Quotas.

use std::collections::BTreeMap;
use std::ops::Add;

use api::garden::cloud_profile::{MachineType, MachineTypeStorage};
use api::garden::shoot::machine::Volume;
use api::garden::shoot::worker::Worker;
use api::garden::{CloudProfile, Quantity as Written, Shoot};
use formats::quantity::{Quantity, QuantityError};
use webhook::strategy::ObjectReader;

use crate::admission::shoot_support::{CLOUD_PROFILES, internal_text};

/// All metrics, in the order in which they are reported.
pub(super) const METRICS: [&str; 6] = [CPU, GPU, MEMORY, STANDARD_STORAGE, PREMIUM_STORAGE, LOAD_BALANCERS];

const CPU: &str = "cpu";
const GPU: &str = "gpu";
const MEMORY: &str = "memory";
const STANDARD_STORAGE: &str = "storage.standard";
const PREMIUM_STORAGE: &str = "storage.premium";
const LOAD_BALANCERS: &str = "loadbalancer";

/// Amounts by metric, in units of 10⁻⁹.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Resources(BTreeMap<&'static str, i128>);

/// The limit of a metric, in units of 10⁻⁹.
pub(super) fn limit(written: &Written) -> i128 {
    Quantity::parse(&written.0).map_or(0, |quantity| nanos(&quantity))
}

impl Resources {
    /// What a Shoot may use: the maximum of machines and root volumes of each pool, and load balancers: GPL-QUOTA-005.
    ///
    /// # Errors
    /// The original's text when profile, machine type or volume type is unknown, or a size is none.
    pub(super) fn of(objects: &dyn ObjectReader, shoot: &Shoot) -> Result<Self, String> {
        let profile: CloudProfile = CLOUD_PROFILES
            .get(objects, "", &shoot.spec.cloud_profile_name)
            .map_err(|why| internal_text(&format!("could not find referenced cloud profile: {why}")))?;
        let mut all = Self::default();
        for pool in &shoot.spec.provider.workers {
            all = all + Self::of_pool(pool, &profile)?;
        }
        let ingress = shoot.spec.addons.as_ref().and_then(|addons| addons.nginx_ingress.as_ref());
        let count = if ingress.is_some_and(|ingress| ingress.enabled) { 2 } else { 1 };
        all.count(LOAD_BALANCERS, &Quantity::from_integer(count), 1);
        Ok(all)
    }

    /// The amount of a metric.
    pub(super) fn amount(&self, metric: &str) -> i128 {
        self.0.get(metric).copied().unwrap_or_default()
    }

    fn of_pool(pool: &Worker, profile: &CloudProfile) -> Result<Self, String> {
        let type_ = &pool.machine.type_;
        let in_profile =
            format!("not found in CloudProfile {}", profile.metadata.name.as_deref().unwrap_or_default());
        let machine = profile.spec.machine_types.iter().find(|machine| machine.name == *type_);
        let machine = machine.ok_or_else(|| format!("machineType {type_} {in_profile}"))?;
        let volume = pool.volume.clone().or_else(|| volume_of(type_, profile));
        let class = volume.as_ref().and_then(|volume| class(volume, machine, profile));
        // The original names the machine type.
        let (Some(volume), Some(class)) = (volume, class) else {
            return Err(format!("VolumeType {type_} {in_profile}"));
        };
        let size = Quantity::parse(&volume.size).map_err(|error| of_size(&error).to_owned())?;
        let storage = match class {
            "standard" => STANDARD_STORAGE,
            "premium" => PREMIUM_STORAGE,
            other => return Err(format!("unknown volumeType class {other}")),
        };
        let mut all = Self::default();
        for (metric, written) in [(CPU, &machine.cpu), (GPU, &machine.gpu), (MEMORY, &machine.memory)] {
            if let Ok(quantity) = Quantity::parse(&written.0) {
                all.count(metric, &quantity, pool.maximum);
            }
        }
        all.count(storage, &size, pool.maximum);
        Ok(all)
    }

    fn count(&mut self, metric: &'static str, quantity: &Quantity, times: i32) {
        let amount = nanos(quantity).saturating_mul(times.max(0).into());
        let sum = self.0.entry(metric).or_default();
        *sum = sum.saturating_add(amount);
    }
}

impl Add for Resources {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        for (metric, amount) in other.0 {
            let sum = self.0.entry(metric).or_default();
            *sum = sum.saturating_add(amount);
        }
        self
    }
}

/// The storage that a machine type brings, if its size is known; of several machine types of the name the last one's.
fn volume_of(machine_type: &str, profile: &CloudProfile) -> Option<Volume> {
    let machines = profile.spec.machine_types.iter().filter(|machine| machine.name == machine_type);
    let storages = machines.filter_map(|machine| machine.storage.as_ref());
    let volume = |storage: &MachineTypeStorage| {
        let size = storage.size.as_ref()?.0.clone();
        Some(Volume { type_: Some(storage.type_.clone()), size, ..Volume::default() })
    };
    storages.filter_map(volume).next_back()
}

/// The class of a volume: of the machine type's storage, else of the volume type.
fn class<'a>(volume: &Volume, machine: &'a MachineType, profile: &'a CloudProfile) -> Option<&'a str> {
    if let Some(storage) = &machine.storage {
        return Some(&storage.class);
    }
    let type_ = volume.type_.as_ref()?;
    let known = profile.spec.volume_types.iter().find(|known| known.name == *type_)?;
    Some(&known.class)
}

fn nanos(quantity: &Quantity) -> i128 {
    quantity.nanos().unwrap_or(if *quantity < Quantity::from_integer(0) { i128::MIN } else { i128::MAX })
}

/// The original's text about a size that is no quantity.
fn of_size(error: &QuantityError) -> &'static str {
    match error {
        QuantityError::Form(_) => {
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        }
        QuantityError::Suffix(_) => "unable to parse quantity's suffix",
        QuantityError::Size(_) => "unable to parse numeric part of quantity",
    }
}
