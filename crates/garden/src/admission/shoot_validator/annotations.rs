//! Annotations that tell controllers what a change needs.

use api::garden::Shoot;
use api::garden::shoot::worker::Provider;
use api::gardener::{NEEDS_RETRY_OPERATION, OPERATION};
use webhook::review::Operation;

use crate::admission::shoot_support::add_tasks;

/// The task that deploys the infrastructure.
pub(super) const INFRASTRUCTURE: &str = "deployInfrastructure";
/// The tasks that deploy DNS records.
pub(super) const DNS_RECORDS: [&str; 3] =
    ["deployDNSRecordInternal", "deployDNSRecordExternal", "deployDNSRecordIngress"];

const ROTATIONS: [&str; 2] = ["rotate-ssh-keypair", "rotate-credentials-start"];

/// Adds tasks, and the retry of a failed Shoot whose changes wait for its maintenance; the last operation is that of
/// the request: GPL-SHVAL-050, GPL-SHVAL-051.
pub(super) fn add(operation: Operation, shoot: &mut Shoot, old: &Shoot) {
    let is_created = operation == Operation::Create;
    let (provider, before) = (&shoot.spec.provider, &old.spec.provider);
    let annotation = |name: &str| shoot.metadata.annotations.as_ref().and_then(|all| all.get(name));
    let rotates = annotation(OPERATION).is_some_and(|value| ROTATIONS.contains(&value.as_str()));
    let needs_infrastructure = is_created
        || provider.infrastructure_config != before.infrastructure_config
        || ssh_access(before).is_some_and(|enabled| ssh_access(provider) != Some(enabled));
    let needs_dns = is_created || shoot.spec.dns != old.spec.dns;
    let maintenance = shoot.spec.maintenance.as_ref();
    let is_confined =
        maintenance.and_then(|maintenance| maintenance.confine_spec_update_rollout) == Some(true);
    let last = shoot.status.last_operation.as_ref();
    let has_failed = last.is_some_and(|last| last.state == "Failed");
    let needs_retry = is_confined && has_failed && shoot.spec != old.spec;
    if needs_infrastructure {
        add_tasks(shoot, &[INFRASTRUCTURE]);
    }
    if needs_dns {
        add_tasks(shoot, &DNS_RECORDS);
    }
    if rotates {
        add_tasks(shoot, &[INFRASTRUCTURE]);
    }
    if needs_retry {
        let annotations = shoot.metadata.annotations.get_or_insert_default();
        annotations.insert(NEEDS_RETRY_OPERATION.to_owned(), "true".to_owned());
    }
}

fn ssh_access(provider: &Provider) -> Option<bool> {
    let settings = provider.workers_settings.as_ref()?;
    settings.ssh_access.as_ref().map(|access| access.enabled)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use crate::admission::shoot_testing::merged;

    const DNS: &str = "deployDNSRecordInternal,deployDNSRecordExternal,deployDNSRecordIngress";

    #[rstest]
    #[case::nothing(Operation::Update, json!({}), "")]
    #[case::created(Operation::Create, json!({}), "deployInfrastructure,DNS")]
    #[case::others(Operation::Create, json!({"metadata": {"annotations": {"shoot.gardener.cloud/tasks": "x"}}}),
        "x,deployInfrastructure,DNS")]
    #[case::infrastructure(Operation::Update, json!({"spec": {"provider": {"infrastructureConfig": {"a": 1}}}}),
        "deployInfrastructure")]
    #[case::access(
        Operation::Update,
        json!({"spec": {"provider": {"workersSettings": {"sshAccess": {"enabled": false}}}}}),
        "deployInfrastructure",
    )]
    #[case::no_settings(Operation::Update, json!({"spec": {"provider": {"workersSettings": null}}}),
        "deployInfrastructure")]
    #[case::dns(Operation::Update, json!({"spec": {"dns": {"domain": "a.b"}}}), "DNS")]
    #[case::rotation(
        Operation::Update,
        json!({"metadata": {"annotations": {"gardener.cloud/operation": "rotate-ssh-keypair"}}}),
        "deployInfrastructure",
    )]
    #[case::rotation_and_dns(
        Operation::Update,
        json!({
            "metadata": {"annotations": {"gardener.cloud/operation": "rotate-credentials-start"}},
            "spec": {"dns": {"domain": "a.b"}},
        }),
        "DNS,deployInfrastructure",
    )]
    #[case::other_operation(Operation::Update,
        json!({"metadata": {"annotations": {"gardener.cloud/operation": "retry"}}}), "")]
    fn changes_bring_tasks(#[case] operation: Operation, #[case] change: Value, #[case] want: &str) {
        let old = json!({"spec": {"provider": {"workersSettings": {"sshAccess": {"enabled": true}}}}});
        let read = |value: Value| -> Shoot { serde_json::from_value(value).unwrap() };
        let mut shoot = read(merged(&old, &change));
        add(operation, &mut shoot, &read(old));
        let tasks = shoot.metadata.annotations.unwrap_or_default().remove("shoot.gardener.cloud/tasks");
        assert_eq!(tasks.unwrap_or_default(), want.replace("DNS", DNS));
    }

    /// GPL-V-10: the last operation is that of the request.
    #[rstest]
    #[case::failed(true, "x", "Failed", true)]
    #[case::unchanged(true, "", "Failed", false)]
    #[case::unconfined(false, "x", "Failed", false)]
    #[case::succeeded(true, "x", "Succeeded", false)]
    fn a_failed_shoot_whose_changes_wait_is_retried(
        #[case] confined: bool,
        #[case] purpose: &str,
        #[case] state: &str,
        #[case] want: bool,
    ) {
        let with = |purpose: &str, state: &str| -> Shoot {
            let spec = json!({"purpose": purpose, "maintenance": {"confineSpecUpdateRollout": confined}});
            let status = json!({"lastOperation": {"type": "Reconcile", "state": state}});
            serde_json::from_value(json!({"spec": spec, "status": status})).unwrap()
        };
        let (mut shoot, old) = (with(purpose, state), with("", "Succeeded"));
        add(Operation::Update, &mut shoot, &old);
        let added = shoot.metadata.annotations.unwrap_or_default();
        let retry = added.get("maintenance.shoot.gardener.cloud/needs-retry-operation");
        assert_eq!(retry.map(String::as_str), want.then_some("true"));
    }
}
