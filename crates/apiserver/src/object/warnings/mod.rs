//! Warnings about valid objects, in kube-apiserver's words.

mod pods;

use formats::name;
use formats::quantity::Quantity;
use serde_json::Value;
use webhook::field::quote;

use crate::call::Call;
use crate::crd;
use crate::object::meta;
use crate::object::meta::TEMPLATE_GENERATION;

/// The path of the pod template in kinds that check it when the object is created or its template changes.
const TEMPLATES: &[(&str, &str)] = &[
    ("cronjobs.batch", "/spec/jobTemplate/spec/template"),
    ("daemonsets.apps", "/spec/template"),
    ("deployments.apps", "/spec/template"),
    ("jobs.batch", "/spec/template"),
    ("podtemplates", "/template"),
    ("replicasets.apps", "/spec/template"),
    ("replicationcontrollers", "/spec/template"),
    ("statefulsets.apps", "/spec/template"),
];
/// Kinds whose names become part of pod names.
const WITH_POD_NAMES: &[&str] = &["cronjobs.batch", "deployments.apps", "jobs.batch"];
/// Finalizers without a domain that the server handles.
const FINALIZERS: &[&str] = &["foregroundDeletion", "kubernetes", "orphan"];

/// The warnings about a new or updated object.
pub(crate) fn of(call: &Call, object: &Value, old: Option<&Value>) -> Vec<String> {
    // A change of the scale is an update of the object; a status that creates the object is one of the object.
    if old.is_some() && !matches!(call.path.subresource.as_str(), "" | "scale") {
        return Vec::new();
    }
    let table = call.target.table.as_str();
    if call.target.custom {
        return finalizers(object, old);
    }
    let mut warnings = Vec::new();
    if old.is_none() && WITH_POD_NAMES.contains(&table) {
        warnings.extend(name_warning(object, "Pod names and hostnames"));
    }
    if let Some((_, pointer)) = TEMPLATES.iter().find(|(kind, _)| *kind == table)
        && old.is_none_or(|old| template_version(table, object) != template_version(table, old))
    {
        let path = pointer.trim_start_matches('/').replace('/', ".");
        warnings.extend(object.pointer(pointer).into_iter().flat_map(|pods| pods::template(pods, &path)));
    }
    warnings.extend(match (table, old) {
        ("pods", None) => {
            let mut warnings: Vec<String> = name_warning(object, "the Pod's hostname").into_iter().collect();
            warnings.extend(pods::template(object, ""));
            warnings
        }
        ("statefulsets.apps", _) => history(object),
        ("persistentvolumeclaims", _) => {
            fractional(&object["spec"]["resources"], "spec.resources", &["storage"], &["requests", "limits"])
        }
        ("services", _) => service(object),
        ("secrets", _) => certificate(object),
        ("customresourcedefinitions.apiextensions.k8s.io", old) => unrecognized_formats(object, old),
        _ => Vec::new(),
    });
    warnings
}

/// The warnings about formats in the schemas of a CRD that are ignored, and were not there before.
fn unrecognized_formats(object: &Value, old: Option<&Value>) -> Vec<String> {
    let before = old.map(crd::unrecognized_formats).unwrap_or_default();
    let new = crd::unrecognized_formats(object).into_iter().filter(|format| !before.contains(format));
    new.map(|format| format!("unrecognized format {}", quote(&format))).collect()
}

/// The value that changes with the template.
fn template_version(table: &str, object: &Value) -> Option<String> {
    if table == "daemonsets.apps" {
        let number = meta::of(object).get("annotations")?.get(TEMPLATE_GENERATION)?;
        return number.as_str().map(str::to_owned);
    }
    Some(meta::generation(object).to_string())
}

/// The warning about a name that is not a valid pod or host name.
fn name_warning(object: &Value, of: &str) -> Option<String> {
    let errors = name::dns1123_label(meta::name(object));
    (!errors.is_empty()).then(|| {
        format!(
            "metadata.name: this is used in {of}, which can result in surprising behavior; a DNS label is \
             recommended: [{}]",
            errors.join(" ")
        )
    })
}

/// Warnings about finalizers of custom resources that could collide with others.
fn finalizers(object: &Value, old: Option<&Value>) -> Vec<String> {
    let before = old.map(meta::finalizers).unwrap_or_default();
    let mut new: Vec<&str> =
        meta::finalizers(object).into_iter().filter(|finalizer| !before.contains(finalizer)).collect();
    new.sort_unstable();
    new.dedup();
    let mut warnings = Vec::new();
    for finalizer in new {
        let shown = quote(finalizer);
        let warning = |why: &str| format!("metadata.finalizers: {shown}: {why}");
        warnings.extend(name::label_key(finalizer).iter().map(|why| warning(why)));
        if finalizer.contains('/') || FINALIZERS.contains(&finalizer) {
            continue;
        }
        let path = if finalizer.contains('.') { " including a path (/)" } else { "" };
        warnings.push(warning(&format!(
            "prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other finalizer writers"
        )));
    }
    warnings
}

