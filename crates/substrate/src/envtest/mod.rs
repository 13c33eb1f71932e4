//! A real kube-apiserver and etcd on loopback, with one or several clusters; they end with this process, however it
//! ends.
//!
//! Each cluster has its own CA, service account keys and data folder; several kube-apiservers share one etcd. The
//! programs are tethered: the kernel closes their pipe when this process ends, SIGKILL included.

pub mod assets;
mod crds;
mod credentials;
mod error;
mod flags;
mod ready;
mod tether;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::kubeconfig;
use crate::ports::free_ports;

use assets::{Assets, ETCD, KUBE_APISERVER, KUBE_CONTROLLER_MANAGER};
use credentials::Authority;
use tether::{ProgramExits, TetheredProgram};

pub use crds::install;
pub use error::EnvtestError;

/// The name of the cluster if there is only one.
pub const CLUSTER: &str = "cluster";
/// The name of the shared cluster of cases, if there are lanes too: the controllers of a scenario act on all objects of
/// its lane, and facts of other cases stay.
pub const SHARED: &str = "shared";

/// Clusters that are used together: a source, and a target if controllers act in another cluster than they watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// `cluster`, `cluster-2`.
    pub source: String,
    /// `target`, `target-2`.
    pub target: String,
}
/// How many times start is attempted with other ports.
const ATTEMPTS: usize = 5;

/// Returns this number of different free ports.
pub type Ports = Arc<dyn Fn(usize) -> io::Result<Vec<u16>> + Send + Sync>;

/// Options of a control plane.
#[derive(Clone)]
pub struct Options {
    /// The programs.
    pub assets: Assets,
    /// The parent of the data folder, which is removed at the end.
    pub within: PathBuf,
    /// The names of the clusters, at least one: `cluster`, or `source` and `target`. Each has a kube-apiserver.
    pub clusters: Vec<String>,
    /// Whether each cluster has a kube-controller-manager.
    pub controller_manager: bool,
    /// CustomResourceDefinitions that each cluster serves.
    pub crds: Vec<Value>,
    /// The timeout until everything is ready.
    pub patience: Duration,
    /// Allocates ports.
    pub ports: Ports,
}

/// A running control plane. Dropping it stops its programs and removes their data.
pub struct Envtest {
    took: Duration,
    programs: Vec<TetheredProgram>,
    exits: ProgramExits,
    clusters: BTreeMap<String, Cluster>,
    folder: TempDir,
}

/// A kube-apiserver and its credentials.
#[derive(Clone)]
pub struct Cluster {
    /// `https://127.0.0.1:<port>`.
    pub url: String,
    /// A kubeconfig file of an administrator.
    pub kubeconfig: PathBuf,
    /// An administrator's client.
    pub client: kube::Client,
    /// `v1.36.3`.
    pub version: String,
    /// Whether it has a kube-controller-manager.
    pub has_controllers: bool,
}

impl Lane {
    /// The names of the nth lane, counted from 0; the first lane's source is [`CLUSTER`].
    #[must_use]
    pub fn nth(lane: usize) -> Self {
        let name = |name: &str| if lane == 0 { name.to_owned() } else { format!("{name}-{}", lane + 1) };
        Self { source: name(CLUSTER), target: name("target") }
    }
}

impl Options {
    /// One cluster named [`CLUSTER`], without controllers and CRDs, in the folder `within`.
    #[must_use]
    pub fn new(assets: Assets, within: PathBuf) -> Self {
        Self {
            assets,
            within,
            clusters: vec![CLUSTER.to_owned()],
            controller_manager: false,
            crds: Vec::new(),
            patience: Duration::from_secs(90),
            ports: Arc::new(free_ports),
        }
    }
}

/// The programs of a control plane.
#[must_use]
pub fn programs(controller_manager: bool) -> &'static [&'static str] {
    let all = &[KUBE_APISERVER, ETCD, KUBE_CONTROLLER_MANAGER];
    if controller_manager { all } else { &all[..2] }
}

impl Envtest {
    /// Starts etcd and a kube-apiserver for each cluster, and waits until they are ready and serve the CRDs. Retries
    /// with other ports if one was taken.
    ///
    /// # Errors
    /// When a program cannot be started, ends, or is not ready in time; then everything is removed.
    pub async fn start(options: &Options) -> Result<Self, EnvtestError> {
        let (started_at, mut attempt) = (Instant::now(), 1);
        loop {
            match Self::launch(options).await {
                Ok(mut started) => {
                    started.took = started_at.elapsed();
                    return Ok(started);
                }
                Err(error) if error.is_occupied() && attempt < ATTEMPTS => attempt += 1,
                Err(error) if error.is_occupied() => return Err(error.after(attempt)),
                Err(error) => return Err(error),
            }
        }
    }

