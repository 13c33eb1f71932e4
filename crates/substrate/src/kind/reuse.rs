//! A cluster that was there before, and stays.

use std::fs;
use std::time::{Duration, Instant};

use super::{Kind, KindError, Options};
use crate::command::{self, QUICK};
use crate::kubeconfig;

impl Kind {
    /// The cluster of this name once its nodes and its DNS are ready; none if there is no such cluster. Its scheduler
    /// and its controllers work again. Dropping it lets it stay.
    ///
    /// # Errors
    /// When something that it needs is missing, it has another number of nodes, or it is not ready in time.
    pub async fn reuse(options: &Options) -> Result<Option<Self>, KindError> {
        let begun = Instant::now();
        let programs = options.surroundings.programs()?;
        programs.docker.engine().await?;
        let name = options.cluster();
        if !Self::exists(&programs, &name).await? {
            return Ok(None);
        }
        if let Some(shape) = options.shape {
            let said =
                command::run(&programs.kind, &["get", "nodes", "--name", &name], "list nodes", QUICK).await?;
            let (nodes, wanted) = (said.lines().count(), shape.nodes());
            if nodes != wanted {
                return Err(KindError::OtherShape { name, nodes, wanted });
            }
        }
        let arguments = ["get", "kubeconfig", "--name", &name];
        let text = command::run(&programs.kind, &arguments, "get its kubeconfig", QUICK).await?;
        let folder = options.folder()?;
        let kubeconfig = folder.path().join("kubeconfig");
        fs::write(&kubeconfig, text)
            .map_err(|source| KindError::Write { path: kubeconfig.clone(), source })?;
        let (url, client) = (kubeconfig::url(&kubeconfig)?, kubeconfig::client(&kubeconfig).await?);
        let (took, folder, tethered, stays) = (Duration::ZERO, Some(folder), None, false);
        let mut cluster =
            Self { name, took, nodes: 0, programs, kubeconfig, url, client, tethered, folder, stays };
        cluster.nodes = cluster.await_nodes(options).await?;
        cluster.resume().await?;
        cluster.took = begun.elapsed();
        Ok(Some(cluster))
    }
}
