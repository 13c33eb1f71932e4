//! The fields that field selectors may use, by resource.

use crate::resource::Resource;

/// The fields of a resource: name and namespace first, then its own. `declared` has those of a CRD, `None` for a built-in
/// resource.
pub(crate) fn of(resource: &Resource, declared: Option<Vec<String>>) -> Vec<String> {
    let mut fields = vec!["metadata.name".to_owned()];
    let own = built_in(&resource.group, &resource.plural);
    // Built-in kinds without fields of their own accept the namespace even if they are cluster-scoped.
    if resource.namespaced || (own.is_empty() && declared.is_none()) {
        fields.push("metadata.namespace".to_owned());
    }
    fields.extend(own.iter().map(|&field| field.to_owned()));
    fields.extend(declared.unwrap_or_default());
    fields
}

/// Maintained by hand, because Kubernetes does not publish these fields.
fn built_in(group: &str, plural: &str) -> &'static [&'static str] {
    match (group, plural) {
        ("", "pods") => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ],
        ("", "nodes") => &["spec.unschedulable"],
        ("", "namespaces") => &["status.phase"],
        ("", "secrets") => &["type"],
        ("", "services") => &["spec.clusterIP", "spec.type"],
        ("", "replicationcontrollers") => &["status.replicas"],
        ("", "events") => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        ("events.k8s.io", "events") => &[
            "regarding.kind",
            "regarding.namespace",
            "regarding.name",
            "regarding.uid",
            "regarding.apiVersion",
            "regarding.resourceVersion",
            "regarding.fieldPath",
            "reason",
            "reportingController",
            "type",
        ],
        ("batch", "jobs") => &["status.successful"],
        ("certificates.k8s.io", "certificatesigningrequests" | "clustertrustbundles") => &["spec.signerName"],
        ("certificates.k8s.io", "podcertificaterequests") => {
            &["spec.signerName", "spec.podName", "spec.nodeName"]
        }
        ("resource.k8s.io", "resourceslices") => &["spec.nodeName", "spec.driver"],
        _ => &[],
    }
}
