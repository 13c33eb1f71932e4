//! The request of a case: built of its objects, and sent before the target is registered.

use contract::case::When;
use serde_json::{Value, json};
use substrate::cluster::{ClusterError, Reply};
use substrate::facts;
use webhook::review::Operation;

use super::{WebhookContext, send};
use crate::plan::LocatedCase;
use crate::run::{prepare, subject};

/// The request of a case.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ServerRequest {
    Create(Value),
    Update {
        object: Value,
        /// Empty for the object itself.
        subresource: String,
    },
    Delete(Value),
    DeleteAll {
        resource: String,
        namespace: String,
    },
}

/// Why the server did not accept the request of a case.
pub(super) enum NotAccepted {
    /// The request goes directly to the target, for this reason.
    Direct(String),
    /// The server failed.
    Broken(String),
    /// The case says nothing about the target, for this reason.
    NotSupported(String),
}

/// If a server refuses the request, the case goes directly to the target; if the server fails, the case has no result.
impl From<ClusterError> for NotAccepted {
    fn from(error: ClusterError) -> Self {
        match error {
            ClusterError::Send { .. } | ClusterError::Read { .. } => Self::Broken(error.to_string()),
            ClusterError::Kind { .. } | ClusterError::Refused { .. } => Self::Direct(error.to_string()),
        }
    }
}

/// Sends a request before the target is registered.
pub(super) async fn send_first(
    context: &WebhookContext<'_>,
    request: &ServerRequest,
) -> Result<Reply, NotAccepted> {
    let reply = send::send(&context.without_target, request).await?;
    if reply.code >= 500 || reply.code == 429 {
        let text = format!("the server failed before the webhook: {}", reply.message());
        return Err(NotAccepted::Broken(text));
    }
    Ok(reply)
}

/// Writes the old object, if any, and returns the request to send.
pub(super) async fn build_request(
    context: &WebhookContext<'_>,
    located: LocatedCase<'_>,
    facts: &prepare::PreparedCase,
) -> Result<ServerRequest, NotAccepted> {
    let given = &facts.placed.given;
    if let When::DeleteCollection { resource } = &located.case.when {
        return Ok(ServerRequest::DeleteAll {
            resource: resource.clone(),
            namespace: facts.placed.namespace.clone(),
        });
    }
    let subject =
        subject::subject(located, &facts.placed).map_err(|error| NotAccepted::Direct(error.to_string()))?;
    let object = subject.object.clone().unwrap_or_default();
    match subject.operation {
        Operation::Create if facts::is_deleting(&object) => {
            Err(NotAccepted::Direct("an object that is being deleted cannot be created".to_owned()))
        }
        Operation::Create => Ok(ServerRequest::Create(facts::stripped(&object))),
        Operation::Update => {
            let old = subject.old_object.clone().unwrap_or_default();
            // If the request's object is being deleted, its deletion must begin before the request.
            let deleting = facts::is_deleting(&object) || facts::is_deleting(&old);
            let written = write_old(context, &old, deleting).await?;
            let mut object = facts::stripped(&object);
            if deleting {
                // As a client sends them that has read the object.
                for field in ["finalizers", "deletionTimestamp", "deletionGracePeriodSeconds"] {
                    object["metadata"][field] = written["metadata"][field].clone();
                }
            }
            object["metadata"]["resourceVersion"] = written["metadata"]["resourceVersion"].clone();
            let named = located.overrides().and_then(|fields| fields.get("subResource")?.as_str());
            Ok(ServerRequest::Update { object, subresource: named.unwrap_or_default().to_owned() })
        }
        Operation::Delete => {
            let old = given.old.clone().or_else(|| given.object.clone()).unwrap_or_default();
            let written = write_old(context, &old, facts::is_deleting(&old)).await?;
            Ok(ServerRequest::Delete(written))
        }
        Operation::Connect => Err(NotAccepted::Direct("CONNECT requests are not supported".to_owned())),
    }
}

async fn write_old(context: &WebhookContext<'_>, old: &Value, deleting: bool) -> Result<Value, NotAccepted> {
    let mut old = old.clone();
    if deleting && !facts::is_deleting(&old) {
        old["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    }
    let written =
        facts::write(&context.cluster, &old).await.map_err(|error| match NotAccepted::from(error) {
            NotAccepted::Direct(reason) => {
                NotAccepted::Direct(format!("the old object cannot be written: {reason}"))
            }
            other => other,
        })?;
    context.old_objects.lock().await.push(written.clone());
    Ok(written)
}
