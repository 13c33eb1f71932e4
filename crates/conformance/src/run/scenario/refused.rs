//! Requests that a step refuses to the target, for as long as no step takes it back.

use std::collections::BTreeMap;
use std::sync::Mutex;

use apiserver::{Active, Effect, Fault, Matching, Verb, WatchEnd};
use contract::scenario::{Asked, Refusal, Side};
use substrate::embedded::Embedded;

/// What is refused to a user.
pub(super) struct Refused {
    user: &'static str,
    active: Mutex<BTreeMap<(Side, Asked), Active>>,
}

impl Refused {
    /// Nothing is refused yet.
    pub(super) fn to(user: &'static str) -> Self {
        Self { user, active: Mutex::default() }
    }

    /// Refuses requests on a server; without a refusal, refuses them no longer. Running watches of what is refused end,
    /// unless nobody would answer that.
    pub(super) fn set(&self, server: &Embedded, side: Side, asked: &Asked, refusal: Option<Refusal>) {
        let mut active = self.active.lock().expect("no thread panics with the lock");
        if let Some(before) = active.remove(&(side, asked.clone())) {
            before.remove();
        }
        let Some(refusal) = refusal else { return };
        let (faults, matching) = (server.faults(), self.matching(asked));
        let watches = asked.verb.as_deref().is_none_or(|verb| verb == "watch");
        if watches && refusal != Refusal::Unanswered {
            faults.end_watches(matching.clone().verbs([Verb::Watch]), WatchEnd::Closed);
        }
        let fault = faults.add(Fault::new(matching, effect(refusal)));
        active.insert((side, asked.clone()), fault);
    }

    fn matching(&self, asked: &Asked) -> Matching {
        let (group, resource) = asked.resource.clone().unzip();
        let (namespace, name) = asked.object.clone().unzip();
        Matching {
            user: Some(self.user.to_owned()),
            verbs: asked.verb.as_deref().map(verbs).unwrap_or_default(),
            // Whoever answers nothing at all does not tell of kinds either.
            paths: *asked == Asked::default(),
            group,
            resource,
            namespace,
            name,
            ..Matching::default()
        }
    }
}

fn verbs(name: &str) -> Vec<Verb> {
    let all = [Verb::Create, Verb::Update, Verb::Patch, Verb::Get, Verb::List, Verb::Watch];
    let deletions = [Verb::Delete, Verb::DeleteCollection];
    if name == "delete" {
        return deletions.to_vec();
    }
    all.into_iter().filter(|verb| verb.as_str() == name).collect()
}

fn effect(refusal: Refusal) -> Effect {
    match refusal {
        Refusal::Forbidden => Effect::Refuse(apiserver::Refusal::Forbidden),
        Refusal::Unavailable => Effect::Refuse(apiserver::Refusal::ServiceUnavailable { retry_after: 0 }),
        Refusal::Unanswered => Effect::Stall,
    }
}
