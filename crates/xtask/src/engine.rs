//! The Docker engine: the one that answers, else a private one in namespaces of its own.
//!
//! The private one has its own network, mounts and processes. Nothing that runs in it can reach beyond the machine, and
//! when it ends, however it ends, its containers, bridges, packet filters and mounts are gone with it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use crate::cache::Cache;
use crate::program;
use crate::tools::Tools;

/// What must be there to start one.
const PROGRAMS: [&str; 7] = ["dockerd", "docker", "containerd", "runc", "iptables", "ip", "unshare"];
/// The two ends of the link to the engine, of a range that no router knows.
const OUTSIDE: &str = "169.254.77.1/30";
const INSIDE: &str = "169.254.77.2/30";
/// Name of the link on the machine.
const LINK: &str = "conformance";
/// The label that tells where published ports of a private engine are.
const LABEL: &str = "conformance.gardener.cloud/address";
/// Where its cgroups are, below each hierarchy.
const CGROUP: &str = "gardener-conformance";
const RUNTIME_FOLDER: &str = "/run/gardener-conformance";
const SOCKET: &str = "/var/run/docker.sock";
/// How long it may take to answer, and to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is done with a private engine.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Wish,
    #[command(flatten)]
    environment: Environment,
}

#[derive(clap::Subcommand)]
enum Wish {
    /// Starts a private engine if none answers (root, Linux)
    Start,
    /// Ends the private engine with all its containers; its images are kept
    Stop,
}

/// What the environment says.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub(crate) struct Environment {
    #[command(flatten)]
    pub(crate) cache: Cache,
    #[arg(long, env = "PATH", hide = true, default_value = "/usr/bin:/bin")]
    pub(crate) path: OsString,
    #[arg(long, env = "DOCKER_HOST", hide = true)]
    docker_host: Option<String>,
}

/// Starts or stops.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    match arguments.command {
        Wish::Start => ensure_running(&arguments.environment).map(|_| ()),
        Wish::Stop => stop(&arguments.environment.cache.folder()?.join("engine")),
    }
}

/// Sees that an engine answers, and gives the programs to ask it with.
pub(crate) fn ensure_running(environment: &Environment) -> Result<Tools> {
    let cache = environment.cache.folder()?;
    let own = Tools::with(&[], &environment.path, &cache)?;
    let Err(silent) = answers(&own) else { return Ok(own) };
    let remedy = "start Docker, or be root on Linux, where a private engine is started";
    if let Some(host) = &environment.docker_host {
        bail!("no Docker engine answers at DOCKER_HOST={host}: {silent:#}");
    }
    ensure!(is_root_on_linux(), "no Docker engine answers ({silent:#}): {remedy}");
    let tools = Tools::with(&PROGRAMS, &environment.path, &cache)?;
    if answers(&tools).is_err() {
        program::step("a private Docker engine", || start(&tools, &cache.join("engine")))?;
    }
    Ok(tools)
}

fn answers(tools: &Tools) -> Result<String> {
    program::ask(tools.command("docker").args(["version", "--format", "{{.Server.Version}}"]))
}

#[cfg(target_os = "linux")]
fn is_root_on_linux() -> bool {
    rustix::process::getuid().is_root()
}

#[cfg(not(target_os = "linux"))]
fn is_root_on_linux() -> bool {
    false
}

fn start(tools: &Tools, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("failed to make {}", folder.display()))?;
    // Of an engine that was killed.
    clear(folder)?;
    let mut namespaces = spawn(tools, folder)?;
    let pid = namespaces.id();
    fs::write(folder.join("pid"), pid.to_string()).context("failed to write the engine's pid")?;
    let ready = connect(tools, pid).and_then(|()| await_answer(tools, &mut namespaces));
    ready.map_err(|error| {
        // It never served; nobody else knows of it.
        let _ = namespaces.kill();
        let _ = namespaces.wait();
        let _ = clear(folder);
        error.context(format!("its log is {}", folder.join("log").display()))
    })
}

fn spawn(tools: &Tools, folder: &Path) -> Result<Child> {
    let path = |name: &str| folder.join(name);
    let file = |name: &str, text: &str| {
        fs::write(path(name), text).with_context(|| format!("failed to write {}", path(name).display()))
    };
    file("start.sh", include_str!("engine/start.sh"))?;
    file("runc-without", include_str!("engine/runc-without.sh"))?;
    make_executable(&path("runc-without"))?;
    let log = File::create(path("log")).context("failed to make the engine's log")?;
    let also = log.try_clone().context("failed to share the engine's log")?;
    let mut command = tools.command("unshare");
    command.args(["--net", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "sh"]);
    command.arg(path("start.sh")).arg(INSIDE).arg("--data-root").arg(path("data"));
    command.arg("--exec-root").arg(RUNTIME_FOLDER).arg("--pidfile").arg(format!("{RUNTIME_FOLDER}/pid"));
    command.args(["--exec-opt", "native.cgroupdriver=cgroupfs", "--cgroup-parent", CGROUP]);
    // Published ports are reached over the uplink, where packet filters lead on; a program for each would serve loopback.
    command.arg("--userland-proxy=false");
    command.args(["--label", &format!("{LABEL}={}", INSIDE.split('/').next().unwrap_or(INSIDE))]);
    if lacks_sys_resource()? {
        let mut runtime = OsString::from("without=");
        runtime.push(path("runc-without"));
        command.arg("--add-runtime").arg(runtime).args(["--default-runtime", "without"]);
    }
    command.stdin(Stdio::null()).stdout(log).stderr(also);
    detach(&mut command);
    command.spawn().context("failed to start namespaces for the engine")
}

