//! Expiration dates of a CloudProfile in the notation of Kubernetes' times. The library that reads times accepts more, such as a
//! space instead of `T`, which gardener-apiserver refuses.

use formats::time::{self, Layout};
use serde_json::Value;

/// Checks the expiration dates of all versions.
///
/// # Errors
/// The path of the first malformed date, and Go's message about it.
pub fn check(profile: &Value) -> Result<(), String> {
    let spec = &profile["spec"];
    check_versions(&spec["kubernetes"]["versions"], "spec.kubernetes.versions")?;
    let images = spec["machineImages"].as_array().into_iter().flatten().enumerate();
    for (index, image) in images {
        check_versions(&image["versions"], &format!("spec.machineImages[{index}].versions"))?;
    }
    Ok(())
}

fn check_versions(versions: &Value, path: &str) -> Result<(), String> {
    for (index, version) in versions.as_array().into_iter().flatten().enumerate() {
        if let Some(date) = version["expirationDate"].as_str() {
            time::read(date, Layout::Seconds)
                .map_err(|why| format!("{path}[{index}].expirationDate: {why}"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn case_07_a_malformed_date_is_refused_with_its_place() {
        let with = |date: &str| {
            let versions = json!([{"version": "1.0.0"}, {"version": "1.0.1", "expirationDate": date}]);
            [
                json!({"spec": {"kubernetes": {"versions": versions}}}),
                json!({"spec": {"machineImages": [{"versions": []}, {"versions": versions}]}}),
            ]
            .map(|profile| check(&profile).err().unwrap_or_default())
        };
        assert_eq!(with("2024-01-01T00:00:00Z"), ["", ""]);
        for (date, why) in [
            ("2024-01-01 00:00:00Z", "cannot parse \" 00:00:00Z\" as \"T\""),
            ("2024-01-01T00:00:60Z", "second out of range"),
            ("2024-01-01t00:00:00z", "cannot parse \"t00:00:00z\" as \"T\""),
        ] {
            let [kubernetes, image] = with(date);
            assert!(
                kubernetes.starts_with("spec.kubernetes.versions[1].expirationDate: parsing time"),
                "{kubernetes}"
            );
            assert!(
                image.starts_with("spec.machineImages[1].versions[1].expirationDate: parsing time"),
                "{image}"
            );
            assert!(kubernetes.ends_with(why) && image.ends_with(why), "{kubernetes}");
        }
    }
}
