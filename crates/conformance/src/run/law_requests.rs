//! Requests beyond the case itself, by which the laws are checked: the same on `direct` and on a server.

use serde_json::Value;
use webhook::review::{Operation, ReviewVersion};

use super::group::StartedGroup;
use super::prepare::PreparedCase;
use crate::exchange::{Answer, Exchange, Subject};
use crate::laws::{self, LawRequests, Trace};
use crate::place;
use crate::plan::LocatedCase;
use crate::route::{self, Route, Routing};

/// How the first request was sent.
pub(super) struct RequestDetails<'a> {
    pub(super) route: &'a Route,
    pub(super) uid: &'a str,
    pub(super) version: ReviewVersion,
    pub(super) overrides: Option<&'a serde_json::Map<String, Value>>,
}

/// Sends further requests after a first exchange.
pub(super) async fn trace(
    context: &StartedGroup<'_>,
    located: LocatedCase<'_>,
    prepared: &PreparedCase,
    subject: &Subject,
    details: &RequestDetails<'_>,
    main: Exchange,
) -> Trace {
    let updates = main.answer().is_some_and(|answer| updates(context, located, prepared, subject, answer));
    let exempt = |law| located.contract.exempt.contains_key(&law);
    let requests = LawRequests {
        dialer: context.dialer.as_ref(),
        route: details.route,
        subject,
        overrides: details.overrides,
        uid: details.uid,
        version: details.version,
        updates,
        ours: context.shared.target.is_ours(),
        exempt: &exempt,
    };
    let before = facts_now(context, prepared).await;
    let mut trace = laws::trace(&requests, main).await;
    let after = facts_now(context, prepared).await;
    // Facts that could not be read are left out.
    let both = before.into_iter().zip(after).filter_map(|(before, after)| Some((before?, after?)));
    let (before, after): (Vec<Value>, Vec<Value>) = both.unzip();
    if !before.is_empty() {
        trace.facts = Some((before, after));
    }
    trace
}

/// Whether an UPDATE of what was just created would reach the webhook.
fn updates(
    context: &StartedGroup<'_>,
    located: LocatedCase<'_>,
    prepared: &PreparedCase,
    subject: &Subject,
    answer: &Answer,
) -> bool {
    let update =
        Subject { operation: Operation::Update, old_object: answer.object.clone(), ..subject.clone() };
    let labels = place::namespace_labels(&prepared.placed);
    match route::route(context.running, located.webhook(), &update, &labels) {
        Routing::Registered(routes) => !routes.is_empty(),
        Routing::Named(_) => true,
        Routing::Converted(_) | Routing::Unknown => false,
    }
}

/// The current facts of the case itself: `None` if reading failed, a NotFound Status if the object is gone.
async fn facts_now(context: &StartedGroup<'_>, prepared: &PreparedCase) -> Vec<Option<Value>> {
    let Some(cluster) = &context.facts else { return Vec::new() };
    let mut now = Vec::new();
    for fact in &prepared.placed.given.cluster {
        let reply = cluster.get(fact).await.ok();
        now.push(reply.filter(|reply| reply.is_success() || reply.code == 404).map(|reply| reply.body));
    }
    now
}
