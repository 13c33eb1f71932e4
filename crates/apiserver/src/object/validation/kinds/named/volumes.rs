//! Volumes of pods, persistent volumes and claims.

use formats::name;
use formats::quantity::Quantity;
use serde_json::Value;
use webhook::field::{Error, ErrorKind, Shown};

use super::super::check::{FieldValue, NamedCheck, when};

pub(super) const CHECKS: &[(&str, NamedCheck)] = &[
    ("volume-type", volume_type),
    ("no-parent-steps", no_parent_steps),
    ("access-mode", access_mode),
    ("storage-only", storage_only),
    ("volume-source", volume_source),
    ("volume-change", volume_change),
    ("claim-size", claim_size),
    ("claim-class", claim_class),
    ("claim-change", claim_change),
];

/// Fields of a persistent volume's spec that are not sources.
const NOT_SOURCES: &[&str] = &[
    "accessModes",
    "capacity",
    "claimRef",
    "mountOptions",
    "nodeAffinity",
    "persistentVolumeReclaimPolicy",
    "storageClassName",
    "volumeAttributesClassName",
    "volumeMode",
];

/// Sources in the order in which kube-apiserver looks at them; the first is the one that a volume may have.
const SOURCES: &[&str] = &[
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "azureFile",
    "configMap",
    "vsphereVolume",
    "azureDisk",
    "photonPersistentDisk",
    "portworxVolume",
    "projected",
    "scaleIO",
    "storageos",
    "csi",
    "ephemeral",
    "image",
];

fn volume_type(volume: &FieldValue<'_>) -> Vec<Error> {
    sources(volume, &["name"]).iter().skip(1).map(more_than_one).collect()
}

fn volume_source(spec: &FieldValue<'_>) -> Vec<Error> {
    let sources = sources(spec, NOT_SOURCES);
    if sources.is_empty() {
        return vec![spec.required("must specify a volume type")];
    }
    sources.iter().skip(1).map(more_than_one).collect()
}

fn more_than_one(source: &FieldValue<'_>) -> Error {
    source.forbidden("may not specify more than 1 volume type")
}

fn sources<'a>(field: &FieldValue<'a>, without: &[&str]) -> Vec<FieldValue<'a>> {
    let fields = field.value.and_then(Value::as_object).into_iter().flatten();
    let given = fields.filter(|(name, value)| !without.contains(&name.as_str()) && !value.is_null());
    let mut names: Vec<&str> = given.map(|(name, _)| name.as_str()).collect();
    let place = |name: &str| SOURCES.iter().position(|source| *source == name).unwrap_or(SOURCES.len());
    names.sort_by_key(|name| place(name));
    names.into_iter().map(|name| field.field(name)).collect()
}

/// Whether a volume of a pod has one source at most; mounts of others find no volume.
pub(super) fn is_single(volume: &Value) -> bool {
    sources(&FieldValue::root(volume, None), &["name"]).len() < 2
}

fn no_parent_steps(field: &FieldValue<'_>) -> Vec<Error> {
    when(field.text().split('/').any(|part| part == ".."), || field.invalid("must not contain '..'"))
}

