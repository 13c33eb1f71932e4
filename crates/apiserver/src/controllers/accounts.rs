//! Creates the service account `default` and the ConfigMap `kube-root-ca.crt` in every namespace.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::ObjectChange;
use super::client::{Client, RequestError};
use crate::call;
use crate::object::meta;
use crate::state::ServerState;

const ROOT_CA: &str = "kube-root-ca.crt";
const DESCRIPTION: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal \
    endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across \
    distributions of Kubernetes clusters.";

/// Creates and recreates both objects.
#[derive(Debug)]
pub(super) struct Accounts {
    default_account: bool,
    root_ca: bool,
    failed: BTreeSet<String>,
}

impl Accounts {
    pub(super) fn new(default_account: bool, root_ca: bool) -> Self {
        Self { default_account, root_ca, failed: BTreeSet::new() }
    }

    /// Creates missing objects; returns whether a retry is necessary.
    pub(super) async fn sync(
        &mut self,
        shared: &ServerState,
        client: &Client,
        changes: &[ObjectChange],
    ) -> bool {
        if !self.default_account && !self.root_ca {
            return false;
        }
        let mut due = std::mem::take(&mut self.failed);
        for change in changes {
            let namespace = match (change.table.as_str(), change.key.split_once('/')) {
                ("namespaces", None) => &*change.key,
                ("serviceaccounts", Some((namespace, "default")))
                | ("configmaps", Some((namespace, ROOT_CA))) => namespace,
                _ => continue,
            };
            due.insert(namespace.to_owned());
        }
        for namespace in due {
            let found = shared.store.get("namespaces", &namespace);
            if found.is_none_or(|found| meta::is_terminating(found.value())) {
                continue;
            }
            let mut outcomes = Vec::new();
            if self.default_account {
                outcomes.push(ensure_account(shared, client, &namespace).await);
            }
            if self.root_ca {
                outcomes.push(ensure_root_ca(shared, client, &namespace).await);
            }
            if outcomes.iter().any(|outcome| outcome.as_ref().is_err_and(|error| !error.is_outdated())) {
                self.failed.insert(namespace);
            }
        }
        !self.failed.is_empty()
    }
}

async fn ensure_account(shared: &ServerState, client: &Client, namespace: &str) -> Result<(), RequestError> {
    if shared.store.get("serviceaccounts", &call::key(true, namespace, "default")).is_some() {
        return Ok(());
    }
    let object = json!({"metadata": {"name": "default", "namespace": namespace}});
    let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts");
    client.create("service-account-controller", &path, &object).await.map(drop)
}

async fn ensure_root_ca(shared: &ServerState, client: &Client, namespace: &str) -> Result<(), RequestError> {
    let controller = "root-ca-cert-publisher";
    let Ok(authority) = shared.authority.get() else { return Ok(()) };
    let data = json!({"ca.crt": authority.pem()});
    let path = format!("/api/v1/namespaces/{namespace}/configmaps");
    let Some(found) = shared.store.get("configmaps", &call::key(true, namespace, ROOT_CA)) else {
        let annotations = json!({"kubernetes.io/description": DESCRIPTION});
        let metadata = json!({"name": ROOT_CA, "namespace": namespace, "annotations": annotations});
        return client
            .create(controller, &path, &json!({"metadata": metadata, "data": data}))
            .await
            .map(drop);
    };
    if found.value().get("data") == Some(&data) {
        return Ok(());
    }
    let mut object: Value = found.value().clone();
    object["data"] = data;
    object["metadata"]["annotations"]["kubernetes.io/description"] = DESCRIPTION.into();
    client.update(controller, &format!("{path}/{ROOT_CA}"), &object).await.map(drop)
}
