//! Uses existing clusters, which stay.

use std::fs;
use std::time::{Duration, Instant};

use super::{Kind, KindError, Options};
use crate::command::{self, SHORT_TIMEOUT};
use crate::kubeconfig;

impl Kind {
    /// Returns the cluster of this name once its nodes and its DNS are ready; absent if it does not exist. Starts its
    /// scheduler and controllers. Dropping it keeps it.
    ///
    /// # Errors
    /// When a requirement is missing, it has another number of nodes, or it is not ready in time.
    pub async fn reuse(options: &Options) -> Result<Option<Self>, KindError> {
        let started_at = Instant::now();
        let programs = options.surroundings.programs()?;
        programs.docker.engine().await?;
        let name = options.cluster_name();
        if !Self::exists(&programs, &name).await? {
            return Ok(None);
        }
        if let Some(shape) = options.shape {
            let output =
                command::run(&programs.kind, &["get", "nodes", "--name", &name], "list nodes", SHORT_TIMEOUT)
                    .await?;
            let (nodes, wanted) = (output.lines().count(), shape.nodes());
            if nodes != wanted {
                return Err(KindError::OtherShape { name, nodes, wanted });
            }
        }
        let arguments = ["get", "kubeconfig", "--name", &name];
        let text = command::run(&programs.kind, &arguments, "get its kubeconfig", SHORT_TIMEOUT).await?;
        let folder = options.create_folder()?;
        let kubeconfig = folder.path().join("kubeconfig");
        fs::write(&kubeconfig, text)
            .map_err(|source| KindError::Write { path: kubeconfig.clone(), source })?;
        let (url, client) = (kubeconfig::url(&kubeconfig)?, kubeconfig::client(&kubeconfig).await?);
        let (took, folder, tethered, stays) = (Duration::ZERO, Some(folder), None, false);
        let mut cluster =
            Self { name, took, nodes: 0, programs, kubeconfig, url, client, tethered, folder, stays };
        cluster.nodes = cluster.await_nodes(options).await?;
        cluster.resume().await?;
        cluster.took = started_at.elapsed();
        Ok(Some(cluster))
    }
}
