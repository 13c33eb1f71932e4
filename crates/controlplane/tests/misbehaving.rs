//! A webhook that breaks one rule fails one clause: the contract reports that clause and no other.

use controller::config::Configuration as _;
use std::collections::{BTreeMap, BTreeSet};

use contract::case::{About, Case, When};
use contract::expect::holds;
use contract::model::{Clause, Contract};
use gardener_controlplane::cluster::Cluster;
use gardener_controlplane::config::ControlPlaneWebhooksConfiguration;
use gardener_controlplane::webhooks::{controlplane, controlplanebackup, controlplaneexposure};
use serde_json::Value;

#[path = "../examples/misbehaving/rules.rs"]
mod rules;

use rules::{RULES, STRANGE, Wrong};

#[test]
fn each_rule_breaks_its_clause_and_no_other() {
    let contracts = catalog();
    let answered: Vec<AnsweredCase<'_>> = clauses(&contracts).flat_map(answered).collect();
    let wrong: Vec<&str> = answered
        .iter()
        .filter(|case| !case.is_kept(&case.answer))
        .map(|case| case.clause.id.as_str())
        .collect();
    assert_eq!(wrong, Vec::<&str>::new(), "who behaves breaks nothing");
    let mut wrong = Vec::new();
    for (id, rule) in RULES {
        let broken: BTreeSet<&str> = answered
            .iter()
            .filter(|case| case.is_broken_by(rule))
            .map(|case| case.clause.id.as_str())
            .collect();
        let excused =
            |case: &AnsweredCase<'_>| case.clause.presupposes.iter().any(|id| broken.contains(id.as_str()));
        let left: BTreeSet<&str> = answered
            .iter()
            .filter(|case| broken.contains(case.clause.id.as_str()) && !excused(case))
            .map(|case| case.clause.id.as_str())
            .collect();
        if left != BTreeSet::from([id]) {
            wrong.push((id, left));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A change that no clause covers breaks no clause, but the report names it.
#[test]
fn a_foreign_flag_breaks_no_clause_and_is_reported_by_name() {
    let contracts = catalog();
    let answered: Vec<AnsweredCase<'_>> = clauses(&contracts).flat_map(answered).collect();
    for (name, rule) in STRANGE {
        let broken: Vec<&str> = answered
            .iter()
            .filter(|case| case.is_broken_by(rule))
            .map(|case| case.clause.id.as_str())
            .collect();
        assert_eq!(broken, Vec::<&str>::new(), "{name}");
        let reported: BTreeSet<String> = answered.iter().flat_map(|case| case.unnamed(rule)).collect();
        let want = match rule {
            Wrong::Argument(argument) => {
                format!("beside the flags: /opt/bin/kubelet $KUBELET_EXTRA_ARGS {argument}")
            }
            _ => "--foreign-flag".to_owned(),
        };
        assert_eq!(reported, BTreeSet::from([want]), "{name}");
    }
    let behaved: Vec<String> = answered.iter().flat_map(|case| case.unnamed_in(&case.answer)).collect();
    assert_eq!(behaved, Vec::<String>::new(), "who behaves changes nothing that no clause speaks of");
}

/// Every clause that denies or warns has a rule that breaks it; otherwise it might not name the culprit.
#[test]
fn every_clause_about_objects_has_a_rule() {
    // Without CSI plugins the configuration is another one, for which there are no rules.
    let without = BTreeSet::from(["CP-107"]);
    let contracts = catalog();
    let missing: Vec<&str> = clauses(&contracts)
        .filter(|(_, clause)| {
            clause.level != contract::model::Level::May && clause.cases.iter().any(is_about_objects)
        })
        .map(|(_, clause)| clause.id.as_str())
        .filter(|id| !without.contains(id) && !RULES.iter().any(|(rule, _)| rule == id))
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}

/// A case, and the answer of a correct webhook.
struct AnsweredCase<'a> {
    contract: &'a Contract,
    clause: &'a Clause,
    case: &'a Case,
    answer: Value,
}

impl AnsweredCase<'_> {
    fn is_kept(&self, answer: &Value) -> bool {
        let input = self.case.given.object.as_ref().expect("it has an object");
        holds(
            self.case.then.object.as_ref().expect("it asks for one"),
            Some(input),
            Some(answer),
            &self.contract.rules(input),
        )
    }

    /// Flags that changed although no row of the contract names them, and words that are not flags.
    fn unnamed(&self, rule: Wrong) -> Vec<String> {
        let mut answer = self.answer.clone();
        self.damage(rule, &mut answer);
        self.unnamed_in(&answer)
    }

    fn unnamed_in(&self, answer: &Value) -> Vec<String> {
        let input = self.case.given.object.as_ref().expect("it has an object");
        let named = self.contract.flags.iter();
        let found = named.flat_map(|named| named.unnamed(input, answer));
        let words =
            |after: Option<Value>| after.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
        found
            .map(|case| case.flag.unwrap_or_else(|| format!("beside the flags: {}", words(case.after))))
            .collect()
    }

    fn damage(&self, rule: Wrong, answer: &mut Value) {
        rule.damage(self.contract.subject.webhook.as_deref().expect("it is about a webhook"), answer);
    }

    fn is_broken_by(&self, rule: Wrong) -> bool {
        let mut answer = self.answer.clone();
        self.damage(rule, &mut answer);
        let mut twice = answer.clone();
        self.damage(rule, &mut twice);
        assert_eq!(answer, twice, "{rule:?}");
        answer != self.answer && !self.is_kept(&answer)
    }
}

/// The cases of a clause that expect an object; cases without CSI plugins need another configuration.
fn answered<'a>((contract, clause): (&'a Contract, &'a Clause)) -> Vec<AnsweredCase<'a>> {
    if clause.needs.iter().any(|need| need == "not csi") {
        return Vec::new();
    }
    let cases = clause.cases.iter().filter(|case| is_about_objects(case));
    cases.map(|case| AnsweredCase { contract, clause, case, answer: answer(contract, case) }).collect()
}

fn answer(contract: &Contract, case: &Case) -> Value {
    let (config, _) =
        ControlPlaneWebhooksConfiguration::from_value(&case.config).expect("the configuration is valid");
    let cluster = case.given.cluster.first().map(|cluster| Cluster::of(cluster).expect("it names versions"));
    let mut answer = case.given.object.clone().expect("it has an object");
    let made = match contract.subject.webhook.as_deref() {
        Some("controlplane") => controlplane::mutate(&config, cluster.as_ref(), &mut answer),
        Some("controlplanebackup") => controlplanebackup::mutate(&config, &mut answer),
        _ => controlplaneexposure::mutate(&config, &mut answer),
    };
    made.expect("it is allowed");
    answer
}

fn is_about_objects(case: &Case) -> bool {
    let is_asked = matches!(&case.when, When::Admission { operation, .. } if operation != "DELETE");
    is_asked && case.then.about == About::Answer && case.then.object.is_some()
}

fn catalog() -> Vec<Contract> {
    let contracts = contracts::of_component("controlplane").expect("the contracts are well-formed");
    let contracts: Vec<Contract> =
        contracts.into_iter().map(|contract| contract.stated(&BTreeMap::new(), true)).collect();
    assert!(!contracts.is_empty());
    contracts
}

fn clauses(contracts: &[Contract]) -> impl Iterator<Item = (&Contract, &Clause)> {
    contracts.iter().flat_map(|contract| contract.clauses.iter().map(move |clause| (contract, clause)))
}
