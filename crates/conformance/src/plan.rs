//! Plans a run: which cases run, in which groups and order, and which do not, with the reason.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use contract::case::{Case, Sending, When};
use contract::gardener::decision::RunsOn;
use contract::model::{Clause, Contract, Form};
use contract::parameters;
use contract::scenario::Scenario;
use jiff::Timestamp;
use schema::Kinds;
use serde_json::Value;

use crate::gardener::dates;
use crate::place::{self, Isolation};
use crate::report::{Reason, ReasonCode, Status};
use crate::target::{Configurable, Target, TargetKind};

mod configuration;
mod lanes;
mod order;
mod other_substrate;
mod release;
mod separate;

use configuration::{contains, usual_config};
pub(crate) use lanes::lanes;
pub use order::shuffle;
pub use other_substrate::NO_PLUGINS;
use other_substrate::elsewhere;
pub use release::gardener_release;
use release::{of_release, other_version};
pub use separate::Separate;

/// One case by its index in the selected contracts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaseRef {
    /// Contract.
    pub contract: usize,
    /// Clause.
    pub clause: usize,
    /// Case.
    pub case: usize,
}

/// Where the cases of a plan run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedOn<'a> {
    /// The name of the substrate.
    pub substrate: &'a str,
    /// Whether an API server sends the requests, to which old objects are written before.
    pub is_server: bool,
}

/// Cases for which the target is started once.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The component under test.
    pub component: String,
    /// The time of the target; `None`: the real one.
    pub now: Option<Timestamp>,
    /// `seed` or `shoot`.
    pub instance: String,
    /// Component configuration.
    pub config: Value,
    /// Whether its only case writes objects that others would see.
    pub alone: bool,
    /// Its cases, in the order in which they run.
    pub cases: Vec<CaseRef>,
}

/// The cases of a run, and those that do not run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Groups, in the order in which they are started.
    pub groups: Vec<Group>,
    /// Cases that run outside of groups, by the module that runs them.
    pub separate: BTreeMap<Separate, Vec<CaseRef>>,
    /// Cases that do not run.
    pub silent: Vec<(CaseRef, Status, Reason)>,
}

impl Plan {
    /// The cases that a module runs.
    #[must_use]
    pub fn separate(&self, module: Separate) -> &[CaseRef] {
        self.separate.get(&module).map_or(&[], Vec::as_slice)
    }
}

/// A case with the contract and clause it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct LocatedCase<'a> {
    /// Its contract.
    pub contract: &'a Contract,
    /// Its clause.
    pub clause: &'a Clause,
    /// The case.
    pub case: &'a Case,
}

impl<'a> LocatedCase<'a> {
    /// `<clause>/<case>`.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}/{}", self.clause.id, self.case.name)
    }

    /// Which of the component's registrations apply.
    #[must_use]
    pub fn instance(&self) -> &'a str {
        if let When::Registration { instance } = &self.case.when {
            return instance;
        }
        self.clause.instance.as_deref().or(self.contract.subject.instance.as_deref()).unwrap_or("seed")
    }

    /// Name of the webhook; for decisions on versions, that of the admission of Shoots.
    #[must_use]
    pub fn webhook(&self) -> &'a str {
        if self.case.when.decision().is_some() {
            return "shoot";
        }
        self.contract.subject.webhook.as_deref().unwrap_or(&self.contract.name)
    }

    /// The steps, if the case is a scenario.
    #[must_use]
    pub fn scenario(&self) -> Option<&'a Scenario> {
        self.case.when.scenario()
    }

    /// Fields of the AdmissionRequest that are overridden; no API server sends such a request.
    #[must_use]
    pub fn overrides(&self) -> Option<&'a serde_json::Map<String, Value>> {
        self.sending().map(|sending| &sending.request).filter(|request| !request.is_empty())
    }

    /// How the request is sent directly to the webhook, if the case sends it so.
    #[must_use]
    pub fn direct(&self) -> Option<&'a Sending> {
        self.sending().filter(|sending| sending.is_direct())
    }

    fn sending(&self) -> Option<&'a Sending> {
        match &self.case.when {
            When::Admission { sending, .. } => Some(sending),
            _ => None,
        }
    }

    /// Whether the case needs objects in a cluster.
    #[must_use]
    pub fn has_facts(&self) -> bool {
        !self.case.given.cluster.is_empty() || self.case.given.namespace.is_some()
    }
}

