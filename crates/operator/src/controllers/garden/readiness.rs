//! Whether objects in the runtime cluster are ready, in the words of the original where a user meets them.

use api::garden::condition::Condition;
use api::gardener::OPERATION;
use api::resources::{ManagedResource, RESOURCES_APPLIED, RESOURCES_HEALTHY, RESOURCES_PROGRESSING};
use k8s_openapi::api::core::v1::Service;
use kube::ResourceExt as _;
use serde_json::Value;

/// Reasons of a ManagedResource's condition that its deletion does not go on.
const STUCK: [&str; 2] = ["DeletionFailed", "DeletionPending"];

/// Why an Etcd is not ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EtcdUnready {
    pub(super) text: String,
    /// Whether etcd-druid has reported it as an error.
    pub(super) is_reported: bool,
}

/// A ManagedResource is observed, applied and healthy; `and_done`: and nothing of it is rolled out any more.
pub(super) fn managed_resource(resource: &ManagedResource, and_done: bool) -> Result<(), String> {
    let observed = resource.status.observed_generation.unwrap_or_default();
    let is = |type_: &str, status: &str| {
        let condition = condition(&resource.status.conditions, type_);
        condition.is_some_and(|condition| condition.status == status)
    };
    let key = || format!("{}/{}", resource.namespace().unwrap_or_default(), resource.name_any());
    let is_current = observed == resource.metadata.generation.unwrap_or_default();
    if !is_current || !is(RESOURCES_APPLIED, "True") || !is(RESOURCES_HEALTHY, "True") {
        return Err(format!("managed resource {} is not healthy", key()));
    }
    if and_done && !is(RESOURCES_PROGRESSING, "False") {
        return Err(format!("managed resource {} is still progressing", key()));
    }
    Ok(())
}

/// An Etcd has no error, is not being deleted, is observed, has no pending operation, and is ready.
pub(super) fn etcd(etcd: &Value) -> Result<(), EtcdUnready> {
    let (metadata, status) = (&etcd["metadata"], &etcd["status"]);
    if let Some(error) = status["lastError"].as_str() {
        return Err(EtcdUnready { text: error.to_owned(), is_reported: true });
    }
    let unready = |text: String| Err(EtcdUnready { text, is_reported: false });
    if !metadata["deletionTimestamp"].is_null() {
        return unready("unexpectedly has a deletion timestamp".to_owned());
    }
    let generation = metadata["generation"].as_i64().unwrap_or_default();
    match status["observedGeneration"].as_i64() {
        None => return unready("observed generation not recorded".to_owned()),
        Some(observed) if observed != generation => {
            return unready(format!("observed generation outdated ({observed}/{generation})"));
        }
        Some(_) => {}
    }
    if let Some(pending) = metadata["annotations"][OPERATION].as_str() {
        return unready(format!("gardener operation \"{pending}\" is not yet picked up by etcd-druid"));
    }
    if status["ready"] == true { Ok(()) } else { unready("is not ready yet".to_owned()) }
}

/// The last entry of a Service's load balancer has a host name or an address.
pub(super) fn load_balancer(service: &Service) -> Result<(), String> {
    let status = service.status.as_ref().and_then(|status| status.load_balancer.as_ref());
    let last = status.and_then(|balancer| balancer.ingress.as_ref()?.last());
    let Some(last) = last else {
        let text = "`.status.loadBalancer.ingress[]` has no elements yet, i.e. external load balancer has not been \
                    created";
        return Err(text.to_owned());
    };
    let is_set = |text: Option<&String>| text.is_some_and(|text| !text.is_empty());
    if is_set(last.hostname.as_ref()) || is_set(last.ip.as_ref()) {
        return Ok(());
    }
    let text =
        "`.status.loadBalancer.ingress[]` has an element which does neither contain `.ip` nor `.hostname`";
    Err(text.to_owned())
}

/// Why the deletion of a ManagedResource does not go on, if its resource-manager says so.
pub(super) fn stuck_deletion(object: &Value) -> Option<&str> {
    let conditions = object["status"]["conditions"].as_array()?;
    let applied = conditions.iter().find(|condition| condition["type"] == RESOURCES_APPLIED)?;
    let is_stuck = applied["status"] != "True"
        && applied["reason"].as_str().is_some_and(|reason| STUCK.contains(&reason));
    applied["message"].as_str().filter(|_| is_stuck)
}

