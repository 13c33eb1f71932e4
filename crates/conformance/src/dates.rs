//! Dates of a row about versions, moved to where the time is that a target shows: inside a cluster it is the real one.

use contract::case::{Case, Given};
use contract::decision::Decision;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::matching;
use crate::observation::{Observation, judge};
use crate::plan::LocatedCase;
use crate::target::{Decided, Target, question};

/// The field of a CloudProfile that has a date.
const FIELD: &str = "expirationDate";
/// How much later what has not passed at the row's time comes, so that it does not pass while the row is asked either.
const MARGIN: SignedDuration = SignedDuration::from_hours(1);

/// Whether the row can be asked at another time, its dates moved: its answer says none of them, and what the target decides
/// after they are is the same, or `keeps` the row all the same. Of the very moment at which something ends that is not so.
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
    let is_told = |date: &&str| date.parse::<Timestamp>().is_err() || then.contains(date);
    let mut moved = given.clone();
    shift_all(&mut moved, decision.now, SignedDuration::ZERO);
    if dates.iter().any(is_told) {
        return false;
    }
    match (target.decide(decision, given), target.decide(decision, &moved)) {
        (Some(decided), Some(later)) => decided == later || keeps(later),
        _ => false,
    }
}

/// Whether a decision is what the row asserts.
pub(crate) fn keeps(located: LocatedCase<'_>, decided: Decided) -> bool {
    let seen = Observation { called: None, input: located.case.input(), answer: question::answer(decided) };
    judge(&located.case.then, &seen, &matching::rules_of(located.contract, &seen)).is_empty()
}

/// Moves the dates as far as `now` lies before the time that it is, in whole seconds: what has passed has passed, what has not
/// is to come, and one comes before another as it did.
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
    use std::collections::BTreeSet;

    use contract::case::{Sending, Then, When};
    use contract::decision::{Question, RunsOn};
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

        fn decide(&self, decision: &Decision, given: &Given) -> Option<Decided> {
            let date = &given.cluster[0]["spec"]["kubernetes"]["versions"][0]["expirationDate"];
            let date: Timestamp = date.as_str()?.parse().ok()?;
            let over = date < decision.now || (self.at_once && date == decision.now);
            Some(Decided::Document(json!(over)))
        }

        async fn start(&self, _setup: Setup<'_>) -> Result<Box<dyn Running>, TargetError> {
            let reason = String::new();
            Err(TargetError::Certificate { reason })
        }
    }

    #[test]
    fn a_row_about_its_very_moment_or_whose_answer_says_a_date_stays_where_it_is() {
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
            assert_eq!(movable(true), date != "next year", "{date} {at_once}, not asked about");
        }
        let message = contract::expect::Expect::Value(json!(format!("expired at {NOW}")));
        let told = Case { then: Then { message: Some(message), ..Then::default() }, ..case(NOW) };
        assert!(!are_movable(&told, &decision, &Over { at_once: false }, |_| true));
    }

    #[test]
    fn what_had_passed_has_passed_and_what_had_not_is_to_come() {
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
