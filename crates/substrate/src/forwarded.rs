//! A pod of a cluster, connected to from outside as `kubectl port-forward` does it: one connection through the API server
//! stays, where [`crate::proxied`] begins a new one for each request.

use std::io;

use async_trait::async_trait;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::ListParams;
use webhook::dial::{Duplex, Way};

/// A port of the pods with these labels, of which any that is ready answers.
pub struct Forwarded {
    pods: Api<Pod>,
    labels: String,
    port: u16,
}

impl Forwarded {
    /// Labels as selectors read: `app=gardener-resource-manager`.
    #[must_use]
    pub fn new(client: kube::Client, namespace: &str, labels: &str, port: u16) -> Self {
        Self { pods: Api::namespaced(client, namespace), labels: labels.to_owned(), port }
    }

    async fn ready(&self) -> io::Result<String> {
        let found = self.pods.list(&ListParams::default().labels(&self.labels)).await;
        let found = found.map_err(io::Error::other)?;
        let pod = found.items.into_iter().find(is_ready).and_then(|pod| pod.metadata.name);
        pod.ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotConnected, format!("no pod with {} is ready", self.labels))
        })
    }
}

#[async_trait]
impl Way for Forwarded {
    async fn open(&self) -> io::Result<Box<dyn Duplex>> {
        let pod = self.ready().await?;
        let forwarder = self.pods.portforward(&pod, &[self.port]).await;
        let stream = forwarder.map_err(io::Error::other)?.take_stream(self.port);
        let stream = stream.ok_or_else(|| io::Error::other("the port was not forwarded"))?;
        Ok(Box::new(stream))
    }
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let is_ready = |type_: &str, status: &str| type_ == "Ready" && status == "True";
    pod.metadata.deletion_timestamp.is_none()
        && conditions.into_iter().any(|condition| is_ready(&condition.type_, &condition.status))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_pod_that_is_ready_and_stays_is_taken() {
        let of = |status: &str| json!([{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": status}]);
        let table = [
            (of("True"), Value::Null, true),
            (of("False"), Value::Null, false),
            (of("True"), json!("2026-03-02T08:20:11Z"), false),
            (json!([{"type": "PodScheduled", "status": "True"}]), Value::Null, false),
            (Value::Null, Value::Null, false),
        ];
        for (conditions, deleted, want) in table {
            let pod =
                json!({"metadata": {"deletionTimestamp": deleted}, "status": {"conditions": conditions}});
            let read: Pod = serde_json::from_value(pod.clone()).unwrap();
            assert_eq!(is_ready(&read), want, "{pod}");
        }
    }
}
