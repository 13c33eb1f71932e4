//! The revision that an object of a request has.

use webhook::field::quote;

use crate::http::status::Status;

/// Refuses an unparsable revision.
pub(crate) fn check_readable(revision: &str) -> Result<(), Status> {
    if revision.is_empty() || revision.parse::<u64>().is_ok() {
        return Ok(());
    }
    // kube-apiserver has no error for this, so it reports an internal error.
    Err(Status::failure(format!("strconv.ParseUint: parsing {}: invalid syntax", quote(revision))))
}
