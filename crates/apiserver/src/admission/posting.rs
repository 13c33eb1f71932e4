//! Posts a review to a webhook; errors are worded as client-go words them.

use std::time::Duration;

use bytes::Bytes;
use webhook::dial::{Connection, DialError, HttpAnswer};
use webhook::registration::ClientConfig;

use crate::aggregation::resolve;
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

/// The body of a successful response.
fn text(answer: &HttpAnswer) -> Result<String, String> {
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    match answer.status {
        200..=206 => Ok(text),
        400 => Err("the server rejected our request for an unknown reason".to_owned()),
        401 => Err("the server has asked for the client to provide credentials".to_owned()),
        403 | 415 => Err(text.trim().to_owned()),
        404 => Err("the server could not find the requested resource".to_owned()),
        405 => Err("the server does not allow this method on the requested resource".to_owned()),
        422 => Err("the server rejected our request due to an error in our request".to_owned()),
        429 => {
            Err("the server has received too many requests and has asked us to try again later".to_owned())
        }
        503 => Err("the server is currently unable to handle the request".to_owned()),
        504 => Err(
            "the server was unable to return a response in the time allotted, but may still be processing \
                    the request"
                .to_owned(),
        ),
        500.. => Err(format!(
            "an error on the server ({:?}) has prevented the request from succeeding",
            text.trim()
        )),
        code => Err(format!(
            "the server responded with the status code {code} but did not return more information"
        )),
    }
}
