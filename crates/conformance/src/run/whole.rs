//! A whole cluster as the substrate of a run: nodes, controllers, and a target that runs in it.

use std::path::Path;

use async_trait::async_trait;
use formats::version::Version;
use substrate::cluster;
use substrate::envtest::Cluster;

/// The first version whose API server supports `matchConditions` of webhooks by default.
const MATCH_CONDITIONS_SINCE: (u64, u64) = (1, 28);

/// A whole cluster in which a target runs.
pub struct Whole {
    /// The connection to its API server.
    pub cluster: Cluster,
    /// Its name in reports: `kind`.
    pub name: String,
    /// Its description in reports: `one node with Kubernetes v1.36.3, ready in 21.3 s`.
    pub description: String,
    /// Whether it outlives the run: then all written objects are removed.
    pub stays: bool,
    /// Kept until the run ends.
    pub guard: Box<dyn Guard>,
}

impl Whole {
    /// The cluster in which cases write.
    pub(super) fn cluster(&self) -> cluster::Cluster {
        let client = self.cluster.client.clone();
        if self.cluster.has_controllers {
            cluster::Cluster::new(client)
        } else {
            cluster::Cluster::without_controllers(client)
        }
    }

    /// Whether its API server can limit webhooks to the requests of some users.
    pub(super) fn supports_match_conditions(&self) -> bool {
        supports_match_conditions_in(&self.cluster.version)
    }
}

fn supports_match_conditions_in(version: &str) -> bool {
    let (major, minor) = MATCH_CONDITIONS_SINCE;
    version.parse::<Version>().is_ok_and(|version| !version.is_below(major, minor))
}

/// The owner of a cluster. Dropping it ends what it started.
#[async_trait]
pub trait Guard: Send + Sync {
    /// Resumes its controllers, which are paused while cases run.
    async fn resume(&self) -> Result<(), String>;

    /// Collects objects, events and logs that may show why a run failed. Returns what could not be collected.
    async fn collect(&self, into: &Path) -> Vec<String>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_api_servers_do_not_support_match_conditions() {
        let table =
            [("v1.27.16", false), ("v1.28.0", true), ("v1.36.3", true), ("v1.32.1+k3s1", true), ("", false)];
        for (version, want) in table {
            assert_eq!(supports_match_conditions_in(version), want, "{version}");
        }
    }
}
