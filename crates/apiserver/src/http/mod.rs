//! HTTP: paths, queries, content negotiation, statuses, replies.

pub(crate) mod forwarding;
pub(crate) mod media_type;
pub(crate) mod negotiate;
pub(crate) mod notes;
pub(crate) mod path;
pub(crate) mod query;
pub(crate) mod reply;
pub(crate) mod status;
pub(crate) mod upstream;
