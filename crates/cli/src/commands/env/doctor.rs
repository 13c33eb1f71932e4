//! `env doctor`: what each substrate needs, what this machine has, and how to get what is missing.

use std::fmt::Write as _;
use std::path::Path;

use substrate::docker::Engine;
use substrate::envtest::assets::Assets;
use substrate::envtest::programs;
use substrate::kind::machine::Machine;
use substrate::kind::{KindError, node_image};

use crate::environment;

/// Free disk space that a cluster of three nodes and its images need.
const DISK: u64 = 5 << 30;
/// Free memory; with less, an API server was observed not to answer for minutes.
const MEMORY: u64 = 4 << 30;

/// A requirement of a substrate.
struct Requirement {
    what: &'static str,
    /// What this machine has; `None` if the requirement is not met.
    found: Option<String>,
    /// How to meet the requirement.
    remedy: String,
}

impl Requirement {
    fn of<T, E: std::fmt::Display>(
        what: &'static str,
        result: &Result<T, E>,
        describe: impl Fn(&T) -> String,
    ) -> Self {
        let remedy = result.as_ref().err().map(ToString::to_string).unwrap_or_default();
        Self { what, found: result.as_ref().ok().map(describe), remedy }
    }

    /// A requirement of at least `required` free bytes; `None` if `free` is unknown.
    fn free_bytes(what: &'static str, free: Option<u64>, required: u64, remedy: &str) -> Option<Self> {
        let free = free?;
        let text = format!("{:.1} GiB free", gibibytes(free));
        let found = (free >= required).then(|| text.clone());
        Some(Self { what, found, remedy: format!("{text}, {:.0} GiB needed: {remedy}", gibibytes(required)) })
    }
}

/// Describes the requirements of each substrate.
pub(crate) async fn diagnose() -> String {
    let mut text = String::new();
    describe(&mut text, "direct", "AdmissionReviews straight to the webhook", &[]);
    describe(&mut text, "embedded", "the in-process API server", &[]);
    describe(&mut text, "envtest", "a real kube-apiserver and etcd on loopback", &[control_plane(false)]);
    let controllers = "the same with kube-controller-manager";
    describe(&mut text, "envtest --with controller-manager", controllers, &[control_plane(true)]);
    describe(&mut text, "kind", "a whole cluster in containers", &kind_cluster().await);
    text
}

fn describe(text: &mut String, substrate: &str, what: &str, requirements: &[Requirement]) {
    let ready = requirements.iter().all(|requirement| requirement.found.is_some());
    let mark = if ready { "✓" } else { "✗" };
    let nothing = if requirements.is_empty() { " · needs nothing" } else { "" };
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{mark} {substrate}  {what}{nothing}");
    for requirement in requirements {
        let line = match &requirement.found {
            Some(found) => format!("    ✓ {}: {found}", requirement.what),
            None => format!("    ✗ {}: {}", requirement.what, requirement.remedy),
        };
        let _ = writeln!(text, "{line}");
    }
}

fn control_plane(controller_manager: bool) -> Requirement {
    let found = Assets::find(&environment::envtest_surroundings(), programs(controller_manager));
    Requirement::of("programs", &found, |assets| assets.folder().display().to_string())
}

/// The requirements of a kind cluster; stops at the first unmet one that others depend on.
async fn kind_cluster() -> Vec<Requirement> {
    let surroundings = environment::kind_surroundings();
    let programs = surroundings.programs();
    let mut requirements = vec![Requirement::of("programs", &programs, |found| {
        format!("{}, {}, {}", found.docker.path().display(), found.kind.display(), found.kubectl.display())
    })];
    let Ok(programs) = programs else { return requirements };
    let engine = programs.docker.engine().await;
    requirements.push(Requirement::of("Docker engine", &engine, describe_engine));
    let Ok(engine) = engine else { return requirements };
    let image: Result<String, KindError> = node_image::chosen(&programs, surroundings.image.as_deref()).await;
    requirements.push(Requirement::of("node image", &image, Clone::clone));
    let machine = Machine::inspect(Path::new(&engine.folder));
    requirements.extend(capability(&engine, machine));
    let remedy = "free disk space where the engine stores its data";
    requirements.extend(Requirement::free_bytes("disk", machine.disk, DISK, remedy));
    let memory = machine.memory.or(Some(engine.memory));
    requirements.extend(Requirement::free_bytes("memory", memory, MEMORY, "stop other programs"));
    requirements
}

fn describe_engine(engine: &Engine) -> String {
    let owner = if engine.address.is_some() { "private" } else { "the machine's" };
    let cgroups = if engine.cgroups.is_empty() { "?" } else { &engine.cgroups };
    format!("{}, {owner}, cgroup v{cgroups}", engine.version)
}

/// Privileged containers need CAP_SYS_RESOURCE; the private engine works without it.
fn capability(engine: &Engine, machine: Machine) -> Option<Requirement> {
    let found = match (machine.has_sys_resource?, engine.address.is_some()) {
        (true, _) => Some("available".to_owned()),
        (false, true) => Some("missing; the private engine works without it".to_owned()),
        (false, false) => None,
    };
    let remedy = "missing: privileged containers will not start; stop this engine, and run `make kind-node` as root, which \
    starts an engine that works without it";
    Some(Requirement { what: "CAP_SYS_RESOURCE", found, remedy: remedy.to_owned() })
}

#[expect(clippy::cast_precision_loss, reason = "it is printed with one digit")]
fn gibibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortage_is_described_with_the_free_and_the_required_amount() {
        let memory = |free| Requirement::free_bytes("memory", free, MEMORY, "stop something");
        let missed = memory(Some(3 << 29)).expect("it is known");
        let remedy = "1.5 GiB free, 4 GiB needed: stop something";
        assert_eq!((missed.found, missed.remedy.as_str()), (None, remedy));
        let met = memory(Some(5 << 30)).expect("it is known");
        assert_eq!(met.found.as_deref(), Some("5.0 GiB free"));
        assert!(memory(None).is_none());
    }
}