/// Looks up a case.
#[must_use]
pub fn locate(contracts: &[Contract], at: CaseRef) -> LocatedCase<'_> {
    let contract = &contracts[at.contract];
    let clause = &contract.clauses[at.clause];
    LocatedCase { contract, clause, case: &clause.cases[at.case] }
}

/// Plans a run: cases with the same instance and configuration run together, those whose objects others would see alone.
#[must_use]
pub fn plan(contracts: &[Contract], target: &dyn Target, seed: u64, on: PlannedOn<'_>) -> Plan {
    let mut plan = Plan::default();
    let mut groups: BTreeMap<(String, Option<Timestamp>, String, String), Group> = BTreeMap::new();
    let mut alone = Vec::new();
    let everywhere = target.reads_everywhere();
    for at in all(contracts) {
        let located = locate(contracts, at);
        if let Some((status, reason)) = elsewhere(located, on).or_else(|| exclusion(located, target)) {
            plan.silent.push((at, status, reason));
            continue;
        }
        if let Some(module) = Separate::of(&located.case.when) {
            plan.separate.entry(module).or_default().push(at);
            continue;
        }
        let now = now(located, target);
        let (instance, config) = (located.instance().to_owned(), located.case.config.clone());
        let group = |alone: bool| Group {
            component: located.contract.component.clone(),
            now,
            instance: instance.clone(),
            config: config.clone(),
            alone,
            cases: Vec::new(),
        };
        let alone_by_place = place::isolation(located.case, on.is_server) == Isolation::Alone;
        if alone_by_place || has_fact_of(located.case, &everywhere, on.is_server) {
            alone.push(Group { cases: vec![at], ..group(true) });
        } else {
            let key = (located.contract.component.clone(), now, instance.clone(), config.to_string());
            groups.entry(key).or_insert_with(|| group(false)).cases.push(at);
        }
    }
    plan.groups = groups.into_values().chain(alone).collect();
    for group in &mut plan.groups {
        shuffle(&mut group.cases, seed);
    }
    shuffle(&mut plan.groups, seed);
    for cases in plan.separate.values_mut() {
        shuffle(cases, seed);
    }
    plan
}

/// The contracts for the target's release and provider, with the objects of control planes' namespaces and the target's
/// parameters. A target that runs with the contract's
/// configuration also gets the contract's example parameters.
#[must_use]
pub fn with_parameters(contracts: Vec<Contract>, target: &dyn Target) -> Arc<[Contract]> {
    let contracts = contracts.into_iter().map(|contract| of_release(contract, target));
    let contracts: Vec<Contract> = match target.provider() {
        Some(provider) => of_provider(contracts.collect(), provider),
        None => contracts.collect(),
    };
    let parameters = target.parameters();
    let contracts = contracts.into_iter().map(|contract| {
        let contract = contract.surrounded(target.provider(), target.cluster_objects());
        let configurable = target.configurable(&contract.component);
        let examples = matches!(configurable, Configurable::Any | Configurable::OneOf(_));
        contract.stated(&parameters, examples)
    });
    contracts.collect()
}

fn of_provider(contracts: Vec<Contract>, provider: &str) -> Vec<Contract> {
    if !contracts.iter().any(Contract::has_provider) {
        return contracts;
    }
    let of_provider = |contract: Contract| {
        let profiles = contract.profiles.clone();
        contract.of_provider(profiles.as_deref().map_or(provider, |profiles| profiles.type_of(provider)))
    };
    contracts.into_iter().map(of_provider).collect()
}

/// Every case, in the order of the contracts.
pub fn all(contracts: &[Contract]) -> impl Iterator<Item = CaseRef> + '_ {
    contracts.iter().enumerate().flat_map(|(contract, found)| {
        found.clauses.iter().enumerate().flat_map(move |(clause, found)| {
            (0..found.cases.len()).map(move |case| CaseRef { contract, clause, case })
        })
    })
}

