//! The exchanges by which laws are checked if an API server called the target: its requests, sent again directly.

use serde_json::Value;
use webhook::review::ReviewVersion;

use super::WebhookContext;
use super::recorder::Call;
use crate::exchange::{self, ReviewRequest, Subject};
use crate::laws::Trace;
use crate::plan::LocatedCase;
use crate::report::Evidence;
use crate::route::{self, Routing};
use crate::run::law_requests::{self, RequestDetails};
use crate::run::{direct, prepare};

/// The traces of all webhooks that the server called; the evidence is the last one's.
pub(super) async fn traces(
    context: &WebhookContext<'_>,
    located: LocatedCase<'_>,
    facts: &prepare::PreparedCase,
    calls: &[Call],
) -> (Option<Trace>, Option<Evidence>) {
    let (mut earlier, mut last) = (Vec::new(), None);
    for call in calls {
        if let Some((trace, evidence)) = trace(context, located, facts, call).await {
            earlier.extend(last.replace((trace, evidence)).map(|(trace, _)| trace));
        }
    }
    last.map_or((None, None), |(trace, evidence)| (Some(Trace { earlier, ..trace }), Some(evidence)))
}

/// Sends the server's request and the further requests of the laws directly to the target.
async fn trace(
    context: &WebhookContext<'_>,
    located: LocatedCase<'_>,
    facts: &prepare::PreparedCase,
    call: &Call,
) -> Option<(Trace, Evidence)> {
    let started = context.started;
    let subject = subject_of_call(&call.request)?;
    let Routing::Named(mut route) = route::named(started.running, located.webhook(), &subject, None) else {
        return None;
    };
    route.path.clone_from(&call.path);
    let uid = call.request["uid"].as_str().unwrap_or_default().to_owned();
    let version = if route.v1 { ReviewVersion::V1 } else { ReviewVersion::V1beta1 };
    let review = ReviewRequest { subject: &subject, version, uid: &uid, dry_run: false, overrides: None };
    let mark = started.running.output_mark();
    let main = exchange::ask(started.dialer.as_ref(), &route.path, &review, route.timeout).await;
    let evidence = direct::evidence(&main);
    let details = RequestDetails { route: &route, uid: &uid, version, overrides: None };
    let trace = law_requests::trace(started, located, facts, &subject, &details, main).await;
    let evidence = direct::with_output(started.running, mark, &trace, evidence).await;
    Some((trace, evidence))
}

/// The subject of a request as the server sent it.
fn subject_of_call(request: &Value) -> Option<Subject> {
    let text = |field: &str| request[field].as_str().unwrap_or_default().to_owned();
    let object = |field: &str| Some(request[field].clone()).filter(|object| !object.is_null());
    Some(Subject {
        kind: serde_json::from_value(request["kind"].clone()).ok()?,
        resource: serde_json::from_value(request["resource"].clone()).ok()?,
        namespaced: !text("namespace").is_empty(),
        name: text("name"),
        namespace: text("namespace"),
        operation: serde_json::from_value(request["operation"].clone()).ok()?,
        object: object("object"),
        old_object: object("oldObject"),
    })
}
