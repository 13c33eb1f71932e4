//! Finds a running Docker engine, or starts a private one in its own namespaces.
//!
//! The private engine has its own network, mounts and processes. Its containers cannot reach other machines. When it ends, also
//! if it is killed, its containers, bridges, packet filters and mounts disappear.

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

/// The programs that are needed to start an engine.
const PROGRAMS: [&str; 7] = ["dockerd", "docker", "containerd", "runc", "iptables", "ip", "unshare"];
/// The addresses of the two ends of the link to the engine, in the link-local range.
const OUTSIDE: &str = "169.254.77.1/30";
const INSIDE: &str = "169.254.77.2/30";
/// Name of the link's end on the machine.
const LINK: &str = "conformance";
/// The engine label with the address of published ports.
const LABEL: &str = "conformance.gardener.cloud/address";
/// The parent of its cgroups in each hierarchy.
const CGROUP: &str = "gardener-conformance";
const RUNTIME_FOLDER: &str = "/run/gardener-conformance";
const SOCKET: &str = "/var/run/docker.sock";
/// How long the engine may take to answer, and to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Starts or stops a private engine.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: EngineCommand,
    #[command(flatten)]
    environment: Environment,
}

#[derive(clap::Subcommand)]
enum EngineCommand {
    /// Start a private engine if no engine answers; needs root on Linux
    Start,
    /// Stop the private engine and all its containers; its images are kept
    Stop,
}

/// The environment variables that chores need.
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

/// Starts or stops the engine.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    match arguments.command {
        EngineCommand::Start => ensure_running(&arguments.environment).map(|_| ()),
        EngineCommand::Stop => stop(&arguments.environment.cache.folder()?.join("engine")),
    }
}

/// Starts a private engine if none answers; returns the programs with which to use the engine.
pub(crate) fn ensure_running(environment: &Environment) -> Result<Tools> {
    let cache = environment.cache.folder()?;
    let own = Tools::with(&[], &environment.path, &cache)?;
    let Err(error) = engine_version(&own) else { return Ok(own) };
    let remedy = "start Docker, or run this as root on Linux, which starts a private engine";
    if let Some(host) = &environment.docker_host {
        bail!("no Docker engine answers at DOCKER_HOST={host}: {error:#}");
    }
    ensure!(is_root_on_linux(), "no Docker engine answers ({error:#}): {remedy}");
    let tools = Tools::with(&PROGRAMS, &environment.path, &cache)?;
    if engine_version(&tools).is_err() {
        program::step("a private Docker engine", || start(&tools, &cache.join("engine")))?;
    }
    Ok(tools)
}

