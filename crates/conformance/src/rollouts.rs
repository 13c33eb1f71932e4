//! Few configurations that serve the cases of many: where each costs a rollout, those that do not speak of the same are one.
//!
//! A section of a component configuration is what stands under one key of one part: `webhooks.seccompProfile`. Only the
//! webhook in question is registered, so sections that a case does not speak of may say anything.

use std::collections::{BTreeMap, BTreeSet};

use component::Combining;
use contract::case::When;
use contract::decision::RunsOn;
use contract::model::{Contract, Level};
use serde_json::Value;

/// A section: part and key; the key is empty for what lies above.
type Section = (String, String);

/// What one configuration is worth.
#[derive(Default)]
struct Worth {
    /// Clauses with a case of it.
    clauses: BTreeSet<(usize, usize)>,
    cases: usize,
}

/// Configurations that a component runs with side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Rollouts {
    configs: Vec<Value>,
    combining: Combining,
}

impl Rollouts {
    /// At most `limit` configurations for the admission cases of the contracts: first such that each MUST clause has a case,
    /// then such that most cases are asked.
    #[must_use]
    pub fn plan(contracts: &[Contract], combining: Combining, limit: usize) -> Self {
        let mut wanted = wanted(contracts);
        let mut open: BTreeSet<(usize, usize)> =
            wanted.values().flat_map(|(_, worth)| worth.clauses.iter().copied()).collect();
        open.retain(|(contract, clause)| contracts[*contract].clauses[*clause].level == Level::Must);
        let mut rollouts = Self { configs: Vec::new(), combining };
        while let Some((config, worth)) = best(&wanted, &open).and_then(|best| wanted.remove(&best)) {
            if rollouts.add(&config, limit) {
                open.retain(|clause| !worth.clauses.contains(clause));
            }
        }
        rollouts
    }

    /// What each runs with.
    #[must_use]
    pub fn configs(&self) -> &[Value] {
        &self.configs
    }

    /// Which of them answers as a target with this configuration would.
    #[must_use]
    pub fn serving(&self, config: &Value) -> Option<usize> {
        self.configs.iter().position(|rollout| match self.combining {
            Combining::Sections => serves(rollout, config),
            Combining::Nothing => rollout == config,
        })
    }

    /// Puts a configuration into the first rollout that says nothing else, or into a new one; false if there is no room.
    fn add(&mut self, config: &Value, limit: usize) -> bool {
        let new = sections(config);
        let fits = |rollout: &&mut Value| {
            let there = sections(rollout);
            new.iter().all(|(section, wanted)| there.get(section).is_none_or(|there| there == wanted))
        };
        let is_combined = self.combining == Combining::Sections;
        if let Some(rollout) = self.configs.iter_mut().filter(|_| is_combined).find(fits) {
            merge(rollout, config);
            return true;
        }
        let has_room = self.configs.len() < limit;
        if has_room {
            self.configs.push(config.clone());
        }
        has_room
    }
}

/// Whether a rollout says all that a configuration says, section by section.
fn serves(rollout: &Value, config: &Value) -> bool {
    let rollout = sections(rollout);
    sections(config).iter().all(|(section, wanted)| rollout.get(section) == Some(wanted))
}

/// Every configuration of an admission case by its text, and what it is worth.
fn wanted(contracts: &[Contract]) -> BTreeMap<String, (Value, Worth)> {
    let mut wanted: BTreeMap<String, (Value, Worth)> = BTreeMap::new();
    for (at, contract) in contracts.iter().enumerate() {
        for (of, clause) in contract.clauses.iter().enumerate() {
            for case in &clause.cases {
                let is_asked_elsewhere = matches!(
                    case.when,
                    When::Configuration | When::Process(_) | When::Steps(_) | When::Emitted(_)
                );
                let is_admitted =
                    case.when.decision().is_none_or(|decision| decision.runs_on == RunsOn::Admission);
                if is_asked_elsewhere || !is_admitted {
                    continue;
                }
                let (_, worth) = wanted
                    .entry(case.config.to_string())
                    .or_insert_with(|| (case.config.clone(), Worth::default()));
                worth.clauses.insert((at, of));
                worth.cases += 1;
            }
        }
    }
    wanted
}

