//! A real kube-apiserver and etcd on loopback, one cluster or several; gone with this process, however it ends.
//!
//! Each has an authority, service-account keys and a data folder of its own; several kube-apiservers share one etcd.
//! The programs run on a tether: a pipe whose end the kernel closes when this process is gone, SIGKILL included.

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
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::kubeconfig;

use assets::{Assets, ETCD, KUBE_APISERVER, KUBE_CONTROLLER_MANAGER};
use credentials::Authority;
use tether::{Deaths, Tethered};

pub use crds::install;
pub use error::EnvtestError;

/// Name of the only cluster, where nobody asks for several.
pub const CLUSTER: &str = "cluster";
/// Name of the cluster of cases that share one, where lanes are there too: the controllers of a scenario act on whatever
/// there is in its lane, and facts of other cases stay.
pub const SHARED: &str = "shared";

/// Clusters that are used together: one, and where controllers act in another one than they are told by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// `cluster`, `cluster-2`.
    pub source: String,
    /// `target`, `target-2`.
    pub target: String,
}
/// How often other ports are tried.
const ATTEMPTS: usize = 5;

/// Gives so many different ports.
pub type Ports = Arc<dyn Fn(usize) -> io::Result<Vec<u16>> + Send + Sync>;

/// What is started.
#[derive(Clone)]
pub struct Options {
    /// The programs.
    pub assets: Assets,
    /// Where the data folder is made, and removed at the end.
    pub within: PathBuf,
    /// Names of the clusters, at least one: `cluster`, or `source` and `target`. Each is a kube-apiserver.
    pub clusters: Vec<String>,
    /// Whether each cluster has a kube-controller-manager.
    pub controller_manager: bool,
    /// CustomResourceDefinitions that each cluster serves.
    pub crds: Vec<Value>,
    /// How long all may take to become ready.
    pub patience: Duration,
    /// Where ports come from.
    pub ports: Ports,
}

/// A running control plane. Dropping it ends its programs and removes their data.
pub struct Envtest {
    took: Duration,
    programs: Vec<Tethered>,
    deaths: Deaths,
    clusters: BTreeMap<String, Cluster>,
    folder: TempDir,
}

/// One kube-apiserver and how it is reached.
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
    /// The names of a lane, counted from 0; the first one's source is [`CLUSTER`].
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

/// The programs that a control plane is made of.
#[must_use]
pub fn programs(controller_manager: bool) -> &'static [&'static str] {
    let all = &[KUBE_APISERVER, ETCD, KUBE_CONTROLLER_MANAGER];
    if controller_manager { all } else { &all[..2] }
}

/// Ports of loopback that are free now, all different.
///
/// # Errors
/// When the operating system gives none.
pub fn free_ports(count: usize) -> io::Result<Vec<u16>> {
    let listen = |_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let listeners: Vec<TcpListener> = (0..count).map(listen).collect::<Result<_, _>>()?;
    listeners.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}

impl Envtest {
    /// Starts etcd and a kube-apiserver for each cluster, with other ports if one is taken meanwhile, and waits until
    /// they are ready and serve the CRDs.
    ///
    /// # Errors
    /// When a program cannot be started, ends, or is not ready in time; everything is gone again then.
    pub async fn start(options: &Options) -> Result<Self, EnvtestError> {
        let (begun, mut attempt) = (Instant::now(), 1);
        loop {
            match Self::launch(options).await {
                Ok(mut started) => {
                    started.took = begun.elapsed();
                    return Ok(started);
                }
                Err(error) if error.is_occupied() && attempt < ATTEMPTS => attempt += 1,
                Err(error) if error.is_occupied() => return Err(error.after(attempt)),
                Err(error) => return Err(error),
            }
        }
    }

    /// The cluster of this name.
    ///
    /// # Panics
    /// When no such cluster was asked for.
    #[must_use]
    pub fn cluster(&self, name: &str) -> &Cluster {
        self.clusters.get(name).expect("only clusters that were asked for are looked up")
    }

    /// The cluster of cases that share one.
    ///
    /// # Panics
    /// When neither [`SHARED`] nor [`CLUSTER`] was asked for.
    #[must_use]
    pub fn shared(&self) -> &Cluster {
        self.clusters.get(SHARED).unwrap_or_else(|| self.cluster(CLUSTER))
    }

