//! Conditions of the garden's objects: how they are begun, updated and merged.

use api::garden::condition::Condition;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

/// Types of a Seed's conditions.
pub(super) const BACKUP_BUCKETS_READY: &str = "BackupBucketsReady";
pub(super) const EXTENSIONS_READY: &str = "ExtensionsReady";
pub(super) const GARDENLET_READY: &str = "GardenletReady";
pub(super) const SYSTEM_COMPONENTS_HEALTHY: &str = "SeedSystemComponentsHealthy";

pub(super) const TRUE: &str = "True";
pub(super) const FALSE: &str = "False";
pub(super) const UNKNOWN: &str = "Unknown";
pub(super) const PROGRESSING: &str = "Progressing";

/// What a check found out about one aspect of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) status: &'static str,
    pub(super) reason: &'static str,
    pub(super) message: String,
}

/// The condition of a type.
pub(super) fn find<'a>(conditions: &'a [Condition], type_: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.type_ == type_)
}

/// Whether the condition of a type exists and is `True`.
pub(super) fn is_true(conditions: &[Condition], type_: &str) -> bool {
    find(conditions, type_).is_some_and(|condition| condition.status == TRUE)
}

/// The condition of a type as it is, or a new one that nothing has checked yet.
pub(super) fn find_or_init(conditions: &[Condition], type_: &str, now: Timestamp) -> Condition {
    let init = || Condition::initial(type_, &Time(now));
    find(conditions, type_).cloned().unwrap_or_else(init)
}

/// The condition with a finding, without codes.
pub(super) fn updated(old: &Condition, finding: &Finding, now: Timestamp) -> Condition {
    old.updated(finding.status, finding.reason, &finding.message, &Time(now))
}

/// The conditions with new ones: in the place of those of their types, else at the end.
pub(super) fn merged(old: &[Condition], new: impl IntoIterator<Item = Condition>) -> Vec<Condition> {
    let mut all = old.to_vec();
    for condition in new {
        match all.iter_mut().find(|known| known.type_ == condition.type_) {
            Some(known) => *known = condition,
            None => all.push(condition),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn condition(type_: &str, status: &str) -> Condition {
        let (type_, status) = (type_.to_owned(), status.to_owned());
        let times = Some(Time(time(1)));
        Condition {
            type_,
            status,
            reason: "Reason".to_owned(),
            message: "Message.".to_owned(),
            last_transition_time: times.clone(),
            last_update_time: times,
            ..Condition::default()
        }
    }

    #[test]
    fn each_time_follows_what_it_is_the_time_of() {
        let old = condition("A", TRUE);
        let times = |status, message: &str, codes: &[&str]| {
            let finding = Finding { status, reason: "Reason", message: message.to_owned() };
            let old = Condition { codes: codes.iter().map(ToString::to_string).collect(), ..old.clone() };
            let new = updated(&old, &finding, time(9));
            [new.last_transition_time, new.last_update_time].map(|time| time.unwrap().0.as_second())
        };
        assert_eq!(times(TRUE, "Message.", &[]), [1, 1]);
        assert_eq!(times(FALSE, "Message.", &[]), [9, 1]);
        assert_eq!(times(TRUE, "Another.", &[]), [1, 9]);
        assert_eq!(times(TRUE, "Message.", &["ERR_INFRA_QUOTA_EXCEEDED"]), [1, 9]);
    }

    #[test]
    fn merging_keeps_the_order() {
        let old = [condition("A", TRUE), condition("B", TRUE)];
        let all = merged(&old, [condition("C", TRUE), condition("A", FALSE)]);
        let all: Vec<_> = all.iter().map(|condition| (&*condition.type_, &*condition.status)).collect();
        assert_eq!(all, [("A", FALSE), ("B", TRUE), ("C", TRUE)]);
    }
}
