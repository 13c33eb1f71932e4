//! The namespace of all cases of a run for which nothing is written, where a whole cluster has work with each.

use substrate::cluster::{Cluster, ClusterError};
use substrate::facts::{self, Before};
use tokio::sync::OnceCell;

use super::Shared;
use super::prepare::CASES;

/// Whether it is there.
#[derive(Default)]
pub(crate) struct SharedNamespace(OnceCell<()>);

/// Its name.
pub(super) fn name(shared: &Shared<'_>) -> String {
    format!("{CASES}{:04x}-{}-common", shared.options.seed & 0xffff, shared.run)
}

impl SharedNamespace {
    /// Makes it, the first time.
    pub(super) async fn stand(&self, cluster: &Cluster, name: &str) -> Result<(), ClusterError> {
        let make = async || {
            facts::write_namespace(cluster, name, None).await?;
            facts::write_account(cluster, name).await
        };
        self.0.get_or_try_init(make).await.copied()
    }

    /// Removes it, and says why it could not.
    pub(super) async fn take_back(&self, cluster: &Cluster, name: &str) -> Result<(), ClusterError> {
        if !self.0.initialized() {
            return Ok(());
        }
        facts::restore_namespace(cluster, name, &Before::Nothing, false).await
    }
}
