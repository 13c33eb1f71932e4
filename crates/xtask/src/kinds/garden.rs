//! Generates CRDs of the garden's kinds from the types in crates/api, for clusters without gardener-apiserver.

mod properties;

use anyhow::{Context, Result};
use k8s_openapi::{ListableResource, Resource};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::Generated;

/// Properties of a kind that its type does not have, as in Gardener's API server.
struct KindProperties {
    /// `Cluster` or `Namespaced`.
    scope: &'static str,
    short_names: &'static [&'static str],
    /// Fields that field selectors may use.
    selectable: &'static [&'static str],
    /// Name and path of the columns that `kubectl get` prints; the second list with `-o wide` only.
    columns: [&'static [(&'static str, &'static str)]; 2],
}

const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";

/// The generated files.
pub(super) fn crds() -> Result<Vec<Generated>> {
    properties::all()
}

fn file<K: Resource + ListableResource + JsonSchema>(properties: &KindProperties) -> Result<Generated> {
    let crd = crd::<K>(properties);
    let plural = K::URL_PATH_SEGMENT;
    let yaml =
        formats::yaml::to_string(&crd).with_context(|| format!("failed to write the CRD of {plural}"))?;
    let text = format!("# Made of crates/api by `cargo xtask kinds --crds`.\n{yaml}");
    Ok(Generated { path: format!("schema/crds/{}_{plural}.yaml", K::GROUP), bytes: text.into_bytes() })
}

fn crd<K: Resource + ListableResource + JsonSchema>(properties: &KindProperties) -> Value {
    let settings = SchemaSettings::default().with(|settings| settings.inline_subschemas = true);
    let schema = structural(settings.into_generator().into_root_schema_for::<K>().as_value());
    let plural = K::URL_PATH_SEGMENT;
    let mut version = json!({
        "name": K::VERSION,
        "served": true,
        "storage": true,
        "additionalPrinterColumns": columns(properties, &schema),
        "schema": {"openAPIV3Schema": schema},
    });
    if schema["properties"]["status"].is_object() {
        version["subresources"] = json!({"status": {}});
    }
    if !properties.selectable.is_empty() {
        let fields = properties.selectable.iter().map(|path| json!({"jsonPath": path}));
        version["selectableFields"] = fields.collect();
    }
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{}", K::GROUP)},
        "spec": {
            "group": K::GROUP,
            "scope": properties.scope,
            "names": {
                "kind": K::KIND,
                "listKind": K::LIST_KIND,
                "plural": plural,
                "singular": K::KIND.to_lowercase(),
                "shortNames": properties.short_names,
            },
            "versions": [version],
        },
    })
}

fn columns(properties: &KindProperties, schema: &Value) -> Vec<Value> {
    let kind = |path: &str| {
        let property = |within: &Value, name: &str| within["properties"][name].clone();
        let field = path.split('.').skip(1).fold(schema.clone(), |within, name| property(&within, name));
        field["type"].as_str().unwrap_or("string").to_owned()
    };
    let column = |&(name, path): &(&str, &str)| json!({"name": name, "type": kind(path), "jsonPath": path});
    let [narrow, wide] = properties.columns;
    let wide = wide.iter().map(column).map(|mut column| {
        column["priority"] = json!(1);
        column
    });
    let age = json!({"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"});
    narrow.iter().map(column).chain(wide).chain([age]).collect()
}

/// Converts a schema to a structural one without required fields and defaults, in which objects preserve unknown fields.
fn structural(schema: &Value) -> Value {
    if let Some(variant) = schema["anyOf"].as_array().and_then(|any| any.iter().find(|one| !is_null(one))) {
        return structural(variant);
    }
    if schema["x-kubernetes-int-or-string"] == true {
        let mut either = json!({"x-kubernetes-int-or-string": true});
        if let Some(pattern) = schema.get("pattern") {
            either["pattern"] = pattern.clone();
        }
        return either;
    }
    match kind(schema) {
        Some("object") => object(schema),
        Some("array") => json!({"type": "array", "items": structural(&schema["items"])}),
        Some(scalar) => {
            let mut scalar = json!({"type": scalar});
            if let Some(format) = schema.get("format").filter(|_| scalar["type"] != "number") {
                scalar["format"] = format.clone();
            }
            scalar
        }
        None => json!({"type": "object", PRESERVE: true}),
    }
}

fn object(schema: &Value) -> Value {
    let Some(properties) = schema["properties"].as_object() else {
        if schema["additionalProperties"] == true {
            return json!({"type": "object", PRESERVE: true});
        }
        return json!({"type": "object", "additionalProperties": structural(&schema["additionalProperties"])});
    };
    let properties: Map<String, Value> =
        properties.iter().map(|(name, property)| (name.clone(), structural(property))).collect();
    json!({"type": "object", "properties": properties, PRESERVE: true})
}

