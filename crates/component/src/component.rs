//! What a component is to the rest of the project.

use std::{ffi::OsString, process::ExitCode};

use serde_json::Value;

use crate::{Decided, Installation, Loaded, Question, StartOptions, Starting};

/// A component of this project.
#[derive(Debug)]
pub struct Component {
    /// Its name in contracts, and of its folder below `crates`, `contracts` and `kind/manifests`: `resource-manager`.
    pub name: &'static str,
    /// Its program, which also names its image, its Deployment and its Service: `gardener-resource-manager`.
    pub program: &'static str,
    /// Its purpose, in one line of help.
    pub about: &'static str,
    /// The version of the original that it replaces.
    pub version: &'static str,
    /// Features that clauses may need.
    pub features: &'static [&'static str],
    /// The names of its webhooks in contracts, each with the path that serves it.
    pub paths: fn() -> Vec<(&'static str, String)>,
    /// Runs its command line: the program's name and its arguments.
    pub main: fn(Vec<OsString>) -> ExitCode,
    /// How its program is started for cases of the form process: `spec` of a target file, whose `command` has the arguments alone;
    /// `None` if there are no such cases.
    pub process: Option<&'static str>,
    /// Reads a configuration file, whose `apiVersion` and `kind` may be missing; `None` if it has no such file.
    pub load: Option<fn(&Value) -> Loaded>,
    /// Starts it in this process; an error is the reason why it refuses its configuration.
    pub start: fn(StartOptions) -> Starting,
    /// Answers a question without a cluster; `None` if it answers no questions.
    pub decide: Option<fn(&Question<'_>) -> Decided>,
    /// Whether its webhooks named `shoot` admit Shoots, as the garden's API server does.
    pub admits_shoots: bool,
    /// Whether one of its controllers maintains Shoots.
    pub maintains_shoots: bool,
    /// Whether its controllers run only while it leads, of several instances, by a Lease.
    pub elects_leader: bool,
    /// How it is installed in a cluster.
    pub installation: Installation,
}

impl Component {
    /// The image that `make images` builds, without its tag.
    #[must_use]
    pub fn image(&self) -> String {
        format!("gardener-conformance/{}", self.program)
    }
}