/// The one with most clauses that have no case yet, of several that with most cases, of several the first.
fn best(wanted: &BTreeMap<String, (Value, Worth)>, open: &BTreeSet<(usize, usize)>) -> Option<String> {
    let worth = |worth: &Worth| (worth.clauses.intersection(open).count(), worth.cases);
    let best = wanted.iter().rev().max_by_key(|(_, (_, found))| worth(found));
    best.map(|(text, _)| text.clone())
}

fn sections(config: &Value) -> BTreeMap<Section, Value> {
    let mut sections = BTreeMap::new();
    for (part, value) in config.as_object().into_iter().flatten() {
        match value.as_object() {
            Some(keys) => {
                let of_part = |(key, value): (&String, &Value)| ((part.clone(), key.clone()), value.clone());
                sections.extend(keys.iter().map(of_part));
            }
            None => {
                sections.insert((part.clone(), String::new()), value.clone());
            }
        }
    }
    sections
}

/// Adds sections that are not there.
fn merge(rollout: &mut Value, config: &Value) {
    for ((part, key), value) in sections(config) {
        if key.is_empty() {
            rollout[part] = value;
        } else {
            rollout[part][key] = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn webhook(name: &str, seconds: u64) -> Value {
        json!({"webhooks": {name: {"enabled": true, "seconds": seconds}}})
    }

    #[test]
    fn sections_that_nobody_speaks_of_may_say_anything_and_others_must_be_the_same() {
        let both = json!({"webhooks": {"a": {"enabled": true, "seconds": 1}, "b": {}}, "logLevel": "info"});
        assert!(serves(&both, &webhook("a", 1)));
        assert!(!serves(&both, &webhook("a", 2)));
        assert!(!serves(&both, &webhook("c", 1)));
        // What is left out has its default.
        assert!(!serves(&both, &json!({"webhooks": {"a": {"enabled": true}}})));
        assert!(serves(&both, &json!({"logLevel": "info"})));
        assert!(!serves(&both, &json!({"logLevel": "debug"})));
    }

    #[test]
    fn configurations_that_do_not_speak_of_the_same_are_one_rollout() {
        let mut rollouts = Rollouts { configs: Vec::new(), combining: Combining::Sections };
        let added: Vec<bool> =
            [webhook("a", 1), webhook("a", 2), webhook("b", 1), webhook("a", 3), webhook("b", 2)]
                .iter()
                .map(|config| rollouts.add(config, 2))
                .collect();
        assert_eq!(added, [true, true, true, false, true]);
        let both = |a: u64, b: u64| json!({"webhooks": {"a": {"enabled": true, "seconds": a}, "b": {"enabled": true, "seconds": b}}});
        assert_eq!(rollouts.configs(), [both(1, 1), both(2, 2)]);
        assert_eq!(rollouts.serving(&webhook("b", 2)), Some(1));
    }

    #[test]
    fn where_nothing_is_combined_each_configuration_is_one_rollout_and_serves_itself_alone() {
        let mut rollouts = Rollouts { configs: Vec::new(), combining: Combining::Nothing };
        let local = json!({"provider": "local"});
        let gates = json!({"provider": "local", "kubeScheduler": {"featureGates": []}});
        let added = [&local, &gates, &json!({"provider": "aws"})].map(|config| rollouts.add(config, 2));
        assert_eq!(added, [true, true, false]);
        let found = [&local, &gates, &json!({}), &json!({"provider": "aws"})];
        assert_eq!(found.map(|config| rollouts.serving(config)), [Some(0), Some(1), None, None]);
    }

    #[test]
    fn a_clause_without_a_case_comes_before_more_cases_of_others() {
        let worth =
            |clauses: &[(usize, usize)], cases| Worth { clauses: clauses.iter().copied().collect(), cases };
        let wanted = BTreeMap::from([
            ("many".to_owned(), (json!(1), worth(&[(0, 0)], 90))),
            ("rare".to_owned(), (json!(2), worth(&[(0, 1)], 1))),
        ]);
        assert_eq!(best(&wanted, &BTreeSet::from([(0, 0), (0, 1)])).as_deref(), Some("many"));
        assert_eq!(best(&wanted, &BTreeSet::from([(0, 1)])).as_deref(), Some("rare"));
        assert_eq!(best(&wanted, &BTreeSet::new()).as_deref(), Some("many"));
        assert_eq!(best(&BTreeMap::new(), &BTreeSet::new()), None);
    }
}
