//! Validates a configuration, with the original's error texts.

use webhook::field::{Error, Path};

use super::SchedulerConfiguration;
use crate::decision::Strategy;

const LOG_LEVELS: [&str; 3] = ["debug", "info", "error"];
const LOG_FORMATS: [&str; 2] = ["json", "text"];
/// Feature gates that every component has.
const FEATURES: [&str; 2] = ["AllAlpha", "AllBeta"];

/// All errors of a configuration whose defaults are filled in. SCH-CFG-006, SCH-CFG-007, SCH-CFG-009.
#[must_use]
pub fn validate(config: &SchedulerConfiguration) -> Vec<Error> {
    let mut errors = Vec::new();
    let schedulers = Path::new("schedulers");
    if let Some(bucket) = &config.schedulers.backup_bucket {
        let at = schedulers.child("backupBucket").child("concurrentSyncs");
        check_not_negative(bucket.concurrent_syncs, &at, &mut errors);
    }
    if let Some(shoot) = &config.schedulers.shoot {
        let at = schedulers.child("shoot");
        check_not_negative(shoot.concurrent_syncs, &at.child("concurrentSyncs"), &mut errors);
        // The original calls the field so in errors alone.
        let strategies = Strategy::ALL.map(Strategy::as_str);
        let strategy = &shoot.candidate_determination_strategy;
        check_supported(strategy, &strategies, &at.child("strategy"), &mut errors);
    }
    check_supported(&config.log_level, &LOG_LEVELS, &Path::new("logLevel"), &mut errors);
    check_supported(&config.log_format, &LOG_FORMATS, &Path::new("logFormat"), &mut errors);
    errors
}

/// The first unknown feature gate; like the original, the program does not start with one. SCH-CFG-008.
#[must_use]
pub fn unknown_feature(config: &SchedulerConfiguration) -> Option<&str> {
    config.feature_gates.keys().map(String::as_str).find(|feature| !FEATURES.contains(feature))
}

fn check_not_negative(count: i64, at: &Path, errors: &mut Vec<Error>) {
    if count < 0 {
        errors.push(Error::invalid(at, count, "must be greater than or equal to 0"));
    }
}

fn check_supported(text: &str, values: &[&str], at: &Path, errors: &mut Vec<Error>) {
    if !values.contains(&text) {
        errors.push(Error::not_supported(at, text, values));
    }
}