fn engine_version(tools: &Tools) -> Result<String> {
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
    fs::create_dir_all(folder).with_context(|| format!("failed to create {}", folder.display()))?;
    // Remove what an engine that was killed left.
    clear(folder)?;
    let mut namespaces = spawn(tools, folder)?;
    let pid = namespaces.id();
    fs::write(folder.join("pid"), pid.to_string()).context("failed to write the engine's pid")?;
    let ready = connect(tools, pid).and_then(|()| wait_for_answer(tools, &mut namespaces));
    ready.map_err(|error| {
        // Nothing else would stop it.
        let _ = namespaces.kill();
        let _ = namespaces.wait();
        let _ = clear(folder);
        error.context(format!(
            "failed to start the private engine; its log is {}",
            folder.join("log").display()
        ))
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
    let log = File::create(path("log")).context("failed to create the engine's log")?;
    let errors = log.try_clone().context("failed to duplicate the handle of the engine's log")?;
    let mut command = tools.command("unshare");
    command.args(["--net", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "sh"]);
    command.arg(path("start.sh")).arg(INSIDE).arg("--data-root").arg(path("data"));
    command.arg("--exec-root").arg(RUNTIME_FOLDER).arg("--pidfile").arg(format!("{RUNTIME_FOLDER}/pid"));
    command.args(["--exec-opt", "native.cgroupdriver=cgroupfs", "--cgroup-parent", CGROUP]);
    // Published ports are reached over the uplink through packet filters; docker-proxy would serve them on loopback.
    command.arg("--userland-proxy=false");
    command.args(["--label", &format!("{LABEL}={}", INSIDE.split('/').next().unwrap_or(INSIDE))]);
    if lacks_sys_resource()? {
        let mut runtime = OsString::from("without=");
        runtime.push(path("runc-without"));
        command.arg("--add-runtime").arg(runtime).args(["--default-runtime", "without"]);
    }
    command.stdin(Stdio::null()).stdout(log).stderr(errors);
    detach(&mut command);
    command.spawn().context("failed to start namespaces for the engine")
}

/// Creates a link into the engine's network namespace; it disappears with the namespace.
fn connect(tools: &Tools, pid: u32) -> Result<()> {
    let network = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/net")).ok();
    let own = network("self");
    wait_until("its own network namespace", || {
        network(&pid.to_string()).is_some_and(|network| Some(network) != own)
    })?;
    let ip = |arguments: &[&str]| program::run(tools.command("ip").args(arguments));
    let pid = pid.to_string();
    ip(&["link", "add", LINK, "type", "veth", "peer", "name", "uplink", "netns", &pid])?;
    ip(&["address", "add", OUTSIDE, "dev", LINK])?;
    ip(&["link", "set", LINK, "up"])
}

fn wait_for_answer(tools: &Tools, namespaces: &mut Child) -> Result<()> {
    let mut ended = None;
    let answered = wait_until("an answer", || {
        ended = namespaces.try_wait().ok().flatten();
        ended.is_some() || engine_version(tools).is_ok()
    });
    match ended {
        Some(status) => bail!("the engine ended: {status}"),
        None => answered,
    }
}

/// Ends dockerd, which ends its containers, and then the other processes in its namespaces.
fn stop(folder: &Path) -> Result<()> {
    let Some(pid) = running_pid(folder) else {
        let _ = writeln!(io::stderr(), "no private engine is running");
        return clear(folder);
    };
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    for child in children.split_whitespace() {
        program::run(Command::new("kill").args(["-TERM", child]))?;
    }
    if wait_until("its end", || running_pid(folder).is_none()).is_err() {
        program::run(Command::new("kill").args(["-KILL", &pid]))?;
        wait_until("its end", || running_pid(folder).is_none())?;
    }
    clear(folder)
}

/// The id of the process that holds the namespaces, if it runs. Checks the command line, as another process may have got the id.
fn running_pid(folder: &Path) -> Option<String> {
    let pid = fs::read_to_string(folder.join("pid")).ok()?;
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let script = folder.join("start.sh");
    let is_ours = String::from_utf8_lossy(&line).split('\0').any(|word| Path::new(word) == script);
    is_ours.then_some(pid)
}

/// Removes what an engine that has ended leaves: its socket, and empty cgroups.
fn clear(folder: &Path) -> Result<()> {
    if running_pid(folder).is_some() {
        return Ok(());
    }
    if folder.join("pid").exists() {
        // Another engine may serve there by now.
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

/// Removes a cgroup and those in it; one that is in use stays.
fn remove_cgroups(group: &Path) {
    let entries = fs::read_dir(group).into_iter().flatten().filter_map(Result::ok);
    for inner in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        remove_cgroups(&inner.path());
    }
    let _ = fs::remove_dir(group);
}

fn wait_until(what: &str, mut condition: impl FnMut() -> bool) -> Result<()> {
    let begun = Instant::now();
    while !condition() {
        ensure!(begun.elapsed() < PATIENCE, "waited {PATIENCE:?} for {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// Whether no process can have CAP_SYS_RESOURCE, which is bit 24 of the bounding set.
fn lacks_sys_resource() -> Result<bool> {
    let status = fs::read_to_string("/proc/self/status").context("failed to read capabilities")?;
    let bounding = bounding_set(&status).context("no bounding set in /proc/self/status")?;
    Ok(bounding >> 24 & 1 == 0)
}

fn bounding_set(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("CapBnd:"))?;
    u64::from_str_radix(line.trim(), 16).ok()
}

/// Puts the process into its own process group, so that an interrupt in the shell does not reach it.
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
    fn a_capability_is_a_bit_of_the_bounding_set() {
        let status = |set: &str| format!("Name:\tx\nCapEff:\t0\nCapBnd:\t{set}\nCapAmb:\t0\n");
        for (set, lacks) in [("000001fffeffffff", true), ("000001ffffffffff", false)] {
            let bounding = bounding_set(&status(set)).expect("it is there");
            assert_eq!(bounding >> 24 & 1 == 0, lacks, "{set}");
        }
        assert_eq!(bounding_set("Name:\tx\n"), None);
    }

    #[test]
    fn another_process_with_the_id_of_an_ended_engine_is_ignored() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(running_pid(folder.path()), None);
        fs::write(folder.path().join("pid"), std::process::id().to_string()).expect("writable");
        assert_eq!(running_pid(folder.path()), None);
    }
}
