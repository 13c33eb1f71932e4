//! Which status a condition has after a check: a failed one does not count at once where there is a threshold.

use api::garden::condition::{Condition, LastOperation};
use jiff::{SignedDuration, Timestamp};

pub(super) const TRUE: &str = "True";
const FALSE: &str = "False";
const PROGRESSING: &str = "Progressing";

/// The status after a failed check: `Progressing` as long as the threshold has not passed since the condition changed or
/// the last operation succeeded; `False` without threshold. OPR-CAR-012, OPR-CAR-013.
pub(super) fn failed(
    old: &Condition,
    reason: &str,
    threshold: Option<SignedDuration>,
    operation: Option<&LastOperation>,
    now: Timestamp,
) -> &'static str {
    let Some(threshold) = threshold else { return FALSE };
    let is_recent = |time: Timestamp| now.duration_since(time) <= threshold;
    let has_succeeded = operation
        .filter(|operation| operation.state == "Succeeded")
        .and_then(|operation| operation.last_update_time.as_ref())
        .is_some_and(|time| is_recent(time.0));
    let waits = match &*old.status {
        TRUE => true,
        PROGRESSING => {
            has_succeeded || old.last_transition_time.as_ref().is_some_and(|time| is_recent(time.0))
        }
        FALSE => has_succeeded || reason != old.reason,
        _ => false,
    };
    if waits { PROGRESSING } else { FALSE }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use rstest::rstest;

    use super::*;

    fn at(second: i64) -> Time {
        Time(Timestamp::from_second(second).unwrap())
    }

    #[rstest]
    #[case::was_true("True", "R", 0, None, PROGRESSING)]
    #[case::progresses("Progressing", "R", 940, None, PROGRESSING)]
    #[case::progresses_too_long("Progressing", "R", 939, None, FALSE)]
    #[case::progresses_after_success("Progressing", "R", 0, Some(("Succeeded", 940)), PROGRESSING)]
    #[case::progresses_long_after_success("Progressing", "R", 0, Some(("Succeeded", 939)), FALSE)]
    #[case::progresses_after_an_error("Progressing", "R", 0, Some(("Error", 999)), FALSE)]
    #[case::stays_false("False", "R", 999, None, FALSE)]
    #[case::another_reason("False", "Other", 0, None, PROGRESSING)]
    #[case::false_after_success("False", "R", 0, Some(("Succeeded", 940)), PROGRESSING)]
    #[case::false_long_after_success("False", "R", 0, Some(("Succeeded", 939)), FALSE)]
    #[case::is_new("Unknown", "R", 999, Some(("Succeeded", 999)), FALSE)]
    fn a_failed_check_counts_after_the_threshold(
        #[case] status: &str,
        #[case] reason: &str,
        #[case] since: i64,
        #[case] operation: Option<(&str, i64)>,
        #[case] wanted: &str,
    ) {
        let old = Condition {
            status: status.to_owned(),
            reason: reason.to_owned(),
            last_transition_time: Some(at(since)),
            ..Condition::default()
        };
        let operation = operation.map(|(state, second)| LastOperation {
            state: state.to_owned(),
            last_update_time: Some(at(second)),
            ..LastOperation::default()
        });
        let now = Timestamp::from_second(1000).unwrap();
        let minute = Some(SignedDuration::from_secs(60));
        assert_eq!(failed(&old, "R", minute, operation.as_ref(), now), wanted);
        assert_eq!(failed(&old, "R", None, operation.as_ref(), now), FALSE);
    }
}
