//! Sends the request of a case as a dry run, and interprets the reply.

use serde_json::Value;
use substrate::cluster::{Cluster, ClusterError, Reply};
use substrate::facts;
use webhook::review::Operation;

use super::request::ServerRequest;
use super::{WebhookContext, token_volume};
use crate::exchange::{Answer, FieldCause};

const DRY_RUN: &str = "dryRun=All";

/// Sends the request once.
pub(super) async fn send(cluster: &Cluster, request: &ServerRequest) -> Result<Reply, ClusterError> {
    match request {
        ServerRequest::Create(object) => cluster.create(object, DRY_RUN).await,
        ServerRequest::Update { object, subresource } => cluster.replace(object, subresource, DRY_RUN).await,
        ServerRequest::Delete(object) => cluster.delete(object, DRY_RUN).await,
        ServerRequest::DeleteAll { resource, namespace } => {
            cluster.delete_collection(resource, namespace, DRY_RUN).await
        }
    }
}

impl ServerRequest {
    /// The object that is sent or deleted.
    pub(super) fn object(&self) -> Option<&Value> {
        match self {
            Self::Create(object) | Self::Update { object, .. } | Self::Delete(object) => Some(object),
            Self::DeleteAll { .. } => None,
        }
    }

    /// The operation of the AdmissionRequest.
    pub(super) fn operation(&self) -> Operation {
        match self {
            Self::Create(_) => Operation::Create,
            Self::Update { .. } => Operation::Update,
            Self::Delete(_) | Self::DeleteAll { .. } => Operation::Delete,
        }
    }
}

/// The object of a reply, without fields that differ between dry runs.
pub(super) fn object(context: &WebhookContext<'_>, request: &ServerRequest, reply: &Reply) -> Option<Value> {
    let (ServerRequest::Create(sent) | ServerRequest::Update { object: sent, .. }) = request else {
        return None;
    };
    let mut object = facts::stripped(&reply.body);
    if sent["metadata"]["name"].as_str().is_none_or(str::is_empty)
        && let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
    {
        metadata.remove("name");
    }
    if context.server.is_real_cluster() {
        token_volume::remove(&mut object, sent);
    }
    Some(object)
}

/// The webhook's answer in a reply.
pub(super) fn answer(context: &WebhookContext<'_>, request: &ServerRequest, reply: &Reply) -> Answer {
    if reply.is_success() {
        let object = object(context, request, reply);
        return Answer {
            allowed: true,
            code: Some(200),
            warnings: reply.warnings.clone(),
            object,
            ..Answer::default()
        };
    }
    let status = &reply.body;
    let text = |field: &str| status[field].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let causes = serde_json::from_value::<Vec<FieldCause>>(status["details"]["causes"].clone());
    Answer {
        code: status["code"].as_u64().and_then(|code| u16::try_from(code).ok()).or(Some(reply.code)),
        reason: text("reason"),
        message: text("message").map(|message| without_prefix(&message)),
        causes: causes.unwrap_or_default(),
        warnings: reply.warnings.clone(),
        ..Answer::default()
    }
}

/// Whether the refusal comes from the server and not from a webhook: no webhook was called, or there was a conflict.
pub(super) fn is_refusal_of_server(reply: &Reply, called: bool) -> bool {
    !reply.is_success() && (!called || reply.code == 409) && !is_denial(&reply.body)
}

/// Whether a Status is the API server's message about a webhook's refusal.
fn is_denial(status: &Value) -> bool {
    let message = status["message"].as_str().unwrap_or_default();
    message.contains("failed calling webhook")
        || (message.contains("admission webhook \"") && message.contains("denied the request"))
}

/// Removes `admission webhook "…" denied the request: `.
fn without_prefix(message: &str) -> String {
    let rest = message
        .strip_prefix("admission webhook \"")
        .and_then(|rest| rest.split_once("\" denied the request: "));
    rest.map_or(message, |(_, rest)| rest).to_owned()
}

/// Whether a Status is kube-apiserver's message about a webhook without a valid answer.
pub(super) fn is_failed_call(status: &Value) -> bool {
    status["message"].as_str().is_some_and(|message| message.contains("failed calling webhook"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_of_the_server_are_distinguished_from_those_of_a_webhook() {
        let denied = r#"admission webhook "a.b.c" denied the request: no"#;
        let table = [
            (409, "the object has been modified", true, true),
            (404, "pods \"x\" not found", false, true),
            (403, "exceeded quota", false, true),
            (409, denied, true, false),
            (403, denied, true, false),
            (500, "failed calling webhook \"a.b.c\": EOF", true, false),
            (422, "spec.replicas: Invalid value", true, false),
            (200, "", false, false),
        ];
        for (code, message, called, want) in table {
            let body = serde_json::json!({"message": message});
            let reply = Reply { code, body, warnings: Vec::new() };
            assert_eq!(is_refusal_of_server(&reply, called), want, "{code} {message}");
        }
    }

    #[test]
    fn the_prefix_of_a_refusal_is_removed() {
        let table = [
            (r#"admission webhook "a.b.c" denied the request: no: really"#, "no: really"),
            (
                r#"admission webhook "a.b.c" denied the request without explanation"#,
                r#"admission webhook "a.b.c" denied the request without explanation"#,
            ),
            ("pods \"x\" not found", "pods \"x\" not found"),
        ];
        for (message, want) in table {
            assert_eq!(without_prefix(message), want);
        }
    }
}
