//! The built-in OpenAPI definitions from data/definitions.gz. Packages are unpacked, and definitions parsed, on first use.
//!
//! The file has one gzip member per package (`io.k8s.api.core.v1`), with one line per definition: name, space, OpenAPI
//! schema. `zcat` prints all of them.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::{LazyLock, OnceLock};

use flate2::read::GzDecoder;
use serde_json::Value;

use crate::types::Type;
use crate::{discovery, openapi, releases};

static BUNDLE: &[u8] = include_bytes!("../data/definitions.gz");
static PACKAGES: LazyLock<BTreeMap<&'static str, Package>> = LazyLock::new(|| {
    let package = |(name, &(offset, length)): (&'static String, &(usize, usize))| {
        let packed = BUNDLE.get(offset..offset + length).expect("both generated files are written together");
        (name.as_str(), Package { packed, definitions: OnceLock::new() })
    };
    discovery::data().packages.iter().map(package).collect()
});

struct Package {
    packed: &'static [u8],
    definitions: OnceLock<BTreeMap<String, Definition>>,
}

/// A definition, whose type is parsed on first use.
pub(crate) struct Definition {
    schema: String,
    ty: OnceLock<Type>,
}

/// The type of a definition of a minor by its full name: `io.k8s.api.core.v1.PodSpec`.
pub(crate) fn find(minor: u8, name: &str) -> Option<Type> {
    let definition = definition(minor, name)?;
    Some(definition.ty.get_or_init(|| openapi::parse(minor, &definition.parse())).clone())
}

/// The schema of a definition of a minor; its references are full names.
pub(crate) fn schema(minor: u8, name: &str) -> Option<Value> {
    Some(definition(minor, name)?.parse())
}

/// The type of a kind of a minor, whether it is served or not.
pub(crate) fn of_kind(minor: u8, group: &str, version: &str, kind: &str) -> Option<Type> {
    find(minor, &name_of_kind(minor, group, version, kind)?)
}

/// The full name of the definition of a kind of a minor.
pub(crate) fn name_of_kind(minor: u8, group: &str, version: &str, kind: &str) -> Option<String> {
    let kinds = releases::of(minor).map_or(&discovery::data().kinds, |release| &release.kinds);
    kinds.get(&format!("{group}/{version}/{kind}")).cloned()
}

/// The schema of a definition of the newest release.
pub(crate) fn newest_schema(name: &str) -> Option<Value> {
    Some(newest(name)?.parse())
}

/// The schemas of all definitions of the newest release, by full name.
pub(crate) fn newest_texts() -> BTreeMap<String, String> {
    let texts = |(package, packed): (&&str, &Package)| {
        let full =
            |(short, definition): (String, Definition)| (format!("{package}.{short}"), definition.schema);
        packed.unpack().into_iter().map(full).collect::<Vec<_>>()
    };
    PACKAGES.iter().flat_map(texts).collect()
}

fn definition(minor: u8, name: &str) -> Option<&'static Definition> {
    match releases::of(minor) {
        Some(release) => release.definitions.get(name),
        None => newest(name),
    }
}

fn newest(name: &str) -> Option<&'static Definition> {
    let (package, short) = name.rsplit_once('.')?;
    let package = PACKAGES.get(package)?;
    package.definitions.get_or_init(|| package.unpack()).get(short)
}

impl Package {
    fn unpack(&self) -> BTreeMap<String, Definition> {
        let mut text = String::new();
        GzDecoder::new(self.packed).read_to_string(&mut text).expect("every package is unpacked by a test");
        let definition = |line: &str| {
            let (name, schema) = line.split_once(' ')?;
            Some((name.to_owned(), Definition::of(schema.to_owned())))
        };
        text.lines().filter_map(definition).collect()
    }
}

impl Definition {
    /// The definition with this schema.
    pub(crate) fn of(schema: String) -> Self {
        Self { schema, ty: OnceLock::new() }
    }

    fn parse(&self) -> Value {
        serde_json::from_str(&self.schema).expect("every definition is read by a test")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;
    use crate::kubernetes_version::NEWEST;

    #[test]
    fn every_definition_can_be_parsed_and_every_kind_and_field_has_one() {
        let mut untyped = Vec::new();
        for name in discovery::data().kinds.values() {
            assert!(find(NEWEST, name).is_some(), "{name} is missing");
        }
        for (package, packed) in PACKAGES.iter() {
            for short in packed.unpack().keys() {
                let definition = find(NEWEST, &format!("{package}.{short}")).expect("it was just listed");
                for field in definition.fields() {
                    collect_untyped(&field.ty, &format!("{short}.{}", field.name), &mut untyped);
                }
            }
        }
        // These fields hold any JSON. A dangling reference would add one.
        let wanted = [
            "ControllerRevision.data",
            "AllocatedDeviceStatus.data",
            "OpaqueDeviceConfiguration.parameters",
            "JSONSchemaProps.additionalItems",
            "JSONSchemaProps.additionalProperties",
            "JSONSchemaProps.default",
            "JSONSchemaProps.dependencies",
            "JSONSchemaProps.enum",
            "JSONSchemaProps.example",
            "JSONSchemaProps.items",
            "ManagedFieldsEntry.fieldsV1",
            "WatchEvent.object",
        ];
        assert_eq!(untyped, wanted);
    }

    fn collect_untyped(ty: &Type, field: &str, untyped: &mut Vec<String>) {
        if ty.shape() == Shape::Any {
            untyped.push(field.to_owned());
        }
        for element in ty.items().into_iter().chain(ty.values()) {
            collect_untyped(&element, field, untyped);
        }
    }
}
