//! Posts a review to a webhook; errors are worded as client-go words them.

use std::time::Duration;

use bytes::Bytes;
use schema::Kinds;
use serde_json::Value;
use webhook::dial::{Connection, DialError, HttpAnswer};
use webhook::registration::ClientConfig;

use crate::aggregation::resolve;
use crate::object::{decode, fields};
use crate::state::ServerState;

/// Reason why a webhook call failed.
#[derive(Debug)]
pub(crate) enum PostError {
    /// There is no client for the webhook.
    NoClient(String),
    /// The webhook was not reached, or its response is not a success.
    Failed(String),
}

/// Posts a review and returns the response's body; `seconds` is the timeout.
///
/// # Errors
/// When the call fails; worded as client-go does.
pub(crate) async fn post(
    shared: &ServerState,
    to: &ClientConfig,
    seconds: u32,
    body: Bytes,
) -> Result<String, PostError> {
    let Some(dialers) = &shared.dialers else {
        return Err(PostError::NoClient(
            "the embedded API server has no dialers to call webhooks".to_owned(),
        ));
    };
    let address = to.address().map_err(|error| PostError::NoClient(error.to_string()))?;
    let timeout = Duration::from_secs(u64::from(seconds));
    let path = format!("{}?timeout={seconds}s", address.path);
    let url = format!("https://{}{path}", address.host);
    let endpoint = resolve::endpoint(shared, to);
    let over = Connection { endpoint: endpoint.as_deref(), ..Connection::default() };
    let dialer = dialers.dialer(to, over).map_err(|error| match resolve::unresolved(shared, to) {
        Some(why) => PostError::Failed(format!("Post {url:?}: {why}")),
        None => PostError::NoClient(error.to_string()),
    })?;
    // The timeout applies even if the dialer ignores it.
    let answer = tokio::time::timeout(timeout, dialer.post(&path, body, timeout)).await;
    match answer {
        Ok(Ok(answer)) => text(&answer).map_err(PostError::Failed),
        Ok(Err(DialError::Timeout { .. })) | Err(_) => {
            Err(PostError::Failed(format!("Post {url:?}: context deadline exceeded")))
        }
        Ok(Err(error)) => Err(PostError::Failed(format!("Post {url:?}: {error}"))),
    }
}

/// Reads a response as the codecs of apimachinery do: JSON if it begins like an object, else YAML.
///
/// # Errors
/// The message of these codecs.
pub(crate) fn read(text: &str) -> Result<Value, String> {
    let value = if text.trim_start().starts_with('{') {
        let value = formats::json::typed_document(text.as_bytes());
        value.and_then(|value| decode::head_error(text.as_bytes()).map_or(Ok(value), Err))
    } else {
        let value = formats::yaml::first_document(text.as_bytes());
        Ok(value.map_err(|error| format!("error converting YAML to JSON: yaml: {error}"))?)
    };
    value
        .and_then(decode::check_head)
        .map_err(|why| format!("couldn't get version/kind; json parse error: {why}"))
}

/// The body of a successful response.
fn text(answer: &HttpAnswer) -> Result<String, String> {
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    let is_success = (200..=206).contains(&answer.status);
    if is_success && text.is_empty() {
        let (status, media) = (answer.status, answer.media.as_deref().unwrap_or_default());
        return Err(format!("0-length response with status code: {status} and content type: {media}"));
    }
    if is_success {
        return Ok(text);
    }
    if let Some(message) = refusal(&text) {
        return Err(message);
    }
    // Only a text says anything to client-go.
    let is_text = answer.media.as_deref().is_none_or(|media| media.is_empty() || media.starts_with("text/"));
    let shown = if is_text { text.trim() } else { "unknown" };
    Err(match answer.status {
        400 => "the server rejected our request for an unknown reason".to_owned(),
        401 => "the server has asked for the client to provide credentials".to_owned(),
        403 | 406 | 415 => shown.to_owned(),
        404 => "the server could not find the requested resource".to_owned(),
        405 => "the server does not allow this method on the requested resource".to_owned(),
        409 => "the server reported a conflict".to_owned(),
        422 => "the server rejected our request due to an error in our request".to_owned(),
        429 => "the server has received too many requests and has asked us to try again later".to_owned(),
        503 => "the server is currently unable to handle the request".to_owned(),
        504 => "the server was unable to return a response in the time allotted, but may still be processing the request"
            .to_owned(),
        500.. => format!("an error on the server ({shown:?}) has prevented the request from succeeding"),
        code => format!("the server responded with the status code {code} but did not return more information"),
    })
}

/// The message of a Status that reports a failure; empty if the Status has none.
fn refusal(text: &str) -> Option<String> {
    let status =
        read(text).ok().filter(|status| status["kind"] == "Status" && status["status"] == "Failure")?;
    let ty = Kinds::kubernetes().type_of("", "v1", "Status")?;
    fields::check(&status, &ty, "Status", "").ok()?;
    Some(status["message"].as_str().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(status: u16, media: &str, body: &str) -> Result<String, String> {
        text(&HttpAnswer { status, media: Some(media.to_owned()), body: Bytes::from(body.to_owned()) })
    }

    #[test]
    fn case_59_a_status_in_a_refusal_says_why() {
        let status = r#"{"apiVersion":"v1","kind":"Status","status":"Failure","message":"forbidden by x"}"#;
        assert_eq!(answered(403, "application/json", status), Err("forbidden by x".to_owned()));
        assert_eq!(answered(403, "application/json", "{}"), Err("unknown".to_owned()));
        let silent = r#"{"apiVersion":"v1","kind":"Status","status":"Failure","code":403}"#;
        assert_eq!(answered(403, "application/json", silent), Err(String::new()));
        let odd = r#"{"apiVersion":"v1","kind":"Status","status":"Failure","message":"no","code":"x"}"#;
        assert_eq!(answered(403, "application/json", odd), Err("unknown".to_owned()));
        assert_eq!(answered(403, "text/plain", " no \n"), Err("no".to_owned()));
        let error = "an error on the server (\"as text\") has prevented the request from succeeding";
        assert_eq!(answered(500, "text/plain", "as text"), Err(error.to_owned()));
        assert_eq!(answered(201, "", "x"), Ok("x".to_owned()));
        let empty = "0-length response with status code: 200 and content type: application/json";
        assert_eq!(answered(200, "application/json", ""), Err(empty.to_owned()));
    }

    #[test]
    fn case_59_reviews_may_be_yaml() {
        assert_eq!(read("kind: A\na: 1.0\n"), Ok(serde_json::json!({"kind": "A", "a": 1})));
        assert_eq!(read(" {\"kind\": \"A\", \"kind\": \"B\"}"), Ok(serde_json::json!({"kind": "B"})));
        let why = "couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type";
        assert!(read("not JSON").is_err_and(|error| error.starts_with(why)));
    }
}
