//! Validates a configuration, with the original's error texts.

use controller::config::checks;
use formats::duration::GoDuration;
use formats::selector::{LabelSelector, ViolationKind};
use webhook::field::{Error, Path, Shown};

use super::{NodeToleration, OperatorConfiguration};

const SHORTEST_PERIOD: GoDuration = GoDuration::from_seconds(15);

/// All errors of a configuration whose defaults are filled in. OPR-CFG-007 to -009, OPR-CFG-011, OPR-CFG-012.
#[must_use]
pub fn validate(config: &OperatorConfiguration) -> Vec<Error> {
    let mut errors = Vec::new();
    checks::log(&config.log_level, &config.log_format, &mut errors);
    let controllers = Path::new("controllers");
    let garden = controllers.child("garden");
    check_syncs(config.controllers.garden.concurrent_syncs, &garden, &mut errors);
    check_period(config.controllers.garden.sync_period, &garden, &mut errors);
    check_period(config.controllers.garden_care.sync_period, &controllers.child("gardenCare"), &mut errors);
    let (policies, at) = (&config.controllers.network_policy, controllers.child("networkPolicy"));
    check_syncs(policies.concurrent_syncs, &at, &mut errors);
    let selectors = at.child("additionalNamespaceSelectors");
    for (index, selector) in policies.additional_namespace_selectors.iter().enumerate() {
        check_selector(selector, &selectors.index(index), &mut errors);
    }
    if let Some(toleration) = &config.node_toleration {
        check_toleration(toleration, &Path::new("nodeToleration"), &mut errors);
    }
    errors
}

fn check_syncs(syncs: Option<i64>, at: &Path, errors: &mut Vec<Error>) {
    if syncs.unwrap_or_default() <= 0 {
        let shown = syncs.map_or_else(|| Shown::from("null"), Shown::from);
        errors.push(Error::invalid(&at.child("concurrentSyncs"), shown, "must be at least 1"));
    }
}

fn check_period(period: Option<GoDuration>, at: &Path, errors: &mut Vec<Error>) {
    if period.is_none_or(|period| period < SHORTEST_PERIOD) {
        let shown = period.map_or_else(|| Shown::from("null"), Shown::verbatim);
        errors.push(Error::invalid(&at.child("syncPeriod"), shown, "must be at least 15s"));
    }
}

fn check_selector(selector: &LabelSelector, at: &Path, errors: &mut Vec<Error>) {
    for violation in selector.validate() {
        let field = at.child(&violation.field);
        errors.push(match violation.kind {
            ViolationKind::Required => Error::required(&field, &violation.message),
            ViolationKind::Forbidden => Error::forbidden(&field, &violation.message),
            ViolationKind::Invalid(value) => Error::invalid(&field, &value, &violation.message),
        });
    }
}

fn check_toleration(toleration: &NodeToleration, at: &Path, errors: &mut Vec<Error>) {
    let NodeToleration { default_not_ready_toleration_seconds, default_unreachable_toleration_seconds } =
        toleration;
    let fields = [
        ("defaultNotReadyTolerationSeconds", default_not_ready_toleration_seconds),
        ("defaultUnreachableTolerationSeconds", default_unreachable_toleration_seconds),
    ];
    for (field, seconds) in fields {
        checks::not_negative(seconds.unwrap_or_default(), &at.child(field), errors);
    }
}
