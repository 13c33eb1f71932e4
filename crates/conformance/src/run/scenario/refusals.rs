//! Requests of the target that a step refuses until another step allows them again.

use std::collections::BTreeMap;
use std::sync::Mutex;

use apiserver::{Active, Effect, Fault, Matching, Verb, WatchEnd};
use contract::scenario::{Refusal, RequestMatcher, Side};
use substrate::embedded::Embedded;

/// Refused requests of the target.
pub(super) struct ActiveRefusals {
    /// The users of its instances.
    users: [&'static str; 2],
    active: Mutex<BTreeMap<(Side, RequestMatcher), Vec<Active>>>,
}

impl ActiveRefusals {
    /// No refusal yet.
    pub(super) fn to(users: [&'static str; 2]) -> Self {
        Self { users, active: Mutex::default() }
    }

    /// Refuses requests on a server; without a refusal, allows them again. Ends running watches of what is refused, unless
    /// requests stay unanswered.
    pub(super) fn set(
        &self,
        server: &Embedded,
        side: Side,
        requests: &RequestMatcher,
        refusal: Option<Refusal>,
    ) {
        let mut active = self.active.lock().expect("no thread panics with the lock");
        for before in active.remove(&(side, requests.clone())).unwrap_or_default() {
            before.remove();
        }
        let Some(refusal) = refusal else { return };
        let faults = server.faults();
        let watches = requests.verb.as_deref().is_none_or(|verb| verb == "watch");
        let refuse = |user: &str| {
            let matching = matching(user, requests);
            if watches && refusal != Refusal::Unanswered {
                faults.end_watches(matching.clone().verbs([Verb::Watch]), WatchEnd::Closed);
            }
            faults.add(Fault::new(matching, effect(refusal)))
        };
        active.insert((side, requests.clone()), self.users.map(refuse).to_vec());
    }
}

/// The requests of a user that are refused.
fn matching(user: &str, requests: &RequestMatcher) -> Matching {
    let (group, resource) = requests.resource.clone().unzip();
    let (namespace, name) = requests.object.clone().unzip();
    Matching {
        user: Some(user.to_owned()),
        verbs: requests.verb.as_deref().map(verbs).unwrap_or_default(),
        // If no request is answered, discovery is not answered either.
        paths: *requests == RequestMatcher::default(),
        group,
        resource,
        namespace,
        name,
        ..Matching::default()
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
    use apiserver::Refusal as Answer;
    let answer = match refusal {
        Refusal::Unanswered => return Effect::Stall,
        Refusal::LostAnswer => return Effect::RefuseAfter(Answer::Timeout),
        Refusal::Forbidden => Answer::Forbidden,
        Refusal::OverQuota => Answer::OverQuota,
        Refusal::NamespaceTerminating => Answer::NamespaceTerminating,
        Refusal::NotFound => Answer::NotFound,
        Refusal::AlreadyExists => Answer::AlreadyExists,
        Refusal::Conflict => Answer::Conflict,
        Refusal::Invalid => Answer::Invalid,
        Refusal::TooManyRequests => Answer::TooManyRequests { retry_after: 1 },
        Refusal::InternalError => Answer::InternalError,
        Refusal::Unavailable => Answer::ServiceUnavailable { retry_after: 0 },
        Refusal::Timeout => Answer::Timeout,
    };
    Effect::Refuse(answer)
}
