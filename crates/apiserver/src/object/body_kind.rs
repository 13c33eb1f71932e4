//! The kind of a request's body: that of the resource, of the subresource, or delete options.

use schema::Message;

use crate::call::Call;

/// Kinds in versions that are accepted but no longer served, and the versions that have the same fields.
const OLDER: [(&str, &str, &str); 1] = [("Eviction", "policy/v1beta1", "policy/v1")];

/// Group, version and kind of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BodyKind<'a> {
    /// `apps`; empty for the core group.
    pub(crate) group: &'a str,
    /// `v1`.
    pub(crate) version: &'a str,
    /// `Deployment`.
    pub(crate) kind: &'a str,
}

impl<'a> BodyKind<'a> {
    /// The kind of a deletion's body, for any resource.
    pub(crate) const DELETE_OPTIONS: BodyKind<'static> =
        BodyKind { group: "", version: "v1", kind: "DeleteOptions" };

    /// The kind that the body of a request must have.
    pub(crate) fn of(call: &'a Call) -> Self {
        let resource = &call.target.resource;
        match resource.subresource(&call.path.subresource) {
            Some(below) => Self { group: &below.group, version: &below.version, kind: &below.kind },
            None => Self { group: &resource.group, version: &resource.version, kind: &resource.kind },
        }
    }

    /// Whether the body of a request is the resource itself, and not that of a subresource.
    pub(crate) fn is_of_resource(call: &'a Call) -> bool {
        let (body_kind, resource) = (Self::of(call), &call.target.resource);
        (body_kind.group, body_kind.kind) == (resource.group.as_str(), resource.kind.as_str())
    }

    /// `apps/v1`, `v1` for the core group.
    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_owned()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// Whether the kind has a protobuf message; custom resources do not.
    pub(crate) fn has_message(&self) -> bool {
        Message::of_kind(self.group, self.version, self.kind).is_some()
    }

    /// The served version with the same fields as this older `api_version`.
    pub(crate) fn newer(&self, api_version: &str, kind: &str) -> Option<&'static str> {
        let older = OLDER.iter().find(|(name, version, _)| (*name, *version) == (kind, api_version));
        older.filter(|_| kind == self.kind).map(|(_, _, newer)| *newer)
    }

    /// The protobuf message of a body. Delete options are accepted in every group and version.
    pub(crate) fn message(&self, api_version: &str, kind: &str) -> Option<&'static Message> {
        if *self == Self::DELETE_OPTIONS {
            return Message::of_kind(self.group, self.version, self.kind).filter(|_| kind == self.kind);
        }
        let api_version = self.newer(api_version, kind).unwrap_or(api_version);
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Message::of_kind(group, version, kind)
    }
}
