//! What istiod may do in the whole cluster: groups, resources and verbs, one rule per line.

use serde_json::{Value, json};

const RULES: [(&str, &str, &str); 22] = [
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations", "get list watch update patch"),
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations", "get list watch update"),
    (
        "config.istio.io security.istio.io networking.istio.io authentication.istio.io rbac.istio.io \
         telemetry.istio.io extensions.istio.io",
        "*",
        "get watch list",
    ),
    ("networking.istio.io", "workloadentries", "get watch list update patch create delete"),
    ("networking.istio.io", "workloadentries/status", "get watch list update patch create delete"),
    ("apiextensions.k8s.io", "customresourcedefinitions", "get list watch"),
    ("-", "pods nodes services namespaces endpoints", "get list watch"),
    ("discovery.k8s.io", "endpointslices", "get list watch"),
    ("extensions networking.k8s.io", "ingresses", "get list watch"),
    ("extensions networking.k8s.io", "ingresses/status", "*"),
    ("networking.k8s.io", "ingresses ingressclasses", "get list watch"),
    ("networking.k8s.io", "ingresses/status", "*"),
    ("-", "configmaps", "create get list watch update"),
    (
        "certificates.k8s.io",
        "certificatesigningrequests certificatesigningrequests/approval certificatesigningrequests/status",
        "update create get delete watch",
    ),
    ("certificates.k8s.io", "signers", "approve"),
    ("authentication.k8s.io", "tokenreviews", "create"),
    ("authorization.k8s.io", "subjectaccessreviews", "create"),
    ("networking.x-k8s.io gateway.networking.k8s.io", "*", "get watch list"),
    ("networking.x-k8s.io gateway.networking.k8s.io", "*", "update patch"),
    ("-", "secrets", "get watch list"),
    ("multicluster.x-k8s.io", "serviceexports", "get watch list create delete"),
    ("multicluster.x-k8s.io", "serviceimports", "get watch list"),
];

/// `-` is the core group.
pub(super) fn cluster_rules() -> Value {
    let words =
        |text: &str| text.split(' ').map(|word| word.trim_matches('-').to_owned()).collect::<Vec<String>>();
    let rules = RULES.map(|(groups, resources, verbs)| {
        let mut rule = json!({
            "apiGroups": words(groups), "resources": words(resources), "verbs": words(verbs),
        });
        if resources == "signers" {
            rule["resourceNames"] = json!(["kubernetes.io/legacy-unknown"]);
        }
        rule
    });
    json!(rules)
}
