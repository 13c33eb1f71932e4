//! What is seen of a maintenance, as the documents that tell a decision.

use std::time::Duration;

use formats::duration::GoDuration;
use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use serde_json::{Value, json};

/// How a sentence goes on that tells of a version.
const VERSION: &str = " to version ";

/// The given Shoot as it is specified now, and what its status tells of its last maintenance: how that ended only where
/// it is among what is told.
pub(super) fn maintenance(given: Value, live: &Value, tells: &[&str]) -> Value {
    let last = &live["status"]["lastMaintenance"];
    let description = last["description"].as_str().unwrap_or_default();
    let told: Vec<&str> = description.split(", ").filter(|sentence| !sentence.is_empty()).collect();
    let mut shoot = given;
    shoot["spec"] = live["spec"].clone();
    let mut document = json!({"shoot": shoot});
    if !told.is_empty() {
        document["reason"] = json!(reasons(&told));
        document["told"] = json!(told);
    }
    if let Some(state) = last["state"].as_str().filter(|_| tells.contains(&"state")) {
        document["state"] = json!(state);
    }
    document
}

/// Why versions were moved, each reason once.
fn reasons(told: &[&str]) -> String {
    let mut reasons: Vec<&str> = Vec::new();
    for sentence in told.iter().filter(|sentence| sentence.contains(VERSION)) {
        match sentence.rsplit_once(" Reason: ") {
            Some((_, reason)) if !reasons.contains(&reason) => reasons.push(reason),
            _ => {}
        }
    }
    reasons.join(", ")
}

/// Whether a Shoot is maintained at once, and, where both were seen, the earliest and the latest that it is next: that is
/// when its window begins and ends.
pub(super) fn window(at_once: bool, now: Timestamp, spans: &[Duration]) -> Value {
    let mut document = json!({"maintained": at_once});
    if let [from, to] = spans {
        let seconds = |span: &Duration| i64::try_from(span.as_secs()).unwrap_or(i64::MAX);
        let shown = |span| GoDuration::from_seconds(seconds(span)).to_string();
        let at = |span| {
            let then = now.saturating_add(SignedDuration::from_secs(seconds(span))).unwrap_or(now);
            then.to_zoned(TimeZone::UTC).strftime("%H:%M:%S").to_string()
        };
        document["next"] = json!({"from": shown(from), "to": shown(to)});
        document["window"] = json!({"begin": at(from), "end": at(to)});
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_status_tells_is_told_sentence_by_sentence_and_each_reason_once() {
        let (image, minor) = (
            "Machine image of pool a upgraded to version 2. Reason: one",
            "Kubernetes to version 3. Reason: two",
        );
        let prepared = "Maximum upgraded from 1 to 2. Reason: three";
        let description = [image, prepared, minor, minor].join(", ");
        let last = json!({"description": description, "state": "Succeeded"});
        let live = json!({"spec": {"a": 2}, "status": {"lastMaintenance": last}});
        let given = json!({"metadata": {"name": "app"}, "spec": {"a": 1}});
        let want = json!({
            "shoot": {"metadata": {"name": "app"}, "spec": {"a": 2}},
            "told": [image, prepared, minor, minor], "reason": "one, two", "state": "Succeeded",
        });
        assert_eq!(maintenance(given.clone(), &live, &["state"]), want);
        let nothing = json!({"shoot": {"metadata": {"name": "app"}, "spec": {"a": 1}}});
        let untouched = json!({"spec": {"a": 1}, "status": {"lastMaintenance": {"state": "Succeeded"}}});
        assert_eq!(maintenance(given, &untouched, &[]), nothing);
    }

    #[test]
    fn a_window_is_where_the_earliest_and_the_latest_maintenance_are() {
        let now: Timestamp = "2024-06-01T23:30:00Z".parse().unwrap();
        let hours = |hours: u64| Duration::from_millis(hours * 3_600_000 + 3);
        let want = json!({
            "maintained": true,
            "next": {"from": "23h0m0s", "to": "24h0m0s"},
            "window": {"begin": "22:30:00", "end": "23:30:00"},
        });
        assert_eq!(window(true, now, &[hours(23), hours(24)]), want);
        assert_eq!(window(false, now, &[]), json!({"maintained": false}));
    }
}