    /// How many lanes there are, one after the other.
    #[must_use]
    pub fn lanes(&self) -> usize {
        (0..self.clusters.len())
            .take_while(|lane| self.clusters.contains_key(&Lane::nth(*lane).source))
            .count()
    }

    /// How long it took to become ready.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.took
    }

    /// Where everything of it lies.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Waits until a program ends, which none does by itself, and says which and what it said last.
    pub async fn ended(&self) -> EnvtestError {
        told(self.deaths.wait().await)
    }

    /// Which program ended, if one did, and what it said last.
    #[must_use]
    pub fn death(&self) -> Option<EnvtestError> {
        self.deaths.first().map(told)
    }

    /// Says which program ended, if one did.
    ///
    /// # Errors
    /// When one did.
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
            deaths: Deaths::new(),
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
        let mut waiting = ready::Waiting::new(options.patience);
        for name in &options.clusters {
            started.await_cluster(options, name, &mut waiting).await?;
        }
        if options.controller_manager {
            started.spawn_controllers(options, &mut waiting).await?;
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
        self.spawn(options, (KUBE_APISERVER, &named(options, name, KUBE_APISERVER)), &flags)?;
        let kubeconfig = home.join("kubeconfig");
        let client = kubeconfig::unasked(&kubeconfig).await?;
        let url = format!("https://127.0.0.1:{port}");
        let (version, has_controllers) = (String::new(), options.controller_manager);
        self.clusters.insert(name.to_owned(), Cluster { url, kubeconfig, client, version, has_controllers });
        Ok(())
    }

    async fn await_cluster(
        &mut self,
        options: &Options,
        name: &str,
        waiting: &mut ready::Waiting,
    ) -> Result<(), EnvtestError> {
        let client = self.cluster(name).client.clone();
        let program = named(options, name, KUBE_APISERVER);
        waiting.until(self, &program, || ready::serves(&client)).await?;
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
        waiting: &mut ready::Waiting,
    ) -> Result<(), EnvtestError> {
        for (name, cluster) in self.clusters.clone() {
            let home = self.folder().join(&name);
            let flags = flags::kube_controller_manager(&home, &home.join("controller-manager.kubeconfig"));
            let program = named(options, &name, KUBE_CONTROLLER_MANAGER);
            self.spawn(options, (KUBE_CONTROLLER_MANAGER, &program), &flags)?;
            waiting.until(self, &program, || ready::controls(&cluster.client)).await?;
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
        let tethered = Tethered::spawn(&path, (name, flags), self.folder.path(), &self.deaths)?;
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

fn told(death: tether::Death) -> EnvtestError {
    let last_words = tether::last_words(&death.log);
    EnvtestError::Ended { program: death.program, how: death.how, last_words }
}

/// What a program is called: by its cluster too where there are several.
fn named(options: &Options, cluster: &str, program: &str) -> String {
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

    /// Starts scripts in the place of the programs; gives the error and how often ports were asked for.
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
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&asked);
        let ports: Ports = Arc::new(move |count| {
            counted.fetch_add(1, Ordering::SeqCst);
            free_ports(count)
        });
        let options = Options { patience, ports, ..Options::new(assets, within.path().to_owned()) };
        let error = Envtest::start(&options).await.err().unwrap();
        assert_eq!(fs::read_dir(within.path()).unwrap().count(), 0, "nothing is left");
        (error, asked.load(Ordering::SeqCst))
    }

    #[tokio::test]
    async fn a_start_that_fails_says_who_and_what_it_said_last() {
        let (sleeps, long) = ("exec sleep 1000", Duration::from_secs(20));
        let table = [
            (
                ("echo no space; exit 1", sleeps, long),
                "etcd ended (exit status 1); its last words:\n  no space",
                1,
            ),
            ((sleeps, "kill -9 $$", long), "kube-apiserver ended (killed by signal 9); it said nothing", 1),
            (
                (sleeps, "echo bind: address already in use; exit 1", long),
                "kube-apiserver found its port in use, 5 times; its last words:\n  bind: address already in use",
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

    #[test]
    fn ports_differ() {
        let ports = free_ports(20).unwrap();
        let different: std::collections::BTreeSet<_> = ports.iter().collect();
        assert_eq!(different.len(), 20);
    }
}
