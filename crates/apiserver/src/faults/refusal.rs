//! The errors with which requests are refused, worded as in Kubernetes.

use serde_json::json;

use crate::access::attributes::{Attributes, RequestInfo};
use crate::access::authorization::AccessRequest;
use crate::call::Verb;
use crate::http::path::ResourcePath;
use crate::http::reply::Reply;
use crate::http::status::{GroupResource, Status};
use crate::log::object_name;
use crate::object::effects;

/// The error with which a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// 403, as if no role allowed the request.
    Forbidden,
    /// 403, as if the request exceeded a quota.
    OverQuota,
    /// 403, as if the namespace were being deleted.
    NamespaceTerminating,
    /// 404: the object does not exist; for a create request, its namespace does not.
    NotFound,
    /// 409: an object with the name exists.
    AlreadyExists,
    /// 409, as after a concurrent change.
    Conflict,
    /// 410, as if the revision were compacted.
    Expired,
    /// 422, as if an admission policy denied the request.
    Invalid,
    /// 429 of priority and fairness.
    TooManyRequests {
        /// Seconds.
        retry_after: u64,
    },
    /// 500.
    InternalError,
    /// 503.
    ServiceUnavailable {
        /// Seconds; 0 omits `Retry-After`.
        retry_after: u64,
    },
    /// 504: the request may or may not have been executed.
    Timeout,
}

impl Refusal {
    /// The reply to a request with the body `sent`.
    pub(super) fn reply(self, request: &Attributes, sent: &[u8]) -> Reply {
        if self == Self::Forbidden {
            return AccessRequest::of(request).forbidden("").into();
        }
        let RequestInfo::Resource { verb, path, .. } = &request.info else {
            return self.status(Verb::Get, &ResourcePath::default(), "").into();
        };
        match self {
            Self::TooManyRequests { retry_after } => Reply {
                retry_after: Some(retry_after),
                ..Reply::text(429, "Too many requests, please try again later.\n")
            },
            _ => self.status(*verb, path, &object_name(*verb, &path.name, sent)).into(),
        }
    }

    fn status(self, verb: Verb, path: &ResourcePath, name: &str) -> Status {
        let of = GroupResource { group: &path.group, resource: &path.resource };
        match self {
            Self::Forbidden => Status::plain(403, "Forbidden", "forbidden"),
            Self::OverQuota => {
                let of_kind = format!("count/{of}");
                let why = format!(
                    "exceeded quota: quota, requested: {of_kind}=1, used: {of_kind}=1, limited: {of_kind}=1"
                );
                Status::forbidden(of, name, &why)
            }
            Self::NamespaceTerminating => effects::namespace_terminating(of, &path.namespace, name),
            Self::NotFound if verb == Verb::Create && path.name.is_empty() => {
                Status::not_found(GroupResource { group: "", resource: "namespaces" }, &path.namespace)
            }
            Self::NotFound => Status::not_found(of, name),
            Self::AlreadyExists => Status::already_exists(of, name),
            Self::Conflict => Status::outdated(of, name),
            Self::Expired => Status::expired("The provided resourceVersion is too old."),
            Self::Invalid => denied_by_policy(of, name),
            Self::TooManyRequests { retry_after } => {
                let message = "Too many requests, please try again later.";
                with_retry_after(Status::plain(429, "TooManyRequests", message), retry_after)
            }
            Self::InternalError => Status::internal("etcdserver: leader changed"),
            Self::ServiceUnavailable { retry_after } => {
                let message = "the server is currently unable to handle the request";
                with_retry_after(Status::plain(503, "ServiceUnavailable", message), retry_after)
            }
            Self::Timeout => {
                let message = "the server was unable to return a response in the time allotted, but may still be \
                               processing the request";
                Status::plain(504, "Timeout", message)
            }
        }
    }
}

/// The error of a ValidatingAdmissionPolicy: worded as forbidden, but with code and reason of an invalid object.
fn denied_by_policy(of: GroupResource<'_>, name: &str) -> Status {
    let why =
        "ValidatingAdmissionPolicy 'policy' with binding 'binding' denied request: failed expression: false";
    let mut status = Status::forbidden(of, name, why);
    (status.code, status.reason) = (422, "Invalid".to_owned());
    status.details.insert("causes".to_owned(), json!([{"message": why}]));
    status
}

fn with_retry_after(mut status: Status, retry_after: u64) -> Status {
    if retry_after > 0 {
        status.details.insert("retryAfterSeconds".to_owned(), retry_after.into());
    }
    status
}
