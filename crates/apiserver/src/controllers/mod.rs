//! The controllers of kube-controller-manager that every cluster needs, as clients of the server: each writes as its
//! own user.

mod accounts;
mod client;
mod garbage;
mod namespaces;
mod roles;
mod signing;
mod token_secrets;

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::watch;

use crate::state::{Controllers, ServerState};
use crate::store::{EventKind, Object, Store};

pub(crate) use client::{Client, SendRequest};

use accounts::Accounts;
use garbage::Garbage;
use namespaces::Namespaces;
use roles::Roles;
use signing::Signing;
use token_secrets::TokenSecrets;

/// The first and the longest delay between retries.
const RETRY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(1));

/// A write or removal of an object.
#[derive(Clone, Debug)]
struct ObjectChange {
    /// The resource's name in the store.
    table: String,
    /// `namespace/name`.
    key: Arc<str>,
    /// The object before the change.
    before: Option<Arc<Object>>,
    /// The object after the change; absent if it was removed.
    now: Option<Arc<Object>>,
}

/// The enabled controllers.
struct ControllerSet {
    garbage: Option<Garbage>,
    namespaces: Option<Namespaces>,
    accounts: Accounts,
    token_secrets: Option<TokenSecrets>,
    roles: Option<Roles>,
    signing: Option<Signing>,
}

/// Runs the controllers until the server is gone.
pub(crate) async fn run(weak_state: Weak<ServerState>, client: Client) {
    let Some(shared) = weak_state.upgrade() else { return };
    let mut revisions = shared.store.subscribe_all();
    let mut controllers = ControllerSet::new(shared.switches.controllers);
    drop(shared);
    let mut seen = None;
    let mut delay = RETRY.0;
    let mut pending = false;
    loop {
        let Some(shared) = weak_state.upgrade() else { return };
        revisions.borrow_and_update();
        let (changes, revision) = changes_since(&shared.store, seen);
        let due = pending && changes.is_empty();
        if due || !changes.is_empty() {
            pending = controllers.sync(&shared, &client, &changes).await;
            seen = Some(revision);
            delay = if due && pending { (delay * 2).min(RETRY.1) } else { RETRY.0 };
        }
        if shared.store.revision() > revision {
            continue;
        }
        shared.progress.reached(revision);
        drop(shared);
        if !wait_for_change(&mut revisions, pending.then_some(delay)).await {
            return;
        }
    }
}

/// Waits for a change or for the time of the retry; returns whether the server still exists.
async fn wait_for_change(revisions: &mut watch::Receiver<u64>, delay: Option<Duration>) -> bool {
    match delay {
        None => revisions.changed().await.is_ok(),
        // A timeout does not mean that the server is gone.
        Some(delay) => !matches!(tokio::time::timeout(delay, revisions.changed()).await, Ok(Err(_))),
    }
}

/// The changes since a revision, oldest first; all objects if those events were dropped.
fn changes_since(store: &Store, seen: Option<u64>) -> (Vec<ObjectChange>, u64) {
    if let Some(seen) = seen
        && let Ok((events, revision)) = store.events_of_all(seen)
    {
        let changes = events.into_iter().map(|(table, event)| ObjectChange {
            table,
            key: Arc::clone(&event.key),
            before: event.previous.clone(),
            now: (event.change != EventKind::Deleted).then(|| Arc::clone(&event.object)),
        });
        return (changes.collect(), revision);
    }
    let (objects, revision) = store.all_objects();
    let changes = objects.into_iter().map(|(table, key, object)| ObjectChange {
        table,
        key,
        before: None,
        now: Some(object),
    });
    (changes.collect(), revision)
}

impl ControllerSet {
    fn new(on: Controllers) -> Self {
        Self {
            garbage: on.garbage_collector.then(Garbage::default),
            namespaces: on.namespaces.then(Namespaces::default),
            accounts: Accounts::new(on.service_accounts, on.root_ca),
            token_secrets: on.token_secrets.then(TokenSecrets::default),
            roles: on.aggregated_roles.then(Roles::default),
            signing: on.signing.then(Signing::default),
        }
    }

    /// Processes the changes; returns whether a retry is necessary.
    async fn sync(&mut self, shared: &ServerState, client: &Client, changes: &[ObjectChange]) -> bool {
        let mut pending = false;
        if let Some(namespaces) = &mut self.namespaces {
            pending |= namespaces.sync(shared, client, changes).await;
        }
        pending |= self.accounts.sync(shared, client, changes).await;
        if let Some(secrets) = &mut self.token_secrets {
            pending |= secrets.sync(shared, client, changes).await;
        }
        if let Some(roles) = &mut self.roles {
            pending |= roles.sync(shared, client, changes).await;
        }
        if let Some(signing) = &mut self.signing {
            pending |= signing.sync(shared, client, changes).await;
        }
        if let Some(garbage) = &mut self.garbage {
            pending |= garbage.sync(shared, client, changes).await;
        }
        pending
    }
}
