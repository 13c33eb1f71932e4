//! Validates CRDs: names, versions, conversion, columns, schemas.

use formats::name;
use serde::Deserialize as _;
use serde_json::{Value, json};
use webhook::field::{Error, ErrorKind, Path, Shown};
use webhook::registration::{ClientConfig, lint_client_config};

use super::{error, rules};
use crate::object::meta;

/// The annotation that approves a definition in a protected group.
const APPROVED: &str = "api-approved.kubernetes.io";

/// The errors of a definition with its defaults set.
pub(super) fn errors(object: &Value) -> Vec<Error> {
    let spec = &object["spec"];
    let mut errors = name_errors(object);
    errors.extend(scope_and_group(object));
    // What all versions have in common is checked after the names, as if it stood beside them.
    let (of_versions, in_common): (Vec<Error>, Vec<Error>) =
        versions(spec).into_iter().partition(|error| error.field.starts_with("spec.versions"));
    errors.extend(of_versions);
    errors.extend(names(&spec["names"]));
    errors.extend(in_common);
    errors.extend(conversion(&spec["conversion"]));
    if spec["preserveUnknownFields"] == true {
        let why = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        errors.push(invalid("spec.preserveUnknownFields", Shown::from(true), why));
    }
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

fn scope_and_group(object: &Value) -> Vec<Error> {
    let spec = &object["spec"];
    let (group, scope) = (text(spec, "group"), text(spec, "scope"));
    let mut errors = Vec::new();
    if group.is_empty() {
        errors.push(required("spec.group", ""));
    } else if !name::dns1123_subdomain(group).is_empty() {
        errors.extend(invalid_all("spec.group", group, &name::dns1123_subdomain(group)));
    } else if !group.contains('.') {
        errors.push(invalid("spec.group", Shown::from(group), "should be a domain with at least one dot"));
    }
    let protected = ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|owner| group == *owner || group.strip_suffix(owner).is_some_and(|rest| rest.ends_with('.')));
    let approved = meta::of(object).get("annotations").and_then(|all| all.get(APPROVED)).is_some();
    if protected && !approved {
        let why = format!(
            "protected groups must have approval annotation {APPROVED:?}, see \
             https://github.com/kubernetes/enhancements/pull/1111"
        );
        errors.push(required(&format!("metadata.annotations[{APPROVED}]"), &why));
    }
    match scope {
        "" => errors.push(required("spec.scope", "")),
        "Cluster" | "Namespaced" => {}
        _ => errors.push(unsupported("spec.scope", scope, "\"Cluster\", \"Namespaced\"")),
    }
    errors
}

fn versions(spec: &Value) -> Vec<Error> {
    let versions = spec["versions"].as_array().cloned().unwrap_or_default();
    let shown = || if spec["versions"].is_array() { go_versions(&versions) } else { Shown::verbatim("null") };
    let mut errors = Vec::new();
    let stored = versions.iter().filter(|version| version["storage"] == true).count();
    let repeated = |(index, version): (usize, &Value)| {
        versions[..index].iter().any(|earlier| earlier["name"] == version["name"])
    };
    if stored != 1 {
        let why = "must have exactly one version marked as storage version";
        errors.push(invalid("spec.versions", shown(), why));
    }
    if versions.iter().enumerate().any(repeated) {
        errors.push(invalid("spec.versions", shown(), "must contain unique version names"));
    }
    let shared = versions.iter().all(|version| same_definition(version, &versions[0]));
    for (index, version) in versions.iter().enumerate() {
        let name = text(version, "name");
        errors.extend(invalid_all(&format!("spec.versions[{index}].name"), name, &name::dns1035_label(name)));
        if version["deprecated"] != true && !text(version, "deprecationWarning").is_empty() {
            let at = format!("spec.versions[{index}].deprecationWarning");
            let why = "can only be set for deprecated versions";
            errors.push(invalid(&at, Shown::from(text(version, "deprecationWarning")), why));
        }
        // Errors that all versions share are reported once, with the paths of `v1beta1`.
        if !shared || index == 0 {
            errors.extend(version_errors(version, index, shared));
        }
    }
    // The first version is also that of `v1beta1`.
    let first = versions.first().map(|version| text(version, "name")).unwrap_or_default();
    if !first.is_empty() {
        errors.extend(invalid_all("spec.version", first, &name::dns1035_label(first)));
    }
    if stored == 0 {
        let why = "must have at least one stored version";
        errors.push(invalid("status.storedVersions", Shown::verbatim("null"), why));
    }
    errors
}

fn same_definition(one: &Value, other: &Value) -> bool {
    ["schema", "subresources", "additionalPrinterColumns", "selectableFields"]
        .iter()
        .all(|field| one.get(*field) == other.get(*field))
}

fn version_errors(version: &Value, index: usize, shared: bool) -> Vec<Error> {
    let base = if shared { "spec".to_owned() } else { format!("spec.versions[{index}]") };
    let mut errors = Vec::new();
    match version.pointer("/schema/openAPIV3Schema") {
        Some(schema @ Value::Object(_)) => {
            let word = if shared { "validation" } else { "schema" };
            errors.extend(rules::check(&format!("{base}.{word}.openAPIV3Schema"), schema));
        }
        _ => errors.push(required(&format!("spec.versions[{index}].schema.openAPIV3Schema"), "")),
    }
    errors.extend(scale(&format!("{base}.subresources.scale"), version.pointer("/subresources/scale")));
    let columns = version["additionalPrinterColumns"].as_array().cloned().unwrap_or_default();
    for (index, declared) in columns.iter().enumerate() {
        errors.extend(column(&format!("{base}.additionalPrinterColumns[{index}]"), declared));
    }
    let fields = version["selectableFields"].as_array().cloned().unwrap_or_default();
    for (index, field) in fields.iter().enumerate() {
        errors.extend(selectable(&format!("{base}.selectableFields[{index}].jsonPath"), version, field));
    }
    errors
}