/// The type of a schema, other than null.
fn kind(schema: &Value) -> Option<&str> {
    match &schema["type"] {
        Value::Array(several) => several.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        one => one.as_str(),
    }
}

fn is_null(schema: &Value) -> bool {
    schema["type"] == "null"
}

#[cfg(test)]
mod tests {
    use api::garden::Shoot;

    use super::properties::SHOOT;
    use super::*;

    /// The fields of v1.82, from the tests of crates/api: path and type.
    const FIELDS: [&str; 20] = [
        include_str!("../../../api/tests/it/fields/BackupBucket.txt"),
        include_str!("../../../api/tests/it/fields/BackupEntry.txt"),
        include_str!("../../../api/tests/it/fields/Bastion.txt"),
        include_str!("../../../api/tests/it/fields/CloudProfile.txt"),
        include_str!("../../../api/tests/it/fields/ClusterOpenIDConnectPreset.txt"),
        include_str!("../../../api/tests/it/fields/ControllerDeployment.txt"),
        include_str!("../../../api/tests/it/fields/ControllerInstallation.txt"),
        include_str!("../../../api/tests/it/fields/ControllerRegistration.txt"),
        include_str!("../../../api/tests/it/fields/ExposureClass.txt"),
        include_str!("../../../api/tests/it/fields/Garden.txt"),
        include_str!("../../../api/tests/it/fields/InternalSecret.txt"),
        include_str!("../../../api/tests/it/fields/ManagedSeed.txt"),
        include_str!("../../../api/tests/it/fields/ManagedSeedSet.txt"),
        include_str!("../../../api/tests/it/fields/OpenIDConnectPreset.txt"),
        include_str!("../../../api/tests/it/fields/Project.txt"),
        include_str!("../../../api/tests/it/fields/Quota.txt"),
        include_str!("../../../api/tests/it/fields/SecretBinding.txt"),
        include_str!("../../../api/tests/it/fields/Seed.txt"),
        include_str!("../../../api/tests/it/fields/Shoot.txt"),
        include_str!("../../../api/tests/it/fields/ShootState.txt"),
    ];

    #[test]
    fn each_crd_has_the_fields_of_v1_82_and_no_others() {
        let crds = crds().unwrap();
        assert_eq!(crds.len(), FIELDS.len());
        for (file, fields) in crds.iter().zip(FIELDS) {
            let crd: Value = formats::yaml::from_str(std::str::from_utf8(&file.bytes).unwrap()).unwrap();
            let mut declared = Vec::new();
            let schema = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
            declare("", schema, &mut declared);
            declared.sort();
            assert_eq!(declared, fields.lines().collect::<Vec<_>>(), "{}", file.path);
        }
    }

    #[test]
    fn the_files_are_up_to_date() {
        for file in crds().unwrap() {
            file.write_or_check(&crate::chore::root().join("crates"), true).unwrap();
        }
    }

    #[test]
    fn columns_have_the_type_of_their_field() {
        let types: Vec<String> = crd::<Shoot>(&SHOOT)["spec"]["versions"][0]["additionalPrinterColumns"]
            .as_array()
            .unwrap()
            .iter()
            .map(|column| format!("{} {}", column["name"], column["type"]).replace('"', ""))
            .filter(|column| !column.ends_with(" string"))
            .collect();
        assert_eq!(types, ["Hibernation boolean", "Age date"]);
    }

    fn declare(path: &str, schema: &Value, declared: &mut Vec<String>) {
        if let Some(properties) = schema["properties"].as_object() {
            for (name, property) in properties {
                let dot = if path.is_empty() { "" } else { "." };
                declare(&format!("{path}{dot}{name}"), property, declared);
            }
        } else if schema["items"]["properties"].is_object() {
            declare(&format!("{path}[]"), &schema["items"], declared);
        } else {
            declared.push(format!("{path} {}", type_name(schema)));
        }
    }

    fn type_name(schema: &Value) -> String {
        if schema["x-kubernetes-int-or-string"] == true {
            return if schema["pattern"].is_string() { "quantity" } else { "intOrString" }.to_owned();
        }
        match (schema["type"].as_str().unwrap(), schema["format"].as_str()) {
            ("array", _) => format!("[]{}", type_name(&schema["items"])),
            ("object", _) if schema[PRESERVE] == true => "any".to_owned(),
            ("object", _) => format!("{{}}{}", type_name(&schema["additionalProperties"])),
            ("string", Some("date-time")) => "time".to_owned(),
            ("string", Some("duration")) => "duration".to_owned(),
            ("string", Some("byte")) => "bytes".to_owned(),
            (kind, _) => kind.to_owned(),
        }
    }
}