/// kube-apiserver reports these for the whole list.
fn access_mode(field: &FieldValue<'_>) -> Vec<Error> {
    const MODES: &[&str] = &["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
    if MODES.contains(&field.text()) {
        return Vec::new();
    }
    let list = field.path.split('[').next().unwrap_or_default().to_owned();
    vec![FieldValue { path: list, ..field.clone() }.unsupported(MODES)]
}

fn storage_only(capacity: &FieldValue<'_>) -> Vec<Error> {
    let amounts = capacity.value.and_then(Value::as_object);
    let Some(amount) = amounts.and_then(|amounts| amounts.get("storage")) else {
        return vec![capacity.unsupported_as(
            capacity.value.map_or_else(|| Shown::verbatim("null"), Shown::verbatim),
            &["storage"],
        )];
    };
    let at = capacity.entry("storage");
    let mut errors = when(is_at_most_zero(amount) == Some(true) && starts_negative(amount), || {
        let shown = Shown::verbatim(amount.as_str().unwrap_or_default());
        at.error(ErrorKind::Invalid, Some(shown), "must be a valid resource quantity")
    });
    errors.extend(when(is_at_most_zero(amount) == Some(true), || at.invalid("must be greater than zero")));
    errors
}

fn starts_negative(amount: &Value) -> bool {
    amount.as_str().is_some_and(|text| text.starts_with('-'))
}

fn is_at_most_zero(amount: &Value) -> Option<bool> {
    Some(Quantity::parse(amount.as_str()?).ok()?.nanos()? <= 0)
}

fn volume_change(field: &FieldValue<'_>) -> Vec<Error> {
    let Some(old) = field.old else { return Vec::new() };
    let spec = field.field("spec");
    let old_spec = FieldValue::root(old, None).field("spec");
    let same = sources(&spec, NOT_SOURCES)
        .iter()
        .map(|s| s.value)
        .eq(sources(&old_spec, NOT_SOURCES).iter().map(|s| s.value));
    let source = spec.field("persistentvolumesource");
    let mut errors =
        when(!same, || source.forbidden("spec.persistentvolumesource is immutable after creation"));
    let mode = spec.field("volumeMode");
    errors.extend(when(mode.value != mode.old, || {
        FieldValue { path: "volumeMode".to_owned(), ..mode }.invalid("field is immutable")
    }));
    errors
}

fn claim_size(claim: &FieldValue<'_>) -> Vec<Error> {
    let resources = claim.field("resources");
    let at = resources.entry("storage");
    match resources.field("requests").field("storage").value {
        None => vec![at.required("")],
        Some(amount) => when(is_at_most_zero(amount) == Some(true), || {
            at.invalid_as(amount.as_str().unwrap_or_default(), "must be greater than zero")
        }),
    }
}

fn claim_class(field: &FieldValue<'_>) -> Vec<Error> {
    if field.is_empty() {
        return Vec::new();
    }
    name::dns1123_subdomain(field.text()).iter().map(|why| field.invalid(why)).collect()
}

/// A claim's spec must not change, except that a missing class may be set.
fn claim_change(field: &FieldValue<'_>) -> Vec<Error> {
    let spec = field.field("spec");
    let (Some(new), Some(old)) = (spec.value, spec.old) else { return Vec::new() };
    let mut comparable = new.clone();
    let had_class = old.get("storageClassName").is_some();
    for field in ["volumeName", "storageClassName", "volumeAttributesClassName"] {
        let may_come = field != "storageClassName" || !had_class;
        if let (Some(fields), None, true) = (comparable.as_object_mut(), old.get(field), may_come) {
            fields.remove(field);
        }
    }
    let bound = field.old.and_then(|old| old.pointer("/status/phase")).is_some_and(|phase| phase == "Bound");
    if bound && let Some(requests) = old.pointer("/resources/requests") {
        comparable["resources"]["requests"] = requests.clone();
    }
    let why = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound \
               claims";
    let mut errors = when(comparable != *old, || spec.forbidden(why));
    let amount = |of: Option<&Value>| {
        of.and_then(Value::as_str).and_then(|text| Quantity::parse(text).ok()?.nanos()).unwrap_or_default()
    };
    let size = |spec: &Value| amount(spec.pointer("/resources/requests/storage"));
    let capacity = amount(field.old.and_then(|old| old.pointer("/status/capacity/storage")));
    errors.extend(when(size(new) < size(old) && size(new) <= capacity, || {
        spec.field("resources")
            .field("requests")
            .field("storage")
            .forbidden("field can not be less than status.capacity")
    }));
    let mode = spec.field("volumeMode");
    errors.extend(when(mode.value != mode.old, || {
        FieldValue { path: "volumeMode".to_owned(), ..mode }.invalid("field is immutable")
    }));
    errors
}
