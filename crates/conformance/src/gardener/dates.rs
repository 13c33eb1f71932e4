//! Moves the dates of a row about versions to the time of the target: inside a cluster, that is the real time.

use contract::case::{Case, Given};
use contract::gardener::decision::Decision;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{Decided, question};
use crate::matching;
use crate::observation::{Observation, judge};
use crate::plan::LocatedCase;
use crate::target::Target;

/// The field of a CloudProfile with a date.
const FIELD: &str = "expirationDate";
/// Added to dates after the row's time, so that they do not pass while the row runs.
const MARGIN: SignedDuration = SignedDuration::from_hours(1);

/// Whether the row can run at another time with moved dates: its expectation contains none of them, and the decision after the
/// move is the same or `keeps` the row. A row about the exact moment at which something expires cannot.
#[must_use]
pub(crate) fn are_movable(
    case: &Case,
    decision: &Decision,
    target: &dyn Target,
    keeps: impl FnOnce(Decided) -> bool,
) -> bool {
    let given = &case.given;
    let mut dates = Vec::new();
    for object in given.cluster.iter().chain(&given.object).chain(&given.old) {
        collect(object, &mut dates);
    }
    let then = format!("{:?}", case.then);
    let is_asserted = |date: &&str| date.parse::<Timestamp>().is_err() || then.contains(date);
    let mut moved = given.clone();
    shift_all(&mut moved, decision.now, SignedDuration::ZERO);
    if dates.iter().any(is_asserted) {
        return false;
    }
    let Some(versions) = target.versions() else { return false };
    match (versions.decide(decision, given), versions.decide(decision, &moved)) {
        (Some(decided), Some(later)) => decided == later || keeps(later),
        _ => false,
    }
}

/// Whether a decision meets the row's expectation.
pub(crate) fn passes(located: LocatedCase<'_>, decided: Decided) -> bool {
    let seen = Observation { called: None, input: located.case.input(), answer: question::answer(decided) };
    judge(&located.case.then, &seen, &matching::rules_of(located.contract, &seen)).is_empty()
}

/// Moves the dates by the time between `now` and the real time, in whole seconds: past dates stay in the past, future dates in the
/// future, and their order stays the same.
pub(crate) fn move_to_present(given: &mut Given, now: Timestamp) {
    let by = SignedDuration::from_secs(Timestamp::now().duration_since(now).as_secs());
    shift_all(given, now, by);
}

fn shift_all(given: &mut Given, now: Timestamp, by: SignedDuration) {
    for object in given.cluster.iter_mut().chain(&mut given.object).chain(&mut given.old) {
        shift(object, now, by);
    }
}

fn collect<'a>(value: &'a Value, dates: &mut Vec<&'a str>) {
    match value {
        Value::Object(fields) => {
            dates.extend(fields.get(FIELD).and_then(Value::as_str));
            fields.values().for_each(|value| collect(value, dates));
        }
        Value::Array(items) => items.iter().for_each(|value| collect(value, dates)),
        _ => {}
    }
}

fn shift(value: &mut Value, now: Timestamp, by: SignedDuration) {
    match value {
        Value::Object(fields) => {
            if let Some(date) = fields.get_mut(FIELD)
                && let Some(moved) = date.as_str().and_then(|date| moved(date.parse().ok()?, now, by))
            {
                *date = json!(moved.to_string());
            }
            fields.values_mut().for_each(|value| shift(value, now, by));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| shift(value, now, by)),
        _ => {}
    }
}