fn condition<'a>(conditions: &'a [Condition], type_: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.type_ == type_)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn managed(observed: i64, statuses: [&str; 3]) -> ManagedResource {
        let types = [RESOURCES_APPLIED, RESOURCES_HEALTHY, RESOURCES_PROGRESSING];
        let conditions: Value = types
            .iter()
            .zip(statuses)
            .map(|(type_, status)| json!({"type": type_, "status": status}))
            .collect();
        let object = json!({
            "metadata": {"name": "m", "namespace": "garden", "generation": 2},
            "status": {"observedGeneration": observed, "conditions": conditions},
        });
        serde_json::from_value(object).unwrap()
    }

    const UNHEALTHY: Option<&str> = Some("managed resource garden/m is not healthy");

    #[rstest]
    #[case::ready(2, ["True", "True", "False"], true, None)]
    #[case::outdated(1, ["True", "True", "False"], true, UNHEALTHY)]
    #[case::not_applied(2, ["False", "True", "False"], true, UNHEALTHY)]
    #[case::unhealthy(2, ["True", "Unknown", "False"], true, UNHEALTHY)]
    #[case::progressing(2, ["True", "True", "True"], true, Some("managed resource garden/m is still progressing"))]
    #[case::may_progress(2, ["True", "True", "True"], false, None)]
    fn managed_resources_are_ready(
        #[case] observed: i64,
        #[case] statuses: [&str; 3],
        #[case] and_done: bool,
        #[case] want: Option<&str>,
    ) {
        assert_eq!(managed_resource(&managed(observed, statuses), and_done).err().as_deref(), want);
    }

    #[rstest]
    #[case::ready(&json!({}), &json!({"observedGeneration": 1, "ready": true}), None)]
    #[case::with_error(&json!({}), &json!({"lastError": "no disk", "ready": true}), Some(("no disk", true)))]
    #[case::new(&json!({}), &json!({}), Some(("observed generation not recorded", false)))]
    #[case::outdated(
        &json!({}),
        &json!({"observedGeneration": 0, "ready": true}),
        Some(("observed generation outdated (0/1)", false)),
    )]
    #[case::goes(
        &json!({"deletionTimestamp": "2023-11-14T22:13:20Z"}),
        &json!({"observedGeneration": 1, "ready": true}),
        Some(("unexpectedly has a deletion timestamp", false)),
    )]
    #[case::pending(
        &json!({"annotations": {"gardener.cloud/operation": "reconcile"}}),
        &json!({"observedGeneration": 1, "ready": true}),
        Some(("gardener operation \"reconcile\" is not yet picked up by etcd-druid", false)),
    )]
    #[case::not_ready(&json!({}), &json!({"observedGeneration": 1}), Some(("is not ready yet", false)))]
    fn etcds_are_ready(#[case] metadata: &Value, #[case] status: &Value, #[case] want: Option<(&str, bool)>) {
        let mut object = json!({"metadata": metadata, "status": status});
        object["metadata"]["generation"] = 1.into();
        let want = want.map(|(text, is_reported)| EtcdUnready { text: text.to_owned(), is_reported });
        assert_eq!(etcd(&object).err(), want);
    }

    #[rstest]
    #[case::ip(&json!([{"ip": "1.2.3.4"}]), true)]
    #[case::hostname(&json!([{"hostname": "a.example.com"}]), true)]
    #[case::none(&json!([]), false)]
    #[case::empty(&json!([{"ip": "1.2.3.4"}, {}]), false)]
    fn services_have_load_balancers(#[case] ingress: &Value, #[case] want: bool) {
        let service = json!({"metadata": {}, "status": {"loadBalancer": {"ingress": ingress}}});
        assert_eq!(load_balancer(&serde_json::from_value(service).unwrap()).is_ok(), want);
    }

    #[rstest]
    #[case("False", "DeletionFailed", Some("finalizers"))]
    #[case("Progressing", "DeletionPending", Some("finalizers"))]
    #[case("False", "ApplyFailed", None)]
    #[case("True", "DeletionFailed", None)]
    fn a_stuck_deletion_is_explained(#[case] status: &str, #[case] reason: &str, #[case] want: Option<&str>) {
        let condition =
            json!({"type": RESOURCES_APPLIED, "status": status, "reason": reason, "message": "finalizers"});
        assert_eq!(stuck_deletion(&json!({"status": {"conditions": [condition]}})), want);
    }
}