fn history(set: &Value) -> Vec<String> {
    let limit = set["spec"]["revisionHistoryLimit"].as_i64().unwrap_or_default();
    let why = "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended";
    (limit < 0).then(|| why.to_owned()).into_iter().collect()
}

/// Warnings about fractional amounts of bytes.
fn fractional(resources: &Value, path: &str, names: &[&str], sides: &[&str]) -> Vec<String> {
    let mut warnings = Vec::new();
    for name in names {
        for side in sides {
            let Some(text) = resources[*side][*name].as_str() else { continue };
            let nanos = Quantity::parse(text).ok().and_then(|amount| amount.nanos()).unwrap_or_default();
            if nanos % 1_000_000_000 != 0 {
                warnings.push(format!(
                    "{path}.{side}[{name}]: fractional byte value {text:?} is invalid, must be an integer"
                ));
            }
        }
    }
    warnings
}

/// Warnings about fields of a Service that have no effect.
fn service(service: &Value) -> Vec<String> {
    let spec = &service["spec"];
    let is_set = |field: &str| spec[field].as_str().is_some_and(|text| !text.is_empty());
    let external = spec["type"] == "ExternalName";
    let headless = spec["type"] == "ClusterIP" && spec["clusterIP"] == "None";
    let addresses = spec["externalIPs"].as_array().is_some_and(|list| !list.is_empty());
    let sticky = spec["sessionAffinity"].as_str().is_some_and(|kind| kind != "None");
    let close = spec["trafficDistribution"] == "PreferClose";
    let warnings = [
        (headless && is_set("loadBalancerIP"), "spec.loadBalancerIP is ignored for headless services"),
        (headless && addresses, "spec.externalIPs is ignored for headless services"),
        (headless && sticky, "spec.SessionAffinity is ignored for headless services"),
        (
            addresses && !headless && !external,
            "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
        ),
        (external && addresses, "spec.externalIPs is ignored when spec.type is \"ExternalName\""),
        (
            !external && is_set("externalName"),
            "spec.externalName is ignored when spec.type is not \"ExternalName\"",
        ),
        (close, "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\""),
    ];
    warnings.into_iter().filter(|(applies, _)| *applies).map(|(_, message)| message.to_owned()).collect()
}

/// The warning about an invalid certificate; this does not check whether it fits the key.
fn certificate(secret: &Value) -> Vec<String> {
    use base64::Engine as _;
    let text = secret["data"]["tls.crt"].as_str().unwrap_or_default();
    let decoded = base64::engine::general_purpose::STANDARD.decode(text).unwrap_or_default();
    let is_pem = String::from_utf8_lossy(&decoded).contains("-----BEGIN ");
    let why = "tls: failed to find any PEM data in certificate input";
    (secret["type"] == "kubernetes.io/tls" && !is_pem).then(|| why.to_owned()).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn finalizers_of_custom_resources_should_have_a_domain() {
        let object = json!({"metadata": {"finalizers": ["b", "a.b", "example.com/c", "orphan", "old"]}});
        let old = json!({"metadata": {"finalizers": ["old"]}});
        let why = "to avoid accidental conflicts with other finalizer writers";
        let want = [
            format!(
                "metadata.finalizers: \"a.b\": prefer a domain-qualified finalizer name including a path (/) {why}"
            ),
            format!("metadata.finalizers: \"b\": prefer a domain-qualified finalizer name {why}"),
        ];
        assert_eq!(finalizers(&object, Some(&old)), want);
    }

    #[test]
    fn ineffective_fields_of_services_are_reported() {
        let table = [
            (
                json!({"type": "ClusterIP", "externalName": "x"}),
                vec!["spec.externalName is ignored when spec.type is not \"ExternalName\""],
            ),
            (
                json!({"type": "ClusterIP", "clusterIP": "None", "sessionAffinity": "ClientIP"}),
                vec!["spec.SessionAffinity is ignored for headless services"],
            ),
            (json!({"type": "ExternalName", "externalName": "x"}), vec![]),
        ];
        for (spec, want) in table {
            assert_eq!(service(&json!({"spec": spec})), want, "{spec}");
        }
    }

    #[test]
    fn fractional_bytes_and_invalid_certificates_are_reported() {
        let resources = json!({"requests": {"storage": "1500m"}, "limits": {"storage": "1Gi"}});
        assert_eq!(
            fractional(&resources, "spec.resources", &["storage"], &["requests", "limits"]),
            [
                "spec.resources.requests[storage]: fractional byte value \"1500m\" is invalid, must be an integer"
            ]
        );
        let secret = json!({"type": "kubernetes.io/tls", "data": {"tls.crt": "YQ=="}});
        assert_eq!(certificate(&secret), ["tls: failed to find any PEM data in certificate input"]);
        let pem = json!({"type": "kubernetes.io/tls", "data": {"tls.crt": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg=="}});
        assert_eq!(certificate(&pem), [] as [&str; 0]);
    }
}
