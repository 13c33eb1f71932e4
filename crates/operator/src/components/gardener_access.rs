//! How the operator, and people who look after the Garden, reach the virtual cluster: two kubeconfigs with all rights.

use std::collections::BTreeMap;

use formats::{base64, yaml};
use serde_json::{Value, json};

use super::error::RenderError;
use super::generated::CA;
use super::lifecycle::{Lifecycle, RemovalStep};
use super::managed::ManagedObjects;
use super::networks::VIRTUAL_API_SERVER;
use super::rbac::{account, cluster_role_binding};
use super::rendering::Rendering;
use super::values::{GardenValues, service_host};
use super::{NAMESPACE, access};

/// The Secret with the external address of the API server.
pub const EXTERNAL: &str = "gardener";
/// The Secret with the address in the runtime cluster.
pub const INTERNAL: &str = "gardener-internal";
/// The ManagedResource.
pub const MANAGED: &str = "shoot-core-gardeneraccess";

/// Its Secrets and the binding of their ServiceAccounts, which stays when the ManagedResource is deleted. OPC-130, OPC-131.
///
/// # Errors
/// If the Garden has no domain, the authority of the virtual cluster was not generated, or an existing kubeconfig cannot be read.
pub fn render(values: &GardenValues<'_>) -> Result<Rendering, RenderError> {
    let external = format!("api.{}", values.first_domain()?);
    let mut steps = Vec::new();
    for (name, host) in [(EXTERNAL, external), (INTERNAL, service_host(VIRTUAL_API_SERVER))] {
        steps.push(access::secret_with_kubeconfig(name, &kubeconfig(values, name, &host)?));
    }
    let subjects = [account(EXTERNAL), account(INTERNAL)];
    let binding =
        cluster_role_binding("gardener.cloud:system:gardener", &BTreeMap::new(), "cluster-admin", &subjects);
    let managed = vec![ManagedObjects::in_virtual(MANAGED, vec![binding]).keeping_objects()];
    Ok(Rendering { steps, managed, awaited_service: None })
}

/// Its Secrets go before the ManagedResource.
#[must_use]
pub fn lifecycle() -> Lifecycle {
    let managed = Lifecycle::of_managed(MANAGED);
    let secrets = [EXTERNAL, INTERNAL].map(RemovalStep::secret);
    Lifecycle { removal: secrets.into_iter().chain(managed.removal).collect(), ..managed }
}

/// A kubeconfig whose token the resource-manager of the virtual cluster fills in; users that are in it already stay.
fn kubeconfig(values: &GardenValues<'_>, secret: &str, host: &str) -> Result<String, RenderError> {
    let users = match values.observed.kubeconfigs.get(secret) {
        Some(existing) => existing_users(secret, existing)?,
        None => json!([{"name": NAMESPACE, "user": {}}]),
    };
    let authorities = base64::encode(values.secrets.bundle_pem(CA)?);
    let kubeconfig = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "preferences": {},
        "clusters": [{
            "name": NAMESPACE,
            "cluster": {"server": format!("https://{host}"), "certificate-authority-data": authorities},
        }],
        "contexts": [{"name": NAMESPACE, "context": {"cluster": NAMESPACE, "user": NAMESPACE}}],
        "current-context": NAMESPACE,
        "users": users,
    });
    yaml::to_string(&kubeconfig).map_err(RenderError::yaml(secret))
}

fn existing_users(secret: &str, kubeconfig: &[u8]) -> Result<Value, RenderError> {
    let unreadable = |reason: String| RenderError::ExistingKubeconfig { name: secret.to_owned(), reason };
    let text = str::from_utf8(kubeconfig).map_err(|error| unreadable(error.to_string()))?;
    let existing: Value = yaml::from_str(text).map_err(|error| unreadable(error.to_string()))?;
    let Value::Object(mut fields) = existing else {
        return Err(unreadable("it is no object".to_owned()));
    };
    Ok(fields.remove("users").unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::fixture::{Fixture, assert_objects, managed};
    use crate::components::rendering::{AccessSecret, DirectStep};

    fn secret(name: &str, server: &str, users: &str) -> DirectStep {
        let text = format!(
            "apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority-data: Y2EgYnVuZGxl\n    server: {server}\n  \
             name: garden\ncontexts:\n- context:\n    cluster: garden\n    user: garden\n  name: garden\n\
             current-context: garden\nkind: Config\npreferences: {{}}\nusers:\n{users}"
        );
        let object = json!({
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
            "metadata": {
                "name": name, "namespace": "garden",
                "labels": {
                    "resources.gardener.cloud/purpose": "token-requestor",
                    "resources.gardener.cloud/class": "shoot",
                },
                "annotations": {
                    "serviceaccount.resources.gardener.cloud/name": name,
                    "serviceaccount.resources.gardener.cloud/namespace": "kube-system",
                },
            },
            "data": {"kubeconfig": base64::encode(text.as_bytes())},
        });
        DirectStep::PatchLocked(AccessSecret { object, removed_key: "token" })
    }

    const EXTERNAL_SERVER: &str = "https://api.virtual.example.com";
    const INTERNAL_SERVER: &str = "https://virtual-garden-kube-apiserver.garden.svc.cluster.local";
    const NOBODY: &str = "- name: garden\n  user: {}\n";

    #[test]
    fn both_kubeconfigs_have_all_rights() {
        let rendering = render(&Fixture::default().values()).unwrap();
        let want = [
            secret("gardener", EXTERNAL_SERVER, NOBODY),
            secret("gardener-internal", INTERNAL_SERVER, NOBODY),
        ];
        assert_eq!(rendering.steps, want);
        let managed = managed(&rendering, "shoot-core-gardeneraccess");
        let account =
            |name: &str| json!({"kind": "ServiceAccount", "name": name, "namespace": "kube-system"});
        let binding = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": "gardener.cloud:system:gardener"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin",
            },
            "subjects": [account("gardener"), account("gardener-internal")],
        });
        assert_objects("access", &managed.objects, &[binding], &[]);
        assert!(managed.keeps_objects);
    }

    #[test]
    fn the_token_of_an_existing_kubeconfig_stays() {
        let mut fixture = Fixture::default();
        let existing = b"kind: Config\nusers:\n- name: garden\n  user:\n    token: abc\n";
        fixture.observed.kubeconfigs.insert("gardener".to_owned(), existing.to_vec());
        let want = [
            secret("gardener", EXTERNAL_SERVER, "- name: garden\n  user:\n    token: abc\n"),
            secret("gardener-internal", INTERNAL_SERVER, NOBODY),
        ];
        assert_eq!(render(&fixture.values()).unwrap().steps, want);
        for unreadable in [b"[".as_slice(), b"text", b"\xff"] {
            fixture.observed.kubeconfigs.insert("gardener".to_owned(), unreadable.to_vec());
            let error = render(&fixture.values()).unwrap_err().to_string();
            assert!(
                error.starts_with("failed to read the kubeconfig in Secret garden/gardener: "),
                "{error}"
            );
        }
    }

    #[test]
    fn a_garden_without_a_domain_is_refused() {
        let fixture = Fixture::with(&json!({"spec": {"virtualCluster": {"dns": {"domains": []}}}}));
        let error = render(&fixture.values()).unwrap_err().to_string();
        assert_eq!(error, "spec.virtualCluster.dns.domains is empty: add a domain");
    }
}
