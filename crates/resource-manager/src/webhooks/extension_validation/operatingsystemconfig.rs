//! Units and files of a node: `contracts/resource-manager/webhooks/extension-validation/operatingsystemconfig.yaml`.

use std::collections::BTreeSet;

use serde_json::Value;
use webhook::field::{Error, Path, Shown};

use super::comparison::{items, member, text};
use super::required::{check, check_that};
use super::shape::{OPTIONAL_TEXT, OPTIONAL_TRUTH, PROVIDER_CONFIG, Shape, TYPE, field};
use super::{EXTENSIONS, ExtensionKind, Frozen};

pub(super) const KIND: ExtensionKind = ExtensionKind {
    name: "OperatingSystemConfig",
    group: EXTENSIONS,
    resource: "operatingsystemconfigs",
    namespaced: true,
    spec: &[
        field("criConfig", "CRIConfig", Shape::Pointer("v1alpha1.CRIConfig", &CRI)),
        TYPE,
        PROVIDER_CONFIG,
        field("purpose", "Purpose", Shape::Text),
        field("reloadConfigFilePath", "ReloadConfigFilePath", OPTIONAL_TEXT),
        field("units", "Units", Shape::List("v1alpha1.Unit", &UNIT)),
        field("files", "Files", Shape::List("v1alpha1.File", &FILE)),
    ],
    immutable: &[&["type"], &["purpose"]],
    frozen: Frozen::Forbidden,
    rules,
};

const CRI: Shape = Shape::Struct(&[field("name", "Name", Shape::Text)]);
const UNIT: Shape = Shape::Struct(&[
    field("name", "Name", Shape::Text),
    field("command", "Command", OPTIONAL_TEXT),
    field("enable", "Enable", OPTIONAL_TRUTH),
    field("content", "Content", OPTIONAL_TEXT),
    field("dropIns", "DropIns", Shape::List("v1alpha1.DropIn", &DROP_IN)),
]);
const DROP_IN: Shape =
    Shape::Struct(&[field("name", "Name", Shape::Text), field("content", "Content", Shape::Text)]);
const FILE: Shape = Shape::Struct(&[
    field("path", "Path", Shape::Text),
    field("permissions", "Permissions", Shape::Pointer("int32", &Shape::Integer32)),
    field("content", "Content", CONTENT),
]);
const CONTENT: Shape = Shape::Struct(&[
    field("secretRef", "SecretRef", Shape::Pointer("v1alpha1.FileContentSecretRef", &SECRET)),
    field("inline", "Inline", Shape::Pointer("v1alpha1.FileContentInline", &INLINE)),
    field("transmitUnencoded", "TransmitUnencoded", OPTIONAL_TRUTH),
]);
const SECRET: Shape =
    Shape::Struct(&[field("name", "Name", Shape::Text), field("dataKey", "DataKey", Shape::Text)]);
const INLINE: Shape =
    Shape::Struct(&[field("encoding", "Encoding", Shape::Text), field("data", "Data", Shape::Text)]);

const PURPOSES: [&str; 2] = ["provision", "reconcile"];
const ENCODINGS: [&str; 4] = ["", "b64", "gzip", "gzip+b64"];

/// GRM-EXV-190 to -207.
fn rules(object: &Value, errors: &mut Vec<Error>) {
    let spec = member(Some(object), "spec");
    let at = Path::new("spec");
    check(spec, &["type"], &at, errors);
    check(spec, &["purpose"], &at, errors);
    let purpose = text(member(spec, "purpose"));
    if !purpose.is_empty() && !PURPOSES.contains(&purpose) {
        errors.push(Error::not_supported(&at.child("purpose"), purpose, &PURPOSES));
    }
    for (index, unit) in items(member(spec, "units")).iter().enumerate() {
        let at = at.child("units").index(index);
        check(Some(unit), &["name"], &at, errors);
        for (index, drop_in) in items(member(Some(unit), "dropIns")).iter().enumerate() {
            let at = at.child("dropIns").index(index);
            check(Some(drop_in), &["name"], &at, errors);
            check(Some(drop_in), &["content"], &at, errors);
        }
    }
    files(items(member(spec, "files")), &at.child("files"), errors);
}

/// GRM-EXV-196, GRM-EXV-197.
fn files(files: &[Value], at: &Path, errors: &mut Vec<Error>) {
    let mut paths = BTreeSet::new();
    for (index, file) in files.iter().enumerate() {
        let at = at.index(index);
        let path = text(member(Some(file), "path"));
        check(Some(file), &["path"], &at, errors);
        if !path.is_empty() && !paths.insert(path) {
            errors.push(Error::duplicate(&at.child("path"), path));
        }
        content(member(Some(file), "content"), &at.child("content"), errors);
    }
}

/// GRM-EXV-198 to -204.
fn content(content: Option<&Value>, at: &Path, errors: &mut Vec<Error>) {
    let either = "either 'secretRef' or 'inline' must be provided";
    match (member(content, "secretRef"), member(content, "inline")) {
        (None, None) => errors.push(Error::required(at, either)),
        (Some(_), Some(_)) => {
            let shown = Shown::verbatim(content.unwrap_or(&Value::Null));
            errors.push(Error::invalid(at, shown, &format!("{either}, not both at the same time")));
        }
        (secret @ Some(_), None) => {
            check(secret, &["name"], &at.child("secretRef"), errors);
            check(secret, &["dataKey"], &at.child("secretRef"), errors);
        }
        (None, inline @ Some(_)) => {
            let at = at.child("inline");
            let encoding = text(member(inline, "encoding"));
            if !ENCODINGS.contains(&encoding) {
                errors.push(Error::not_supported(&at.child("encoding"), encoding, &ENCODINGS));
            }
            check_that(!text(member(inline, "data")).is_empty(), &["data"], &at, errors);
        }
    }
}
