//! What the laws are judged on where a server asked: its requests, asked again directly.

use serde_json::Value;
use webhook::review::ReviewVersion;

use super::Ground;
use super::recorder::Call;
use crate::exchange::{self, Question, Subject};
use crate::laws::Trace;
use crate::plan::Looked;
use crate::report::Evidence;
use crate::route::{self, Routing};
use crate::run::further::{self, How};
use crate::run::{direct, prepare};

/// A trace of every webhook that the server asked; the evidence is the last one's.
pub(super) async fn traces(
    ground: &Ground<'_>,
    looked: Looked<'_>,
    facts: &prepare::Prepared,
    calls: &[Call],
) -> (Option<Trace>, Option<Evidence>) {
    let (mut earlier, mut last) = (Vec::new(), None);
    for call in calls {
        if let Some((trace, evidence)) = trace(ground, looked, facts, call).await {
            earlier.extend(last.replace((trace, evidence)).map(|(trace, _)| trace));
        }
    }
    last.map_or((None, None), |(trace, evidence)| (Some(Trace { earlier, ..trace }), Some(evidence)))
}

/// Asks on directly, with the request that the server made, for the laws.
async fn trace(
    ground: &Ground<'_>,
    looked: Looked<'_>,
    facts: &prepare::Prepared,
    call: &Call,
) -> Option<(Trace, Evidence)> {
    let context = ground.started;
    let subject = asked_about(&call.request)?;
    let Routing::Named(mut route) = route::named(context.running, looked.webhook(), &subject) else {
        return None;
    };
    route.path.clone_from(&call.path);
    let uid = call.request["uid"].as_str().unwrap_or_default().to_owned();
    let version = if route.v1 { ReviewVersion::V1 } else { ReviewVersion::V1beta1 };
    let question = Question { subject: &subject, version, uid: &uid, dry_run: false, overrides: None };
    let main = exchange::ask(context.dialer.as_ref(), &route.path, &question, route.timeout).await;
    let evidence = direct::evidence(&main);
    let how = How { route: &route, uid: &uid, version, overrides: None };
    let trace = further::trace(context, looked, facts, &subject, &how, main).await;
    Some((trace, evidence))
}

/// The subject of a request as the server sent it.
fn asked_about(request: &Value) -> Option<Subject> {
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
