//! The one place that reads the process' environment.

use std::path::PathBuf;

use substrate::envtest::assets::Surroundings;
use substrate::kind::programs::Surroundings as AroundKind;

/// Whether a continuous integration system runs us: progress is then plain lines.
pub(crate) fn is_ci() -> bool {
    variable("CI").is_some_and(|value| value != "false")
}

/// Whether colours are unwanted (`NO_COLOR`, any value).
pub(crate) fn is_colourless() -> bool {
    variable("NO_COLOR").is_some() || variable("TERM").is_some_and(|term| term == "dumb")
}

/// Where the state of started environments lives: `$XDG_STATE_HOME` or `~/.local/state`.
pub(crate) fn state_folder() -> PathBuf {
    let state = variable("XDG_STATE_HOME").map(PathBuf::from);
    let home = || variable("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    state.or_else(home).unwrap_or_else(std::env::temp_dir).join("gardener-conformance")
}

/// Where the programs of a real control plane may be.
pub(crate) fn surroundings() -> Surroundings {
    let folder = |name| variable(name).map(PathBuf::from);
    Surroundings {
        assets: folder("KUBEBUILDER_ASSETS"),
        home: folder("HOME"),
        cache_home: folder("XDG_CACHE_HOME"),
        data_home: folder("XDG_DATA_HOME"),
    }
}

/// Where the programs of a cluster in containers may be, and which node image was chosen.
pub(crate) fn around_kind() -> AroundKind {
    AroundKind {
        path: variable("PATH").unwrap_or_default().into(),
        home: variable("HOME").map(PathBuf::from),
        cache_home: variable("XDG_CACHE_HOME").map(PathBuf::from),
        image: variable("CONFORMANCE_KIND_IMAGE"),
    }
}

/// The folders where programs are looked for.
pub(crate) fn program_folders() -> Vec<PathBuf> {
    std::env::split_paths(&variable("PATH").unwrap_or_default()).collect()
}

/// Columns of the terminal, where the shell says so.
pub(crate) fn columns() -> Option<usize> {
    variable("COLUMNS")?.parse().ok()
}

#[expect(clippy::disallowed_methods, reason = "the environment is read here and handed down")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
