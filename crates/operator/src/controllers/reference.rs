//! Protects Secrets and ConfigMaps that Gardens refer to from deletion
//! (contracts/operator/controllers/reference.yaml).

use std::collections::BTreeSet;

use api::garden::shoot::api_server::{AdmissionPlugin, AuditConfig};
use api::gardener::ROLE;
use api::operator::kube_apiserver::AuditWebhook;
use api::operator::{FINALIZER, Garden, REFERENCE_PROTECTION};
use controller::reconcile::finalizer;
use controller::reconcile::references::{self, Reference, ReferenceKind, ReferenceRule};
use controller::{Controller, Event, Selection, Watch};

use super::{GARDEN_NAMESPACE, OperatorContext, TIMEOUT};

/// Name in log and metrics.
pub const NAME: &str = "reference";

/// The controller of one instance. OPR-REF-001, OPR-REF-003, OPR-REF-005 to -008.
pub fn controller(context: &OperatorContext) -> Controller {
    let runtime = &context.runtime;
    let gardens = runtime.store::<Garden>(Selection::all());
    let changed = Watch::of(&gardens).filter(matters);
    let rule = ReferenceRule {
        name: NAME,
        workers: 1,
        timeout: TIMEOUT,
        finalizer: REFERENCE_PROTECTION,
        managed: ROLE,
        namespace: Some(GARDEN_NAMESPACE),
        references,
        is_released,
    };
    references::controller(runtime, rule, gardens, changed)
}

/// OPR-REF-002: a Garden matters when it appears, when it refers to other objects, and when it is released.
fn matters(event: &Event<Garden>) -> bool {
    match event {
        Event::Create(_) => true,
        Event::Update { old, new } => fields(old) != fields(new) || is_released(new),
        Event::Delete(_) | Event::Generic(_) => false,
    }
}

/// OPR-REF-004: whether the operator has nothing more to do for a Garden that is being deleted.
fn is_released(garden: &Garden) -> bool {
    garden.metadata.deletion_timestamp.is_some() && !finalizer::has(garden, FINALIZER)
}

/// The objects that a Garden refers to. OPR-REF-001.
pub(super) fn references(garden: &Garden) -> BTreeSet<Reference<'_>> {
    fields(garden).into_iter().flatten().collect()
}

/// What each of the nine fields refers to.
fn fields(garden: &Garden) -> [BTreeSet<Reference<'_>>; 9] {
    let cluster = &garden.spec.virtual_cluster;
    let backup = cluster.etcd.as_ref().and_then(|etcd| etcd.main.as_ref()?.backup.as_ref());
    let kubernetes = cluster.kubernetes.kube_api_server.as_ref();
    let gardener = cluster.gardener.api_server.as_ref();
    let authentication = kubernetes.and_then(|server| server.authentication.as_ref()?.webhook.as_ref());
    [
        secrets(backup.map(|backup| backup.secret_ref.name.as_str())),
        secrets(kubernetes.iter().flat_map(|server| &server.admission_plugins).filter_map(plugin_secret)),
        secrets(gardener.iter().flat_map(|server| &server.admission_plugins).filter_map(plugin_secret)),
        secrets(authentication.map(|webhook| webhook.kubeconfig_secret_name.as_str())),
        secrets(kubernetes.and_then(|server| Some(server.sni.as_ref()?.secret_name.as_str()))),
        secrets(kubernetes.and_then(|server| server.audit_webhook.as_ref()).map(audit_secret)),
        secrets(gardener.and_then(|server| server.audit_webhook.as_ref()).map(audit_secret)),
        policy(kubernetes.and_then(|server| server.audit_config.as_ref())),
        policy(gardener.and_then(|server| server.audit_config.as_ref())),
    ]
}

fn secrets<'a>(names: impl IntoIterator<Item = &'a str>) -> BTreeSet<Reference<'a>> {
    names.into_iter().map(|name| (ReferenceKind::Secret, name)).collect()
}

fn plugin_secret(plugin: &AdmissionPlugin) -> Option<&str> {
    plugin.kubeconfig_secret_name.as_deref()
}

fn audit_secret(webhook: &AuditWebhook) -> &str {
    &webhook.kubeconfig_secret_name
}