/// Leads a link into the engine's network, which ends with it.
fn connect(tools: &Tools, pid: u32) -> Result<()> {
    let network = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/net")).ok();
    let own = network("self");
    until("namespaces of its own", || network(&pid.to_string()).is_some_and(|network| Some(network) != own))?;
    let ip = |arguments: &[&str]| program::run(tools.command("ip").args(arguments));
    let pid = pid.to_string();
    ip(&["link", "add", LINK, "type", "veth", "peer", "name", "uplink", "netns", &pid])?;
    ip(&["address", "add", OUTSIDE, "dev", LINK])?;
    ip(&["link", "set", LINK, "up"])
}

fn await_answer(tools: &Tools, namespaces: &mut Child) -> Result<()> {
    let mut ended = None;
    let answered = until("an answer", || {
        ended = namespaces.try_wait().ok().flatten();
        ended.is_some() || answers(tools).is_ok()
    });
    match ended {
        Some(status) => bail!("the engine ended: {status}"),
        None => answered,
    }
}

/// Ends dockerd, which ends its containers, then whatever is left in its namespaces.
fn stop(folder: &Path) -> Result<()> {
    let Some(pid) = running(folder) else {
        let _ = writeln!(io::stderr(), "no private engine is running");
        return clear(folder);
    };
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    for child in children.split_whitespace() {
        program::run(Command::new("kill").args(["-TERM", child]))?;
    }
    if until("its end", || running(folder).is_none()).is_err() {
        program::run(Command::new("kill").args(["-KILL", &pid]))?;
        until("its end", || running(folder).is_none())?;
    }
    clear(folder)
}

/// The process that holds the namespaces, if it is there and no other one that has its number by now.
fn running(folder: &Path) -> Option<String> {
    let pid = fs::read_to_string(folder.join("pid")).ok()?;
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let script = folder.join("start.sh");
    let is_ours = String::from_utf8_lossy(&line).split('\0').any(|word| Path::new(word) == script);
    is_ours.then_some(pid)
}

/// Removes what an engine that is gone leaves: its socket, and empty cgroups.
fn clear(folder: &Path) -> Result<()> {
    if running(folder).is_some() {
        return Ok(());
    }
    if folder.join("pid").exists() {
        // Somebody else may serve there by now.
        if !is_served(SOCKET) {
            crate::cache::remove(Path::new(SOCKET))?;
        }
        crate::cache::remove(Path::new(RUNTIME_FOLDER))?;
    }
    let hierarchies = fs::read_dir("/sys/fs/cgroup").into_iter().flatten().filter_map(Result::ok);
    let roots: Vec<PathBuf> = hierarchies.map(|entry| entry.path()).collect();
    for root in roots.into_iter().chain([PathBuf::from("/sys/fs/cgroup")]) {
        remove_cgroups(&root.join(CGROUP));
    }
    crate::cache::remove(&folder.join("pid"))
}

#[cfg(unix)]
fn is_served(socket: &str) -> bool {
    std::os::unix::net::UnixStream::connect(socket).is_ok()
}

#[cfg(not(unix))]
fn is_served(_: &str) -> bool {
    false
}

/// A cgroup is removed as a folder, the inner ones first; one that is in use stays.
fn remove_cgroups(group: &Path) {
    let entries = fs::read_dir(group).into_iter().flatten().filter_map(Result::ok);
    for inner in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        remove_cgroups(&inner.path());
    }
    let _ = fs::remove_dir(group);
}

fn until(what: &str, mut seen: impl FnMut() -> bool) -> Result<()> {
    let begun = Instant::now();
    while !seen() {
        ensure!(begun.elapsed() < PATIENCE, "waited {PATIENCE:?} for {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// Whether CAP_SYS_RESOURCE, number 24, is in nobody's reach here.
fn lacks_sys_resource() -> Result<bool> {
    let status = fs::read_to_string("/proc/self/status").context("failed to read capabilities")?;
    let bounding = bounding_set(&status).context("no bounding set in /proc/self/status")?;
    Ok(bounding >> 24 & 1 == 0)
}

fn bounding_set(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("CapBnd:"))?;
    u64::from_str_radix(line.trim(), 16).ok()
}

/// A process group of its own, so that an interrupt in the shell does not reach it.
fn detach(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

fn make_executable(path: &Path) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))
            .with_context(|| format!("failed to make {} executable", path.display()))?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capability_is_told_by_its_bit_in_the_bounding_set() {
        let status = |set: &str| format!("Name:\tx\nCapEff:\t0\nCapBnd:\t{set}\nCapAmb:\t0\n");
        for (set, lacks) in [("000001fffeffffff", true), ("000001ffffffffff", false)] {
            let bounding = bounding_set(&status(set)).expect("it is there");
            assert_eq!(bounding >> 24 & 1 == 0, lacks, "{set}");
        }
        assert_eq!(bounding_set("Name:\tx\n"), None);
    }

    #[test]
    fn a_process_that_has_the_number_of_a_dead_engine_is_not_taken_for_it() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(running(folder.path()), None);
        fs::write(folder.path().join("pid"), std::process::id().to_string()).expect("writable");
        assert_eq!(running(folder.path()), None);
    }
}
