//! What each substrate needs, what is here, and how to get what is missing.

use std::fmt::Write as _;
use std::path::Path;

use substrate::docker::Engine;
use substrate::envtest::assets::Assets;
use substrate::envtest::programs;
use substrate::kind::machine::Machine;
use substrate::kind::{KindError, node_image};

use crate::environment;

/// What a cluster of three nodes and its images take.
const DISK: u64 = 5 << 30;
/// Below this an API server was seen to give no answer for minutes.
const MEMORY: u64 = 4 << 30;

/// One thing that a substrate needs.
struct Need {
    what: &'static str,
    found: Option<String>,
    remedy: String,
}

impl Need {
    fn of<T, E: std::fmt::Display>(
        what: &'static str,
        looked: &Result<T, E>,
        shown: impl Fn(&T) -> String,
    ) -> Self {
        let remedy = looked.as_ref().err().map(ToString::to_string).unwrap_or_default();
        Self { what, found: looked.as_ref().ok().map(shown), remedy }
    }

    /// So many bytes, which should be at least `wanted`.
    fn room(what: &'static str, has: Option<u64>, wanted: u64, remedy: &str) -> Option<Self> {
        let has = has?;
        let text = format!("{:.1} GiB free", gibibytes(has));
        let found = (has >= wanted).then(|| text.clone());
        Some(Self { what, found, remedy: format!("{text}, {:.0} are needed: {remedy}", gibibytes(wanted)) })
    }
}

/// The diagnosis, a paragraph per substrate.
pub(crate) async fn diagnose() -> String {
    let mut text = String::new();
    describe(&mut text, "direct", "AdmissionReviews straight to the webhook", &[]);
    describe(&mut text, "embedded", "the in-process API server", &[]);
    describe(&mut text, "envtest", "a real kube-apiserver and etcd on loopback", &[control_plane(false)]);
    let controllers = "the same with kube-controller-manager";
    describe(&mut text, "envtest --with controller-manager", controllers, &[control_plane(true)]);
    describe(&mut text, "kind", "a whole cluster in containers", &cluster().await);
    text
}

fn describe(text: &mut String, substrate: &str, what: &str, needs: &[Need]) {
    let ready = needs.iter().all(|need| need.found.is_some());
    let mark = if ready { "✓" } else { "✗" };
    let nothing = if needs.is_empty() { " · needs nothing" } else { "" };
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{mark} {substrate}  {what}{nothing}");
    for need in needs {
        let line = match &need.found {
            Some(found) => format!("    ✓ {}: {found}", need.what),
            None => format!("    ✗ {}: {}", need.what, need.remedy),
        };
        let _ = writeln!(text, "{line}");
    }
}

fn control_plane(controller_manager: bool) -> Need {
    let found = Assets::find(&environment::surroundings(), programs(controller_manager));
    Need::of("programs", &found, |assets| assets.folder().display().to_string())
}

/// What can be told of each need; of what lies behind one that is missing nothing is said.
async fn cluster() -> Vec<Need> {
    let around = environment::around_kind();
    let programs = around.programs();
    let mut needs = vec![Need::of("programs", &programs, |found| {
        format!("{}, {}, {}", found.docker.path().display(), found.kind.display(), found.kubectl.display())
    })];
    let Ok(programs) = programs else { return needs };
    let engine = programs.docker.engine().await;
    needs.push(Need::of("Docker engine", &engine, told));
    let Ok(engine) = engine else { return needs };
    let image: Result<String, KindError> = node_image::chosen(&programs, around.image.as_deref()).await;
    needs.push(Need::of("node image", &image, Clone::clone));
    let machine = Machine::look(Path::new(&engine.folder));
    needs.extend(capability(&engine, machine));
    needs.extend(Need::room("disk", machine.disk, DISK, "make room where the engine's data lie"));
    let memory = machine.memory.or(Some(engine.memory));
    needs.extend(Need::room("memory", memory, MEMORY, "end what else runs here"));
    needs
}

fn told(engine: &Engine) -> String {
    let place = if engine.address.is_some() { "private" } else { "the machine's" };
    let cgroups = if engine.cgroups.is_empty() { "?" } else { &engine.cgroups };
    format!("{}, {place}, cgroup v{cgroups}", engine.version)
}

/// A private engine goes round a capability that the machine lacks.
fn capability(engine: &Engine, machine: Machine) -> Option<Need> {
    let found = match (machine.has_sys_resource?, engine.address.is_some()) {
        (true, _) => Some("there".to_owned()),
        (false, true) => Some("lacking, and the private engine does without".to_owned()),
        (false, false) => None,
    };
    let remedy = "lacking: privileged containers will not start; end this engine, and as root `make kind-node` starts one \
                  that does without";
    Some(Need { what: "CAP_SYS_RESOURCE", found, remedy: remedy.to_owned() })
}

#[expect(clippy::cast_precision_loss, reason = "it is shown with one digit")]
fn gibibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_room_is_told_with_what_is_there_and_what_is_needed() {
        let need = Need::room("memory", Some(3 << 29), MEMORY, "end something").expect("it is known");
        assert_eq!((need.found, need.remedy.as_str()), (None, "1.5 GiB free, 4 are needed: end something"));
        let need = Need::room("memory", Some(5 << 30), MEMORY, "end something").expect("it is known");
        assert_eq!(need.found.as_deref(), Some("5.0 GiB free"));
        assert!(Need::room("memory", None, MEMORY, "").is_none());
    }
}
