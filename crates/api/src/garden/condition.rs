//! Conditions, last operations and errors of objects of the garden.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

object! {
    /// One aspect of an object's state.
    Condition {
        /// The aspect: `APIServerAvailable`.
        #[serde(rename = "type")]
        type_: String,
        /// `True`, `False`, `Unknown` or `Progressing`.
        status: String,
        /// When the status changed last.
        last_transition_time: Option<Time>,
        /// When reason or message changed last.
        last_update_time: Option<Time>,
        /// The reason, one word.
        reason: String,
        /// The message.
        message: String,
        /// Error codes: `ERR_INFRA_QUOTA_EXCEEDED`.
        codes: Vec<String>,
    }

    /// The last operation on an object.
    LastOperation {
        /// Description of the operation.
        description: String,
        /// Time of the last update.
        last_update_time: Option<Time>,
        /// Progress in percent.
        progress: i32,
        /// `Processing`, `Succeeded`, `Error`, `Failed`, `Pending` or `Aborted`.
        state: String,
        /// `Create`, `Reconcile`, `Delete`, `Migrate` or `Restore`.
        #[serde(rename = "type")]
        type_: String,
    }

    /// An error of an operation.
    LastError {
        /// Description of the error.
        description: String,
        /// Id of the task that failed.
        #[serde(rename = "taskID")]
        task_id: Option<String>,
        /// Error codes.
        codes: Vec<String>,
        /// Time of the last update.
        last_update_time: Option<Time>,
    }

    /// The Gardener component that acted last.
    Gardener {
        /// Id of its container.
        id: String,
        /// Name of its pod.
        name: String,
        /// Its version.
        version: String,
    }
}
