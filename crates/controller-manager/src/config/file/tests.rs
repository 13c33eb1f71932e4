//! Configuration files as users write them, including broken ones.

use std::fs;
use std::path::PathBuf;

use rstest::rstest;

use super::*;

const HEAD: &str =
    "apiVersion: controllermanager.config.gardener.cloud/v1alpha1\nkind: ControllerManagerConfiguration\n";

/// A file that is deleted when dropped.
struct TemporaryFile(PathBuf);

impl TemporaryFile {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("gcm-{}-{name}.yaml", std::process::id()));
        fs::write(&path, text).unwrap();
        Self(path)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A configuration file whose project quota is `config`.
fn quota(config: &str) -> String {
    format!("{HEAD}controllers: {{project: {{quotas: [{{config: {config}}}]}}}}\n")
}

#[rstest]
#[case::nothing("missing", "", "expected one document, found 0")]
#[case::kind("kind", "apiVersion: controllermanager.config.gardener.cloud/v1alpha1\nkind: Other\n", "kind")]
#[case::type_("type", &format!("{HEAD}controllers:\n  quota: {{concurrentSyncs: many}}\n"), "line 4")]
#[case::feature("feature", &format!("{HEAD}featureGates: {{HVPA: true}}\n"), "unrecognized feature gate: HVPA")]
#[case::quota("quota", &quota("{spec: {hard: {pods: 5}}}"), "Object 'Kind' is missing in '{\"spec\":{\"hard\":{\"pods\":5}}}'")]
#[case::version("version", &quota("{kind: ResourceQuota}"), "Object 'apiVersion' is missing in")]
#[case::other("other", &quota("{apiVersion: apps/v1, kind: Deployment}"), "no kind \"Deployment\" is registered for version \"apps/v1\"")]
#[case::shape("shape", &quota("{apiVersion: v1, kind: ResourceQuota, spec: {hard: 5}}"), "controllers.project.quotas[0].config")]
#[case::level("level", &format!("{HEAD}logLevel: warn\n"), "logLevel: Unsupported value: \"warn\"")]
fn errors_name_the_problem(#[case] name: &str, #[case] text: &str, #[case] want: &str) {
    let file = TemporaryFile::new(name, text);
    let error = ControllerManagerConfiguration::load(&file.0, false).unwrap_err().to_string();
    assert!(error.contains(want), "{error}");
}

#[test]
fn an_unknown_field_is_a_warning_and_with_strict_an_error() {
    let file =
        TemporaryFile::new("unknown", &format!("{HEAD}controllers:\n  shootRetry: {{retryDuration: 1m}}\n"));
    let (config, warnings) = ControllerManagerConfiguration::load(&file.0, false).unwrap();
    let messages: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        [
            "line 4, column 16: unknown field controllers.shootRetry.retryDuration has no effect, did you mean \
          controllers.shootRetry.retryPeriod?"
        ]
    );
    assert_eq!(config.controllers.shoot_retry.retry_period.unwrap().to_string(), "10m0s");
    assert!(ControllerManagerConfiguration::load(&file.0, true).is_err());
}
