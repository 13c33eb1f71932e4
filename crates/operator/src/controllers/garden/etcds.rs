//! Deploys both etcds. During a rotation their members learn the new authority of their peers before they get certificates of it.

use api::gardener::{OPERATION, OPERATION_RECONCILE};
use futures::FutureExt as _;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::component_table::GardenComponent;
use super::deployment::{self, Deployer};
use super::error::StepError;
use super::objects;
use super::step_plan::ETCDS_READY;
use crate::components::{DirectStep, Rendering};

/// Annotation with the time of the last change, which tells two requests of an operation apart.
const TIMESTAMP: &str = "gardener.cloud/timestamp";
const PREPARING: &str = "Preparing";
const ETCDS: [GardenComponent; 2] = [GardenComponent::EtcdMain, GardenComponent::EtcdEvents];

/// Deploys both etcds side by side.
///
/// # Errors
/// If they cannot be rendered, the API server refuses, or one is not ready after it has learnt a new authority.
pub(super) async fn deploy(deployer: &Deployer<'_>, now: Timestamp) -> Result<(), StepError> {
    let mut renderings = Vec::new();
    for component in ETCDS {
        renderings.push(deployer.render(component, deployer.observed)?);
    }
    if authorities_phase(deployer) == PREPARING {
        let mut has_changed = false;
        for rendering in &renderings {
            has_changed |= roll_out_authority(deployer, rendering, now).await?;
        }
        if has_changed {
            deployment::wait(deployer.client, ETCDS_READY).await?;
        }
    }
    for rendering in &mut renderings {
        stamp(rendering, now);
    }
    let written = renderings.iter().map(|rendering| deployment::write(deployer.client, rendering).boxed());
    deployment::side_by_side(written.collect()).await
}

/// Has the members of existing etcds trust the authority that the rendering names; returns whether they did not yet.
async fn roll_out_authority(
    deployer: &Deployer<'_>,
    rendering: &Rendering,
    now: Timestamp,
) -> Result<bool, StepError> {
    let objects = rendering.steps.iter().filter_map(DirectStep::object);
    let etcds: Vec<&Value> = objects.filter(|object| object["kind"] == "Etcd").collect();
    for wanted in etcds {
        let name = objects::name(wanted);
        let Some(live) = objects::read(deployer.client, &name).await? else { continue };
        if let Some(patch) = authority_patch(&live, wanted, now) {
            objects::patch(deployer.client, &name, &patch).await?;
            return Ok(true);
        }
    }
    Ok(false)
}

/// The patch that names the authority; `None` if the Etcd names it, or has no peers. Other annotations go, as in the original.
fn authority_patch(live: &Value, wanted: &Value, now: Timestamp) -> Option<Value> {
    let reference = |etcd: &Value| etcd.pointer("/spec/etcd/peerUrlTls/tlsCASecretRef").cloned();
    let wanted = reference(wanted)?;
    let mut known = reference(live).unwrap_or_default();
    if known["name"] == wanted["name"] {
        return None;
    }
    known["name"] = wanted["name"].clone();
    known["namespace"] = wanted["namespace"].clone();
    let former = live["metadata"]["annotations"].as_object().into_iter().flatten();
    let mut annotations: Map<String, Value> = former.map(|(key, _)| (key.clone(), Value::Null)).collect();
    annotations.extend(requested(now));
    Some(json!({
        "metadata": {"annotations": annotations},
        "spec": {"etcd": {"peerUrlTls": {"tlsCASecretRef": known}}},
    }))
}

/// Has etcd-druid reconcile the Etcd once it is written.
fn stamp(rendering: &mut Rendering, now: Timestamp) {
    for step in &mut rendering.steps {
        if let DirectStep::Patch(object) = step
            && object["kind"] == "Etcd"
        {
            for (key, value) in requested(now) {
                object["metadata"]["annotations"][key.as_str()] = value;
            }
        }
    }
}

fn requested(now: Timestamp) -> [(String, Value); 2] {
    [(OPERATION.to_owned(), OPERATION_RECONCILE.into()), (TIMESTAMP.to_owned(), now.to_string().into())]
}

fn authorities_phase<'a>(deployer: &Deployer<'a>) -> &'a str {
    let credentials = deployer.garden.status.credentials.as_ref();
    let rotation = credentials.and_then(|credentials| credentials.rotation.as_ref());
    let authorities = rotation.and_then(|rotation| rotation.certificate_authorities.as_ref());
    authorities.map(|authorities| authorities.phase.as_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2023-11-14T22:13:20.5Z";

    fn now() -> Timestamp {
        NOW.parse().unwrap()
    }

    fn etcd(authority: &str) -> Value {
        let reference = json!({"name": authority, "namespace": "garden", "dataKey": "bundle.crt"});
        json!({"kind": "Etcd", "spec": {"etcd": {"peerUrlTls": {"tlsCASecretRef": reference}}}})
    }

    #[test]
    fn members_learn_a_new_authority() {
        let mut live = etcd("ca-etcd-peer-1");
        assert_eq!(authority_patch(&live, &etcd("ca-etcd-peer-1"), now()), None);
        live["metadata"]["annotations"]["own"] = "goes".into();
        let want = json!({
            "metadata": {"annotations": {
                "own": null, "gardener.cloud/operation": "reconcile", "gardener.cloud/timestamp": NOW,
            }},
            "spec": {"etcd": {"peerUrlTls": {"tlsCASecretRef": {
                "name": "ca-etcd-peer-2", "namespace": "garden", "dataKey": "bundle.crt",
            }}}},
        });
        assert_eq!(authority_patch(&live, &etcd("ca-etcd-peer-2"), now()), Some(want));
    }

    #[test]
    fn one_member_has_no_peers() {
        assert_eq!(
            authority_patch(&etcd("ca-etcd-peer-1"), &json!({"kind": "Etcd", "spec": {}}), now()),
            None
        );
    }

    #[test]
    fn a_written_etcd_is_reconciled() {
        let other = DirectStep::Patch(json!({"kind": "Hvpa"}));
        let mut rendering = Rendering {
            steps: vec![DirectStep::Patch(json!({"kind": "Etcd"})), other.clone()],
            ..Rendering::default()
        };
        stamp(&mut rendering, now());
        let annotations = json!({"gardener.cloud/operation": "reconcile", "gardener.cloud/timestamp": NOW});
        let etcd = DirectStep::Patch(json!({"kind": "Etcd", "metadata": {"annotations": annotations}}));
        assert_eq!(rendering.steps, [etcd, other]);
    }
}
