//! How a cluster comes about.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::machine::Machine;
use super::programs::Programs;
use super::tether::{LOG, Tethered};
use super::{Kind, KindError, Options, PREFIX, collect, node_image};
use crate::command::{self, QUICK};
use crate::docker::Engine;
use crate::kubeconfig;

impl Kind {
    /// Creates a cluster and waits until its nodes and its DNS are ready.
    ///
    /// # Errors
    /// When something that it needs is missing, the name is in use, or it does not get ready in time; nothing is left of it
    /// then but the logs of its nodes.
    pub async fn create(options: &Options) -> Result<Self, KindError> {
        let begun = Instant::now();
        let programs = options.surroundings.programs()?;
        let engine = programs.docker.engine().await?;
        let room = Machine::look(Path::new(&engine.folder)).disk;
        let shape = options.shape.unwrap_or_default();
        room.map_or(Ok(()), |free| has_room(&engine, free, shape.room()))?;
        let image = node_image::chosen(&programs, options.surroundings.image.as_deref()).await?;
        let name = options.cluster();
        if Self::exists(&programs, &name).await? {
            return Err(KindError::NameInUse { name });
        }
        let folder = options.folder()?;
        let (config, kubeconfig) = (folder.path().join("kind.yaml"), folder.path().join("kubeconfig"));
        fs::write(&config, shape.config(engine.address.as_deref(), options.publishes))
            .map_err(|source| KindError::Write { path: config.clone(), source })?;
        let mut tethered = Tethered::spawn(
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
        if let Err(error) = tethered.created(options.patience, folder.path()).await {
            collect(&programs, &name, &options.logs).await;
            // The error quotes its end, and is told in any case.
            let _ = fs::create_dir_all(&options.logs);
            let _ = fs::copy(folder.path().join(LOG), options.logs.join(LOG));
            return Err(KindError::NotCreated { why: Box::new(error), logs: options.logs.clone() });
        }
        let (url, client) = (kubeconfig::url(&kubeconfig)?, kubeconfig::client(&kubeconfig).await?);
        let (took, folder) = (Duration::ZERO, Some(folder));
        let (tethered, stays) = (Some(tethered), false);
        let mut cluster =
            Self { name, took, nodes: 0, programs, kubeconfig, url, client, tethered, folder, stays };
        cluster.nodes = cluster.await_nodes(options).await?;
        cluster.took = begun.elapsed();
        Ok(cluster)
    }

    /// Whether there is a cluster of this name, whoever made it.
    pub(super) async fn exists(programs: &Programs, name: &str) -> Result<bool, KindError> {
        let clusters = command::run(&programs.kind, &["get", "clusters"], "list clusters", QUICK).await?;
        Ok(clusters.lines().any(|cluster| cluster == name))
    }
}

impl Options {
    /// How `kind` calls it, which takes no capitals.
    pub(super) fn cluster(&self) -> String {
        format!("{PREFIX}{}", self.name.to_lowercase())
    }

    /// A folder for what is known of it.
    pub(super) fn folder(&self) -> Result<TempDir, KindError> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(&self.within);
        folder.map_err(|source| KindError::Write { path: self.within.clone(), source })
    }
}

fn has_room(engine: &Engine, free: u64, wanted: u64) -> Result<(), KindError> {
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
    fn an_engine_without_room_is_told_with_what_is_free_and_what_to_do() {
        let engine = Engine::read(&json!({"DockerRootDir": "/data"}));
        assert!(has_room(&engine, 3 << 30, Shape::ThreeZones.room()).is_ok());
        let error = has_room(&engine, 2 << 30, Shape::ThreeZones.room()).unwrap_err();
        let words = "failed to make room for the cluster: /data has 2048 MiB free and 3072 are needed; `docker system prune`";
        assert!(error.to_string().starts_with(words), "{error}");
        assert!(has_room(&engine, 2 << 30, Shape::OneNode.room()).is_ok());
    }
}
