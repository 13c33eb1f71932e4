//! Tests every field of the garden's kinds, with lists from v1.82 (fields/<Kind>.txt: path and type).

use std::collections::BTreeSet;

use api::garden::{
    BackupBucket, BackupEntry, Bastion, CloudProfile, ClusterOpenIdConnectPreset, ControllerDeployment,
    ControllerInstallation, ControllerRegistration, ExposureClass, InternalSecret, ManagedSeed,
    ManagedSeedSet, OpenIdConnectPreset, Project, Quota, SecretBinding, Seed, Shoot, ShootState,
};
use api::gardenlet::GardenletConfiguration;
use api::operator::Garden;
use rstest::rstest;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Path and type: `spec.provider.workers[].zones`, `[]string`.
type Field = (&'static str, &'static str);

/// `apiVersion` and kind.
type Name = (&'static str, &'static str);

const CORE: &str = api::garden::API_VERSION;
const OPERATIONS: &str = api::garden::operations::API_VERSION;
const OPERATOR: &str = api::operator::API_VERSION;
const SEED_MANAGEMENT: &str = api::garden::seed_management::API_VERSION;
const SETTINGS: &str = api::garden::settings::API_VERSION;

const KINDS: [(Name, Type, &str); 21] = [
    ((CORE, "BackupBucket"), read_and_write::<BackupBucket>, include_str!("fields/BackupBucket.txt")),
    ((CORE, "BackupEntry"), read_and_write::<BackupEntry>, include_str!("fields/BackupEntry.txt")),
    ((OPERATIONS, "Bastion"), read_and_write::<Bastion>, include_str!("fields/Bastion.txt")),
    ((CORE, "CloudProfile"), read_and_write::<CloudProfile>, include_str!("fields/CloudProfile.txt")),
    (
        (SETTINGS, "ClusterOpenIDConnectPreset"),
        read_and_write::<ClusterOpenIdConnectPreset>,
        include_str!("fields/ClusterOpenIDConnectPreset.txt"),
    ),
    (
        (CORE, "ControllerDeployment"),
        read_and_write::<ControllerDeployment>,
        include_str!("fields/ControllerDeployment.txt"),
    ),
    (
        (CORE, "ControllerInstallation"),
        read_and_write::<ControllerInstallation>,
        include_str!("fields/ControllerInstallation.txt"),
    ),
    (
        (CORE, "ControllerRegistration"),
        read_and_write::<ControllerRegistration>,
        include_str!("fields/ControllerRegistration.txt"),
    ),
    ((CORE, "ExposureClass"), read_and_write::<ExposureClass>, include_str!("fields/ExposureClass.txt")),
    ((OPERATOR, "Garden"), read_and_write::<Garden>, include_str!("fields/Garden.txt")),
    (
        (api::gardenlet::API_VERSION, api::gardenlet::KIND),
        read_and_write::<GardenletConfiguration>,
        include_str!("fields/GardenletConfiguration.txt"),
    ),
    ((CORE, "InternalSecret"), read_and_write::<InternalSecret>, include_str!("fields/InternalSecret.txt")),
    ((SEED_MANAGEMENT, "ManagedSeed"), read_and_write::<ManagedSeed>, include_str!("fields/ManagedSeed.txt")),
    (
        (SEED_MANAGEMENT, "ManagedSeedSet"),
        read_and_write::<ManagedSeedSet>,
        include_str!("fields/ManagedSeedSet.txt"),
    ),
    (
        (SETTINGS, "OpenIDConnectPreset"),
        read_and_write::<OpenIdConnectPreset>,
        include_str!("fields/OpenIDConnectPreset.txt"),
    ),
    ((CORE, "Project"), read_and_write::<Project>, include_str!("fields/Project.txt")),
    ((CORE, "Quota"), read_and_write::<Quota>, include_str!("fields/Quota.txt")),
    ((CORE, "SecretBinding"), read_and_write::<SecretBinding>, include_str!("fields/SecretBinding.txt")),
    ((CORE, "Seed"), read_and_write::<Seed>, include_str!("fields/Seed.txt")),
    ((CORE, "Shoot"), read_and_write::<Shoot>, include_str!("fields/Shoot.txt")),
    ((CORE, "ShootState"), read_and_write::<ShootState>, include_str!("fields/ShootState.txt")),
];

/// Reads an object and writes it again.
type Type = fn(&Value) -> Result<Value, serde_json::Error>;

#[rstest]
fn every_field_survives_reading_and_writing(
    #[values(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)] kind: usize,
) {
    let (name, read_and_write, fields) = KINDS[kind];
    let object = full_object(name, fields);
    assert_eq!(read_and_write(&object).expect("every field can be read"), object);
}

