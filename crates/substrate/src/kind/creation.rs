//! Creates clusters.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::machine::Machine;
use super::programs::Programs;
use super::tether::{LOG, TetheredCluster};
use super::{Kind, KindError, Options, PREFIX, export_logs, node_image};
use crate::command::{self, SHORT_TIMEOUT};
use crate::docker::Engine;
use crate::kubeconfig;

impl Kind {
    /// Creates a cluster and waits until its nodes and its DNS are ready.
    ///
    /// # Errors
    /// When a requirement is missing, the name is in use, or it does not become ready in time; then only the logs of
    /// its nodes remain.
    pub async fn create(options: &Options) -> Result<Self, KindError> {
        let started_at = Instant::now();
        let programs = options.surroundings.programs()?;
        let engine = programs.docker.engine().await?;
        let free_disk = Machine::inspect(Path::new(&engine.folder)).disk;
        let shape = options.shape.unwrap_or_default();
        free_disk.map_or(Ok(()), |free| check_disk_space(&engine, free, shape.disk_bytes()))?;
        let image = node_image::chosen(&programs, options.surroundings.image.as_deref()).await?;
        let name = options.cluster_name();
        if Self::exists(&programs, &name).await? {
            return Err(KindError::NameInUse { name });
        }
        let folder = options.create_folder()?;
        let (config, kubeconfig) = (folder.path().join("kind.yaml"), folder.path().join("kubeconfig"));
        fs::write(&config, shape.config(engine.address.as_deref(), options.publishes))
            .map_err(|source| KindError::Write { path: config.clone(), source })?;
        let mut tethered = TetheredCluster::spawn(
            &programs,
            &name,
            folder.path(),
            &[
                "--retain".as_ref(),
                "--image".as_ref(),
                image.as_ref(),
                "--config".as_ref(),
                config.as_os_str(),
                "--kubeconfig".as_ref(),
                kubeconfig.as_os_str(),
            ],
        )?;
        if let Err(error) = tethered.wait_until_created(options.patience, folder.path()).await {
            // The error quotes the end of the log of kind. What fails here must not hide it.
            drop(export_logs(&programs, &name, &options.logs).await);
            let copied = fs::create_dir_all(&options.logs)
                .and_then(|()| fs::copy(folder.path().join(LOG), options.logs.join(LOG)));
            let logs = copied.is_ok().then(|| options.logs.clone());
            return Err(KindError::NotCreated { why: Box::new(error), logs });
        }
        let (url, client) = (kubeconfig::url(&kubeconfig)?, kubeconfig::client(&kubeconfig).await?);
        let (took, folder) = (Duration::ZERO, Some(folder));
        let (tethered, stays) = (Some(tethered), false);
        let mut cluster =
            Self { name, took, nodes: 0, programs, kubeconfig, url, client, tethered, folder, stays };
        cluster.nodes = cluster.await_nodes(options).await?;
        cluster.took = started_at.elapsed();
        Ok(cluster)
    }

    /// Whether a cluster of this name exists.
    pub(super) async fn exists(programs: &Programs, name: &str) -> Result<bool, KindError> {
        let clusters =
            command::run(&programs.kind, &["get", "clusters"], "list clusters", SHORT_TIMEOUT).await?;
        Ok(clusters.lines().any(|cluster| cluster == name))
    }
}

impl Options {
    /// The cluster's name for `kind`, which allows no capitals.
    pub(super) fn cluster_name(&self) -> String {
        format!("{PREFIX}{}", self.name.to_lowercase())
    }

    /// Creates the folder for its kubeconfig and log.
    pub(super) fn create_folder(&self) -> Result<TempDir, KindError> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(&self.within);
        folder.map_err(|source| KindError::Write { path: self.within.clone(), source })
    }
}

fn check_disk_space(engine: &Engine, free: u64, wanted: u64) -> Result<(), KindError> {
    let mebibytes = |bytes: u64| bytes >> 20;
    let folder = engine.folder.clone().into();
    if free >= wanted {
        return Ok(());
    }
    Err(KindError::NoRoom { folder, free: mebibytes(free), wanted: mebibytes(wanted) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Shape;
    use super::*;

    #[test]
    fn too_little_disk_space_is_an_error_with_a_remedy() {
        let engine = Engine::read(&json!({"DockerRootDir": "/data"}));
        assert!(check_disk_space(&engine, 3 << 30, Shape::ThreeZones.disk_bytes()).is_ok());
        let error = check_disk_space(&engine, 2 << 30, Shape::ThreeZones.disk_bytes()).unwrap_err();
        let words = "failed to make room for the cluster: /data has 2048 MiB free and 3072 are needed; `docker system prune`";
        assert!(error.to_string().starts_with(words), "{error}");
        assert!(check_disk_space(&engine, 2 << 30, Shape::OneNode.disk_bytes()).is_ok());
    }
}
