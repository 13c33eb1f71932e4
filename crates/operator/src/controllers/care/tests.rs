//! Plans for Gardens.

use serde_json::{Value, json};

use super::*;

const NOW: &str = "2026-01-02T00:00:00Z";

fn state(conditions: &Value, found: [Result<(), Failure>; 4]) -> State {
    let garden = json!({"metadata": {"name": "garden"}, "status": {"conditions": conditions}});
    State { garden: Arc::new(serde_json::from_value(garden).unwrap()), found }
}

fn planned(state: &State, thresholds: &[(&str, i64)]) -> Vec<Vec<(String, String)>> {
    let thresholds =
        thresholds.iter().map(|(type_, seconds)| ((*type_).to_owned(), SignedDuration::from_secs(*seconds)));
    let actions = plan(&thresholds.collect(), NOW.parse().unwrap(), state);
    let written = actions.into_iter().map(|Action::Write(conditions)| {
        conditions.into_iter().map(|condition| (condition.type_, condition.status)).collect()
    });
    written.collect()
}

fn failure() -> Failure {
    Failure::new("Reason", "Message.")
}

fn pairs(all: [(&str, &str); 5]) -> Vec<(String, String)> {
    all.map(|(type_, status)| (type_.to_owned(), status.to_owned())).to_vec()
}

#[test]
fn ours_come_after_those_of_others_and_are_not_written_twice() {
    let known = json!([
        {"type": "VirtualComponentsHealthy", "status": "True", "reason": "Old", "message": "old"},
        {"type": "Foreign", "status": "True", "reason": "A", "message": "a"},
    ]);
    let mut state = state(&known, [Ok(()), Err(failure()), Err(failure()), Ok(())]);
    let thresholds = [("VirtualComponentsHealthy", 60), ("RuntimeComponentsHealthy", 60)];
    let wanted = pairs([
        ("Foreign", "True"),
        ("VirtualGardenAPIServerAvailable", "True"),
        ("RuntimeComponentsHealthy", "False"),
        ("VirtualComponentsHealthy", "Progressing"),
        ("ObservabilityComponentsHealthy", "True"),
    ]);
    assert_eq!(planned(&state, &thresholds), [wanted]);
    let actions = plan(&BTreeMap::new(), NOW.parse().unwrap(), &state);
    let [Action::Write(conditions)] = &actions[..] else { panic!("{actions:?}") };
    let mut garden = Garden::clone(&state.garden);
    garden.status.conditions.clone_from(conditions);
    state.garden = Arc::new(garden);
    assert_eq!(plan(&BTreeMap::new(), NOW.parse().unwrap(), &state), []);
}

#[test]
fn of_several_thresholds_the_last_counts() {
    let care =
        json!({"conditionThresholds": [{"type": "A", "duration": "1m"}, {"type": "A", "duration": "2m"}]});
    let thresholds = thresholds(&serde_json::from_value(care).unwrap());
    assert_eq!(thresholds, BTreeMap::from([("A".to_owned(), SignedDuration::from_mins(2))]));
}
