//! The version of Kubernetes, and the defaults that depend on it.

use api::garden::{CloudProfile, Shoot};
use jiff::Timestamp;
use versions::admission;
use webhook::field::Path;

use crate::webhooks::field_errors::{FieldErrors, field_error};
use crate::webhooks::shoot_kubernetes;

/// Fills in a version that is missing or partial, or checks that it may be chosen; a Shoot that is not being deleted
/// gets the defaults of its version, even a wrong one: GPL-SHVAL-065 to -068.
pub(super) fn fill_in(shoot: &mut Shoot, old: &Shoot, profile: &CloudProfile, now: Timestamp) -> FieldErrors {
    let at = Path::new("spec").child("kubernetes").child("version");
    let before = old.spec.kubernetes.version.as_deref().unwrap_or_default();
    let errors = choose(&mut shoot.spec.kubernetes.version, before, profile, now, &at);
    if shoot.metadata.deletion_timestamp.is_none() {
        shoot_kubernetes::fill_in(&mut shoot.spec, Some(&old.spec));
    }
    errors
}

/// Fills in or checks the version of a control plane or a pool.
pub(super) fn choose(
    version: &mut Option<String>,
    old: &str,
    profile: &CloudProfile,
    now: Timestamp,
    at: &Path,
) -> FieldErrors {
    let given = version.as_deref().unwrap_or_default();
    match admission::kubernetes(given, old, &profile.spec.kubernetes.versions, now) {
        Ok(None) => FieldErrors::new(),
        Ok(filled) => {
            *version = filled;
            FieldErrors::new()
        }
        Err(refusals) => refusals.into_iter().map(|refusal| field_error((at.to_string(), refusal))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use crate::admission::shoot_validator::testing::now;

    fn profile() -> CloudProfile {
        let over = "2024-05-31T00:00:00Z";
        let versions = json!([
            {"version": "1.28.0", "classification": "preview"}, {"version": "1.27.3"}, {"version": "1.27.2"},
            {"version": "1.26.6"}, {"version": "1.26.7"},
            {"version": "1.26.8", "classification": "deprecated", "expirationDate": over}, {"version": "1.25.11"},
            {"version": "1.24.12", "classification": "deprecated", "expirationDate": over},
        ]);
        serde_json::from_value(json!({"spec": {"kubernetes": {"versions": versions}}})).unwrap()
    }

    const ALL: &str = "\"1.28.0 (preview)\", \"1.27.3\", \"1.27.2\", \"1.26.6\", \"1.26.7\", \"1.25.11\"";

    /// GPL-V-01.
    #[rstest]
    #[case::nothing("", "", "1.27.3", "")]
    #[case::major("1", "", "1.27.3", "")]
    #[case::minor("1.26", "", "1.26.7", "")]
    #[case::only_minor(".26", "", "1.26.7", "")]
    #[case::four_parts("1.26.6.1", "", "1.27.3", "")]
    #[case::prerelease("1.26.0-rc.1", "", "1.27.3", "")]
    #[case::preview("1.28.0", "", "1.28.0", "")]
    #[case::kept("1.26.8", "1.26.8", "1.26.8", "")]
    #[case::unknown("1.2.3", "", "1.2.3", "Unsupported value: \"1.2.3\": supported values: ALL")]
    #[case::expired("1.26.8", "", "1.26.8", "Unsupported value: \"1.26.8\": supported values: ALL")]
    #[case::no_number(
        "foo",
        "",
        "foo",
        "Invalid value: \"foo\": must be a semantic version|Unsupported value: \"foo\": supported values: ALL"
    )]
    #[case::no_minor(
        "1.bar",
        "",
        "1.bar",
        "Invalid value: \"bar\": must be a semantic version|Unsupported value: \"1.bar\": supported values: ALL"
    )]
    #[case::no_candidate(
        "1.24",
        "",
        "1.24",
        "Invalid value: \"1.24\": couldn't find a suitable version for 1.24. Suitable versions have a non-expired \
         expiration date and are no 'preview' versions. 'Preview'-classified versions have to be selected \
         explicitly|Unsupported value: \"1.24\": supported values: ALL"
    )]
    fn a_version_is_filled_in_or_checked(
        #[case] given: &str,
        #[case] old: &str,
        #[case] filled: &str,
        #[case] want: &str,
    ) {
        let mut version = Some(given.to_owned());
        let errors = choose(&mut version, old, &profile(), now(), &Path::new("v"));
        let bodies: Vec<String> = errors.iter().map(webhook::field::Error::body).collect();
        let want: Vec<String> =
            want.split('|').filter(|text| !text.is_empty()).map(|text| text.replace("ALL", ALL)).collect();
        assert_eq!((version.as_deref(), bodies), (Some(filled), want));
    }

    #[rstest]
    #[case::below_1_25("1.24.1", json!({}), json!({}), json!([true, true, "2m0s"]))]
    #[case::policies_off(
        "1.24.1",
        json!({"kubeAPIServer": {"admissionPlugins": [{"name": "PodSecurityPolicy", "disabled": true}]}}),
        json!({}),
        json!([true, null, "2m0s"]),
    )]
    #[case::below_1_27("1.26.7", json!({}), json!({}), json!([false, null, "2m0s"]))]
    #[case::from_1_27("1.27.3", json!({}), json!({}), json!([false, null, "40s"]))]
    #[case::given(
        "1.24.1",
        json!({"enableStaticTokenKubeconfig": false, "allowPrivilegedContainers": false,
            "kubeControllerManager": {"nodeMonitorGracePeriod": "1m"}}),
        json!({}),
        json!([false, false, "1m"]),
    )]
    #[case::upgrade(
        "1.27.3",
        json!({"kubeControllerManager": {"nodeMonitorGracePeriod": "1m"}}),
        json!({"version": "1.26.7", "kubeControllerManager": {"nodeMonitorGracePeriod": "2m"}}),
        json!([false, null, "40s"]),
    )]
    #[case::unreadable("x", json!({}), json!({}), json!([false, null, "40s"]))]
    fn defaults_depend_on_the_version(
        #[case] version: &str,
        #[case] kubernetes: Value,
        #[case] old: Value,
        #[case] want: Value,
    ) {
        let with = |kubernetes: Value| -> Shoot {
            let spec = json!({"kubernetes": kubernetes, "provider": {"workers": [{"name": "a"}]}});
            serde_json::from_value(json!({"spec": spec})).unwrap()
        };
        let (mut shoot, old) = (with(kubernetes), with(old));
        shoot.spec.kubernetes.version = Some(version.to_owned());
        fill_in(&mut shoot, &old, &profile(), now());
        let kubernetes = serde_json::to_value(&shoot.spec.kubernetes).unwrap();
        let set = json!([
            kubernetes["enableStaticTokenKubeconfig"],
            kubernetes["allowPrivilegedContainers"],
            kubernetes["kubeControllerManager"]["nodeMonitorGracePeriod"],
        ]);
        assert_eq!(set, want);
    }

    #[test]
    fn a_shoot_that_is_being_deleted_gets_no_defaults() {
        let metadata = json!({"deletionTimestamp": "2024-01-01T00:00:00Z"});
        let mut shoot: Shoot = serde_json::from_value(json!({"metadata": metadata})).unwrap();
        fill_in(&mut shoot, &Shoot::default(), &profile(), now());
        let kubernetes = &shoot.spec.kubernetes;
        let set = (kubernetes.version.as_deref(), kubernetes.enable_static_token_kubeconfig);
        assert_eq!(set, (Some("1.27.3"), None));
    }
}