fn policy(config: Option<&AuditConfig>) -> BTreeSet<Reference<'_>> {
    let reference = config.and_then(|config| config.audit_policy.as_ref()?.config_map_ref.as_ref());
    let name = reference.map(|reference| reference.name.as_deref().unwrap_or_default());
    name.map(|name| (ReferenceKind::ConfigMap, name)).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn garden(metadata: &Value, kubernetes: &Value, gardener: &Value, etcd: &Value) -> Arc<Garden> {
        let cluster = json!({
            "etcd": etcd,
            "kubernetes": {"kubeAPIServer": kubernetes},
            "gardener": {"gardenerAPIServer": gardener},
        });
        let garden = json!({"metadata": metadata, "spec": {"virtualCluster": cluster}});
        Arc::new(serde_json::from_value(garden).unwrap())
    }

    #[rstest]
    #[case::backup(&json!({}), &json!({}), &json!({"main": {"backup": {"secretRef": {"name": "a"}}}}), true)]
    #[case::plugin(&json!({"admissionPlugins": [{"name": "x", "kubeconfigSecretName": "a"}]}), &json!({}), &json!({}), true)]
    #[case::gardener_plugin(&json!({}), &json!({"admissionPlugins": [{"name": "x", "kubeconfigSecretName": "a"}]}), &json!({}), true)]
    #[case::authentication(&json!({"authentication": {"webhook": {"kubeconfigSecretName": "a"}}}), &json!({}), &json!({}), true)]
    #[case::sni(&json!({"sni": {"secretName": "a"}}), &json!({}), &json!({}), true)]
    #[case::audit(&json!({"auditWebhook": {"kubeconfigSecretName": "a"}}), &json!({}), &json!({}), true)]
    #[case::gardener_audit(&json!({}), &json!({"auditWebhook": {"kubeconfigSecretName": "a"}}), &json!({}), true)]
    #[case::policy(&json!({"auditConfig": {"auditPolicy": {"configMapRef": {"name": "a"}}}}), &json!({}), &json!({}), true)]
    #[case::gardener_policy(&json!({}), &json!({"auditConfig": {"auditPolicy": {"configMapRef": {"name": "a"}}}}), &json!({}), true)]
    #[case::nothing(&json!({}), &json!({}), &json!({}), false)]
    #[case::a_plugin_without_secret(&json!({"admissionPlugins": [{"name": "x"}]}), &json!({}), &json!({}), false)]
    #[case::another_field(&json!({"eventTTL": "2h"}), &json!({}), &json!({}), false)]
    fn a_garden_matters_when_a_reference_changes(
        #[case] kubernetes: &Value,
        #[case] gardener: &Value,
        #[case] etcd: &Value,
        #[case] matters: bool,
    ) {
        let plain = garden(&json!({}), &json!({}), &json!({}), &json!({}));
        let changed = garden(&json!({}), kubernetes, gardener, etcd);
        let update =
            |old: &Arc<Garden>, new: &Arc<Garden>| Event::Update { old: old.clone(), new: new.clone() };
        assert_eq!(super::matters(&update(&plain, &changed)), matters);
        assert_eq!(super::matters(&update(&changed, &plain)), matters);
        assert!(super::matters(&Event::Create(changed.clone())));
        assert!(!super::matters(&Event::Delete(changed.clone())));
        assert!(!super::matters(&Event::Generic(changed)));
    }

    #[rstest]
    #[case::lives(&json!({}), false)]
    #[case::goes(&json!({"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["gardener.cloud/operator"]}), false)]
    #[case::is_done(&json!({"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["gardener.cloud/reference-protection"]}), true)]
    fn a_garden_matters_when_the_operator_is_done_with_it(#[case] metadata: &Value, #[case] matters: bool) {
        let garden = garden(metadata, &json!({}), &json!({}), &json!({}));
        assert_eq!(super::matters(&Event::Update { old: garden.clone(), new: garden }), matters);
    }

    #[test]
    fn the_order_of_plugins_does_not_matter() {
        let plugins = |names: [&str; 2]| {
            let plugins = names.map(|name| json!({"name": name, "kubeconfigSecretName": name}));
            garden(&json!({}), &json!({"admissionPlugins": plugins}), &json!({}), &json!({}))
        };
        let (old, new) = (plugins(["a", "b"]), plugins(["b", "a"]));
        assert!(!super::matters(&Event::Update { old, new }));
    }
}
