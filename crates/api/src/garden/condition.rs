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

impl Condition {
    /// The condition of a type that nothing has checked yet.
    #[must_use]
    pub fn initial(type_: &str, now: &Time) -> Self {
        Self {
            type_: type_.to_owned(),
            status: "Unknown".to_owned(),
            reason: "ConditionInitialized".to_owned(),
            message: "The condition has been initialized but its semantic check has not been performed yet."
                .to_owned(),
            last_transition_time: Some(now.clone()),
            last_update_time: Some(now.clone()),
            ..Self::default()
        }
    }

    /// The condition with what was found out, without codes. The transition time follows the status, the update time reason
    /// and message.
    #[must_use]
    pub fn updated(&self, status: &str, reason: &str, message: &str, now: &Time) -> Self {
        let is_same_status = self.status == status;
        let is_same_text = self.reason == reason && self.message == message && self.codes.is_empty();
        let kept =
            |time: &Option<Time>, keeps: bool| time.clone().filter(|_| keeps).or_else(|| Some(now.clone()));
        Self {
            status: status.to_owned(),
            reason: reason.to_owned(),
            message: message.to_owned(),
            codes: Vec::new(),
            last_transition_time: kept(&self.last_transition_time, is_same_status),
            last_update_time: kept(&self.last_update_time, is_same_text),
            ..self.clone()
        }
    }
}
