//! When an update raises the generation of a Shoot, and which requested operation it removes.

use api::garden::Shoot;
use serde_json::Value;
use webhook::rejection::Rejection;
use webhook::strategy::Generation;

use super::generation;
use crate::webhooks::{reading, shoot_metadata};

const KIND: &str = "Shoot";
/// Operations that raise the generation and stay: every further update raises it again.
const KEPT: [&str; 10] = [
    "rotate-ca-complete",
    "rotate-ca-start",
    "rotate-credentials-complete",
    "rotate-credentials-start",
    "rotate-etcd-encryption-key-complete",
    "rotate-etcd-encryption-key-start",
    "rotate-kubeconfig-credentials",
    "rotate-observability-credentials",
    "rotate-serviceaccount-key-complete",
    "rotate-serviceaccount-key-start",
];
const ROTATE_SSH: &str = "rotate-ssh-keypair";

/// The rule for updates of the Shoot itself. The first reason ends the search, so that a change of the spec leaves the
/// operation.
pub(super) fn of_update(old: &Value, new: &mut Value) -> Result<Generation, Rejection> {
    let (before, after): (Shoot, Shoot) = (reading::read(KIND, old)?, reading::read(KIND, new)?);
    let is_forced = |shoot: &Shoot| shoot_metadata::is_forced(&shoot.metadata);
    let raised = is_spec_rolled_out(&before, &after)
        || generation::begins_deletion(old, new)
        || (is_forced(&after) && !is_forced(&before));
    Ok(if raised { Generation::Raised } else { of_operation(&after, new) })
}

/// Binding counts changes of the spec alone.
pub(super) fn of_binding(old: &Value, new: &Value) -> Result<Generation, Rejection> {
    Ok(Generation::raised_if(generation::differs(KIND, (old, new), |shoot: &Shoot| &shoot.spec)?))
}

/// Every write of the status of a migrated Shoot counts, so that the new Seed's gardenlet sees it.
pub(super) fn of_status(new: &Value) -> Generation {
    let operation = &new["status"]["lastOperation"];
    let has_ended = operation["state"] == "Succeeded" || operation["state"] == "Aborted";
    Generation::raised_if(operation["type"] == "Migrate" && has_ended)
}

/// Whether a changed spec is rolled out now. If changes wait for the maintenance, only hibernation does not.
fn is_spec_rolled_out(old: &Shoot, new: &Shoot) -> bool {
    let maintenance = new.spec.maintenance.as_ref();
    let is_confined = maintenance.and_then(|maintenance| maintenance.confine_spec_update_rollout);
    let sleeps =
        |shoot: &Shoot| shoot.spec.hibernation.as_ref().and_then(|of| of.enabled).unwrap_or_default();
    if is_confined == Some(true) { sleeps(old) != sleeps(new) } else { old.spec != new.spec }
}

fn of_operation(shoot: &Shoot, new: &mut Value) -> Generation {
    let Some(last) = &shoot.status.last_operation else { return Generation::Kept };
    let requested = generation::operation(new);
    match (last.state.as_str(), requested) {
        ("Failed", "retry") => generation::of_consumed(new, "retry"),
        ("Failed", _) => Generation::Kept,
        (_, "reconcile") => generation::of_consumed(new, "reconcile"),
        (_, ROTATE_SSH) if has_ssh(shoot) => Generation::Raised,
        (_, ROTATE_SSH) => {
            generation::remove_operation(new);
            Generation::Kept
        }
        (_, requested) => Generation::raised_if(KEPT.contains(&requested)),
    }
}

