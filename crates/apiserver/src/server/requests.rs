//! The request log of a server.

use super::ApiServer;
use crate::log::Request;

impl ApiServer {
    /// The answered resource requests, oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.shared.log.all()
    }

    /// How many resource requests were answered.
    #[must_use]
    pub fn request_count(&self) -> usize {
        self.shared.log.count()
    }

    /// The requests after the first `count`, oldest first.
    #[must_use]
    pub fn requests_since(&self, count: usize) -> Vec<Request> {
        self.shared.log.since(count)
    }

    /// Clears the request log.
    pub fn forget_requests(&self) {
        self.shared.log.clear();
    }

    /// The answered resource requests of one user, oldest first.
    #[must_use]
    pub fn requests_of(&self, user: &str) -> Vec<Request> {
        self.shared.log.of(user)
    }
}
