//! Validates CRDs: names, versions, conversion, columns, schemas.

use std::collections::BTreeMap;

use formats::name;
use serde::Deserialize as _;
use serde_json::{Value, json};
use webhook::field::{Error, ErrorKind, Path, Shown};
use webhook::registration::{ClientConfig, lint_client_config};

use super::field_error::{error, invalid, required, text, unsupported};
use super::stored_versions;
use super::version::definition;
use crate::object::meta;

/// The annotation that approves a definition in a protected group.
const APPROVED: &str = "api-approved.kubernetes.io";

/// The errors of a definition with its defaults set.
pub(super) fn errors(object: &Value) -> Vec<Error> {
    let spec = &object["spec"];
    let mut errors = name_errors(object);
    errors.extend(group(spec));
    errors.extend(scope(spec));
    errors.extend(versions(spec));
    errors.extend(names(&spec["names"]));
    errors.extend(in_common(spec));
    errors.extend(conversion(spec));
    errors.extend(stored(object));
    errors.extend(approval(object));
    if spec["preserveUnknownFields"] == true {
        let why = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        errors.push(invalid("spec.preserveUnknownFields", Shown::from(true), why));
    }
    errors
}

/// Objects have been stored in some version, and the storage version is among those of the status.
fn stored(object: &Value) -> Vec<Error> {
    let stored = stored_versions(object);
    let error = |value: Shown, why: &str| invalid("status.storedVersions", value, why);
    if stored.is_empty() {
        return vec![error(Shown::verbatim("null"), "must have at least one stored version")];
    }
    let shown = Value::from(stored.clone());
    let (mut remaining, mut errors) = (BTreeMap::new(), Vec::new());
    // A name that is listed twice counts where it is last.
    remaining
        .extend(stored.iter().enumerate().map(|(index, name)| (name.as_str().unwrap_or_default(), index)));
    for version in list(&object["spec"], "versions") {
        let name = text(version, "name");
        // A second version of the same name has no objects.
        if remaining.remove(name).is_none() && is_stored(version) {
            let why = format!("must have the storage version {name}");
            errors.push(error(Shown::verbatim(&shown), &why));
        }
    }
    let removed = remaining.into_iter().map(|(name, index)| {
        let why = format!(
            "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until \
             a storage migration ensures no data remains persisted in {name} and removes {name} from \
             status.storedVersions"
        );
        invalid(&format!("status.storedVersions[{index}]"), Shown::from(name), &why)
    });
    errors.extend(removed);
    errors
}

fn name_errors(object: &Value) -> Vec<Error> {
    let spec = &object["spec"];
    let wanted = format!("{}.{}", text(&spec["names"], "plural"), text(spec, "group"));
    if meta::name(object) == wanted {
        return Vec::new();
    }
    let why = "must be spec.names.plural+\".\"+spec.group";
    vec![invalid("metadata.name", Shown::from(meta::name(object)), why)]
}

fn group(spec: &Value) -> Option<Error> {
    let group = text(spec, "group");
    let why = name::dns1123_subdomain(group);
    if group.is_empty() {
        Some(required("spec.group", ""))
    } else if !why.is_empty() {
        Some(invalid("spec.group", Shown::from(group), &why.join(",")))
    } else if !group.contains('.') {
        Some(invalid("spec.group", Shown::from(group), "should be a domain with at least one dot"))
    } else {
        None
    }
}

fn scope(spec: &Value) -> Option<Error> {
    match text(spec, "scope") {
        "" => Some(required("spec.scope", "")),
        "Cluster" | "Namespaced" => None,
        other => Some(unsupported("spec.scope", other, "\"Cluster\", \"Namespaced\"")),
    }
}

/// Groups of Kubernetes need an approval.
fn approval(object: &Value) -> Option<Error> {
    let group = text(&object["spec"], "group");
    let is_protected = ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|owner| group == *owner || group.strip_suffix(owner).is_some_and(|rest| rest.ends_with('.')));
    let is_approved = meta::of(object).get("annotations").and_then(|all| all.get(APPROVED)).is_some();
    (is_protected && !is_approved).then(|| {
        let why = format!(
            "protected groups must have approval annotation {APPROVED:?}, see \
             https://github.com/kubernetes/enhancements/pull/1111"
        );
        required(&format!("metadata.annotations[{APPROVED}]"), &why)
    })
}

fn has_status(version: &Value) -> bool {
    version.pointer("/subresources/status").is_some_and(Value::is_object)
}

fn is_stored(version: &Value) -> bool {
    version["storage"] == true
}

fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Whether all versions have this field, with the same value: it then belongs to the definition, as in `v1beta1`.
fn is_shared(versions: &[Value], field: &str) -> bool {
    let first = versions.first().and_then(|version| version.get(field));
    first.is_some() && versions.iter().all(|version| version.get(field) == first)
}

/// Whether a schema or one below has a default.
fn has_default(schema: &Value) -> bool {
    let below = |keyword: &str| match schema.get(keyword) {
        Some(Value::Array(items)) => items.iter().any(has_default),
        Some(below @ Value::Object(_)) => has_default(below),
        _ => false,
    };
    let fields = |keyword: &str| {
        schema.get(keyword).and_then(Value::as_object).is_some_and(|all| all.values().any(has_default))
    };
    schema.get("default").is_some_and(|default| !default.is_null())
        || ["items", "allOf", "anyOf", "oneOf", "not", "additionalProperties", "additionalItems"]
            .into_iter()
            .any(below)
        || ["properties", "patternProperties", "definitions", "dependencies"].into_iter().any(fields)
}

fn versions(spec: &Value) -> Vec<Error> {
    let versions = list(spec, "versions");
    let schema = |version: &Value| version.pointer("/schema/openAPIV3Schema").cloned();
    let shown = || if spec["versions"].is_array() { go_versions(versions) } else { Shown::verbatim("null") };
    let mut errors = Vec::new();
    for (index, version) in versions.iter().enumerate() {
        if !schema(version).is_some_and(|schema| schema.is_object()) {
            errors.push(required(&format!("spec.versions[{index}].schema.openAPIV3Schema"), ""));
        }
    }
    if spec["preserveUnknownFields"] == true
        && versions.iter().filter_map(schema).any(|schema| has_default(&schema))
    {
        let why = "must be false in order to use defaults in the schema";
        errors.push(invalid("spec.preserveUnknownFields", Shown::from(true), why));
    }
    for (index, version) in versions.iter().enumerate() {
        let (name, at) = (text(version, "name"), format!("spec.versions[{index}]"));
        errors.extend(invalid_name(&format!("{at}.name"), name, &name::dns1035_label(name)));
        errors.extend(deprecation(version, &format!("{at}.deprecationWarning")));
        let of = |field: &str| version.get(field).filter(|_| !is_shared(versions, field));
        errors.extend(definition((&at, "schema"), &of, has_status(version)));
    }
    let repeated = |(index, version): (usize, &Value)| {
        versions[..index].iter().any(|earlier| earlier["name"] == version["name"])
    };
    if versions.iter().enumerate().any(repeated) {
        errors.push(invalid("spec.versions", shown(), "must contain unique version names"));
    }
    if versions.iter().filter(|version| is_stored(version)).count() != 1 {
        let why = "must have exactly one version marked as storage version";
        errors.push(invalid("spec.versions", shown(), why));
    }
    // The first version is also that of `v1beta1`.
    let first = versions.first().map(|version| text(version, "name")).unwrap_or_default();
    if !first.is_empty() {
        errors.extend(invalid_name("spec.version", first, &name::dns1035_label(first)));
    }
    errors
}

fn deprecation(version: &Value, at: &str) -> Vec<Error> {
    const LONGEST: usize = 256;
    let Some(warning) = version.get("deprecationWarning").and_then(Value::as_str) else { return Vec::new() };
    if version["deprecated"] != true {
        return vec![invalid(at, Shown::from(warning), "can only be set for deprecated versions")];
    }
    let mut why = Vec::new();
    if warning.len() > LONGEST {
        why.push("must be <= 256 characters long".to_owned());
    }
    if warning.is_empty() {
        why.push("must not be an empty string".to_owned());
    }
    if let Some((index, _)) = warning.char_indices().find(|(_, letter)| letter.is_control()) {
        why.push(format!(
            "must only contain printable UTF-8 characters; non-printable character found at index {index}"
        ));
    }
    why.iter().map(|why| invalid(at, Shown::from(warning), why)).collect()
}

/// What all versions have in common, with the paths of `v1beta1`.
fn in_common(spec: &Value) -> Vec<Error> {
    let versions = list(spec, "versions");
    let of = |field: &str| versions.first()?.get(field).filter(|_| is_shared(versions, field));
    definition(("spec", "validation"), &of, versions.iter().any(has_status))
}

