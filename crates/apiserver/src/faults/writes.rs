//! Counts the writes that were executed, by user.

use std::collections::BTreeMap;

use tokio::sync::watch;

use crate::access::attributes::{Attributes, RequestInfo};
use crate::call::Verb;
use crate::http::reply::Reply;

/// Resources that every process writes all the time.
const UNCOUNTED: [&str; 2] = ["events", "leases"];

/// How many writes of each user a server has executed, without Events and Leases. Cheap to clone.
#[derive(Clone, Debug)]
pub struct WriteCounter(watch::Receiver<BTreeMap<String, u64>>);

impl WriteCounter {
    pub(super) fn of(executed: &watch::Sender<BTreeMap<String, u64>>) -> Self {
        Self(executed.subscribe())
    }

    /// How many writes of this user were executed so far.
    #[must_use]
    pub fn count(&self, user: &str) -> u64 {
        self.0.borrow().get(user).copied().unwrap_or_default()
    }

    /// Waits until more writes of this user than `before` were executed. Never returns if the server is gone.
    pub async fn wait_for_more(&mut self, user: &str, before: u64) {
        let is_more = |counts: &BTreeMap<String, u64>| counts.get(user).is_some_and(|count| *count > before);
        let has_ended = self.0.wait_for(is_more).await.is_err();
        if has_ended {
            std::future::pending::<()>().await;
        }
    }
}

/// Counts a request, if it is a write that was executed.
pub(super) fn count(executed: &watch::Sender<BTreeMap<String, u64>>, request: &Attributes, reply: &Reply) {
    let RequestInfo::Resource { verb, path, .. } = &request.info else { return };
    let is_read = matches!(verb, Verb::Get | Verb::List | Verb::Watch);
    if is_read || !(200..300).contains(&reply.code) || UNCOUNTED.contains(&path.resource.as_str()) {
        return;
    }
    executed.send_modify(|counts| match counts.get_mut(&request.user.name) {
        Some(count) => *count += 1,
        None => drop(counts.insert(request.user.name.clone(), 1)),
    });
}