/// Whether the facts of the case, on a server also its old object, are of one of the resources, `v1 configmaps`.
fn has_fact_of(case: &Case, resources: &BTreeSet<String>, writes_old: bool) -> bool {
    let text = |fact: &Value, field: &str| fact[field].as_str().unwrap_or_default().to_owned();
    let given = &case.given;
    let old = given.old.as_ref().or(given.object.as_ref()).filter(|_| writes_old && place::has_old(case));
    given.cluster.iter().chain(old).any(|fact| {
        let version = text(fact, "apiVersion");
        let resource = Kinds::gardener().of_object(&version, &text(fact, "kind"));
        resource.is_some_and(|resource| resources.contains(&format!("{version} {}", resource.plural)))
    })
}

/// Why a case does not run for a target, if so.
pub(crate) fn exclusion(located: LocatedCase<'_>, target: &dyn Target) -> Option<(Status, Reason)> {
    if let Some(reason) = not_for_target(located, target) {
        return Some((Status::NotSupported, reason));
    }
    let contract = located.contract;
    if contract.form == Form::Objects {
        return None;
    }
    if let Some(reason) = missing_requirement(located, target) {
        return Some((Status::NotSupported, reason));
    }
    if let Some(reason) = other_version(located, target) {
        return Some((Status::Skipped, reason));
    }
    let fixed = match target.configurable(&contract.component) {
        Configurable::Any => return None,
        Configurable::OneOf(_) if matches!(located.case.when, When::Configuration | When::Process(_)) => {
            return None;
        }
        _ if located.case.when == When::Configuration => {
            let text = "the target's configuration cannot be set, so it cannot start with another one";
            return Some((Status::NotSupported, Reason::new(ReasonCode::Configuration, text)));
        }
        // It is started elsewhere, with any configuration.
        Configurable::OneOf(_) if is_started_separately(located, target) => return None,
        Configurable::OneOf(rollouts) => {
            return rollouts.serving(&located.case.config).is_none().then(|| {
                let number = rollouts.configs().len();
                let text = format!(
                    "the target runs with {number} configurations in parallel, and none of them includes this one"
                );
                (Status::NotSupported, Reason::new(ReasonCode::Configuration, text))
            });
        }
        Configurable::Fixed(config) => config,
        Configurable::Unknown => usual_config(contract),
    };
    (!contains(&fixed, &located.case.config)).then(|| {
        let text =
            format!("the target's configuration cannot be set; this case needs {}", located.case.config);
        (Status::NotSupported, Reason::new(ReasonCode::Configuration, text))
    })
}

/// The feature or parameter that the target lacks for the case, if any.
fn missing_requirement(located: LocatedCase<'_>, target: &dyn Target) -> Option<Reason> {
    let features = target.features();
    for need in &located.clause.needs {
        let (wanted, feature) =
            need.strip_prefix("not ").map_or((true, need.as_str()), |feature| (false, feature.trim()));
        if features.contains(feature) != wanted {
            let text =
                if wanted { format!("feature {feature} off") } else { format!("feature {feature} on") };
            return Some(Reason::new(ReasonCode::Feature, text));
        }
    }
    let name = parameters::missing(located.case)?;
    Some(Reason::new(ReasonCode::Parameter, format!("the target file has no parameter {name}")))
}

/// Why a case does not apply to this kind of target, if so.
fn not_for_target(located: LocatedCase<'_>, target: &dyn Target) -> Option<Reason> {
    let contract = located.contract;
    if contract.form == Form::Objects {
        // Each namespace has its own release, and objects have neither features nor a configuration.
        let text = "it applies to objects that Gardener emits (`check objects`), not to a target";
        return (!target.is_ours()).then(|| Reason::new(ReasonCode::Form, text));
    }
    if contract.form == Form::Process && !target.has_program() {
        let text = "the target has no program that the tool can start";
        return Some(Reason::new(ReasonCode::Form, text));
    }
    if !target.supports(&contract.component, contract.form) {
        let text = format!("{} does not implement {}", target.identity().name, contract.component);
        return Some(Reason::new(ReasonCode::Component, text));
    }
    let runs_on = located.case.when.decision()?.runs_on;
    let is_supported = target.versions().is_some_and(|versions| match runs_on {
        RunsOn::Decision => versions.runs_decisions(),
        RunsOn::Admission => versions.admits(),
        RunsOn::Reconcile => versions.maintainer().is_some(),
    });
    if !is_supported {
        let text = match runs_on {
            RunsOn::Decision => "the target is a whole garden, which makes no separate decisions".to_owned(),
            _ => format!("the target has no running garden component for rows on {}", runs_on.name()),
        };
        return Some(Reason::new(ReasonCode::Level, text));
    }
    (has_real_time(runs_on, target) && now(located, target).is_some()).then(|| {
        let text = "the row depends on the exact time, or its answer contains a date, and the garden has the real time";
        Reason::new(ReasonCode::Substrate, text)
    })
}

