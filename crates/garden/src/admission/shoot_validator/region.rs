//! The region of a Shoot, and the zones of its pools.

use std::collections::BTreeSet;

use api::garden::CloudProfile;
use api::garden::shoot::ShootSpec;
use api::garden::shoot::worker::Worker;
use webhook::field::{Error, Path};

use crate::webhooks::field_errors::{FieldErrors, supported};

/// A new or changed region is in the profile. A deletion is compared with an empty Shoot: GPL-SHVAL-070, GPL-SHVAL-071.
pub(super) fn validate(spec: &ShootSpec, old: &ShootSpec, profile: &CloudProfile) -> Option<Error> {
    if spec.region == old.region {
        return None;
    }
    let names: Vec<&str> = profile.spec.regions.iter().map(|region| region.name.as_str()).collect();
    supported(&Path::new("spec").child("region"), &spec.region, &names)
}

/// Changed zones are unique, and in the region; so are all zones of a changed region: GPL-SHVAL-106.
pub(super) fn validate_zones(
    pool: &Worker,
    before: Option<&Worker>,
    (region, old_region): (&str, &str),
    profile: &CloudProfile,
    at: &Path,
) -> FieldErrors {
    if region == old_region && before.map_or(&[][..], |before| before.zones.as_slice()) == pool.zones {
        return FieldErrors::new();
    }
    let own = profile.spec.regions.iter().find(|known| known.name == region);
    let known: Vec<&str> =
        own.iter().flat_map(|region| &region.zones).map(|zone| zone.name.as_str()).collect();
    let (mut errors, mut used) = (FieldErrors::new(), BTreeSet::new());
    for (index, zone) in pool.zones.iter().enumerate() {
        let at = at.child("zones").index(index);
        if known.is_empty() {
            let detail = "this region does not support availability zones, please do not configure them";
            errors.push(Error::invalid(&at, region, detail));
        } else {
            errors.extend(supported(&at, zone, &known));
        }
        if !used.insert(zone) {
            errors.push(Error::duplicate(&at, zone));
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn profile() -> CloudProfile {
        let zones = json!([{"name": "a"}, {"name": "b"}]);
        let regions = json!([{"name": "europe", "zones": zones}, {"name": "asia"}]);
        serde_json::from_value(json!({"spec": {"regions": regions}})).unwrap()
    }

    #[rstest]
    #[case::known("europe", "", "")]
    #[case::kept("gone", "gone", "")]
    #[case::unknown(
        "gone",
        "",
        "spec.region: Unsupported value: \"gone\": supported values: \"europe\", \"asia\""
    )]
    fn a_region_is_in_the_profile(#[case] region: &str, #[case] old: &str, #[case] want: &str) {
        let with = |region: &str| ShootSpec { region: region.to_owned(), ..ShootSpec::default() };
        let error = validate(&with(region), &with(old), &profile());
        assert_eq!(error.map(|error| error.to_string()).unwrap_or_default(), want);
    }

    const NO_ZONES: &str = "p.zones[0]: Invalid value: \"asia\": this region does not support availability zones, \
        please do not configure them";

    #[rstest]
    #[case::known(json!(["a", "b"]), json!([]), "europe", &[])]
    #[case::kept(json!(["gone"]), json!(["gone"]), "europe", &[])]
    #[case::one_more(
        json!(["gone", "a"]),
        json!(["gone"]),
        "europe",
        &["p.zones[0]: Unsupported value: \"gone\": supported values: \"a\", \"b\""],
    )]
    #[case::twice(json!(["a", "a"]), json!([]), "europe", &["p.zones[1]: Duplicate value: \"a\""])]
    #[case::no_zones(json!(["a"]), json!([]), "asia", &[NO_ZONES])]
    #[case::other_region(json!(["a"]), json!(["a"]), "asia", &[NO_ZONES])]
    fn zones_are_in_the_region(
        #[case] zones: Value,
        #[case] old: Value,
        #[case] region: &str,
        #[case] want: &[&str],
    ) {
        let pool = |zones: Value| -> Worker { serde_json::from_value(json!({"zones": zones})).unwrap() };
        let errors =
            validate_zones(&pool(zones), Some(&pool(old)), (region, "europe"), &profile(), &Path::new("p"));
        assert_eq!(errors.iter().map(ToString::to_string).collect::<Vec<_>>(), want);
    }
}
