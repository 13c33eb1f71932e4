//! Where tests run: `CONFORMANCE_SUBSTRATE`.

use substrate::kind::programs::Surroundings;

/// Where tests run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Substrate {
    /// A whole cluster in containers.
    Kind,
    /// A real kube-apiserver and etcd.
    Envtest,
    /// The cluster of a kubeconfig: facts are written there, the target runs in the program.
    Kubeconfig(String),
}

impl Substrate {
    /// What the environment says; `kind` if it says nothing.
    pub(crate) fn of_environment() -> Result<Self, String> {
        match variable("CONFORMANCE_SUBSTRATE").as_deref() {
            None | Some("kind") => Ok(Self::Kind),
            Some("envtest") => Ok(Self::Envtest),
            Some("kubeconfig") => variable("KUBECONFIG")
                .map(Self::Kubeconfig)
                .ok_or_else(|| "CONFORMANCE_SUBSTRATE=kubeconfig needs KUBECONFIG".to_owned()),
            Some(other) => Err(format!("CONFORMANCE_SUBSTRATE={other} is none of kind, envtest, kubeconfig")),
        }
    }

    /// The command that asks all cases there.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let words: &[&str] = match self {
            Self::Kind => &["run", "--substrate", "kind"],
            Self::Envtest => &["run", "--substrate", "envtest", "--time-budget", "5s"],
            Self::Kubeconfig(file) => &["verify", "--target", "built-in", "--kubeconfig", file],
        };
        words.iter().map(|word| (*word).to_owned()).collect()
    }
}

/// Where `kubectl` and `docker` are looked for.
pub(crate) fn surroundings() -> Surroundings {
    Surroundings {
        path: variable("PATH").unwrap_or_default().into(),
        home: variable("HOME").map(Into::into),
        cache_home: variable("XDG_CACHE_HOME").map(Into::into),
        image: None,
    }
}

#[expect(clippy::disallowed_methods, reason = "the environment is read here and handed down")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
