//! Observations of a maintenance in the form of a decision's document.

use std::time::Duration;

use formats::duration::GoDuration;
use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use serde_json::{Value, json};

/// Text in the sentences of a description that are about a version.
const VERSION: &str = " to version ";

/// The given Shoot with its current spec, and its last maintenance by its status; the state only if it is among the `fields` of
/// the document.
pub(super) fn maintenance(given: Value, live: &Value, fields: &[&str]) -> Value {
    let last = &live["status"]["lastMaintenance"];
    let description = last["description"].as_str().unwrap_or_default();
    let sentences: Vec<&str> = description.split(", ").filter(|sentence| !sentence.is_empty()).collect();
    let mut shoot = given;
    shoot["spec"] = live["spec"].clone();
    let mut document = json!({"shoot": shoot});
    if !sentences.is_empty() {
        document["reason"] = json!(reasons(&sentences));
        document["told"] = json!(sentences);
    }
    if let Some(state) = last["state"].as_str().filter(|_| fields.contains(&"state")) {
        document["state"] = json!(state);
    }
    document
}

/// Why versions were moved, each reason once.
fn reasons(sentences: &[&str]) -> String {
    let mut reasons: Vec<&str> = Vec::new();
    for sentence in sentences.iter().filter(|sentence| sentence.contains(VERSION)) {
        match sentence.rsplit_once(" Reason: ") {
            Some((_, reason)) if !reasons.contains(&reason) => reasons.push(reason),
            _ => {}
        }
    }
    reasons.join(", ")
}

/// Whether a Shoot is maintained at once, and, if both are known, the earliest and the latest time of its next maintenance:
/// the begin and the end of its window.
pub(super) fn window(at_once: bool, now: Timestamp, spans: &[Duration]) -> Value {
    let mut document = json!({"maintained": at_once});
    if let [from, to] = spans {
        let seconds = |span: &Duration| i64::try_from(span.as_secs()).unwrap_or(i64::MAX);
        let text = |span| GoDuration::from_seconds(seconds(span)).to_string();
        let at = |span| {
            let then = now.saturating_add(SignedDuration::from_secs(seconds(span))).unwrap_or(now);
            then.to_zoned(TimeZone::UTC).strftime("%H:%M:%S").to_string()
        };
        document["next"] = json!({"from": text(from), "to": text(to)});
        document["window"] = json!({"begin": at(from), "end": at(to)});
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_the_sentences_of_the_status_and_each_reason_once() {
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
