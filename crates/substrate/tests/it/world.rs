//! The environment of the tests: programs, folders, and processes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use substrate::envtest::assets::{Assets, Surroundings};
use substrate::envtest::{Envtest, Options, programs};

/// The environment of a test.
#[derive(Clone)]
pub(crate) struct World {
    assets: Assets,
}

impl World {
    /// The programs in `KUBEBUILDER_ASSETS`; if it is set, it must be complete.
    pub(crate) fn of_environment() -> Option<Self> {
        #[expect(clippy::disallowed_methods, reason = "this is the tests' main function")]
        let assets = std::env::var("KUBEBUILDER_ASSETS").ok().filter(|folder| !folder.is_empty())?;
        let surroundings = Surroundings { assets: Some(PathBuf::from(assets)), ..Surroundings::default() };
        Some(Self { assets: Assets::find(&surroundings, programs(true)).unwrap() })
    }

    /// Options for a control plane whose folder is made in `within`.
    pub(crate) fn options(&self, within: &Path) -> Options {
        Options::new(self.assets.clone(), within.to_owned())
    }

    /// Starts a control plane.
    pub(crate) async fn start(&self, within: &Path) -> Envtest {
        Envtest::start(&self.options(within)).await.unwrap()
    }
}

/// Runs a future to its end.
pub(crate) fn block_on(future: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.unwrap().block_on(future);
}

/// The process ids of a program whose command line contains the folder.
pub(crate) fn processes(program: &str, folder: &Path) -> Vec<String> {
    let listed = Command::new("ps").args(["-axwwo", "pid=,args="]).output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let folder = folder.display().to_string();
    let ours = listed.lines().filter_map(|line| {
        let (pid, command) = line.trim().split_once(' ')?;
        let first = command.split_whitespace().next()?;
        (first.ends_with(program) && command.contains(&folder)).then(|| pid.to_owned())
    });
    ours.collect()
}

/// Waits until the condition holds.
pub(crate) async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let started_at = Instant::now();
    while !condition() {
        assert!(
            started_at.elapsed() < Duration::from_secs(30),
            "not so after {:?}: {what}",
            started_at.elapsed()
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Asserts that no process uses the folder and that it is empty.
pub(crate) fn assert_empty(within: &Path) {
    assert_eq!(processes("", within), Vec::<String>::new());
    let left: Vec<_> = std::fs::read_dir(within).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, Vec::<PathBuf>::new());
}
