//! The Go type that client-go finds for what a webhook answers, before it looks at the fields.

use serde_json::Value;

use crate::object::group_version::{GroupVersion, UNVERSIONED};

/// The kinds of `meta.k8s.io` that Go registers in each version of a group.
const OF_EVERY_VERSION: &[&str] = &[
    "WatchEvent",
    "ListOptions",
    "GetOptions",
    "DeleteOptions",
    "CreateOptions",
    "UpdateOptions",
    "PatchOptions",
];
/// The kinds that a decoder of reviews knows, in the versions `v1` and `v1beta1` of a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReviewScheme {
    /// `admission.k8s.io`.
    pub(crate) group: &'static str,
    /// `AdmissionReview`.
    pub(crate) kind: &'static str,
    /// Further kinds of the group.
    pub(crate) further: &'static [&'static str],
}

/// The package and the name of a Go type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GoType<'a> {
    /// `v1`.
    pub(crate) version: &'a str,
    /// `AdmissionReview`.
    pub(crate) kind: &'a str,
}

impl ReviewScheme {
    /// The type of a review; what the review lacks is as `wanted`.
    ///
    /// # Errors
    /// If the kind is not registered, with Go's message.
    pub(crate) fn type_of<'a>(
        &self,
        review: &'a Value,
        body: &str,
        wanted: &'a str,
    ) -> Result<GoType<'a>, String> {
        let text = |field: &str| review[field].as_str().unwrap_or_default();
        let default = GroupVersion { group: self.group, version: wanted };
        let version = GroupVersion::read(text("apiVersion"))?.or(default);
        let kind = if text("kind").is_empty() { self.kind } else { text("kind") };
        if version.version.is_empty() {
            return Err(format!("Object 'apiVersion' is missing in '{body}'"));
        }
        let is_own = kind == self.kind || self.further.contains(&kind);
        let of = |version, kind| Ok(GoType { version, kind });
        match (version.group == self.group, version.version, kind) {
            (true, "v1" | "v1beta1", kind) if is_own => of(version.version, kind),
            (true, "v1" | "v1beta1", kind) if OF_EVERY_VERSION.contains(&kind) => of("v1", kind),
            (true, "__internal", "WatchEvent") => of("v1", "InternalEvent"),
            (_, _, kind) if UNVERSIONED.contains(&kind) => of("v1", kind),
            _ => Err(version.unregistered(kind)),
        }
    }
}

impl GoType<'_> {
    /// Refuses another type than this.
    ///
    /// # Errors
    /// That Go cannot convert this to that.
    pub(crate) fn converted_to(self, version: &str, kind: &str) -> Result<(), String> {
        if (self.version, self.kind) == (version, kind) {
            return Ok(());
        }
        let Self { version: own, kind: own_kind } = self;
        Err(format!("converting ({own}.{own_kind}) to ({version}.{kind}): unknown conversion"))
    }
}