fn scale(at: &str, scale: Option<&Value>) -> Vec<Error> {
    let Some(scale) = scale.filter(|scale| scale.is_object()) else { return Vec::new() };
    let mut errors = Vec::new();
    let roots = [
        ("specReplicasPath", &[".spec"][..]),
        ("statusReplicasPath", &[".status"]),
        ("labelSelectorPath", &[".spec", ".status"]),
    ];
    for (field, roots) in roots {
        let (at, path) = (format!("{at}.{field}"), text(scale, field));
        let below = |root: &&str| path.strip_prefix(root).is_some_and(|rest| rest.starts_with('.'));
        match path {
            "" if field == "labelSelectorPath" => {}
            "" => errors.push(required(&at, "")),
            _ if !path.starts_with('.') => {
                let why = "must be a simple json path starting with .";
                errors.push(invalid(&at, Shown::from(path), why));
            }
            _ if roots.iter().any(below) => {}
            _ => {
                let why = format!("should be a json path under {}", roots.join(" or "));
                errors.push(invalid(&at, Shown::from(path), &why));
            }
        }
    }
    errors
}

fn column(at: &str, column: &Value) -> Vec<Error> {
    const TYPES: &str = "boolean,date,integer,number,string";
    const FORMATS: &str = "byte,date,date-time,double,float,int32,int64,password";
    let known = |list: &str, word: &str| list.split(',').any(|known| known == word);
    let [name, kind, format, path] = ["name", "type", "format", "jsonPath"].map(|field| text(column, field));
    let mut errors = Vec::new();
    if name.is_empty() {
        errors.push(required(&format!("{at}.name"), ""));
    }
    if kind.is_empty() {
        errors.push(required(&format!("{at}.type"), &format!("must be one of {TYPES}")));
    } else if !known(TYPES, kind) {
        errors.push(invalid(&format!("{at}.type"), Shown::from(kind), &format!("must be one of {TYPES}")));
    }
    if !format.is_empty() && !known(FORMATS, format) {
        errors.push(invalid(
            &format!("{at}.format"),
            Shown::from(format),
            &format!("must be one of {FORMATS}"),
        ));
    }
    if path.is_empty() {
        errors.push(required(&format!("{at}.JSONPath"), ""));
    } else if !path.starts_with('.') {
        let why = "must be a simple json path starting with .";
        errors.push(invalid(&format!("{at}.JSONPath"), Shown::from(path), why));
    }
    errors
}

fn selectable(at: &str, version: &Value, field: &Value) -> Vec<Error> {
    let path = text(field, "jsonPath");
    if path.is_empty() {
        return vec![required(at, "")];
    }
    let schema = version.pointer("/schema/openAPIV3Schema").unwrap_or(&Value::Null);
    let mut names = path.trim_start_matches('.').split('.');
    let found = names.try_fold(schema, |schema, name| schema.get("properties")?.get(name));
    let scalar = |schema: &Value| matches!(text(schema, "type"), "string" | "boolean" | "integer");
    match found {
        None => vec![invalid(at, Shown::from(path), "is an invalid path: does not refer to a valid field")],
        Some(schema) if !scalar(schema) => {
            let why = "must point to a field of type string, boolean or integer. Enum string fields and strings with \
                       formats are allowed.";
            vec![invalid(at, Shown::from(path), why)]
        }
        Some(_) => Vec::new(),
    }
}

fn names(names: &Value) -> Vec<Error> {
    let mut errors = Vec::new();
    for field in ["plural", "singular"] {
        let (at, value) = (format!("spec.names.{field}"), text(names, field));
        match value {
            "" => errors.push(required(&at, "")),
            value => errors.extend(invalid_all(&at, value, &name::dns1035_label(value))),
        }
    }
    for field in ["kind", "listKind"] {
        let (at, value) = (format!("spec.names.{field}"), text(names, field));
        let lower = name::dns1035_label(&value.to_lowercase());
        if value.is_empty() {
            errors.push(required(&at, ""));
        } else if !lower.is_empty() {
            let why = format!("may have mixed case, but should otherwise match: {}", lower.join(","));
            errors.push(invalid(&at, Shown::from(value), &why));
        }
        if field == "listKind" && !value.is_empty() && value == text(names, "kind") {
            errors.push(invalid(&at, Shown::from(value), "kind and listKind may not be the same"));
        }
    }
    for field in ["shortNames", "categories"] {
        let list = names[field].as_array().cloned().unwrap_or_default();
        for (index, value) in list.iter().enumerate() {
            let value = value.as_str().unwrap_or_default();
            errors.extend(invalid_all(
                &format!("spec.names.{field}[{index}]"),
                value,
                &name::dns1035_label(value),
            ));
        }
    }
    errors
}

fn conversion(conversion: &Value) -> Vec<Error> {
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

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn invalid_all(at: &str, value: &str, why: &[String]) -> Vec<Error> {
    why.iter().map(|why| invalid(at, Shown::from(value), why)).collect()
}

fn required(at: &str, why: &str) -> Error {
    error(ErrorKind::Required, at, None, why)
}

fn invalid(at: &str, value: Shown, why: &str) -> Error {
    error(ErrorKind::Invalid, at, Some(value), why)
}

fn unsupported(at: &str, value: &str, known: &str) -> Error {
    error(ErrorKind::NotSupported, at, Some(Shown::from(value)), &format!("supported values: {known}"))
}
