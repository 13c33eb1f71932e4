//! What kube-controller-manager does for every cluster, as clients of the server: each writes under its own name.

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

use crate::state::{Controllers, Shared};
use crate::store::{EventKind, Object, Store};

pub(crate) use client::{Ask, Client};

use accounts::Accounts;
use garbage::Garbage;
use namespaces::Namespaces;
use roles::Roles;
use signing::Signing;
use token_secrets::TokenSecrets;

/// How long after a failure it is tried again: at first, and at most.
const RETRY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(1));

/// An object that was written or removed.
#[derive(Clone, Debug)]
struct News {
    /// The resource's name in the store.
    table: String,
    /// `namespace/name`.
    key: Arc<str>,
    /// The object before.
    before: Option<Arc<Object>>,
    /// The object now; absent if it is gone.
    now: Option<Arc<Object>>,
}

/// The controllers that are switched on.
struct Crew {
    garbage: Option<Garbage>,
    namespaces: Option<Namespaces>,
    accounts: Accounts,
    token_secrets: Option<TokenSecrets>,
    roles: Option<Roles>,
    signing: Option<Signing>,
}

/// Runs the controllers of a server until it is gone.
pub(crate) async fn run(world: Weak<Shared>, client: Client) {
    let Some(shared) = world.upgrade() else { return };
    let mut heard = shared.store.subscribe_all();
    let mut crew = Crew::new(shared.switches.controllers);
    drop(shared);
    let mut seen = None;
    let mut wait = RETRY.0;
    let mut pending = false;
    loop {
        let Some(shared) = world.upgrade() else { return };
        heard.borrow_and_update();
        let (news, revision) = news(&shared.store, seen);
        let due = pending && news.is_empty();
        if due || !news.is_empty() {
            pending = crew.work(&shared, &client, &news).await;
            seen = Some(revision);
            wait = if due && pending { (wait * 2).min(RETRY.1) } else { RETRY.0 };
        }
        if shared.store.revision() > revision {
            continue;
        }
        shared.progress.reached(revision);
        drop(shared);
        if !rest(&mut heard, pending.then_some(wait)).await {
            return;
        }
    }
}

/// Waits for news or for the time to try again; whether the server is still there.
async fn rest(heard: &mut watch::Receiver<u64>, wait: Option<Duration>) -> bool {
    match wait {
        None => heard.changed().await.is_ok(),
        // Not having heard anything in time is no end.
        Some(wait) => !matches!(tokio::time::timeout(wait, heard.changed()).await, Ok(Err(_))),
    }
}

/// What happened since a revision, oldest first; everything that is there, where that is forgotten.
fn news(store: &Store, seen: Option<u64>) -> (Vec<News>, u64) {
    if let Some(seen) = seen
        && let Ok((events, revision)) = store.events_of_all(seen)
    {
        let told = events.into_iter().map(|(table, event)| News {
            table,
            key: Arc::clone(&event.key),
            before: event.previous.clone(),
            now: (event.change != EventKind::Deleted).then(|| Arc::clone(&event.object)),
        });
        return (told.collect(), revision);
    }
    let (objects, revision) = store.all_objects();
    let told =
        objects.into_iter().map(|(table, key, object)| News { table, key, before: None, now: Some(object) });
    (told.collect(), revision)
}

impl Crew {
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

    /// Does what the news ask for; whether something has to be tried again.
    async fn work(&mut self, shared: &Shared, client: &Client, news: &[News]) -> bool {
        let mut pending = false;
        if let Some(namespaces) = &mut self.namespaces {
            pending |= namespaces.work(shared, client, news).await;
        }
        pending |= self.accounts.work(shared, client, news).await;
        if let Some(secrets) = &mut self.token_secrets {
            pending |= secrets.work(shared, client, news).await;
        }
        if let Some(roles) = &mut self.roles {
            pending |= roles.work(shared, client, news).await;
        }
        if let Some(signing) = &mut self.signing {
            pending |= signing.work(shared, client, news).await;
        }
        if let Some(garbage) = &mut self.garbage {
            pending |= garbage.work(shared, client, news).await;
        }
        pending
    }
}
