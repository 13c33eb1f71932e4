//! Environment variables of the tests: where they run (`CONFORMANCE_SUBSTRATE`), which of them run (`CONFORMANCE_SAMPLE`), and
//! which program they test (`CONFORMANCE_PROGRAM`).

use substrate::kind::programs::Surroundings;

/// Where tests run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Substrate {
    /// A whole cluster in containers.
    Kind,
    /// A real kube-apiserver and etcd.
    Envtest,
    /// The cluster of a kubeconfig. The tool writes facts to it; the target runs in the tool's process.
    Kubeconfig(String),
}

impl Substrate {
    /// The substrate of `CONFORMANCE_SUBSTRATE`, if it is set.
    pub(crate) fn of_environment() -> Result<Option<Self>, String> {
        let Some(name) = variable("CONFORMANCE_SUBSTRATE") else { return Ok(None) };
        let substrate = match name.as_str() {
            "kind" => Self::Kind,
            "envtest" => Self::Envtest,
            "kubeconfig" => variable("KUBECONFIG")
                .map(Self::Kubeconfig)
                .ok_or("CONFORMANCE_SUBSTRATE=kubeconfig needs KUBECONFIG")?,
            other => {
                return Err(format!("CONFORMANCE_SUBSTRATE={other}: use kind, envtest or kubeconfig"));
            }
        };
        Ok(Some(substrate))
    }

    /// The arguments that run all cases there.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let words: &[&str] = match self {
            Self::Kind => &["run", "--substrate", "kind"],
            Self::Envtest => &["run", "--substrate", "envtest", "--time-budget", "5s"],
            Self::Kubeconfig(file) => &["verify", "--target", "built-in", "--kubeconfig", file],
        };
        words.iter().map(|word| (*word).to_owned()).collect()
    }
}

/// A number that chooses one case of each clause, for clusters of one node. Without it, all cases run, and pods are tested in three
/// zones.
pub(crate) fn sample() -> Result<Option<u64>, String> {
    let Some(text) = variable("CONFORMANCE_SAMPLE") else { return Ok(None) };
    text.parse().map(Some).map_err(|_| format!("CONFORMANCE_SAMPLE={text}: not a number"))
}

/// The program under test: that of `CONFORMANCE_PROGRAM`, else the one that was built with the tests.
pub(crate) fn program() -> String {
    let built = || env!("CARGO_BIN_EXE_gardener-conformance").to_owned();
    variable("CONFORMANCE_PROGRAM").unwrap_or_else(built)
}

/// Where to look for `kubectl` and `docker`.
pub(crate) fn surroundings() -> Surroundings {
    Surroundings {
        path: variable("PATH").unwrap_or_default().into(),
        home: variable("HOME").map(Into::into),
        cache_home: variable("XDG_CACHE_HOME").map(Into::into),
        image: None,
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the only place that reads environment variables")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