/// Whether the Shoot has machines that are reached over SSH.
pub(super) fn has_ssh(shoot: &Shoot) -> bool {
    let settings = shoot.spec.provider.workers_settings.as_ref();
    let access = settings.and_then(|settings| settings.ssh_access.as_ref());
    !shoot.spec.provider.workers.is_empty() && access.is_none_or(|access| access.enabled)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shoot(state: &str, operation: &str, spec: &Value) -> Value {
        json!({
            "metadata": {"name": "a", "annotations": {"gardener.cloud/operation": operation}}, "spec": spec,
            "status": {"lastOperation": {"type": "Reconcile", "state": state}},
        })
    }

    #[test]
    fn operations_raise_the_generation_and_some_are_removed() {
        let with = json!({"provider": {"workers": [{"name": "w"}]}});
        let without = json!({"provider": {"workers": []}});
        let table = [
            ("Failed", "retry", &with, true, ""),
            ("Failed", "reconcile", &with, false, "reconcile"),
            ("Succeeded", "reconcile", &with, true, ""),
            ("Succeeded", "retry", &with, false, "retry"),
            ("Succeeded", "maintain", &with, false, "maintain"),
            ("Processing", "rotate-ca-start", &with, true, "rotate-ca-start"),
            ("Processing", "rotate-credentials-complete", &with, true, "rotate-credentials-complete"),
            ("Succeeded", ROTATE_SSH, &with, true, ROTATE_SSH),
            ("Succeeded", ROTATE_SSH, &without, false, ""),
            ("Succeeded", "unknown", &with, false, "unknown"),
        ];
        for (state, requested, spec, raised, left) in table {
            let mut new = shoot(state, requested, spec);
            let generation = of_update(&shoot(state, "", spec), &mut new).unwrap();
            assert_eq!(generation, Generation::raised_if(raised), "{state} {requested}");
            assert_eq!(generation::operation(&new), left, "{state} {requested}");
        }
    }

    #[test]
    fn a_changed_spec_leaves_the_operation_and_a_confined_one_counts_hibernation_alone() {
        let spec = |confined: Value, hibernation: Value, region: &str| json!({"maintenance": {"confineSpecUpdateRollout": confined}, "hibernation": hibernation, "region": region});
        let (none, off, on) = (json!(null), json!({"enabled": false}), json!({"enabled": true}));
        let table = [
            (spec(json!(null), none.clone(), "a"), spec(json!(null), none.clone(), "b"), true),
            (spec(json!(true), none.clone(), "a"), spec(json!(true), none.clone(), "b"), false),
            (spec(json!(true), none.clone(), "a"), spec(json!(false), none.clone(), "a"), true),
            (spec(json!(false), none.clone(), "a"), spec(json!(true), none.clone(), "a"), false),
            (spec(json!(true), none.clone(), "a"), spec(json!(true), off.clone(), "a"), false),
            (spec(json!(true), none.clone(), "a"), spec(json!(true), on.clone(), "a"), true),
            (spec(json!(true), on.clone(), "a"), spec(json!(true), none.clone(), "a"), true),
            (spec(json!(true), on.clone(), "a"), spec(json!(true), json!({}), "a"), true),
            (spec(json!(true), off, "a"), spec(json!(true), none, "a"), false),
        ];
        for (old, new, raised) in table {
            let mut changed = shoot("Failed", "reconcile", &new);
            let generation = of_update(&shoot("Failed", "reconcile", &old), &mut changed).unwrap();
            assert_eq!(generation, Generation::raised_if(raised), "{old} {new}");
            assert_eq!(generation::operation(&changed), "reconcile");
        }
    }

    #[test]
    fn the_status_of_a_migrated_shoot_counts() {
        let status =
            |kind: &str, state: &str| json!({"status": {"lastOperation": {"type": kind, "state": state}}});
        for (kind, state, raised) in [
            ("Migrate", "Succeeded", true),
            ("Migrate", "Aborted", true),
            ("Migrate", "Processing", false),
            ("Restore", "Succeeded", false),
        ] {
            assert_eq!(of_status(&status(kind, state)), Generation::raised_if(raised), "{kind} {state}");
        }
        assert_eq!(of_status(&json!({})), Generation::Kept);
    }
}