#[rstest]
fn a_field_of_another_type_is_refused(
    #[values(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)] kind: usize,
) {
    let (name, read_and_write, list) = KINDS[kind];
    let typed = fields(list).filter(|(_, type_name)| !type_name.ends_with("any"));
    let taken = typed.filter(|(path, type_name)| {
        let mut object = empty(name);
        put(&mut object, path, &another(type_name));
        read_and_write(&object).is_ok()
    });
    assert_eq!(taken.collect::<Vec<_>>(), [], "known by another name, or as another type");
}

#[rstest]
fn null_is_read_like_a_missing_field(
    #[values(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)] kind: usize,
) {
    let (name, read_and_write, list) = KINDS[kind];
    for (path, _) in fields(list) {
        let (mut without, mut object) = (empty(name), empty(name));
        put(&mut object, path, &Value::Null);
        put(&mut without, path, &json!("x"));
        take(&mut without, path);
        let [read, without] =
            [object, without].map(|object| read_and_write(&object).map_err(|error| error.to_string()));
        assert_eq!(read, without, "{path}");
    }
}

#[rstest]
fn every_object_keeps_fields_of_a_newer_api(
    #[values(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)] kind: usize,
) {
    let (name, read_and_write, list) = KINDS[kind];
    let mut object = full_object(name, list);
    let within = |path: &'static str| path.match_indices('.').map(|(at, _)| &path[..at]);
    let objects: BTreeSet<&str> = fields(list).flat_map(|(path, _)| within(path)).collect();
    let newer = json!({"list": [1, 1.5, "x"], "nothing": null});
    put(&mut object, "fromTheFuture", &newer);
    for within in objects {
        put(&mut object, &format!("{within}.fromTheFuture"), &newer);
    }
    assert_eq!(read_and_write(&object).expect("a newer object is read"), object);
}

#[test]
fn a_new_object_has_api_version_and_kind() {
    let written = serde_json::to_value(Shoot::default()).expect("a shoot is written");
    assert_eq!(written, empty((CORE, "Shoot")));
}

fn read_and_write<K: Serialize + DeserializeOwned>(object: &Value) -> Result<Value, serde_json::Error> {
    serde_json::to_value(serde_json::from_value::<K>(object.clone())?)
}

fn fields(list: &'static str) -> impl Iterator<Item = Field> {
    list.lines().filter_map(|line| line.split_once(' '))
}

fn empty((api_version, kind): Name) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {}})
}

/// An object that has every field.
fn full_object(name: Name, list: &'static str) -> Value {
    let mut object = empty(name);
    for (path, type_name) in fields(list) {
        put(&mut object, path, &value(type_name));
    }
    object
}

/// A value of this type.
fn value(type_name: &str) -> Value {
    match type_name {
        "string" => json!("text"),
        "boolean" => json!(true),
        "integer" => json!(7),
        "number" => json!(0.25),
        "quantity" => json!("500m"),
        "duration" => json!("1h30m0s"),
        "time" => json!("2024-06-01T12:00:00Z"),
        "intOrString" => json!("25%"),
        "bytes" => json!("c2VjcmV0"),
        "any" => json!({"apiVersion": "example.com/v1", "list": [1, {"a": 0.5}], "nothing": null}),
        _ => match type_name.split_at(2) {
            ("[]", each) => json!([value(each), value(each)]),
            ("{}", each) => json!({"a": value(each), "b": value(each)}),
            _ => unreachable!("{type_name} is not a type in the lists of fields"),
        },
    }
}

/// A value of another type.
fn another(type_name: &str) -> Value {
    match type_name {
        "time" => json!("yesterday"),
        "bytes" => json!("not base64"),
        "string" | "quantity" | "duration" | "intOrString" => json!(["list"]),
        "boolean" | "integer" | "number" => json!("text"),
        _ if type_name.starts_with("[]") => json!([value(&type_name[2..]), another(&type_name[2..])]),
        _ => json!({"a": another(&type_name[2..])}),
    }
}

/// Puts a value where a path leads; `[]` is the only element of a list.
fn put(object: &mut Value, path: &str, value: &Value) {
    *at(object, path) = value.clone();
}

fn take(object: &mut Value, path: &str) {
    let (within, name) = path.rsplit_once('.').unwrap_or(("", path));
    let within = if within.is_empty() { object } else { at(object, within) };
    within.as_object_mut().expect("fields stand in objects").remove(name);
}

fn at<'a>(object: &'a mut Value, path: &str) -> &'a mut Value {
    path.split('.').fold(object, |within, step| {
        let (name, listed) = step.strip_suffix("[]").map_or((step, false), |name| (name, true));
        if within.is_null() {
            *within = json!({});
        }
        let field = &mut within[name];
        if !listed {
            return field;
        }
        if field.is_null() {
            *field = json!([{}]);
        }
        &mut field[0]
    })
}