fn moved(date: Timestamp, now: Timestamp, by: SignedDuration) -> Option<Timestamp> {
    let by = if date < now { by } else { by + MARGIN };
    date.checked_add(by).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gardener::Versions;
    use std::collections::BTreeSet;

    use contract::case::{Sending, Then, When};
    use contract::gardener::decision::{Question, RunsOn};
    use contract::model::Location;

    use crate::target::{Identity, Running, Setup, TargetError, TargetKind};

    const NOW: &str = "2024-06-01T00:00:00Z";

    fn case(date: &str) -> Case {
        let versions = json!([{"version": "1.26.1", "expirationDate": date}, {"version": "1.26.2"}]);
        let profile = json!({"kind": "CloudProfile", "spec": {"kubernetes": {"versions": versions}}});
        Case {
            name: "a".to_owned(),
            inputs: Vec::new(),
            config: Value::Null,
            given: Given { cluster: vec![profile], ..Given::default() },
            when: When::Admission { operation: "CREATE".to_owned(), sending: Sending::default() },
            then: Then::default(),
            location: Location::default(),
        }
    }

    /// Decides whether the first version is over: at its last moment, or only after it.
    struct Over {
        at_once: bool,
    }

    #[async_trait::async_trait]
    impl Target for Over {
        fn identity(&self) -> Identity {
            Identity {
                name: String::new(),
                version: None,
                kind: TargetKind::BuiltIn,
                endpoint: String::new(),
            }
        }

        fn features(&self) -> BTreeSet<String> {
            BTreeSet::new()
        }

        fn versions(&self) -> Option<&dyn Versions> {
            Some(self)
        }

        async fn start(&self, _setup: Setup<'_>) -> Result<Box<dyn Running>, TargetError> {
            let reason = String::new();
            Err(TargetError::Certificate { reason })
        }
    }

    impl Versions for Over {
        fn decide(&self, decision: &Decision, given: &Given) -> Option<Decided> {
            let date = &given.cluster[0]["spec"]["kubernetes"]["versions"][0]["expirationDate"];
            let date: Timestamp = date.as_str()?.parse().ok()?;
            let over = date < decision.now || (self.at_once && date == decision.now);
            Some(Decided::Document(json!(over)))
        }
    }

    #[test]
    fn a_row_about_the_exact_time_or_with_a_date_in_its_answer_cannot_be_moved() {
        let asks = Question::Admission { operation: "CREATE".to_owned() };
        let decision = Decision { runs_on: RunsOn::Admission, asks, now: NOW.parse().unwrap() };
        for (date, at_once, want) in [
            ("2024-05-31T23:59:59Z", true, true),
            (NOW, true, false),
            (NOW, false, true),
            ("2024-06-01T00:00:01Z", true, true),
            ("next year", true, false),
        ] {
            let movable = |keeps| are_movable(&case(date), &decision, &Over { at_once }, |_| keeps);
            assert_eq!(movable(false), want, "{date} {at_once}");
            assert_eq!(movable(true), date != "next year", "{date} {at_once}, with an accepted decision");
        }
        let message = contract::expect::Expect::Value(json!(format!("expired at {NOW}")));
        let asserted = Case { then: Then { message: Some(message), ..Then::default() }, ..case(NOW) };
        assert!(!are_movable(&asserted, &decision, &Over { at_once: false }, |_| true));
    }

    #[test]
    fn past_dates_stay_in_the_past_and_future_dates_in_the_future() {
        for (date, hours) in [
            ("2024-05-31T00:00:00Z", -24),
            ("2024-05-31T23:59:59Z", 0),
            (NOW, 1),
            ("2024-06-01T00:00:01Z", 1),
            ("2024-06-02T00:00:00Z", 25),
        ] {
            let mut given = case(date).given;
            move_to_present(&mut given, NOW.parse().unwrap());
            let versions = &given.cluster[0]["spec"]["kubernetes"]["versions"];
            let moved: Timestamp = versions[0]["expirationDate"].as_str().unwrap().parse().unwrap();
            let ahead = moved.duration_since(Timestamp::now());
            let wanted = SignedDuration::from_hours(hours);
            assert!((ahead - wanted).abs() < SignedDuration::from_secs(60), "{date} {ahead:?}");
            assert_eq!(ahead.is_positive(), hours > 0, "{date}");
            assert_eq!(versions[1], json!({"version": "1.26.2"}));
        }
    }
}