    /// The cluster with this name.
    ///
    /// # Panics
    /// When the options do not contain the cluster.
    #[must_use]
    pub fn cluster(&self, name: &str) -> &Cluster {
        self.clusters.get(name).expect("only configured clusters are looked up")
    }

    /// The cluster that cases share.
    ///
    /// # Panics
    /// When the options contain neither [`SHARED`] nor [`CLUSTER`].
    #[must_use]
    pub fn shared(&self) -> &Cluster {
        self.clusters.get(SHARED).unwrap_or_else(|| self.cluster(CLUSTER))
    }

    /// The number of lanes.
    #[must_use]
    pub fn lanes(&self) -> usize {
        (0..self.clusters.len())
            .take_while(|lane| self.clusters.contains_key(&Lane::nth(*lane).source))
            .count()
    }

    /// The time until it was ready.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.took
    }

    /// The folder of its data and logs.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Waits until a program ends unexpectedly, and returns the error.
    pub async fn ended(&self) -> EnvtestError {
        ended_error(self.exits.wait().await)
    }

    /// The error if a program has ended.
    #[must_use]
    pub fn death(&self) -> Option<EnvtestError> {
        self.exits.first().map(ended_error)
    }

    /// Checks that all programs run.
    ///
    /// # Errors
    /// When a program has ended.
    pub fn alive(&self) -> Result<(), EnvtestError> {
        self.death().map_or(Ok(()), Err)
    }

    async fn launch(options: &Options) -> Result<Self, EnvtestError> {
        let folder = tempfile::Builder::new()
            .prefix("gardener-conformance-envtest-")
            .tempdir_in(&options.within)
            .map_err(|source| EnvtestError::Write { path: options.within.clone(), source })?;
        let mut started = Self {
            took: Duration::ZERO,
            programs: Vec::new(),
            exits: ProgramExits::new(),
            clusters: BTreeMap::new(),
            folder,
        };
        let ports = (options.ports)(2 + options.clusters.len()).map_err(EnvtestError::Ports)?;
        let (etcd, secure) = ports.split_at(2);
        let flags = flags::etcd(started.folder(), etcd[0], etcd[1]);
        started.spawn(options, (ETCD, ETCD), &flags)?;
        for (name, port) in options.clusters.iter().zip(secure) {
            started.spawn_cluster(options, name, (etcd[0], *port)).await?;
        }
        let mut deadline = ready::Deadline::new(options.patience);
        for name in &options.clusters {
            started.await_cluster(options, name, &mut deadline).await?;
        }
        if options.controller_manager {
            started.spawn_controllers(options, &mut deadline).await?;
        }
        Ok(started)
    }

    async fn spawn_cluster(
        &mut self,
        options: &Options,
        name: &str,
        (etcd, port): (u16, u16),
    ) -> Result<(), EnvtestError> {
        let home = self.folder().join(name);
        fs::create_dir(&home).map_err(|source| EnvtestError::Write { path: home.clone(), source })?;
        let authority = Authority::new().map_err(EnvtestError::Credentials)?;
        authority.write(&home)?;
        let users = [
            ("kubeconfig", ("admin", Some("system:masters"))),
            ("controller-manager.kubeconfig", ("system:kube-controller-manager", None)),
        ];
        for (file, user) in users {
            let text = authority.kubeconfig(port, user).map_err(EnvtestError::Credentials)?;
            write(&home.join(file), &text)?;
        }
        let flags = flags::kube_apiserver(&home, name, etcd, port);
        self.spawn(options, (KUBE_APISERVER, &program_name(options, name, KUBE_APISERVER)), &flags)?;
        let kubeconfig = home.join("kubeconfig");
        let client = kubeconfig::unchecked_client(&kubeconfig).await?;
        let url = format!("https://127.0.0.1:{port}");
        let (version, has_controllers) = (String::new(), options.controller_manager);
        self.clusters.insert(name.to_owned(), Cluster { url, kubeconfig, client, version, has_controllers });
        Ok(())
    }

    async fn await_cluster(
        &mut self,
        options: &Options,
        name: &str,
        deadline: &mut ready::Deadline,
    ) -> Result<(), EnvtestError> {
        let client = self.cluster(name).client.clone();
        let program = program_name(options, name, KUBE_APISERVER);
        deadline.until(self, &program, || ready::serves(&client)).await?;
        crds::install(&client, &options.crds).await?;
        let version = client.apiserver_version().await;
        let version = version.map_err(|source| kubeconfig::Error::Unreachable {
            path: self.cluster(name).kubeconfig.clone(),
            source: Box::new(source),
        })?;
        let cluster = self.clusters.get_mut(name).expect("it was started before it is waited for");
        cluster.version = version.git_version;
        Ok(())
    }

    async fn spawn_controllers(
        &mut self,
        options: &Options,
        deadline: &mut ready::Deadline,
    ) -> Result<(), EnvtestError> {
        for (name, cluster) in self.clusters.clone() {
            let home = self.folder().join(&name);
            let flags = flags::kube_controller_manager(&home, &home.join("controller-manager.kubeconfig"));
            let program = program_name(options, &name, KUBE_CONTROLLER_MANAGER);
            self.spawn(options, (KUBE_CONTROLLER_MANAGER, &program), &flags)?;
            deadline.until(self, &program, || ready::runs_controllers(&cluster.client)).await?;
        }
        Ok(())
    }

    fn spawn(
        &mut self,
        options: &Options,
        (program, name): (&str, &str),
        flags: &[String],
    ) -> Result<(), EnvtestError> {
        let path = options.assets.program(program);
        let tethered = TetheredProgram::spawn(&path, (name, flags), self.folder.path(), &self.exits)?;
        self.programs.push(tethered);
        Ok(())
    }
}

