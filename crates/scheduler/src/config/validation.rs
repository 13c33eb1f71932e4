//! Validates a configuration, with the original's error texts.

use controller::config::checks;
use webhook::field::{Error, Path};

use super::SchedulerConfiguration;
use crate::decision::Strategy;

/// All errors of a configuration whose defaults are filled in. SCH-CFG-006, SCH-CFG-007, SCH-CFG-009.
#[must_use]
pub fn validate(config: &SchedulerConfiguration) -> Vec<Error> {
    let mut errors = Vec::new();
    let schedulers = Path::new("schedulers");
    if let Some(bucket) = &config.schedulers.backup_bucket {
        let at = schedulers.child("backupBucket").child("concurrentSyncs");
        checks::not_negative(bucket.concurrent_syncs, &at, &mut errors);
    }
    if let Some(shoot) = &config.schedulers.shoot {
        let at = schedulers.child("shoot");
        checks::not_negative(shoot.concurrent_syncs, &at.child("concurrentSyncs"), &mut errors);
        // The original calls the field so in errors alone.
        let strategies = Strategy::ALL.map(Strategy::as_str);
        let strategy = &shoot.candidate_determination_strategy;
        checks::supported(strategy, &strategies, &at.child("strategy"), &mut errors);
    }
    checks::log(&config.log_level, &config.log_format, &mut errors);
    errors
}
