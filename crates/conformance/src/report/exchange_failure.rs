//! What happened to an exchange without a valid answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What happened to an exchange without a valid answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ExchangeFailure {
    /// The webhook closed the connection before it answered.
    Closed,
    /// There was no answer within the timeout.
    Late,
    /// The answer has another HTTP status than 200.
    HttpStatus,
    /// The body of the answer is no AdmissionReview.
    NoReview,
    /// The review does not belong to the request: another version, another uid, or no response.
    OtherReview,
    /// The patch has no type, cannot be read, or cannot be applied.
    Patch,
    /// An API server called the webhook and refused its answer.
    Refused,
}

impl ExchangeFailure {
    /// What happened, as a sentence.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Closed => "the webhook closed the connection and gave no answer",
            Self::Late => "the webhook gave no answer within its timeout",
            Self::HttpStatus => "the webhook answered with another HTTP status than 200",
            Self::NoReview => "the webhook's answer is no AdmissionReview",
            Self::OtherReview => "the webhook's review is no answer to the request",
            Self::Patch => "the webhook's patch cannot be applied",
            Self::Refused => "the API server refuses the webhook's answer",
        }
    }

    /// What it means to an API server.
    #[must_use]
    pub fn why(self) -> &'static str {
        match self {
            Self::Closed | Self::HttpStatus => {
                "an API server takes this as a failed call: with failurePolicy Fail it refuses the request"
            }
            Self::Late => {
                "an API server waits only for timeoutSeconds: with failurePolicy Fail it then refuses the request"
            }
            Self::NoReview | Self::OtherReview => {
                "an API server accepts an AdmissionReview of the same version, with a response that has the uid of the request"
            }
            Self::Patch => {
                "an API server refuses the request if a patch has no patchType JSONPatch or does not fit the object"
            }
            Self::Refused => "the API server calls the webhook as in production",
        }
    }
}
