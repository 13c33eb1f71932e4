//! What users should know of an object that is taken all the same, in the words of its kind.

mod pods;

use formats::name;
use formats::quantity::Quantity;
use serde_json::Value;

use crate::call::Call;
use crate::object::meta;
use crate::object::strategy::TEMPLATE_GENERATION;

/// Where the template of pods is of kinds that warn of it when they are made, and when it may have changed.
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
/// Kinds whose names become those of pods.
const NAMING_PODS: &[&str] = &["cronjobs.batch", "deployments.apps", "jobs.batch"];
/// Kinds by which a user has kube-apiserver judge other objects, and by which this server judges none. Quotas and limit ranges are not
/// among them: kubectl creates them beside others, and a warning of theirs would be one that no other server sends.
const UNENFORCED: &[(&str, &str)] = &[
    ("mutatingadmissionpolicies.admissionregistration.k8s.io", "admission policies"),
    ("mutatingadmissionpolicybindings.admissionregistration.k8s.io", "admission policies"),
    ("validatingadmissionpolicies.admissionregistration.k8s.io", "admission policies"),
    ("validatingadmissionpolicybindings.admissionregistration.k8s.io", "admission policies"),
];
/// Finalizers that the server itself knows.
const FINALIZERS: &[&str] = &["foregroundDeletion", "kubernetes", "orphan"];

/// What users should know of a new object, or of a changed one.
pub(crate) fn of(call: &Call, object: &Value, old: Option<&Value>) -> Vec<String> {
    if !call.path.subresource.is_empty() {
        return Vec::new();
    }
    let table = call.target.table.as_str();
    if call.target.custom {
        return finalizers(object, old);
    }
    let mut told = Vec::new();
    if old.is_none() && NAMING_PODS.contains(&table) {
        told.extend(unfit_name(object, "Pod names and hostnames"));
    }
    if let Some((_, place)) = TEMPLATES.iter().find(|(kind, _)| *kind == table)
        && old.is_none_or(|old| is_counted(table, object) != is_counted(table, old))
    {
        let path = place.trim_start_matches('/').replace('/', ".");
        told.extend(object.pointer(place).into_iter().flat_map(|pods| pods::template(pods, &path)));
    }
    told.extend(match (table, old) {
        ("pods", None) => {
            let mut told: Vec<String> = unfit_name(object, "the Pod's hostname").into_iter().collect();
            told.extend(pods::template(object, ""));
            told
        }
        ("statefulsets.apps", _) => history(object),
        ("persistentvolumeclaims", _) => {
            fractional(&object["spec"]["resources"], "spec.resources", &["storage"], &["requests", "limits"])
        }
        ("services", _) => service(object),
        ("secrets", _) => certificate(object),
        _ => Vec::new(),
    });
    told.extend(unenforced(table));
    told
}

/// That a kind is kept here and not enforced, which kube-apiserver does.
fn unenforced(table: &str) -> Option<String> {
    let what = UNENFORCED.iter().find(|(kind, _)| *kind == table).map(|(_, what)| what)?;
    Some(format!("this server does not evaluate {what}; they are kept and not enforced"))
}

/// What counts the templates that an object had.
fn is_counted(table: &str, object: &Value) -> Option<String> {
    if table == "daemonsets.apps" {
        let number = meta::of(object).get("annotations")?.get(TEMPLATE_GENERATION)?;
        return number.as_str().map(str::to_owned);
    }
    Some(meta::generation(object).to_string())
}

/// A name that pods or their hosts cannot have.
fn unfit_name(object: &Value, of: &str) -> Option<String> {
    let wrong = name::dns1123_label(meta::name(object));
    (!wrong.is_empty()).then(|| {
        format!(
            "metadata.name: this is used in {of}, which can result in surprising behavior; a DNS label is \
             recommended: [{}]",
            wrong.join(" ")
        )
    })
}

/// Finalizers of custom resources that others may call so too.
fn finalizers(object: &Value, old: Option<&Value>) -> Vec<String> {
    let before = old.map(meta::finalizers).unwrap_or_default();
    let mut new: Vec<&str> =
        meta::finalizers(object).into_iter().filter(|finalizer| !before.contains(finalizer)).collect();
    new.sort_unstable();
    new.dedup();
    let mut told = Vec::new();
    for finalizer in new {
        let say = |why: &str| format!("metadata.finalizers: {finalizer:?}: {why}");
        told.extend(name::label_key(finalizer).iter().map(|why| say(why)));
        if finalizer.contains('/') || FINALIZERS.contains(&finalizer) {
            continue;
        }
        let path = if finalizer.contains('.') { " including a path (/)" } else { "" };
        told.push(say(&format!(
            "prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other finalizer writers"
        )));
    }
    told
}

fn history(set: &Value) -> Vec<String> {
    let limit = set["spec"]["revisionHistoryLimit"].as_i64().unwrap_or_default();
    let why = "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended";
    (limit < 0).then(|| why.to_owned()).into_iter().collect()
}

/// Amounts of bytes that are no whole number.
fn fractional(resources: &Value, path: &str, names: &[&str], sides: &[&str]) -> Vec<String> {
    let mut told = Vec::new();
    for name in names {
        for side in sides {
            let Some(text) = resources[*side][*name].as_str() else { continue };
            let nanos = Quantity::parse(text).ok().and_then(|amount| amount.nanos()).unwrap_or_default();
            if nanos % 1_000_000_000 != 0 {
                told.push(format!(
                    "{path}.{side}[{name}]: fractional byte value {text:?} is invalid, must be an integer"
                ));
            }
        }
    }
    told
}

/// What a service says in vain.
fn service(service: &Value) -> Vec<String> {
    let spec = &service["spec"];
    let said = |field: &str| spec[field].as_str().is_some_and(|text| !text.is_empty());
    let external = spec["type"] == "ExternalName";
    let headless = spec["type"] == "ClusterIP" && spec["clusterIP"] == "None";
    let addresses = spec["externalIPs"].as_array().is_some_and(|list| !list.is_empty());
    let sticky = spec["sessionAffinity"].as_str().is_some_and(|kind| kind != "None");
    let close = spec["trafficDistribution"] == "PreferClose";
    let told = [
        (headless && said("loadBalancerIP"), "spec.loadBalancerIP is ignored for headless services"),
        (headless && addresses, "spec.externalIPs is ignored for headless services"),
        (headless && sticky, "spec.SessionAffinity is ignored for headless services"),
        (
            addresses && !headless && !external,
            "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
        ),
        (external && addresses, "spec.externalIPs is ignored when spec.type is \"ExternalName\""),
        (
            !external && said("externalName"),
            "spec.externalName is ignored when spec.type is not \"ExternalName\"",
        ),
        (close, "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\""),
    ];
    told.into_iter().filter(|(so, _)| *so).map(|(_, words)| words.to_owned()).collect()
}

/// A certificate that is none; what does not fit its key is not looked for.
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
    fn finalizers_of_custom_resources_shall_be_told_apart() {
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
    fn what_a_service_says_in_vain_is_told() {
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
    fn bytes_are_whole_and_certificates_are_some() {
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
