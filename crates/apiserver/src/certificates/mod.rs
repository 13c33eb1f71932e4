//! CertificateSigningRequests: requestor, validation, approval, and signing.

mod conditions;
mod request;
mod signer;

use serde_json::{Value, json};
use webhook::field::Error;

use crate::access::authorization::{AccessRequest, AccessTarget};
use crate::call::Call;
use crate::clock::rfc3339;
use crate::http::status::{GroupResource, Status};
use crate::object::meta;
use crate::state::ServerState;

pub(crate) use signer::{SigningError, sign};

const TABLE: &str = "certificatesigningrequests.certificates.k8s.io";
const SIGNERS: GroupResource<'static> =
    GroupResource { group: "certificates.k8s.io", resource: "certificatesigningrequests" };

/// Sets the requesting user and validates the request; ignores other kinds.
pub(crate) fn prepare_for_create(call: &Call, object: &mut Value) -> Result<(), Status> {
    if call.target.table != TABLE {
        return Ok(());
    }
    let user = &call.user;
    for field in ["username", "uid", "groups", "extra"] {
        if let Some(spec) = object["spec"].as_object_mut() {
            spec.remove(field);
        }
    }
    object["spec"]["username"] = user.name.as_str().into();
    if !user.uid.is_empty() {
        object["spec"]["uid"] = user.uid.as_str().into();
    }
    if !user.groups.is_empty() {
        object["spec"]["groups"] = json!(user.groups);
    }
    if !user.extra.is_empty() {
        object["spec"]["extra"] = json!(user.extra);
    }
    object["status"] = json!({});
    check_errors(object, &request::errors(object))?;
    request::check_masters(object)
}

/// Restores the fields that an update may not change, and validates the rest; ignores other kinds.
pub(crate) fn prepare_for_update(
    shared: &ServerState,
    call: &Call,
    object: &mut Value,
    old: &Value,
) -> Result<(), Status> {
    if call.target.table != TABLE {
        return Ok(());
    }
    object["spec"] = old["spec"].clone();
    let subresource = call.path.subresource.as_str();
    match subresource {
        "approval" => {
            let certificate = old.pointer("/status/certificate").cloned();
            set_certificate(object, certificate);
            conditions::set_times(object, old, &rfc3339(shared.clock.now()));
        }
        "status" => conditions::set_times(object, old, &rfc3339(shared.clock.now())),
        _ => object["status"] = old["status"].clone(),
    }
    check_errors(object, &conditions::errors(object, old, subresource))?;
    match subresource {
        "approval" if conditions::decision(object) != conditions::decision(old) => {
            check_permission(shared, call, object, "approve")
        }
        "status" if object["status"] != old["status"] => check_permission(shared, call, object, "sign"),
        _ => Ok(()),
    }
}

fn set_certificate(object: &mut Value, certificate: Option<Value>) {
    if !object["status"].is_object() {
        object["status"] = json!({});
    }
    match (certificate, object["status"].as_object_mut()) {
        (Some(certificate), Some(status)) => {
            status.insert("certificate".to_owned(), certificate);
        }
        (None, Some(status)) => {
            status.remove("certificate");
        }
        (_, None) => {}
    }
}

fn check_errors(object: &Value, errors: &[Error]) -> Result<(), Status> {
    if errors.is_empty() {
        return Ok(());
    }
    let kind = "CertificateSigningRequest";
    Err(Status::invalid("certificates.k8s.io", kind, meta::name(object), errors))
}

/// Refuses to approve or sign unless the user may do so for the signer, or for all signers of its domain.
fn check_permission(shared: &ServerState, call: &Call, object: &Value, verb: &str) -> Result<(), Status> {
    let signer = object["spec"]["signerName"].as_str().unwrap_or_default();
    let domain = signer.split('/').next().unwrap_or_default();
    let may = |name: String| {
        let target = AccessTarget::Resource {
            group: "certificates.k8s.io".to_owned(),
            resource: "signers".to_owned(),
            subresource: String::new(),
            namespace: String::new(),
            name,
        };
        AccessRequest { user: call.user.clone(), verb: verb.to_owned(), target }.decide(shared).allowed
    };
    if may(signer.to_owned()) || may(format!("{domain}/*")) {
        return Ok(());
    }
    let why = format!("user not permitted to {verb} requests with signerName {signer:?}");
    Err(Status::forbidden(SIGNERS, meta::name(object), &why))
}
