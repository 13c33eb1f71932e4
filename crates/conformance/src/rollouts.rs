//! Combines the configurations of cases into few rollouts of a component: configurations without conflicting sections share one.
//!
//! A section of a component configuration is the value of one key of one part: `webhooks.seccompProfile`. Only the webhook under
//! test is registered, so sections that a case does not mention may have any value.

use std::collections::{BTreeMap, BTreeSet};

use component::Combining;
use contract::case::When;
use contract::gardener::decision::RunsOn;
use contract::gardener::plugins;
use contract::model::{Contract, Level};
use serde_json::Value;

/// The substrate on which a component has rollouts.
const IN_CLUSTER: &str = "kind";

/// A section: part and key; the key is empty for a part that is not a map.
type Section = (String, String);

/// The value of one configuration.
#[derive(Default)]
struct Worth {
    /// Clauses with a case that has it.
    clauses: BTreeSet<(usize, usize)>,
    cases: usize,
}

/// Configurations with which a component runs in parallel.
#[derive(Clone, Debug, PartialEq)]
pub struct Rollouts {
    configs: Vec<Value>,
    combining: Combining,
}

impl Rollouts {
    /// Chooses at most `limit` configurations for the admission cases of the contracts, so that first each MUST clause has a case,
    /// and then as many cases as possible run.
    #[must_use]
    pub fn plan(contracts: &[Contract], combining: Combining, limit: usize) -> Self {
        let mut wanted = configurations(contracts);
        let mut open: BTreeSet<(usize, usize)> =
            wanted.values().flat_map(|(_, worth)| worth.clauses.iter().copied()).collect();
        open.retain(|(contract, clause)| contracts[*contract].clauses[*clause].level == Level::Must);
        let mut rollouts = Self { configs: Vec::new(), combining };
        while let Some((config, worth)) = most_valuable(&wanted, &open).and_then(|best| wanted.remove(&best))
        {
            if rollouts.add(&config, limit) {
                open.retain(|clause| !worth.clauses.contains(clause));
            }
        }
        rollouts
    }

    /// The configurations.
    #[must_use]
    pub fn configs(&self) -> &[Value] {
        &self.configs
    }

    /// The index of a configuration that serves cases of this one.
    #[must_use]
    pub fn serving(&self, config: &Value) -> Option<usize> {
        self.configs.iter().position(|rollout| match self.combining {
            Combining::Sections => has_sections(rollout, config),
            Combining::Nothing => rollout == config,
        })
    }

    /// Merges a configuration into the first rollout without conflicts, or adds a rollout; false if the limit is reached.
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

/// Whether a rollout has all sections of a configuration.
fn has_sections(rollout: &Value, config: &Value) -> bool {
    let rollout = sections(rollout);
    sections(config).iter().all(|(section, wanted)| rollout.get(section) == Some(wanted))
}

/// The configurations of admission cases by their text, and their value. Clauses that do not hold in a whole cluster, and cases
/// about admission plugins, which it does not have, need none.
fn configurations(contracts: &[Contract]) -> BTreeMap<String, (Value, Worth)> {
    let mut wanted: BTreeMap<String, (Value, Worth)> = BTreeMap::new();
    for (at, contract) in contracts.iter().enumerate() {
        let clauses = contract.clauses.iter().enumerate();
        for (of, clause) in clauses.filter(|(_, clause)| !clause.not_on.contains_key(IN_CLUSTER)) {
            for case in &clause.cases {
                let needs_no_rollout = matches!(
                    case.when,
                    When::Configuration | When::Process(_) | When::Steps(_) | When::Emitted(_)
                );
                let is_admitted =
                    case.when.decision().is_none_or(|decision| decision.runs_on == RunsOn::Admission);
                if needs_no_rollout
                    || !is_admitted
                    || plugins::are_missing(&contract.component, &case.config, IN_CLUSTER)
                {
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

/// The configuration with most clauses that have no case yet; then that with most cases; then the first.
fn most_valuable(
    wanted: &BTreeMap<String, (Value, Worth)>,
    open: &BTreeSet<(usize, usize)>,
) -> Option<String> {
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

/// Adds sections to a rollout.
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
    fn sections_that_a_case_mentions_must_be_the_same() {
        let both = json!({"webhooks": {"a": {"enabled": true, "seconds": 1}, "b": {}}, "logLevel": "info"});
        assert!(has_sections(&both, &webhook("a", 1)));
        assert!(!has_sections(&both, &webhook("a", 2)));
        assert!(!has_sections(&both, &webhook("c", 1)));
        // An absent field has its default.
        assert!(!has_sections(&both, &json!({"webhooks": {"a": {"enabled": true}}})));
        assert!(has_sections(&both, &json!({"logLevel": "info"})));
        assert!(!has_sections(&both, &json!({"logLevel": "debug"})));
    }

    #[test]
    fn configurations_without_conflicts_share_a_rollout() {
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
    fn without_combining_each_configuration_is_a_rollout_that_serves_only_itself() {
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
        assert_eq!(most_valuable(&wanted, &BTreeSet::from([(0, 0), (0, 1)])).as_deref(), Some("many"));
        assert_eq!(most_valuable(&wanted, &BTreeSet::from([(0, 1)])).as_deref(), Some("rare"));
        assert_eq!(most_valuable(&wanted, &BTreeSet::new()).as_deref(), Some("many"));
        assert_eq!(most_valuable(&BTreeMap::new(), &BTreeSet::new()), None);
    }
}
