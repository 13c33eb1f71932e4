//! Configuration files as users write them, including broken ones.

use std::fs;

use controller::config::{FileError, Warning};
use rstest::rstest;

use super::*;

const HEAD: &str = "apiVersion: scheduler.config.gardener.cloud/v1alpha1\nkind: SchedulerConfiguration\n";

fn load(text: &str, strict: bool) -> Result<(SchedulerConfiguration, Vec<Warning>), FileError> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.yaml");
    fs::write(&file, text).unwrap();
    SchedulerConfiguration::load(&file, strict)
}

#[rstest]
#[case::nothing("", "error decoding config: expected one document, found 0")]
#[case::kind(
    "apiVersion: scheduler.config.gardener.cloud/v1alpha1\nkind: Other\n",
    "error decoding config: kind must be SchedulerConfiguration, found Other"
)]
#[case::type_(&format!("{HEAD}schedulers:\n  shoot: {{concurrentSyncs: many}}\n"), "error decoding config: line 4")]
#[case::feature(&format!("{HEAD}featureGates: {{HVPA: true}}\n"), "unrecognized feature gate: HVPA")]
#[case::level(&format!("{HEAD}logLevel: warn\n"), "logLevel: Unsupported value: \"warn\"")]
#[case::all(
    &format!("{HEAD}logFormat: xml\nlogLevel: warn\nschedulers: {{backupBucket: {{concurrentSyncs: -1}}, shoot: {{concurrentSyncs: -2, candidateDeterminationStrategy: foo}}}}\n"),
    "[schedulers.backupBucket.concurrentSyncs: Invalid value: -1: must be greater than or equal to 0, \
     schedulers.shoot.concurrentSyncs: Invalid value: -2: must be greater than or equal to 0, \
     schedulers.shoot.strategy: Unsupported value: \"foo\": supported values: \"SameRegion\", \"MinimalDistance\", \
     logLevel: Unsupported value: \"warn\": supported values: \"debug\", \"info\", \"error\", \
     logFormat: Unsupported value: \"xml\": supported values: \"json\", \"text\"]"
)]
fn errors_name_the_problem_and_the_file(#[case] text: &str, #[case] want: &str) {
    let error = load(text, false).unwrap_err();
    assert!(error.to_string().contains(want), "{error}");
    assert!(error.to_string().ends_with("/config.yaml)"), "{error}");
}

#[test]
fn a_missing_file_is_named() {
    let error = SchedulerConfiguration::load("/no/such/file.yaml".as_ref(), false).unwrap_err().to_string();
    assert!(error.starts_with("error reading config file /no/such/file.yaml: "), "{error}");
}

#[test]
fn an_unknown_field_is_a_warning_and_with_strict_an_error() {
    let text = format!("{HEAD}schedulers:\n  shoot: {{strategy: MinimalDistance}}\n");
    let (config, warnings) = load(&text, false).unwrap();
    let messages: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        ["line 4, column 11: unknown field schedulers.shoot.strategy has no effect, did you mean \
          schedulers.shoot.candidateDeterminationStrategy?"]
    );
    assert_eq!(config.schedulers.shoot.unwrap().candidate_determination_strategy, "SameRegion");
    assert!(load(&text, true).is_err());
}
