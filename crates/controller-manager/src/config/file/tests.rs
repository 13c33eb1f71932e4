//! Configuration files as users write them, including broken ones.

use std::fs;

use controller::config::{FileError, Warning};
use rstest::rstest;

use super::*;

const HEAD: &str =
    "apiVersion: controllermanager.config.gardener.cloud/v1alpha1\nkind: ControllerManagerConfiguration\n";

fn load(text: &str, strict: bool) -> Result<(ControllerManagerConfiguration, Vec<Warning>), FileError> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.yaml");
    fs::write(&file, text).unwrap();
    ControllerManagerConfiguration::load(&file, strict)
}

/// A configuration file whose project quota is `config`.
fn quota(config: &str) -> String {
    format!("{HEAD}controllers: {{project: {{quotas: [{{config: {config}}}]}}}}\n")
}

#[rstest]
#[case::nothing("", "expected one document, found 0")]
#[case::kind("apiVersion: controllermanager.config.gardener.cloud/v1alpha1\nkind: Other\n", "kind")]
#[case::type_(&format!("{HEAD}controllers:\n  quota: {{concurrentSyncs: many}}\n"), "line 4")]
#[case::feature(&format!("{HEAD}featureGates: {{HVPA: true}}\n"), "unrecognized feature gate: HVPA")]
#[case::quota(&quota("{spec: {hard: {pods: 5}}}"), "Object 'Kind' is missing in '{\"spec\":{\"hard\":{\"pods\":5}}}'")]
#[case::version(&quota("{kind: ResourceQuota}"), "Object 'apiVersion' is missing in")]
#[case::other(&quota("{apiVersion: apps/v1, kind: Deployment}"), "no kind \"Deployment\" is registered for version \"apps/v1\"")]
#[case::shape(&quota("{apiVersion: v1, kind: ResourceQuota, spec: {hard: 5}}"), "controllers.project.quotas[0].config")]
#[case::level(&format!("{HEAD}logLevel: warn\n"), "logLevel: Unsupported value: \"warn\"")]
fn errors_name_the_problem_and_the_file(#[case] text: &str, #[case] want: &str) {
    let error = load(text, false).unwrap_err().to_string();
    assert!(error.contains(want), "{error}");
    assert!(error.ends_with("/config.yaml)"), "{error}");
}

#[test]
fn an_unknown_field_is_a_warning_and_with_strict_an_error() {
    let text = format!("{HEAD}controllers:\n  shootRetry: {{retryDuration: 1m}}\n");
    let (config, warnings) = load(&text, false).unwrap();
    let messages: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        [
            "line 4, column 16: unknown field controllers.shootRetry.retryDuration has no effect, did you mean \
          controllers.shootRetry.retryPeriod?"
        ]
    );
    assert_eq!(config.controllers.shoot_retry.retry_period.unwrap().to_string(), "10m0s");
    assert!(load(&text, true).is_err());
}
