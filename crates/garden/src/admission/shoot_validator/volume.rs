//! The root volumes of pools.

use std::collections::BTreeSet;

use api::garden::CloudProfile;
use api::garden::shoot::machine::Volume;
use api::garden::shoot::worker::Worker;
use formats::quantity::Quantity;
use webhook::field::{Error, Path};

use crate::webhooks::shoot_machine_types::lacking;

/// A new or changed type is in the profile, usable, and available in all zones: GPL-SHVAL-095.
pub(super) fn validate_type(
    pool: &Worker,
    before: Option<&Worker>,
    profile: &CloudProfile,
    region: &str,
    at: &Path,
) -> Option<Error> {
    let type_of = |pool: &Worker| pool.volume.as_ref().and_then(|volume| volume.type_.clone());
    let wanted = type_of(pool)?;
    if before.and_then(type_of).as_ref() == Some(&wanted) {
        return None;
    }
    let at = at.child("volume").child("type");
    let types = &profile.spec.volume_types;
    let lacking = lacking(&profile.spec.regions, region, &pool.zones, |zone| &zone.unavailable_volume_types);
    let usable: BTreeSet<&str> =
        types.iter().filter(|known| known.usable == Some(true)).map(|known| known.name.as_str()).collect();
    let is_there = |name: &str| lacking.iter().all(|lacking| lacking.as_str() != name);
    let supported: Vec<&str> = usable.iter().copied().filter(|name| is_there(name)).collect();
    if types.iter().all(|known| known.name != wanted) {
        return Some(Error::not_supported(&at, &wanted, &supported));
    }
    let mut why = String::new();
    if !usable.contains(wanted.as_str()) {
        why.push_str("is unusable, ");
    }
    if !is_there(&wanted) {
        why.push_str("is unavailable in at least one zone, ");
    }
    let detail = format!("volume type {wanted:?} {why}supported types are [{}]", supported.join(" "));
    (!why.is_empty()).then(|| Error::invalid(&at, &wanted, &detail))
}

/// The size reaches the minimum of the machine type, then that of the volume type; it is judged on every write. What is
/// no quantity is refused elsewhere: GPL-SHVAL-096.
pub(super) fn validate_size(pool: &Worker, profile: &CloudProfile, at: &Path) -> Option<Error> {
    let volume = pool.volume.as_ref()?;
    let (size, least) = (Quantity::parse(&volume.size).ok()?, minimums(pool, volume, profile));
    let least = least.into_iter().find(|least| size < *least)?;
    let at = at.child("volume").child("size");
    Some(Error::invalid(&at, &volume.size, &format!("size must be >= {least}")))
}

fn minimums(pool: &Worker, volume: &Volume, profile: &CloudProfile) -> Vec<Quantity> {
    let Some(type_) = &volume.type_ else { return Vec::new() };
    let machines = profile.spec.machine_types.iter().filter(|machine| machine.name == pool.machine.type_);
    let storages = machines.filter_map(|machine| machine.storage.as_ref());
    let of_machines = storages.filter(|storage| storage.type_ == *type_).map(|storage| &storage.min_size);
    let volumes = profile.spec.volume_types.iter().filter(|known| known.name == *type_);
    let all = of_machines.chain(volumes.map(|known| &known.min_size)).flatten();
    all.filter_map(|least| Quantity::parse(&least.0).ok()).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn profile() -> CloudProfile {
        let zones = json!([{"name": "a", "unavailableVolumeTypes": ["fast"]}, {"name": "b"}]);
        serde_json::from_value(json!({"spec": {
            "machineTypes": [
                {"name": "big", "storage": {"type": "fast", "minSize": "50Gi"}},
                {"name": "small", "storage": {"type": "slow"}},
            ],
            "regions": [{"name": "europe", "zones": zones}],
            "volumeTypes": [
                {"name": "fast", "usable": true, "minSize": "20Gi"}, {"name": "slow", "usable": true},
                {"name": "old", "usable": false},
            ],
        }}))
        .unwrap()
    }

    fn pool(value: Value) -> Worker {
        serde_json::from_value(value).unwrap()
    }

    #[rstest]
    #[case::none(json!({}), json!({}), "")]
    #[case::untyped(json!({"volume": {"size": "1Gi"}}), json!({}), "")]
    #[case::known(json!({"volume": {"type": "fast"}, "zones": ["b"]}), json!({}), "")]
    #[case::kept(json!({"volume": {"type": "gone"}}), json!({"volume": {"type": "gone"}}), "")]
    #[case::unknown(
        json!({"volume": {"type": "gone"}, "zones": ["a"]}),
        json!({"volume": {"type": "fast"}}),
        "Unsupported value: \"gone\": supported values: \"slow\"",
    )]
    #[case::unusable(
        json!({"volume": {"type": "old"}}),
        json!({"volume": {}}),
        "Invalid value: \"old\": volume type \"old\" is unusable, supported types are [fast slow]",
    )]
    #[case::unavailable(
        json!({"volume": {"type": "fast"}, "zones": ["b", "a"]}),
        json!({}),
        "Invalid value: \"fast\": volume type \"fast\" is unavailable in at least one zone, supported types are [slow]",
    )]
    fn types_are_in_the_profile(#[case] new: Value, #[case] old: Value, #[case] want: &str) {
        let error = validate_type(&pool(new), Some(&pool(old)), &profile(), "europe", &Path::new("p"));
        let want = if want.is_empty() { String::new() } else { format!("p.volume.type: {want}") };
        assert_eq!(error.map(|error| error.to_string()).unwrap_or_default(), want);
    }

    #[rstest]
    #[case::of_machine_below("big", "fast", "49Gi", "50Gi")]
    #[case::of_machine_at("big", "fast", "50Gi", "")]
    #[case::of_volume_below("small", "fast", "19Gi", "20Gi")]
    #[case::of_volume_at("small", "fast", "20Gi", "")]
    #[case::no_minimum("small", "slow", "1Gi", "")]
    #[case::no_quantity("big", "fast", "x", "")]
    fn sizes_reach_the_minimum(
        #[case] machine: &str,
        #[case] type_: &str,
        #[case] size: &str,
        #[case] least: &str,
    ) {
        let pool = pool(json!({"machine": {"type": machine}, "volume": {"type": type_, "size": size}}));
        let error = validate_size(&pool, &profile(), &Path::new("p")).map(|error| error.to_string());
        let want = format!("p.volume.size: Invalid value: \"{size}\": size must be >= {least}");
        assert_eq!(error, (!least.is_empty()).then_some(want));
    }
}
