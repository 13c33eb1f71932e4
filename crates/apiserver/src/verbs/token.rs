//! TokenRequest: issues a token of a service account for a duration and audiences.

use serde_json::{Value, json};
use webhook::field::{Error, Path, quote};

use crate::access::identity::{BoundObjects, bound_object};
use crate::access::tokens::{Claims, Private, Reference, username};
use crate::admission::{self, Review};
use crate::call::Call;
use crate::clock::rfc3339;
use crate::http::notes::Notes;
use crate::http::reply::Reply;
use crate::http::status::Status;
use crate::object::decode;
use crate::object::meta;
use crate::render;
use crate::state::ServerState;
use jiff::SignedDuration;
use webhook::review::Operation;

/// The default duration of a token, in seconds.
const DEFAULT_SECONDS: i64 = 3600;
const MIN_SECONDS: i64 = 600;
const MAX_SECONDS: i64 = 1 << 32;

/// Answers with a token of the account that the path names.
pub(crate) async fn request(shared: &ServerState, call: &Call) -> Result<Reply, Status> {
    let mut object = decode::parse_body(call)?;
    identify(&mut object)?;
    decode::set_namespace(call, &mut object)?;
    let name = call.path.name.as_str();
    let account = shared.store.get(&call.target.table, &call.key(name));
    let account = account.ok_or_else(|| Status::not_found(call.group_resource(), name))?;
    set_defaults(shared, &mut object, call, account.value());
    let object = admit(shared, call, object).await?;
    let (mut object, notes) = object;
    validate(&object, name)?;
    let bound = match object.pointer("/spec/boundObjectRef").filter(|reference| !reference.is_null()) {
        Some(reference) => bound_object(shared, &call.path.namespace, name, reference)?,
        None => BoundObjects::default(),
    };
    let owner = Reference { name: name.to_owned(), uid: meta::text(account.value(), "uid").to_owned() };
    issue(shared, &call.path.namespace, owner, bound, &mut object);
    Ok(Reply { notes, ..Reply::json(201, render::encode(&object, call.accept.yaml)) })
}

/// Checks that the body is a TokenRequest, and sets its version and kind.
fn identify(object: &mut Value) -> Result<(), Status> {
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if !kind.is_empty() && kind != "TokenRequest" {
        let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
        let dot = if group.is_empty() { "" } else { "/" };
        return Err(Status::bad_request(format!(
            "{kind} in version {} cannot be handled as a TokenRequest: converting ({group}{dot}{version}.{kind}) \
             to (authentication.TokenRequest): unknown conversion",
            quote(version)
        )));
    }
    object["apiVersion"] = "authentication.k8s.io/v1".into();
    object["kind"] = "TokenRequest".into();
    Ok(())
}

/// Sets defaults before admission.
fn set_defaults(shared: &ServerState, object: &mut Value, call: &Call, account: &Value) {
    if meta::name(object).is_empty() {
        meta::set(object, "name", call.path.name.as_str());
    }
    meta::set(object, "uid", meta::text(account, "uid"));
    meta::set(object, "creationTimestamp", rfc3339(shared.clock.now()));
    let spec = &mut object["spec"];
    if spec["audiences"].as_array().is_none_or(Vec::is_empty) {
        spec["audiences"] = json!(shared.tokens.audiences);
    }
    if spec["expirationSeconds"].is_null() {
        spec["expirationSeconds"] = DEFAULT_SECONDS.into();
    }
}

async fn admit(shared: &ServerState, call: &Call, object: Value) -> Result<(Value, Notes), Status> {
    let dry_run = call.query.dry_run();
    let options = admission::options(call, "CreateOptions");
    let mut review = Review::new(call, Operation::Create, &call.path.name, dry_run, options);
    review.object = Some(object);
    admission::mutate(shared, call, &mut review).await?;
    admission::validate(shared, call, &mut review).await?;
    let notes = std::mem::take(&mut review.notes);
    Ok((review.object.take().expect("admission keeps the object of a create request"), notes))
}

fn validate(object: &Value, name: &str) -> Result<(), Status> {
    let given = meta::name(object);
    let group = "authentication.k8s.io";
    if given != name {
        let why = "must match the service account name if specified";
        let error = Error::invalid(&Path::new("metadata").child("name"), given, why);
        return Err(Status::invalid(group, "TokenRequest", name, &[error]));
    }
    let at = Path::new("spec").child("expirationSeconds");
    let error = match object["spec"]["expirationSeconds"].as_i64() {
        Some(seconds) if seconds < MIN_SECONDS => {
            Error::invalid(&at, seconds, "may not specify a duration less than 10 minutes")
        }
        Some(seconds) if seconds > MAX_SECONDS => {
            Error::invalid(&at, seconds, "may not specify a duration larger than 2^32 seconds")
        }
        _ => return Ok(()),
    };
    Err(Status::invalid(group, "TokenRequest", "", &[error]))
}

fn issue(shared: &ServerState, namespace: &str, account: Reference, bound: BoundObjects, object: &mut Value) {
    let now = shared.clock.now();
    let seconds = object["spec"]["expirationSeconds"].as_i64().unwrap_or(DEFAULT_SECONDS);
    let end = now.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(jiff::Timestamp::MAX);
    let audiences = object["spec"]["audiences"].as_array().into_iter().flatten();
    let claims = Claims {
        aud: audiences.filter_map(Value::as_str).map(str::to_owned).collect(),
        exp: end.as_second(),
        iat: now.as_second(),
        iss: shared.tokens.issuer.clone(),
        jti: shared.ids.uid(),
        nbf: now.as_second(),
        sub: username(namespace, &account.name),
        private: Private {
            namespace: namespace.to_owned(),
            node: bound.node,
            pod: bound.pod,
            secret: bound.secret,
            serviceaccount: account,
        },
    };
    if object["spec"].get("boundObjectRef").is_none() {
        object["spec"]["boundObjectRef"] = Value::Null;
    }
    object["status"] = json!({
        "token": shared.tokens.signer().sign(&claims),
        "expirationTimestamp": rfc3339(end),
    });
}
