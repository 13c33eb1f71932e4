//! A whole cluster as the place of a run: nodes, controllers, and a target that runs inside.

use std::path::Path;

use async_trait::async_trait;
use formats::version::Version;
use substrate::cluster;
use substrate::envtest::Cluster;

/// The first minor version whose API server heeds the conditions of a webhook by default.
const HEEDS_CONDITIONS: (u64, u64) = (1, 28);

/// A whole cluster in which a target runs.
pub struct Whole {
    /// How its API server is reached.
    pub cluster: Cluster,
    /// In a word, as reports name it: `kind`.
    pub name: String,
    /// In a sentence: `one node with Kubernetes v1.36.3, ready in 21.3 s`.
    pub description: String,
    /// Whether it outlives the run: then all that is written is taken back.
    pub stays: bool,
    /// Kept as long as cases run.
    pub guard: Box<dyn Guard>,
}

impl Whole {
    /// Where cases write.
    pub(super) fn cluster(&self) -> cluster::Cluster {
        let client = self.cluster.client.clone();
        if self.cluster.has_controllers {
            cluster::Cluster::new(client)
        } else {
            cluster::Cluster::without_controllers(client)
        }
    }

    /// Whether its API server asks webhooks about the requests of some users alone.
    pub(super) fn tells_askers_apart(&self) -> bool {
        heeds_conditions(&self.cluster.version)
    }
}

fn heeds_conditions(version: &str) -> bool {
    let (major, minor) = HEEDS_CONDITIONS;
    version.parse::<Version>().is_ok_and(|version| !version.is_below(major, minor))
}

/// Whoever started a cluster. Dropping it ends what was started.
#[async_trait]
pub trait Guard: Send + Sync {
    /// Lets its controllers work again, which rest while cases are asked.
    async fn resume(&self) -> Result<(), String>;

    /// Collects what may tell why a run failed: objects, events, logs.
    async fn collect(&self, into: &Path);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_api_servers_do_not_tell_askers_apart() {
        let table =
            [("v1.27.16", false), ("v1.28.0", true), ("v1.36.3", true), ("v1.32.1+k3s1", true), ("", false)];
        for (version, want) in table {
            assert_eq!(heeds_conditions(version), want, "{version}");
        }
    }
}