impl Drop for Envtest {
    fn drop(&mut self) {
        for program in &mut self.programs {
            program.release();
        }
        self.programs.clear();
    }
}

fn ended_error(exit: tether::ProgramExit) -> EnvtestError {
    let last_words = tether::last_words(&exit.log);
    EnvtestError::Ended { program: exit.program, how: exit.how, last_words }
}

/// The name of a program; it contains the cluster's name if there are several.
fn program_name(options: &Options, cluster: &str, program: &str) -> String {
    if options.clusters.len() > 1 { format!("{program}-of-{cluster}") } else { program.to_owned() }
}

fn write(path: &Path, text: &str) -> Result<(), EnvtestError> {
    fs::write(path, text).map_err(|source| EnvtestError::Write { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assets::Surroundings;
    use std::os::unix::fs::PermissionsExt as _;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Starts scripts instead of the programs; returns the error and how often ports were requested.
    async fn failing(etcd: &str, kube_apiserver: &str, patience: Duration) -> (EnvtestError, usize) {
        let folder = tempfile::tempdir().unwrap();
        for (name, script) in [(ETCD, etcd), (KUBE_APISERVER, kube_apiserver)] {
            let path = folder.path().join(name);
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        }
        let surroundings = Surroundings { assets: Some(folder.path().to_owned()), ..Surroundings::default() };
        let assets = Assets::find(&surroundings, programs(false)).unwrap();
        let within = tempfile::tempdir().unwrap();
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&requests);
        let ports: Ports = Arc::new(move |count| {
            counted.fetch_add(1, Ordering::SeqCst);
            free_ports(count)
        });
        let options = Options { patience, ports, ..Options::new(assets, within.path().to_owned()) };
        let error = Envtest::start(&options).await.err().unwrap();
        assert_eq!(fs::read_dir(within.path()).unwrap().count(), 0, "nothing is left");
        (error, requests.load(Ordering::SeqCst))
    }

    #[tokio::test]
    async fn a_failed_start_reports_the_program_and_the_end_of_its_log() {
        let (sleeps, long) = ("exec sleep 1000", Duration::from_secs(20));
        let table = [
            (
                ("echo no space; exit 1", sleeps, long),
                "etcd ended (exit status 1); the end of its log:\n  no space",
                1,
            ),
            ((sleeps, "kill -9 $$", long), "kube-apiserver ended (killed by signal 9); its log is empty", 1),
            (
                (sleeps, "echo bind: address already in use; exit 1", long),
                "kube-apiserver found its port in use, 5 times; the end of its log:\n  bind: address already in use",
                ATTEMPTS,
            ),
        ];
        for ((etcd, kube_apiserver, patience), want, starts) in table {
            let (error, started) = failing(etcd, kube_apiserver, patience).await;
            assert_eq!((error.to_string().as_str(), started), (want, starts));
        }
        let (error, _) = failing(sleeps, "echo waiting; exec sleep 1000", Duration::ZERO).await;
        let EnvtestError::NotReady { program, seconds, .. } = &error else { panic!("{error}") };
        assert_eq!((program.as_str(), *seconds), ("kube-apiserver", 0));
    }
}
