//! Registrations of webhooks that both resource-managers serve.

use api::gardener::{PURPOSE, PURPOSE_KUBE_SYSTEM, PURPOSE_KUBERNETES_DASHBOARD};
use api::resources::{
    HA_CONSIDER, HA_SKIP, MANAGED_BY, MANAGED_BY_GARDENER, PROJECTED_TOKEN_SKIP, PURPOSE as SECRET_PURPOSE,
    PURPOSE_TOKEN_INVALIDATOR,
};
use serde_json::{Value, json};

/// Operations of rules.
pub const CREATE: &[&str] = &["CREATE"];
/// Operations of rules.
pub const CREATE_AND_UPDATE: &[&str] = &["CREATE", "UPDATE"];

/// A webhook.
#[derive(Clone, Debug)]
pub struct ServedWebhook {
    /// Its name, without the domain.
    pub name: String,
    /// The path of its URL.
    pub path: String,
    /// What it is called for.
    pub rules: Vec<Value>,
    /// Selects namespaces.
    pub namespaces: Value,
    /// Selects objects; `None`: all.
    pub objects: Option<Value>,
    /// `Exact` or `Equivalent`.
    pub match_policy: &'static str,
}

/// Which objects a resource-manager changes.
#[derive(Clone, Copy, Debug)]
pub struct WebhookScope {
    /// The label `app` of its own Pods, which it leaves alone.
    pub app: &'static str,
    /// Whether it changes system components only: objects that Gardener manages, in namespaces of system components. If not, it
    /// changes objects in all other namespaces.
    pub system_components: bool,
}

impl ServedWebhook {
    /// A webhook below `/webhooks/`.
    #[must_use]
    pub fn new(name: &str, path: &str, rules: Vec<Value>, namespaces: Value) -> Self {
        Self {
            name: name.to_owned(),
            path: format!("/webhooks/{path}"),
            rules,
            namespaces,
            objects: None,
            match_policy: "Exact",
        }
    }

    /// The same for these objects.
    #[must_use]
    pub fn of_objects(self, selector: Value) -> Self {
        Self { objects: Some(selector), ..self }
    }

    /// The same, and called for objects in other versions, too.
    #[must_use]
    pub fn of_all_versions(self) -> Self {
        Self { match_policy: "Equivalent", ..self }
    }

    /// Its entry in a configuration, which reaches it as the client configuration for its path says.
    #[must_use]
    pub fn registration(&self, client: impl Fn(&str) -> Value) -> Value {
        let mut registration = json!({
            "name": format!("{}.resources.gardener.cloud", self.name),
            "rules": self.rules,
            "namespaceSelector": self.namespaces,
            "clientConfig": client(&self.path),
            "admissionReviewVersions": ["v1beta1", "v1"],
            "failurePolicy": "Fail",
            "matchPolicy": self.match_policy,
            "sideEffects": "None",
            "timeoutSeconds": 10,
        });
        if let Some(objects) = &self.objects {
            registration["objectSelector"] = objects.clone();
        }
        registration
    }
}

impl WebhookScope {
    /// Selects its namespaces.
    #[must_use]
    pub fn namespaces(self) -> Value {
        let operator = if self.system_components { "In" } else { "NotIn" };
        let purposes = [PURPOSE_KUBE_SYSTEM, PURPOSE_KUBERNETES_DASHBOARD];
        json!({ "matchExpressions": [{ "key": PURPOSE, "operator": operator, "values": purposes }] })
    }

    /// Selects its objects without this label.
    #[must_use]
    pub fn without(self, key: &str) -> Value {
        let mut selector = json!({ "matchExpressions": [absent(key)] });
        if self.system_components {
            selector["matchLabels"] = json!({ MANAGED_BY: MANAGED_BY_GARDENER });
        }
        selector
    }

    /// A requirement: an object is none of its own Pods, which could not start without it.
    #[must_use]
    pub fn others(self) -> Value {
        json!({ "key": "app", "operator": "NotIn", "values": [self.app] })
    }

    /// Makes tokens of ServiceAccounts invalid.
    #[must_use]
    pub fn token_invalidator(self) -> ServedWebhook {
        let rules = vec![rule("", &["v1"], &["secrets"], CREATE_AND_UPDATE)];
        let path = "invalidate-service-account-token-secret";
        ServedWebhook::new("token-invalidator", path, rules, self.namespaces())
            .of_objects(json!({ "matchLabels": { SECRET_PURPOSE: PURPOSE_TOKEN_INVALIDATOR } }))
    }

    /// Mounts tokens in Pods.
    #[must_use]
    pub fn projected_token_mount(self) -> ServedWebhook {
        let path = "mount-projected-service-account-token";
        ServedWebhook::new("projected-token-mount", path, vec![new_pods()], self.namespaces())
            .of_objects(json!({ "matchExpressions": [absent(PROJECTED_TOKEN_SKIP), self.others()] }))
    }

    /// Sets replicas and where they run.
    #[must_use]
    pub fn high_availability_config(self) -> ServedWebhook {
        let rules = vec![
            rule("apps", &["v1"], &["deployments", "statefulsets"], CREATE_AND_UPDATE),
            rule("autoscaling", &["v2beta1", "v2"], &["horizontalpodautoscalers"], CREATE_AND_UPDATE),
            rule("autoscaling.k8s.io", &["v1alpha1"], &["hvpas"], CREATE_AND_UPDATE),
        ];
        let mut namespaces = self.namespaces();
        namespaces["matchLabels"] = json!({ HA_CONSIDER: "true" });
        let name = "high-availability-config";
        ServedWebhook::new(name, name, rules, namespaces).of_objects(self.without(HA_SKIP)).of_all_versions()
    }
}

/// A rule.
#[must_use]
pub fn rule(group: &str, versions: &[&str], resources: &[&str], operations: &[&str]) -> Value {
    json!({
        "apiGroups": [group],
        "apiVersions": versions,
        "resources": resources,
        "operations": operations,
    })
}

/// A rule for Pods that are created.
#[must_use]
pub fn new_pods() -> Value {
    rule("", &["v1"], &["pods"], CREATE)
}

/// A requirement: an object does not have this label.
#[must_use]
pub fn absent(key: &str) -> Value {
    json!({ "key": key, "operator": "DoesNotExist" })
}
