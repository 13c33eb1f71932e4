//! What Go's scheme knows besides the published kinds: the internal version of each group, and kinds of every group and version.

use schema::Kinds;
use serde_json::{Map, Value};
use webhook::field::quote;

use crate::call::Call;
use crate::http::notes::Notes;
use crate::http::status::Status;
use crate::object::body_kind::BodyKind;
use crate::object::fields::{self, Directive};
use crate::object::group_version::{GroupVersion, UNVERSIONED, package};

const INTERNAL: &str = "__internal";
/// Groups whose internal version has the Scale of `autoscaling`.
pub(crate) const WITH_SCALE: [&str; 3] = ["apps", "autoscaling", "extensions"];

/// What apiVersion and kind of a body mean to Go's scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A kind in a published version, or one that is not registered.
    Versioned,
    /// The wanted kind in the internal version, whose fields have other names.
    SameKind,
    /// Another kind, with the error that it is no such body.
    OtherKind(String),
}

/// Rejects a body in the internal version of a group. The real server decodes it, and so warns of its fields, before it compares
/// the versions.
pub(crate) fn check(call: &Call, object: &Value, notes: &mut Notes) -> Result<(), Status> {
    let body_kind = BodyKind::of(call);
    let wanted = body_kind.kind;
    if call.target.custom && wanted == call.target.resource.kind {
        return Ok(());
    }
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let api_version = text("apiVersion");
    let kind = if text("kind").is_empty() { wanted } else { text("kind") };
    let version = api_version.rsplit('/').next().unwrap_or_default();
    let refused = |why: &str| {
        let version = quote(version);
        Status::bad_request(format!("{kind} in version {version} cannot be handled as a {wanted}: {why}"))
    };
    match meaning(api_version, kind, &body_kind) {
        Meaning::Versioned => Ok(()),
        Meaning::OtherKind(why) => Err(refused(&decoding_error(object, kind).unwrap_or(why))),
        Meaning::SameKind => {
            let unknown = unknown_fields(object);
            match Directive::of(call) {
                Directive::Strict if !unknown.is_empty() => {
                    return Err(refused(&format!("strict decoding error: {}", unknown.join(", "))));
                }
                Directive::Warn => notes.warn(unknown),
                Directive::Strict | Directive::Ignore => {}
            }
            let expected = body_kind.api_version();
            let status = Status::bad_request(format!(
                "the API version in the data ({api_version}) does not match the expected API version ({expected})"
            ));
            Err(status.with_notes(notes))
        }
    }
}

/// What a body of a kind means where `wanted` should be.
pub(crate) fn meaning(api_version: &str, kind: &str, wanted: &BodyKind<'_>) -> Meaning {
    let Ok(GroupVersion { group, version }) = GroupVersion::read(api_version) else {
        return Meaning::Versioned;
    };
    let is_internal = version == INTERNAL;
    let own = if UNVERSIONED.contains(&kind) && !version.is_empty() {
        format!("v1.{kind}")
    } else if is_internal && kind == "WatchEvent" && Kinds::kubernetes().group(group).is_some() {
        "v1.InternalEvent".to_owned()
    } else if is_internal && is_registered(group, kind) {
        let is_scale = kind == "Scale" && WITH_SCALE.contains(&wanted.group);
        if kind == wanted.kind && (group == wanted.group || is_scale) {
            return Meaning::SameKind;
        }
        format!("{}.{kind}", package(group))
    } else {
        return Meaning::Versioned;
    };
    let wanted = format!("{}.{}", package(wanted.group), wanted.kind);
    Meaning::OtherKind(format!("converting ({own}) to ({wanted}): unknown conversion"))
}

/// The error about a field with which an object is no Status: Go decodes it before it compares kinds.
pub(crate) fn decoding_error(object: &Value, kind: &str) -> Option<String> {
    let ty = Kinds::kubernetes().type_of("", "v1", "Status").filter(|_| kind == "Status")?;
    fields::check(object, &ty, "Status", "").err()
}

/// Messages about all fields of an object but apiVersion and kind.
pub(crate) fn unknown_fields(object: &Value) -> Vec<String> {
    let names = object.as_object().into_iter().flat_map(Map::keys);
    let names = names.filter(|name| !matches!(name.as_str(), "apiVersion" | "kind"));
    names.map(|name| format!("unknown field {}", quote(name))).collect()
}

/// Whether the internal version of a group has a kind: each that a published version has.
fn is_registered(group: &str, kind: &str) -> bool {
    let versions = Kinds::kubernetes().group(group).into_iter().flat_map(|group| &group.versions);
    let mut kinds = versions.flat_map(|served| &served.resources).map(|resource| resource.kind.as_str());
    (kind == "Scale" && WITH_SCALE.contains(&group)) || kinds.any(|known| known == kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_the_internal_version_are_known() {
        let deployment = BodyKind { group: "apps", version: "v1", kind: "Deployment" };
        let scale = BodyKind { group: "autoscaling", version: "v1", kind: "Scale" };
        let other = |what: &str| {
            Meaning::OtherKind(format!("converting ({what}) to (apps.Deployment): unknown conversion"))
        };
        let table = [
            (deployment, "apps/v1", "Deployment", Meaning::Versioned),
            (deployment, "apps/__internal", "Deployment", Meaning::SameKind),
            (deployment, "apps/__internal", "ConfigMap", Meaning::Versioned),
            (deployment, "apps/__internal", "DaemonSet", other("apps.DaemonSet")),
            (deployment, "__internal", "ConfigMap", other("core.ConfigMap")),
            (deployment, "apps/__internal", "WatchEvent", other("v1.InternalEvent")),
            (deployment, "nothing/__internal", "WatchEvent", Meaning::Versioned),
            (deployment, "nothing/v9", "Status", other("v1.Status")),
            (scale, "extensions/__internal", "Scale", Meaning::SameKind),
            (scale, "batch/__internal", "Scale", Meaning::Versioned),
        ];
        for (wanted, api_version, kind, want) in table {
            assert_eq!(meaning(api_version, kind, &wanted), want, "{api_version} {kind}");
        }
    }
}
