//! Subresources to which a client posts a body that the API server answers and does not store, such as a request for
//! credentials.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::rejection::Rejection;
use crate::strategy::ObjectReader;

/// A subresource that answers what is posted to it.
#[derive(Clone, Copy, Debug)]
pub struct PostedSubresource {
    /// Its name: `adminkubeconfig`.
    pub name: &'static str,
    /// Sets the defaults of a decoded body.
    pub default: fn(&mut Value),
    /// Validates an admitted body, and reads what its answer depends on.
    pub prepare: fn(&Posting<'_>, Value) -> Result<Answering, Rejection>,
}

/// Computes the answer. It may take long, as generating a key does, and so runs on a thread for such work.
pub type Answering = Box<dyn FnOnce() -> Result<Value, Rejection> + Send>;

/// What the answer to a posted body may depend on.
#[derive(Clone, Copy)]
pub struct Posting<'a> {
    /// The namespace of the request.
    pub namespace: &'a str,
    /// The name of the object whose subresource it is.
    pub name: &'a str,
    /// The name of the user who posts.
    pub user: &'a str,
    /// The server's time.
    pub now: Timestamp,
    /// How long a credential that is granted is valid at most; absent if the server does not limit it.
    pub max_expiration: Option<Duration>,
    /// The objects that the server stores.
    pub objects: &'a dyn ObjectReader,
}

impl std::fmt::Debug for Posting<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Posting")
            .field("namespace", &self.namespace)
            .field("name", &self.name)
            .field("user", &self.user)
            .field("now", &self.now)
            .field("max_expiration", &self.max_expiration)
            .finish_non_exhaustive()
    }
}
