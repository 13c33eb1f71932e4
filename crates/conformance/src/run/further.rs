//! What is asked beyond the case itself, for the laws: the same on `direct` and on a server.

use serde_json::Value;
use webhook::review::{Operation, ReviewVersion};

use super::group::Started;
use super::prepare::Prepared;
use crate::exchange::{Answer, Exchange, Subject};
use crate::laws::{self, Asking, Trace};
use crate::place;
use crate::plan::Looked;
use crate::route::{self, Route, Routing};

/// How the request was asked.
pub(super) struct How<'a> {
    pub(super) route: &'a Route,
    pub(super) uid: &'a str,
    pub(super) version: ReviewVersion,
    pub(super) overrides: Option<&'a serde_json::Map<String, Value>>,
}

/// Asks on from a first exchange.
pub(super) async fn trace(
    context: &Started<'_>,
    looked: Looked<'_>,
    prepared: &Prepared,
    subject: &Subject,
    how: &How<'_>,
    main: Exchange,
) -> Trace {
    let updates = main.answer().is_some_and(|answer| updates(context, looked, prepared, subject, answer));
    let exempt = |law| looked.contract.exempt.contains_key(&law);
    let asking = Asking {
        dialer: context.dialer.as_ref(),
        route: how.route,
        subject,
        overrides: how.overrides,
        uid: how.uid,
        version: how.version,
        updates,
        ours: context.shared.target.is_ours(),
        exempt: &exempt,
    };
    let before = facts_now(context, prepared).await;
    let mut trace = laws::trace(&asking, main).await;
    let after = facts_now(context, prepared).await;
    // A fact that could not be read says nothing.
    let both = before.into_iter().zip(after).filter_map(|(before, after)| Some((before?, after?)));
    let (before, after): (Vec<Value>, Vec<Value>) = both.unzip();
    if !before.is_empty() {
        trace.facts = Some((before, after));
    }
    trace
}

/// Whether an UPDATE of what was just created would reach the webhook.
fn updates(
    context: &Started<'_>,
    looked: Looked<'_>,
    prepared: &Prepared,
    subject: &Subject,
    answer: &Answer,
) -> bool {
    let update =
        Subject { operation: Operation::Update, old_object: answer.object.clone(), ..subject.clone() };
    let labels = place::namespace_labels(&prepared.placed);
    match route::route(context.running, looked.webhook(), &update, &labels) {
        Routing::Registered(routes) => !routes.is_empty(),
        Routing::Named(_) => true,
        Routing::Converted(_) | Routing::Unknown => false,
    }
}

/// The facts as they are; one that the server fails to tell is `None`, one that is gone the Status that says so.
async fn facts_now(context: &Started<'_>, prepared: &Prepared) -> Vec<Option<Value>> {
    let Some(cluster) = &context.facts else { return Vec::new() };
    let mut now = Vec::new();
    for written in &prepared.written {
        let reply = cluster.get(written).await.ok();
        now.push(reply.filter(|reply| reply.is_success() || reply.code == 404).map(|reply| reply.body));
    }
    now
}
