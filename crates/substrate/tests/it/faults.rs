//! Failures around a control plane: clear errors, and nothing left behind.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use substrate::envtest::{Envtest, EnvtestError};
use substrate::ports::free_ports;

use crate::world::{World, assert_empty, eventually, processes};

pub(crate) async fn a_start_is_retried_with_other_ports_if_one_is_taken(world: World) {
    let within = tempfile::tempdir().unwrap();
    // The first start finds etcd's port in use, the second kube-apiserver's.
    let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let taken = (taken.local_addr().unwrap().port(), taken);
    let starts = Arc::new(AtomicUsize::new(0));
    let mut options = world.options(within.path());
    let (port, counted) = (taken.0, Arc::clone(&starts));
    options.ports = Arc::new(move |count| {
        let mut ports = free_ports(count)?;
        match counted.fetch_add(1, Ordering::SeqCst) {
            0 => ports[0] = port,
            1 => ports[2] = port,
            _ => {}
        }
        Ok(ports)
    });
    let started = Envtest::start(&options).await.unwrap();
    assert_eq!(starts.load(Ordering::SeqCst), 3);
    drop(started);
    assert_empty(within.path());
}

pub(crate) async fn ports_that_are_always_taken_are_an_error(world: World) {
    let within = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let mut options = world.options(within.path());
    options.ports = Arc::new(move |count| {
        let mut ports = free_ports(count)?;
        ports[0] = port;
        Ok(ports)
    });
    let error = Envtest::start(&options).await.err().unwrap();
    let EnvtestError::Occupied { program, attempts, last_words } = &error else { panic!("{error}") };
    assert_eq!((program.as_str(), *attempts), ("etcd", 5));
    assert!(last_words.contains(&port.to_string()), "{error}");
    assert_empty(within.path());
}

pub(crate) async fn a_killed_etcd_is_reported_with_the_end_of_its_log(world: World) {
    let within = tempfile::tempdir().unwrap();
    let started = world.start(within.path()).await;
    let etcd = processes("etcd", started.folder());
    assert!(Command::new("kill").args(["-9", &etcd[0]]).status().unwrap().success());
    let error = tokio::time::timeout(Duration::from_secs(10), started.ended()).await.unwrap();
    let EnvtestError::Ended { program, how, last_words } = &error else { panic!("{error}") };
    assert_eq!((program.as_str(), how.as_str()), ("etcd", "killed by signal 9"));
    let log = std::fs::read_to_string(started.folder().join("etcd.log")).unwrap();
    let (written, quoted) = (log.lines().last().unwrap(), last_words.lines().last().unwrap());
    assert!(!quoted.is_empty() && written.starts_with(quoted), "{error}");
    assert!(started.alive().is_err());
    drop(started);
    assert_empty(within.path());
}

/// A folder on a small file system, unmounted on drop.
struct SmallFileSystem(tempfile::TempDir);

impl SmallFileSystem {
    /// Only root may mount.
    fn mount(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(folder.path())
            .stderr(Stdio::null())
            .status();
        mounted.is_ok_and(|status| status.success()).then(|| Self(folder))
    }
}

impl Drop for SmallFileSystem {
    fn drop(&mut self) {
        // A remaining mount would stay on the machine that runs the tests.
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

pub(crate) async fn a_full_disk_is_reported_with_etcds_message(world: World) {
    let Some(small) = SmallFileSystem::mount("8m") else {
        println!("    skipped: this user may not mount a small file system");
        return;
    };
    let error = Envtest::start(&world.options(small.0.path())).await.err().unwrap().to_string();
    assert!(error.starts_with("etcd ended (") && error.contains("no space left on device"), "{error}");
    assert_empty(small.0.path());
}

/// The harness to kill: starts a control plane, prints its folder, and waits or panics. It listens for SIGINT as the
/// command line does, because background processes of a shell ignore it.
pub(crate) async fn hold(world: World, arguments: &[String]) {
    let [within, manner] = arguments else { panic!("hold FOLDER MANNER") };
    let started = world.start(Path::new(within)).await;
    println!("{}", started.folder().display());
    assert_ne!(manner, "panic", "as it was asked to");
    tokio::select! {
        _ = started.ended() => {}
        signal = tokio::signal::ctrl_c() => signal.unwrap(),
    }
}

pub(crate) async fn nothing_is_left_however_the_harness_ends(_: World) {
    for manner in ["-KILL", "-TERM", "-INT", "panic"] {
        let within = tempfile::tempdir().unwrap();
        let mut harness = Command::new(std::env::current_exe().unwrap())
            .arg("hold")
            .args([within.path(), Path::new(manner)])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut folder = String::new();
        BufReader::new(harness.stdout.take().unwrap()).read_line(&mut folder).unwrap();
        let folder = PathBuf::from(folder.trim());
        if manner != "panic" {
            assert!(folder.exists());
            assert_eq!(processes("kube-apiserver", &folder).len(), 1);
            let pid = harness.id().to_string();
            assert!(Command::new("kill").args([manner, &pid]).status().unwrap().success());
        }
        eventually("the harness ends", || harness.try_wait().unwrap().is_some()).await;
        eventually("no process is left", || processes("", &folder).is_empty()).await;
        eventually("no folder is left", || !folder.exists()).await;
        assert_empty(within.path());
    }
}
