//! Waits until a cluster is ready.

use std::time::Instant;

use serde_json::Value;

use super::{Kind, KindError, Options, POLL_INTERVAL, Shape};

impl Kind {
    /// Waits until the wanted nodes (or all existing ones) and the DNS are ready; returns the number of nodes.
    pub(super) async fn await_nodes(&self, options: &Options) -> Result<usize, KindError> {
        let started_at = Instant::now();
        loop {
            let answer = match self.check_ready(options.shape).await {
                Ok(nodes) => return Ok(nodes),
                Err(answer) => answer,
            };
            if started_at.elapsed() > options.patience {
                let failed = self.collect_logs(&options.logs).await;
                let logs = failed.is_none().then(|| options.logs.clone());
                return Err(KindError::NotReady { seconds: options.patience.as_secs(), answer, logs });
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Returns the number of nodes, or what is missing.
    async fn check_ready(&self, shape: Option<Shape>) -> Result<usize, String> {
        let list = self.ask("/api/v1/nodes").await?;
        let all: Vec<&Value> = list["items"].as_array().into_iter().flatten().collect();
        let ready = all.iter().filter(|node| is_ready(node)).count();
        let nodes = shape.map_or(all.len().max(1), Shape::nodes);
        if ready < nodes {
            return Err(format!("{ready} of {nodes} nodes are ready"));
        }
        let dns = self.ask("/apis/apps/v1/namespaces/kube-system/deployments/coredns").await?;
        match dns["status"]["availableReplicas"].as_u64() {
            Some(1..) => Ok(nodes),
            _ => Err("CoreDNS is not available".to_owned()),
        }
    }
}

fn is_ready(node: &Value) -> bool {
    let mut conditions = node["status"]["conditions"].as_array().into_iter().flatten();
    conditions.any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::net::{Ipv4Addr, SocketAddr};
    use std::os::unix::fs::PermissionsExt as _;
    use std::time::Duration;

    use serde_json::json;

    use super::super::programs::Surroundings;
    use super::*;
    use crate::cluster::Cluster;
    use crate::embedded;

    /// A `kind` that creates a cluster whose API server is the test's.
    const KIND: &str = r#"case "$1" in
create) while [ "$1" != --kubeconfig ]; do shift; done; cp FOLDER/kubeconfig "$2" ;;
export) mkdir -p "$3"; echo words > "$3/node.log" ;;
esac"#;
    const DOCKER: &str = r#"case "$1" in
info) echo '{"ServerVersion": "1", "DockerRootDir": "/"}' ;;
images) echo node:v1 ;;
esac"#;

    #[tokio::test]
    async fn unready_nodes_are_counted_and_their_logs_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        let server = embedded::ControlPlane::default().start();
        let front = server.serve(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await.unwrap();
        fs::write(here.join("kubeconfig"), front.kubeconfig()).unwrap();
        for (name, script) in [("docker", DOCKER), ("kind", KIND), ("kubectl", "")] {
            let script = script.replace("FOLDER", &here.display().to_string());
            fs::write(here.join(name), format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(here.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let client = crate::kubeconfig::client(&here.join("kubeconfig")).await.unwrap();
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "one"}});
        Cluster::new(client).create(&node, "").await.unwrap();
        let options = Options {
            surroundings: Surroundings { path: here.into(), ..Surroundings::default() },
            name: "one".to_owned(),
            shape: None,
            within: here.to_owned(),
            logs: here.join("logs"),
            patience: Duration::from_secs(3),
            publishes: true,
        };
        let error = Kind::create(&options).await.err().expect("a node is not ready").to_string();
        let words =
            "the cluster is not ready after 3 s: 0 of 1 nodes are ready; the logs of its nodes are in ";
        assert!(error.starts_with(words), "{error}");
        assert_eq!(fs::read_to_string(here.join("logs/node.log")).unwrap(), "words\n");
        front.shutdown().await;
    }
}
