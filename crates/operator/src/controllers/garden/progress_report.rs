//! Tells about the progress of a flow in the status of its Garden.

use api::operator::Garden;
use controller::clock::Clock;
use controller::describe_error;
use kube::Client;
use kube::api::{Api, Patch, PatchParams};
use tokio::sync::Mutex;

use super::flow_state::FlowProgress;
use super::status;

/// Writes the progress of a flow whenever it has changed.
pub(super) struct ProgressReport {
    gardens: Api<Garden>,
    garden: String,
    clock: Clock,
    /// What was written last.
    last: Mutex<Option<FlowProgress>>,
}

impl ProgressReport {
    /// Reports of the flow of this Garden.
    pub(super) fn new(client: &Client, garden: &str, clock: Clock) -> Self {
        Self { gardens: Api::all(client.clone()), garden: garden.to_owned(), clock, last: Mutex::default() }
    }

    /// Writes the progress; a refusal is logged alone, because the flow matters more.
    pub(super) async fn write(&self, progress: FlowProgress) {
        let mut last = self.last.lock().await;
        if last.as_ref() == Some(&progress) {
            return;
        }
        let patch = Patch::Merge(status::progress(&progress, self.clock.now()));
        if let Err(error) = self.gardens.patch_status(&self.garden, &PatchParams::default(), &patch).await {
            tracing::error!(error = describe_error(&error), "Could not report reconciliation progress");
        }
        *last = Some(progress);
    }

    /// How much was done when it was told last, in percent.
    pub(super) async fn percent(&self) -> i32 {
        self.last.lock().await.as_ref().map_or(0, |progress| progress.percent)
    }
}
