//! Warnings from the events of an object.

use std::fmt::Write as _;

use formats::age;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Event;
use kube::Client;
use kube::api::{Api, ListParams};

use crate::managed_resource::ObjectReference;

/// How many events are shown, the latest ones.
const MOST: usize = 5;

/// The latest warnings about an object, as text; `None` if there are none.
pub(super) async fn warnings(
    client: &Client,
    object: &ObjectReference,
    now: Timestamp,
) -> Result<Option<String>, kube::Error> {
    let ObjectReference { api_version, kind, namespace, name, .. } = object;
    let fields = [
        ("involvedObject.apiVersion", api_version.as_str()),
        ("involvedObject.kind", kind),
        ("involvedObject.name", name),
        ("involvedObject.namespace", namespace),
        ("type", "Warning"),
    ];
    let selector: Vec<String> = fields.iter().map(|(field, value)| format!("{field}={value}")).collect();
    let api: Api<Event> = Api::namespaced(client.clone(), namespace);
    let events = api.list(&ListParams::default().fields(&selector.join(","))).await?.items;
    Ok((!events.is_empty()).then(|| text(events, now)))
}

/// GRM-HLT-028: the latest events, oldest first.
fn text(mut events: Vec<Event>, now: Timestamp) -> String {
    events.sort_by_key(|event| event.last_timestamp.as_ref().map(|time| time.0));
    let mut text = "-> Events:".to_owned();
    for event in &events[events.len().saturating_sub(MOST)..] {
        let component = event.source.as_ref().and_then(|source| source.component.as_deref());
        let source =
            component.filter(|component| !component.is_empty()).or(event.reporting_component.as_deref());
        let message = event.message.as_deref().unwrap_or_default();
        write!(text, "\n* {} reported {}: {message}", source.unwrap_or_default(), age_and_count(event, now))
            .expect("writing to memory does not fail");
    }
    text
}

/// GRM-HLT-029: age and count of an event.
fn age_and_count(event: &Event, now: Timestamp) -> String {
    let since = |time: Option<Timestamp>| {
        time.map_or_else(|| "<unknown>".to_owned(), |time| age::to_string(now.duration_since(time).as_secs()))
    };
    let first = event.first_timestamp.as_ref().map(|time| time.0);
    let count = event.count.unwrap_or_default();
    if count > 1 {
        let last = event.last_timestamp.as_ref().map(|time| time.0);
        return format!("{} ago (x{count} over {})", since(last), since(first));
    }
    let at = first.or_else(|| event.event_time.as_ref().map(|time| time.0));
    format!("{} ago", since(at))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn warnings_text(events: Value) -> String {
        text(serde_json::from_value(events).unwrap(), "2024-06-01T01:00:00Z".parse().unwrap())
    }

    fn event(minute: u32) -> Value {
        let time = format!("2024-06-01T00:{minute:02}:00Z");
        json!({
            "metadata": {}, "involvedObject": {}, "message": format!("failure {minute}"),
            "firstTimestamp": time, "lastTimestamp": time, "source": {"component": "service-controller"},
        })
    }

    #[test]
    fn the_last_five_are_listed_oldest_first() {
        let minutes = [58, 53, 54, 59, 55, 56, 57];
        let text = warnings_text(minutes.map(event).to_vec().into());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "-> Events:",
                "* service-controller reported 5m ago: failure 55",
                "* service-controller reported 4m ago: failure 56",
                "* service-controller reported 3m ago: failure 57",
                "* service-controller reported 2m ago: failure 58",
                "* service-controller reported 60s ago: failure 59",
            ]
        );
    }

    #[test]
    fn repetitions_are_counted_and_unknown_times_are_marked() {
        let repeated = json!([{
            "metadata": {}, "involvedObject": {}, "message": "m", "count": 3, "reportingComponent": "ccm",
            "firstTimestamp": "2024-05-31T01:00:00Z", "lastTimestamp": "2024-06-01T00:30:00Z",
        }]);
        assert_eq!(warnings_text(repeated), "-> Events:\n* ccm reported 30m ago (x3 over 24h): m");
        let new = json!([{
            "metadata": {}, "involvedObject": {}, "message": "m", "reportingComponent": "ccm",
            "eventTime": "2024-06-01T00:59:50.000000Z",
        }]);
        assert_eq!(warnings_text(new), "-> Events:\n* ccm reported 10s ago: m");
        let timeless = json!([{"metadata": {}, "involvedObject": {}, "message": "m"}]);
        assert_eq!(warnings_text(timeless), "-> Events:\n*  reported <unknown> ago: m");
    }
}