/// Whether the target is started for the case, outside of the cluster in which it is installed.
fn is_started_separately(located: LocatedCase<'_>, target: &dyn Target) -> bool {
    let decision = located.case.when.decision();
    let is_admitted = decision.is_none_or(|decision| decision.runs_on == RunsOn::Admission);
    located.scenario().is_some() || !is_admitted || !target.is_inside(&located.contract.component)
}

/// Whether rows of this level run in real time: in a garden, and with a controller outside of this process.
fn has_real_time(runs_on: RunsOn, target: &dyn Target) -> bool {
    match target.identity().kind {
        TargetKind::Garden => true,
        TargetKind::Command | TargetKind::Image => runs_on == RunsOn::Reconcile,
        _ => false,
    }
}

/// The time that a target must have; `None`: the real time, the only one inside a cluster.
fn now(located: LocatedCase<'_>, target: &dyn Target) -> Option<Timestamp> {
    let decision = located.case.when.decision()?;
    let shows_real_time = match target.identity().kind {
        TargetKind::InCluster => target.is_inside(&located.contract.component),
        _ => has_real_time(decision.runs_on, target),
    };
    let keeps = |decided| dates::passes(located, decided);
    let is_movable = || dates::are_movable(located.case, decision, target, keeps);
    (!shows_real_time || !is_movable()).then_some(decision.now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::case::{Given, Then};
    use contract::model::Location;
    use serde_json::json;

    #[test]
    fn a_fact_of_a_resource_that_is_read_everywhere_is_found_by_version_and_plural() {
        let case = Case { given: Given { cluster: vec![hvpa()], ..Given::default() }, ..case() };
        for (resource, found) in [
            ("autoscaling.k8s.io/v1alpha1 hvpas", true),
            ("autoscaling.k8s.io/v1 hvpas", false),
            ("v1 configmaps", false),
        ] {
            assert_eq!(has_fact_of(&case, &BTreeSet::from([resource.to_owned()]), true), found, "{resource}");
        }
    }

    #[test]
    fn an_old_object_is_written_on_a_server_only() {
        let hvpas = BTreeSet::from(["autoscaling.k8s.io/v1alpha1 hvpas".to_owned()]);
        for (operation, on_server, found) in
            [("UPDATE", true, true), ("UPDATE", false, false), ("CREATE", true, false)]
        {
            let when = When::Admission { operation: operation.to_owned(), sending: Sending::default() };
            let case = Case { given: Given { object: Some(hvpa()), ..Given::default() }, when, ..case() };
            assert_eq!(has_fact_of(&case, &hvpas, on_server), found, "{operation} {on_server}");
        }
    }

    fn hvpa() -> Value {
        json!({"apiVersion": "autoscaling.k8s.io/v1alpha1", "kind": "Hvpa", "metadata": {"name": "a"}})
    }

    fn case() -> Case {
        Case {
            name: "a".to_owned(),
            inputs: Vec::new(),
            config: Value::Null,
            given: Given::default(),
            when: When::Admission { operation: "CREATE".to_owned(), sending: Sending::default() },
            then: Then::default(),
            location: Location::default(),
        }
    }

    #[test]
    fn a_configuration_contains_its_own_fields() {
        let whole = json!({"webhooks": {"a": {"enabled": true, "seconds": 3}, "b": {"list": [1, 2]}}});
        assert!(contains(&whole, &json!({"webhooks": {"a": {"enabled": true}}})));
        assert!(contains(&whole, &json!({"webhooks": {"c": null}})));
        assert!(!contains(&whole, &json!({"webhooks": {"a": {"enabled": false}}})));
        assert!(!contains(&whole, &json!({"webhooks": {"b": {"list": [1]}}})));
        assert!(!contains(&whole, &json!({"webhooks": {"c": {}}})));
    }
}
