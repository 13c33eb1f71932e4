//! Custom resources in the version that is asked for: what is stored is defaulted when it is read, and a webhook converts.
//!
//! As kube-apiserver has it, defaults are those of the version that an object is stored in.

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
use crate::state::Shared;
use crate::store::Object;

pub(crate) use conversion::Conversion;

/// How long a webhook has to convert.
const PATIENCE: u32 = 30;

/// A stored object as a request sees it.
///
/// # Errors
/// If a webhook does not convert it.
pub(crate) async fn read_one(
    shared: &Shared,
    target: &ServedResource,
    object: &Arc<Object>,
) -> Result<Arc<Object>, Status> {
    match &target.definition {
        Some(definition) => of_definition(shared, target, definition, object).await,
        None => Ok(Arc::clone(object)),
    }
}

/// An object in another version of its resource.
///
/// # Errors
/// If a webhook does not convert it.
pub(crate) async fn converted(
    shared: &Shared,
    target: &ServedResource,
    object: Value,
    to: &Resource,
) -> Result<Value, Status> {
    let definition = target.definition.as_deref();
    let Some((definition, conversion)) = definition.and_then(|known| Some((known, known.conversion()?)))
    else {
        return Ok(convert::converted(object, to));
    };
    if object["apiVersion"] == to.api_version() {
        return Ok(object);
    }
    let mut converted = asked(shared, conversion, &object, &to.api_version()).await?;
    let _untold = structural::prune(&mut converted, &definition.schema(&to.version));
    Ok(converted)
}

async fn of_definition(
    shared: &Shared,
    target: &ServedResource,
    definition: &Versions,
    object: &Arc<Object>,
) -> Result<Arc<Object>, Status> {
    let mut shown = Cow::Borrowed(object.value());
    let schema = definition.schema(version(&shown));
    if structural::lacks(&shown, &schema) {
        structural::default(shown.to_mut(), &schema);
    }
    if definition.conversion().is_some() && shown["apiVersion"] != target.resource.api_version() {
        shown = Cow::Owned(converted(shared, target, shown.into_owned(), &target.resource).await?);
    }
    Ok(match shown {
        Cow::Borrowed(_) => Arc::clone(object),
        Cow::Owned(value) => Arc::new(Object::shown(value, object.revision())),
    })
}

/// What a webhook makes of an object.
async fn asked(shared: &Shared, conversion: &Conversion, object: &Value, to: &str) -> Result<Value, Status> {
    let kind = review::kind(object);
    let failed = |why: String| Status::failure(format!("conversion webhook for {kind} {why}"));
    let uid = shared.ids.uid();
    let version =
        conversion.version().ok_or_else(|| Status::failure("no supported conversion review versions"))?;
    let body = Bytes::from(review::request(object, to, version, &uid).to_string());
    let answer = posting::post(shared, &conversion.client, PATIENCE, body).await;
    let answer = answer.map_err(|error| {
        let (PostError::NoClient(why) | PostError::Failed(why)) = error;
        failed(format!("failed: {why}"))
    })?;
    let converted =
        review::objects(&answer, version, &uid).map_err(|why| failed(format!("failed: {why}")))?;
    review::only(converted, object, to).map_err(failed)
}

/// `v1` of `example.com/v1`.
fn version(object: &Value) -> &str {
    let api_version = object["apiVersion"].as_str().unwrap_or_default();
    api_version.split_once('/').map_or(api_version, |(_, version)| version)
}
