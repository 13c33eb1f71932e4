//! The only module that reads environment variables.

use std::path::PathBuf;

use substrate::envtest::assets::Surroundings;
use substrate::kind::programs::Surroundings as KindSurroundings;

/// Whether a CI system runs this process; it gets no progress bar.
pub(crate) fn is_ci() -> bool {
    variable("CI").is_some_and(|value| value != "false")
}

/// Whether the environment forbids colours (`NO_COLOR` with any value, or `TERM=dumb`).
pub(crate) fn is_colourless() -> bool {
    variable("NO_COLOR").is_some() || variable("TERM").is_some_and(|term| term == "dumb")
}

/// The folder for the state of started environments: below `$XDG_STATE_HOME` or `~/.local/state`.
pub(crate) fn state_folder() -> PathBuf {
    let state = variable("XDG_STATE_HOME").map(PathBuf::from);
    let home = || variable("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    state.or_else(home).unwrap_or_else(std::env::temp_dir).join("gardener-conformance")
}

/// Where to look for the programs of a real control plane.
pub(crate) fn envtest_surroundings() -> Surroundings {
    let folder = |name| variable(name).map(PathBuf::from);
    Surroundings {
        assets: folder("KUBEBUILDER_ASSETS"),
        home: folder("HOME"),
        cache_home: folder("XDG_CACHE_HOME"),
        data_home: folder("XDG_DATA_HOME"),
    }
}

/// Where to look for the programs that a kind cluster needs, and the node image that the user chose.
pub(crate) fn kind_surroundings() -> KindSurroundings {
    KindSurroundings {
        path: variable("PATH").unwrap_or_default().into(),
        home: variable("HOME").map(PathBuf::from),
        cache_home: variable("XDG_CACHE_HOME").map(PathBuf::from),
        image: variable("CONFORMANCE_KIND_IMAGE"),
    }
}

/// The folders of `PATH`.
pub(crate) fn program_folders() -> Vec<PathBuf> {
    std::env::split_paths(&variable("PATH").unwrap_or_default()).collect()
}

/// Columns of the terminal, if the shell exports them.
pub(crate) fn columns() -> Option<usize> {
    variable("COLUMNS")?.parse().ok()
}

#[expect(clippy::disallowed_methods, reason = "this is the only place that reads environment variables")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
