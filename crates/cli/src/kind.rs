//! Kind clusters for `run`, `verify` and `env up`, and the components of this project in them.

mod in_cluster;
mod installation;
mod reuse;
mod rollouts;
mod standalone;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::catalog::Selected;
use async_trait::async_trait;
use component::Component;
use conformance::run::{Guard, Substrate, Whole};
use substrate::kind::{Kind, Options, Shape};

use crate::arguments::{KindArguments, KindRunArguments, SubstrateName};
use crate::components::COMPONENTS;
use crate::environment;
use crate::session;
use crate::terminal::{Failure, Terminal};

pub(crate) use in_cluster::InCluster;

/// How long each of these may take: creating a cluster, waiting for its nodes, rolling out components.
pub(crate) const PATIENCE: Duration = Duration::from_mins(5);
/// The namespaces whose objects and logs are collected after a failure.
fn logged_namespaces() -> Vec<&'static str> {
    let own: BTreeSet<&str> = COMPONENTS.iter().map(|component| component.installation.namespace).collect();
    [rollouts::NAMESPACE, "kube-system", "default"].into_iter().chain(own).collect()
}

/// Creates a cluster and installs components; dropping the result deletes the cluster.
pub(crate) async fn start(
    name: &str,
    arguments: &KindArguments,
    components: &[&'static Component],
    terminal: &Terminal,
) -> Result<Kind, Failure> {
    // A run cannot use a cluster with installed components, so it needs no published ports then.
    check_logs(arguments)?;
    let options = Options { publishes: components.is_empty(), ..options(name, arguments) };
    let cluster = create(&options, terminal).await?;
    if components.is_empty() {
        return Ok(cluster);
    }
    match standalone::install(&cluster, components).await {
        Ok(()) => {
            let names: Vec<&str> = components.iter().map(|component| component.program).collect();
            terminal.note(&format!("installed: {}", names.join(", ")));
            Ok(cluster)
        }
        Err(standalone::InstallFailure { name, error }) => {
            collect_logs_on_error(name, Err(error), &cluster, &logs_folder(arguments)).await
        }
    }
}

/// The target for the substrate kind: our components with the configurations that the selected clauses need. Makes a sample
/// prefer cases with these configurations. `None` for another substrate.
pub(crate) fn in_cluster_target(
    substrate: SubstrateName,
    selected: &mut Selected,
) -> Result<Option<Arc<InCluster>>, Failure> {
    if substrate != SubstrateName::Kind {
        return Ok(None);
    }
    let in_cluster = Arc::new(InCluster::of(&selected.expand_without_sample()?)?);
    let target = Arc::clone(&in_cluster);
    selected.prefer_in_sample(move |component, case| target.serves(component, &case.config));
    Ok(Some(in_cluster))
}

/// Starts or reuses a cluster and installs the target that [`in_cluster_target`] returned.
pub(crate) async fn start_target(
    target: Option<&InCluster>,
    arguments: &KindRunArguments,
    terminal: &Terminal,
) -> Result<Substrate, Failure> {
    let target = target.ok_or_else(|| environment_failure(&"the target does not run in a cluster"))?;
    if target.to_install().is_empty() {
        return Err(Failure::usage(
            "--substrate kind: no selected case runs in a cluster; use another substrate",
        ));
    }
    let (keep, named, arguments) = (arguments.keep, arguments.cluster.as_deref(), &arguments.nodes);
    check_logs(arguments)?;
    let claim = named.map(reuse::Claim::of).transpose()?;
    let (mut kind, is_new) = if let Some(name) = named {
        reuse::reuse_or_create(name, arguments, terminal).await?
    } else {
        let options = options(&format!("run-{}", std::process::id()), arguments);
        (create(&options, terminal).await?, true)
    };
    if keep && is_new {
        kind.keep();
        terminal.note(&describe_kept(&kind));
    }
    let begun = Instant::now();
    let installed = rollouts::install(&kind, target.to_install()).await;
    let installed =
        collect_logs_on_error("our components", installed, &kind, &logs_folder(arguments)).await?;
    let describe = |rollouts::PlannedRollouts { component, rollouts, .. }: &rollouts::PlannedRollouts| {
        let number = rollouts.configs().len();
        format!("{} with {number} configuration{}", component.program, if number == 1 { "" } else { "s" })
    };
    let components: Vec<String> = target.to_install().iter().map(describe).collect();
    terminal.note(&format!("installed {} in {:.1} s", components.join(", "), begun.elapsed().as_secs_f32()));
    target.set_endpoints(&installed).map_err(|error| environment_failure(&error))?;
    let mut cluster = kind.cluster().await.map_err(|error| environment_failure(&error))?;
    cluster.has_controllers = false;
    let (nodes, version) = (kind.nodes(), &cluster.version);
    let plural = if nodes == 1 { "" } else { "s" };
    let took = kind.took().as_secs_f64();
    let description =
        format!("kind cluster with Kubernetes {version} on {nodes} node{plural}, ready in {took:.1} s");
    Ok(Substrate::Whole(Arc::new(Whole {
        cluster,
        name: SubstrateName::Kind.name().to_owned(),
        description,
        stays: keep || !is_new,
        guard: Box::new(ClusterOwner { kind, _claim: claim }),
    })))
}

/// Refuses flags for kind on another substrate (`has_kind_flags`), and `--gardener` on kind.
pub(crate) fn check_flags(
    has_kind_flags: bool,
    substrate: SubstrateName,
    gardener: Option<&str>,
) -> Result<(), Failure> {
    if has_kind_flags && substrate != SubstrateName::Kind {
        return Err(Failure::usage("--zones, --logs, --cluster and --keep are for --substrate kind"));
    }
    if gardener.is_some() && substrate == SubstrateName::Kind {
        let text = "--gardener is not for --substrate kind: the configuration of the installed components sets their release";
        return Err(Failure::usage(text));
    }
    Ok(())
}

fn describe_kept(kind: &Kind) -> String {
    let (name, kubeconfig) = (kind.name(), kind.kubeconfig().display());
    format!(
        "the cluster stays, with KUBECONFIG={kubeconfig}; to delete it: \
        `kind delete cluster --name {name} && docker network rm {name}`"
    )
}

/// Refuses a folder of `--logs` to which nothing can be written, before a cluster is created.
fn check_logs(arguments: &KindArguments) -> Result<(), Failure> {
    arguments.logs.as_deref().map_or(Ok(()), |folder| session::check_folder("--logs", folder))
}

/// The folder for objects, events and logs after a failure.
fn logs_folder(arguments: &KindArguments) -> PathBuf {
    arguments.logs.clone().unwrap_or_else(|| "reports/kind".into())
}

/// A cluster that this process created, or a reused one with the claim on it.
struct ClusterOwner {
    kind: Kind,
    _claim: Option<reuse::Claim>,
}

#[async_trait]
impl Guard for ClusterOwner {
    async fn collect(&self, into: &Path) -> Vec<String> {
        self.kind.collect(into, &logged_namespaces()).await
    }

    async fn resume(&self) -> Result<(), String> {
        self.kind.resume().await.map_err(|error| error.to_string())
    }
}

async fn create(options: &Options, terminal: &Terminal) -> Result<Kind, Failure> {
    let cluster = Kind::create(options).await.map_err(|error| environment_failure(&error))?;
    let took = cluster.took().as_secs_f32();
    terminal.note(&format!("cluster {} is ready after {took:.1} s", cluster.name()));
    Ok(cluster)
}

fn options(name: &str, arguments: &KindArguments) -> Options {
    Options {
        surroundings: environment::kind_surroundings(),
        name: name.to_owned(),
        shape: shape(arguments),
        within: std::env::temp_dir(),
        logs: logs_folder(arguments),
        patience: PATIENCE,
        publishes: true,
    }
}

fn shape(arguments: &KindArguments) -> Option<Shape> {
    arguments.zones.as_deref().map(|zones| if zones == "3" { Shape::ThreeZones } else { Shape::OneNode })
}

/// Turns an installation error into a failure, after collecting objects and logs.
async fn collect_logs_on_error<T>(
    what: &str,
    installed: Result<T, installation::InstallError>,
    cluster: &Kind,
    logs: &Path,
) -> Result<T, Failure> {
    match installed {
        Ok(installed) => Ok(installed),
        Err(error) => {
            let folder = logs.display();
            let text = format!("failed to install {what}: {error}; objects and logs are in {folder}");
            let missing = cluster.collect(logs, &logged_namespaces()).await;
            let text = [vec![text], missing].concat().join("; ");
            Err(environment_failure(&text))
        }
    }
}

fn environment_failure(error: &dyn std::fmt::Display) -> Failure {
    Failure::environment(error.to_string())
}
