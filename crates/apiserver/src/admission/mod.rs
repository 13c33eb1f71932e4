//! Admission webhooks, called as kube-apiserver calls them: mutating ones in order, then validating ones at once.

mod review;

use crate::call::Call;
use crate::server::Shared;
use crate::status::Status;

pub(crate) use review::{Review, options};

/// Lets the mutating webhooks change the object of a review.
pub(crate) async fn mutate(_shared: &Shared, _call: &Call, _review: &mut Review<'_>) -> Result<(), Status> {
    Ok(())
}

/// Asks the validating webhooks about a review.
pub(crate) async fn validate(_shared: &Shared, _call: &Call, _review: &mut Review<'_>) -> Result<(), Status> {
    Ok(())
}
