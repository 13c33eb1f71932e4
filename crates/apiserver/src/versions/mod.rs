//! Custom resources in the requested version: reading sets defaults, and a webhook converts.
//!
//! As in kube-apiserver, the defaults are those of the storage version.

mod conversion;
mod review;

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use schema::Resource;
use serde_json::Value;

use crate::admission::posting::{self, PostError};
use crate::convert;
use crate::http::status::Status;
use crate::object::structural::{self, Versions};
use crate::registry::ServedResource;
use crate::state::ServerState;
use crate::store::Object;

pub(crate) use conversion::ConversionWebhook;

/// The timeout of a conversion webhook, in seconds.
const TIMEOUT_SECONDS: u32 = 30;

/// A stored object in the request's version, with defaults.
///
/// # Errors
/// If the conversion webhook fails.
pub(crate) async fn read(
    shared: &ServerState,
    target: &ServedResource,
    object: &Arc<Object>,
) -> Result<Arc<Object>, Status> {
    match &target.definition {
        Some(versions) => read_custom(shared, target, versions, object).await,
        None => Ok(Arc::clone(object)),
    }
}

/// Converts an object to another version of its resource.
///
/// # Errors
/// If the conversion webhook fails.
pub(crate) async fn convert(
    shared: &ServerState,
    target: &ServedResource,
    object: Value,
    to: &Resource,
) -> Result<Value, Status> {
    let versions = target.definition.as_deref();
    let Some((versions, conversion)) = versions.and_then(|versions| Some((versions, versions.conversion()?)))
    else {
        return Ok(convert::into_version(object, to));
    };
    if object["apiVersion"] == to.api_version() {
        return Ok(object);
    }
    let mut converted = call_webhook(shared, conversion, &object, &to.api_version()).await?;
    let _dropped = structural::prune(&mut converted, &versions.schema(&to.version));
    Ok(converted)
}

async fn read_custom(
    shared: &ServerState,
    target: &ServedResource,
    versions: &Versions,
    object: &Arc<Object>,
) -> Result<Arc<Object>, Status> {
    let mut current = Cow::Borrowed(object.value());
    let schema = versions.schema(version(&current));
    if structural::lacks_defaults(&current, &schema) {
        structural::default(current.to_mut(), &schema);
    }
    if versions.conversion().is_some() && current["apiVersion"] != target.resource.api_version() {
        current = Cow::Owned(convert(shared, target, current.into_owned(), &target.resource).await?);
    }
    Ok(match current {
        Cow::Borrowed(_) => Arc::clone(object),
        Cow::Owned(value) => Arc::new(Object::unstored(value, object.revision())),
    })
}

/// Calls the webhook to convert an object.
async fn call_webhook(
    shared: &ServerState,
    conversion: &ConversionWebhook,
    object: &Value,
    to: &str,
) -> Result<Value, Status> {
    let kind = review::kind(object);
    let failed = |why: String| Status::failure(format!("conversion webhook for {kind} {why}"));
    let uid = shared.ids.uid();
    let version =
        conversion.version().ok_or_else(|| Status::failure("no supported conversion review versions"))?;
    let body = Bytes::from(review::request(object, to, version, &uid).to_string());
    let answer = posting::post(shared, &conversion.client, TIMEOUT_SECONDS, body).await;
    let answer = answer.map_err(|error| {
        let (PostError::NoClient(why) | PostError::Failed(why)) = error;
        failed(format!("failed: {why}"))
    })?;
    let converted =
        review::objects(&answer, version, &uid).map_err(|why| failed(format!("failed: {why}")))?;
    if let Some(why) = review::unreadable(&converted) {
        return Err(Status::failure(why));
    }
    review::check_converted(converted, object, to).map_err(failed)
}

/// `v1` of `example.com/v1`.
fn version(object: &Value) -> &str {
    let api_version = object["apiVersion"].as_str().unwrap_or_default();
    api_version.split_once('/').map_or(api_version, |(_, version)| version)
}
