//! A cluster in containers as the command line asks for it, and our components in it.

mod alone;
mod in_cluster;
mod installation;
mod reuse;
mod rollouts;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::catalog::Selected;
use async_trait::async_trait;
use component::Component;
use conformance::run::{Ground, Guard, Whole};
use substrate::kind::{Kind, Options, Shape};

use crate::arguments::{KindArguments, KindRunArguments, SubstrateName};
use crate::components::COMPONENTS;
use crate::environment;
use crate::terminal::{Failure, Terminal};

pub(crate) use in_cluster::InCluster;

/// How long a cluster may take to be created, its nodes to become ready, and components to roll out; each.
pub(crate) const PATIENCE: Duration = Duration::from_mins(5);
/// Whose objects and logs are collected when something fails.
fn namespaces() -> Vec<&'static str> {
    let own: BTreeSet<&str> = COMPONENTS.iter().map(|component| component.installation.namespace).collect();
    [rollouts::NAMESPACE, "kube-system", "default"].into_iter().chain(own).collect()
}

/// Creates a cluster with what is to be installed; dropping it deletes it.
pub(crate) async fn start(
    name: &str,
    arguments: &KindArguments,
    components: &[&'static Component],
    terminal: &Terminal,
) -> Result<Kind, Failure> {
    // No run asks beside components that serve the cluster alone.
    let options = Options { publishes: components.is_empty(), ..options(name, arguments) };
    let cluster = create(&options, terminal).await?;
    if components.is_empty() {
        return Ok(cluster);
    }
    match alone::install(&cluster, components).await {
        Ok(()) => {
            let names: Vec<&str> = components.iter().map(|component| component.program).collect();
            terminal.note(&format!("installed: {}", names.join(", ")));
            Ok(cluster)
        }
        Err(alone::NotInstalled { name, error }) => {
            unless_installed(name, Err(error), &cluster, &logs(arguments)).await
        }
    }
}

/// Our components as cases of the selected clauses need them, in the cluster that [`ground`] starts; a sample has cases that they
/// can answer. `None` for another substrate.
pub(crate) fn in_cluster(
    substrate: SubstrateName,
    selected: &mut Selected,
) -> Result<Option<Arc<InCluster>>, Failure> {
    if substrate != SubstrateName::Kind {
        return Ok(None);
    }
    let in_cluster = Arc::new(InCluster::of(&selected.unsampled()?)?);
    let answering = Arc::clone(&in_cluster);
    selected.sample_from(move |component, case| answering.serves(component, &case.config));
    Ok(Some(in_cluster))
}

/// Starts a cluster with the target in it, which is the one for this substrate.
pub(crate) async fn ground(
    target: Option<&InCluster>,
    arguments: &KindRunArguments,
    terminal: &Terminal,
) -> Result<Ground, Failure> {
    let target = target.ok_or_else(|| broken(&"the target does not run in a cluster"))?;
    if target.to_install().is_empty() {
        return Err(Failure::usage(
            "no case of the selection is asked in a cluster: leave --substrate kind out",
        ));
    }
    let (keep, named, arguments) = (arguments.keep, arguments.cluster.as_deref(), &arguments.nodes);
    let claim = named.map(reuse::Claim::of).transpose()?;
    let (mut kind, is_new) = if let Some(name) = named {
        reuse::found_or_created(name, arguments, terminal).await?
    } else {
        let options = options(&format!("run-{}", std::process::id()), arguments);
        (create(&options, terminal).await?, true)
    };
    if keep && is_new {
        kind.keep();
        terminal.note(&stays(&kind));
    }
    let begun = Instant::now();
    let installed = rollouts::install(&kind, target.to_install()).await;
    let stand = unless_installed("our components", installed, &kind, &logs(arguments)).await?;
    let with = |rollouts::Installed { component, rollouts, .. }: &rollouts::Installed| {
        let number = rollouts.configs().len();
        format!("{} with {number} configuration{}", component.program, if number == 1 { "" } else { "s" })
    };
    let running: Vec<String> = target.to_install().iter().map(with).collect();
    terminal.note(&format!("{} run after {:.1} s", running.join(", "), begun.elapsed().as_secs_f32()));
    target.installed(&stand).map_err(|error| broken(&error))?;
    let mut cluster = kind.cluster().await.map_err(|error| broken(&error))?;
    cluster.has_controllers = false;
    let (nodes, version) = (kind.nodes(), &cluster.version);
    let plural = if nodes == 1 { "" } else { "s" };
    let took = kind.took().as_secs_f64();
    let description =
        format!("kind cluster with Kubernetes {version} on {nodes} node{plural}, ready in {took:.1} s");
    Ok(Ground::Whole(Arc::new(Whole {
        cluster,
        name: SubstrateName::Kind.word().to_owned(),
        description,
        stays: keep || !is_new,
        guard: Box::new(Owned { kind, _claim: claim }),
    })))
}

/// Refuses what only kind has on another substrate.
pub(crate) fn fits(is_said: bool, substrate: SubstrateName, gardener: Option<&str>) -> Result<(), Failure> {
    if is_said && substrate != SubstrateName::Kind {
        return Err(Failure::usage("--zones, --logs, --cluster and --keep are for --substrate kind"));
    }
    if gardener.is_some() && substrate == SubstrateName::Kind {
        let text = "--substrate kind: what is installed there is of the release that its configuration says; leave --gardener out";
        return Err(Failure::usage(text));
    }
    Ok(())
}

fn stays(kind: &Kind) -> String {
    let (name, kubeconfig) = (kind.name(), kind.kubeconfig().display());
    format!(
        "it stays, with KUBECONFIG={kubeconfig}; `kind delete cluster --name {name} && docker network rm {name}` removes it"
    )
}

/// Where what may tell why something failed is collected.
fn logs(arguments: &KindArguments) -> PathBuf {
    arguments.logs.clone().unwrap_or_else(|| "reports/kind".into())
}

/// A cluster of this process, or the claim on one that others use as well.
struct Owned {
    kind: Kind,
    _claim: Option<reuse::Claim>,
}

#[async_trait]
impl Guard for Owned {
    async fn collect(&self, into: &Path) {
        self.kind.collect(into, &namespaces()).await;
    }

    async fn resume(&self) -> Result<(), String> {
        self.kind.resume().await.map_err(|error| error.to_string())
    }
}

async fn create(options: &Options, terminal: &Terminal) -> Result<Kind, Failure> {
    let cluster = Kind::create(options).await.map_err(|error| broken(&error))?;
    let took = cluster.took().as_secs_f32();
    terminal.note(&format!("cluster {} is ready after {took:.1} s", cluster.name()));
    Ok(cluster)
}

fn options(name: &str, arguments: &KindArguments) -> Options {
    Options {
        surroundings: environment::around_kind(),
        name: name.to_owned(),
        shape: shape(arguments),
        within: std::env::temp_dir(),
        logs: logs(arguments),
        patience: PATIENCE,
        publishes: true,
    }
}

fn shape(arguments: &KindArguments) -> Option<Shape> {
    arguments.zones.as_deref().map(|zones| if zones == "3" { Shape::ThreeZones } else { Shape::OneNode })
}

async fn unless_installed<T>(
    what: &str,
    installed: Result<T, installation::InstallError>,
    cluster: &Kind,
    logs: &Path,
) -> Result<T, Failure> {
    match installed {
        Ok(installed) => Ok(installed),
        Err(error) => {
            cluster.collect(logs, &namespaces()).await;
            let place = logs.display();
            let text = format!("failed to install {what}: {error}; objects and logs are in {place}");
            Err(broken(&text))
        }
    }
}

fn broken(error: &dyn std::fmt::Display) -> Failure {
    Failure::environment(error.to_string())
}