fn names(names: &Value) -> Vec<Error> {
    const FIELDS: [&str; 4] = ["plural", "singular", "kind", "listKind"];
    let at = |field: &str| format!("spec.names.{field}");
    let missing = FIELDS.into_iter().filter(|field| text(names, field).is_empty());
    let mut errors: Vec<Error> = missing.map(|field| required(&at(field), "")).collect();
    for field in FIELDS {
        let value = text(names, field);
        let is_kind = field.ends_with("ind");
        let why = name::dns1035_label(&if is_kind { value.to_lowercase() } else { value.to_owned() });
        if value.is_empty() || why.is_empty() {
            continue;
        }
        let mixed = if is_kind { "may have mixed case, but should otherwise match: " } else { "" };
        errors.push(invalid(&at(field), Shown::from(value), &format!("{mixed}{}", why.join(","))));
    }
    let each = |field: &'static str| {
        list(names, field).iter().enumerate().filter_map(move |(index, value)| {
            let value = value.as_str().unwrap_or_default();
            invalid_name(&format!("spec.names.{field}[{index}]"), value, &name::dns1035_label(value))
        })
    };
    errors.extend(each("shortNames"));
    let kind = text(names, "kind");
    if !kind.is_empty() && kind == text(names, "listKind") {
        let why = "kind and listKind may not be the same";
        errors.push(invalid(&at("listKind"), Shown::from(kind), why));
    }
    errors.extend(each("categories"));
    errors
}

fn conversion(spec: &Value) -> Vec<Error> {
    let conversion = &spec["conversion"];
    let mut errors = Vec::new();
    if spec["preserveUnknownFields"] == true && text(conversion, "strategy") != "None" {
        let why = "must be None if spec.preserveUnknownFields is true";
        errors.push(invalid("spec.conversion.strategy", Shown::from(text(conversion, "strategy")), why));
    }
    errors.extend(conversion_errors(conversion));
    errors
}

fn conversion_errors(conversion: &Value) -> Vec<Error> {
    const CLIENT: &str = "spec.conversion.webhookClientConfig";
    const REVIEWS: &str = "spec.conversion.conversionReviewVersions";
    let webhook = &conversion["webhook"];
    let (client, reviews) = (&webhook["clientConfig"], &webhook["conversionReviewVersions"]);
    match text(conversion, "strategy") {
        "None" => {
            let why = "should not be set when strategy is not set to Webhook";
            let set =
                [(CLIENT, client), (REVIEWS, reviews)].into_iter().filter(|(_, value)| !value.is_null());
            set.map(|(at, _)| error(ErrorKind::Forbidden, at, None, why)).collect()
        }
        "Webhook" => {
            let mut errors = Vec::new();
            if client.is_null() {
                errors.push(required(CLIENT, "required when strategy is set to Webhook"));
            } else {
                errors.extend(conversion_client(client, &Path::new(CLIENT)));
            }
            let known = |version: &Value| *version == "v1" || *version == "v1beta1";
            match reviews.as_array() {
                None => errors.push(required(REVIEWS, "")),
                Some(list) if !list.iter().any(known) => {
                    let why = "must include at least one of v1, v1beta1";
                    errors.push(invalid(REVIEWS, Shown::verbatim(reviews), why));
                }
                Some(_) => {}
            }
            errors
        }
        other => vec![unsupported("spec.conversion.strategy", other, "\"None\", \"Webhook\"")],
    }
}

fn conversion_client(client: &Value, at: &Path) -> Vec<Error> {
    if let Ok(client) = ClientConfig::deserialize(client) {
        return lint_client_config(&client, at);
    }
    // Other types were checked before; what remains is a port out of range.
    let why = "port is not valid: must be between 1 and 65535, inclusive";
    let port = client.pointer("/service/port").and_then(Value::as_i64).unwrap_or_default();
    vec![Error::invalid(&at.child("service").child("port"), port, why)]
}

/// The versions as Go prints them.
fn go_versions(versions: &[Value]) -> Shown {
    let print = |version: &Value| {
        let flag = |field: &str| version[field] == true;
        format!(
            "{{\"Name\":{},\"Served\":{},\"Storage\":{},\"Deprecated\":{},\"DeprecationWarning\":null,\"Schema\":null,\
             \"Subresources\":null,\"AdditionalPrinterColumns\":null,\"SelectableFields\":null}}",
            json!(text(version, "name")),
            flag("served"),
            flag("storage"),
            flag("deprecated"),
        )
    };
    Shown::verbatim(format!("[{}]", versions.iter().map(print).collect::<Vec<_>>().join(",")))
}

/// The error if there are reasons why a name is invalid.
fn invalid_name(at: &str, value: &str, why: &[String]) -> Option<Error> {
    (!why.is_empty()).then(|| invalid(at, Shown::from(value), &why.join(",")))
}
