//! Evaluates a scenario for a target that does nothing: objects are as given, or as actions change them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Action, NAMESPACE, ObjectRef, Scenario, Side, State};
use crate::expect::holds;
use crate::model::Contract;

/// Objects by cluster, kind, namespace and name.
type World<'a> = BTreeMap<(Side, ObjectKey<'a>), Value>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ObjectKey<'a> {
    kind: &'a str,
    namespace: &'a str,
    name: &'a str,
}

impl Scenario {
    /// Whether a target that does not even reconcile would pass.
    #[must_use]
    pub fn passes_idle(&self, contract: &Contract) -> bool {
        self.steps.iter().all(|step| step.witness.is_none()) && self.keeps_given(contract)
    }

    /// Whether a target that reconciles but writes nothing would pass.
    #[must_use]
    pub fn keeps_given(&self, contract: &Contract) -> bool {
        let mut world = World::new();
        for (side, objects) in &self.given {
            world.extend(objects.iter().map(|object| ((*side, key_of(object)), object.clone())));
        }
        self.steps.iter().all(|step| {
            let found = world.clone();
            step.actions.iter().for_each(|action| apply_action(&mut world, action));
            let sends = step.requests.as_ref().is_some_and(|requests| {
                !requests.order.is_empty() || requests.writes.is_some_and(|writes| writes > 0)
            });
            let seen = |state: &State| {
                let at = (state.side, key(&state.object));
                let rules = contract.rules(world.get(&at).unwrap_or(&Value::Null));
                holds(&state.expect, found.get(&at), world.get(&at), &rules)
            };
            !sends && step.history.is_empty() && step.eventually.iter().all(seen)
        })
    }

    /// Whether an object is given, created, changed or asserted somewhere.
    #[must_use]
    pub fn speaks_of(&self, object: &ObjectRef) -> bool {
        let wanted = key(object);
        let given = self.given.values().flatten().any(|given| key_of(given) == wanted);
        given
            || self.steps.iter().any(|step| {
                let acted = step.actions.iter().any(|action| acts_on(action) == Some(wanted));
                let seen = step.eventually.iter().map(|state| &state.object);
                let seen = seen.chain(step.history.iter().map(|history| &history.object));
                let sent = step.requests.iter().flat_map(|requests| &requests.order).map(|(_, sent)| sent);
                acted || seen.chain(sent).any(|named| key(named) == wanted)
            })
    }
}

fn apply_action<'a>(world: &mut World<'a>, action: &'a Action) {
    match action {
        Action::Create(side, object) => {
            world.insert((*side, key_of(object)), object.clone());
        }
        Action::Patch(side, object, patch) | Action::PatchStatus(side, object, patch) => {
            if let Some(object) = world.get_mut(&(*side, key(object))) {
                json_patch::merge(object, patch);
            }
        }
        Action::Delete(side, object) => {
            world.remove(&(*side, key(object)));
        }
        Action::Touch(..) | Action::Refuse(..) | Action::Stop | Action::Start => {}
    }
}

fn acts_on(action: &Action) -> Option<ObjectKey<'_>> {
    match action {
        Action::Create(_, object) => Some(key_of(object)),
        Action::Patch(_, object, _)
        | Action::PatchStatus(_, object, _)
        | Action::Delete(_, object)
        | Action::Touch(_, object) => Some(key(object)),
        Action::Refuse(..) | Action::Stop | Action::Start => None,
    }
}

fn key(object: &ObjectRef) -> ObjectKey<'_> {
    let namespace = if object.namespace.is_empty() { NAMESPACE } else { &object.namespace };
    ObjectKey { kind: &object.kind, namespace, name: &object.name }
}

fn key_of(object: &Value) -> ObjectKey<'_> {
    let namespace = object["metadata"]["namespace"].as_str().filter(|namespace| !namespace.is_empty());
    ObjectKey {
        kind: object["kind"].as_str().unwrap_or_default(),
        namespace: namespace.unwrap_or(NAMESPACE),
        name: object["metadata"]["name"].as_str().unwrap_or_default(),
    }
}
