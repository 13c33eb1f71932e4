//! What objects of the garden say of their state.

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
        /// Why, in a word.
        reason: String,
        /// Why, in a sentence.
        message: String,
        /// What kind of problem it is: `ERR_INFRA_QUOTA_EXCEEDED`.
        codes: Vec<String>,
    }

    /// What was done with an object last.
    LastOperation {
        /// What is being done, in a sentence.
        description: String,
        /// When this was written.
        last_update_time: Option<Time>,
        /// In percent.
        progress: i32,
        /// `Processing`, `Succeeded`, `Error`, `Failed`, `Pending` or `Aborted`.
        state: String,
        /// `Create`, `Reconcile`, `Delete`, `Migrate` or `Restore`.
        #[serde(rename = "type")]
        type_: String,
    }

    /// What went wrong.
    LastError {
        /// In a sentence.
        description: String,
        /// The task of a flow that failed.
        #[serde(rename = "taskID")]
        task_id: Option<String>,
        /// What kind of problem it is.
        codes: Vec<String>,
        /// When this was written.
        last_update_time: Option<Time>,
    }

    /// The Gardener that acted.
    Gardener {
        /// Id of its container.
        id: String,
        /// Name of its pod.
        name: String,
        /// Its version.
        version: String,
    }
}
