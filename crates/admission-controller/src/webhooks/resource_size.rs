//! Objects of some resources have a largest size (contracts/admission-controller/webhooks/resource-size.yaml).

use std::cmp::Ordering;

use formats::quantity::Quantity;
use webhook::rejection::Rejection;
use webhook::review::{AdmissionRequest, GroupVersionResource, Operation};

use super::api_error;
use crate::caller::{Caller, UserInfo};
use crate::config::{ResourceAdmissionConfiguration, ResourceLimit, UnrestrictedSubject};

/// Its name.
pub const NAME: &str = "resource-size";
/// Its path.
pub const PATH: &str = "/webhooks/validate-resource-size";
/// Why an object was rejected, as a metric has it.
pub const REASON: &str = "Size Exceeded";

const SERVICE_ACCOUNT_PREFIX: &str = "system:serviceaccount:";

/// The judgement about a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The object is small enough.
    Fits,
    /// It is too big, but the configuration has mode log: size in bytes and limit.
    Logged(usize, String),
    /// It is too big.
    Rejected(Rejection),
    /// No limit applies to the request.
    Unknown(Rejection),
}

/// Checks the size of a request's object, as it was sent. ADM-SIZ-001 to -009.
#[must_use]
pub fn judge(
    config: &ResourceAdmissionConfiguration,
    caller: &Caller,
    request: &AdmissionRequest<'_>,
) -> Verdict {
    if !matches!(request.operation, Operation::Create | Operation::Update) {
        let text = format!("unknown operation request {:?}", request.operation.to_string());
        return Verdict::Unknown(Rejection::errored(400, text));
    }
    if is_unrestricted(&caller.user, &config.unrestricted_subjects) {
        return Verdict::Fits;
    }
    // The resource of the original request, not the version of the rule.
    let resource = caller.request_resource.as_ref().unwrap_or(&request.resource);
    let limit = config.limits.iter().find(|limit| is_about(limit, resource));
    let Some(limit) = limit.map(|limit| limit.size.0) else { return Verdict::Fits };
    let size = request.object.map_or(0, |object| object.get().len());
    let bytes = Quantity::from_integer(i64::try_from(size).unwrap_or(i64::MAX));
    if limit.partial_cmp(&bytes) != Some(Ordering::Less) {
        return Verdict::Fits;
    }
    if config.operation_mode.as_deref() == Some("log") {
        return Verdict::Logged(size, limit.to_string());
    }
    let why = format!("maximum resource size exceeded! Size in request: {size} bytes, max allowed: {limit}");
    let GroupVersionResource { group, resource, .. } = &request.resource;
    Verdict::Rejected(api_error::forbidden(group, resource, &request.name, &why))
}

fn is_about(limit: &ResourceLimit, resource: &GroupVersionResource) -> bool {
    let lists = [
        (&limit.api_groups, &resource.group),
        (&limit.api_versions, &resource.version),
        (&limit.resources, &resource.resource),
    ];
    lists.into_iter().all(|(list, value)| list.iter().any(|element| element == "*" || element == value))
}

/// A ServiceAccount is no user and in no group here.
fn is_unrestricted(user: &UserInfo, subjects: &[UnrestrictedSubject]) -> bool {
    let is_service_account = user.username.starts_with(SERVICE_ACCOUNT_PREFIX);
    subjects.iter().any(|subject| match (subject.kind.as_str(), is_service_account) {
        ("ServiceAccount", true) => is_service_account_of(subject, &user.username),
        ("User", false) => subject.name == "*" || subject.name == user.username,
        ("Group", false) => subject.name == "*" || user.groups.contains(&subject.name),
        _ => false,
    })
}

fn is_service_account_of(subject: &UnrestrictedSubject, user: &str) -> bool {
    let account = user.strip_prefix(SERVICE_ACCOUNT_PREFIX).and_then(|account| account.split_once(':'));
    account.is_some_and(|(namespace, name)| {
        subject.namespace == namespace && (subject.name == "*" || subject.name == name)
    })
}
