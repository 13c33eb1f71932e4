//! The arguments that each field of kube-apiserver's configuration adds or replaces.

use rstest::rstest;
use serde_json::{Value, json};

use super::expected::{PLUGINS, RUNTIME_CONFIG};
use super::{arguments, container, fixture, rendered};

const EVENTS: &str = "--etcd-servers-overrides=/events#https://virtual-garden-etcd-events-client:2379";
const ISSUER: &str = "--service-account-issuer=https://api.virtual.example.com";
const SIGNING: &str = "--service-account-signing-key-file=/srv/kubernetes/service-account-key/id_rsa";

#[rstest]
#[case::anonymous(json!({"enableAnonymousAuthentication": true}), json!({"--anonymous-auth=false": ["--anonymous-auth=true"]}))]
#[case::audiences(
    json!({"apiAudiences": ["a", "gardener"]}),
    json!({"--api-audiences=kubernetes,gardener": ["--api-audiences=a,gardener"]})
)]
#[case::other_audiences(json!({"apiAudiences": ["a"]}), json!({"--api-audiences=kubernetes,gardener": ["--api-audiences=a,gardener"]}))]
#[case::events_are_listed(
    json!({"resourcesToStoreInETCDEvents": [{"group": "", "resource": "leases"}, {"group": "", "resource": "events"}]}),
    json!({EVENTS: [
        "--etcd-servers-overrides=/leases#https://virtual-garden-etcd-events-client:2379,/events#https://virtual-garden-etcd-events-client:2379",
    ]})
)]
#[case::events_of_another_group(
    json!({"resourcesToStoreInETCDEvents": [{"group": "events.k8s.io", "resource": "events"}]}),
    json!({EVENTS: [
        "--etcd-servers-overrides=/events#https://virtual-garden-etcd-events-client:2379,events.k8s.io/events#https://virtual-garden-etcd-events-client:2379",
    ]})
)]
#[case::durations_and_tolerations(
    json!({
        "eventTTL": "90m", "defaultNotReadyTolerationSeconds": 60, "defaultUnreachableTolerationSeconds": 120,
    }),
    json!({"--event-ttl=1h0m0s": [
        "--default-not-ready-toleration-seconds=60", "--default-unreachable-toleration-seconds=120", "--event-ttl=1h30m0s",
    ]})
)]
#[case::served_apis(
    json!({"runtimeConfig": {"apps/v1": true, "api/alpha": true}}),
    json!({RUNTIME_CONFIG: [
        "--runtime-config=api/alpha=true,apps/v1=true,autoscaling/v2=false,batch/v1=false,policy/v1/poddisruptionbudgets=false,\
         storage.k8s.io/v1/csidrivers=false,storage.k8s.io/v1/csinodes=false",
    ]})
)]
#[case::tokens(
    json!({"serviceAccountConfig": {
        "issuer": "https://a", "acceptedIssuers": ["https://b"], "extendTokenExpiration": false, "maxTokenExpiration": "720h",
    }}),
    json!({ISSUER: [
        "--service-account-issuer=https://a", "--service-account-issuer=https://b", ISSUER,
        "--service-account-extend-token-expiration=false", "--service-account-max-token-expiration=720h0m0s",
    ]})
)]
#[case::settings(
    json!({
        "featureGates": {"B": false, "A": true}, "logging": {"httpAccessVerbosity": 3, "verbosity": 4},
        "watchCacheSizes": {"default": 10, "resources": [{"resource": "secrets", "size": 20}]},
        "requests": {"maxNonMutatingInflight": 1},
    }),
    json!({"--max-requests-inflight=400": ["--feature-gates=A=true,B=false", "--max-requests-inflight=1"], "--v=2": ["--vmodule=httplog=3", "--v=4", "--default-watch-cache-size=10", "--watch-cache-sizes=secrets#20"]})
)]
#[case::plugins(
    json!({"admissionPlugins": [{"name": "AlwaysPullImages"}, {"name": "ResourceQuota", "disabled": true}]}),
    json!({PLUGINS: [
        "--enable-admission-plugins=Priority,NamespaceLifecycle,LimitRanger,PodSecurity,ServiceAccount,NodeRestriction,\
         DefaultStorageClass,DefaultTolerationSeconds,StorageObjectInUseProtection,MutatingAdmissionWebhook,\
         ValidatingAdmissionWebhook,AlwaysPullImages",
        "--disable-admission-plugins=ResourceQuota",
    ]})
)]
#[case::sni(
    json!({"sni": {"secretName": "tls", "domainPatterns": ["a.example.com", "*.b.example.com"]}}),
    json!({SIGNING: [
        "--tls-sni-cert-key=/srv/kubernetes/tls-sni/0/tls.crt,/srv/kubernetes/tls-sni/0/tls.key:a.example.com,*.b.example.com", SIGNING,
    ]})
)]
#[case::sni_without_patterns(
    json!({"sni": {"secretName": "tls"}}),
    json!({SIGNING: ["--tls-sni-cert-key=/srv/kubernetes/tls-sni/0/tls.crt,/srv/kubernetes/tls-sni/0/tls.key", SIGNING]})
)]
#[case::oidc(
    json!({"oidcConfig": {
        "caBundle": "PEM", "issuerURL": "https://i", "clientID": "c", "usernameClaim": "u", "groupsClaim": "g",
        "usernamePrefix": "up", "groupsPrefix": "gp", "signingAlgs": ["RS256", "ES256"], "requiredClaims": {"b": "2", "a": "1"},
    }}),
    json!({SIGNING: [
        "--oidc-ca-file=/srv/kubernetes/oidc/ca.crt", "--oidc-issuer-url=https://i", "--oidc-client-id=c",
        "--oidc-username-claim=u", "--oidc-groups-claim=g", "--oidc-username-prefix=up", "--oidc-groups-prefix=gp",
        "--oidc-signing-algs=RS256,ES256", "--oidc-required-claim=a=1", "--oidc-required-claim=b=2", SIGNING,
    ]})
)]
#[case::authentication(
    json!({"authentication": {"webhook": {"kubeconfigSecretName": "k", "cacheTTL": "90s", "version": "v1beta1"}}}),
    json!({"--authorization-mode=RBAC": [
        "--authentication-token-webhook-config-file=/etc/kubernetes/webhook/authentication/kubeconfig.yaml",
        "--authentication-token-webhook-cache-ttl=1m30s", "--authentication-token-webhook-version=v1beta1",
        "--authorization-mode=RBAC",
    ]})
)]
#[case::audit(
    json!({
        "auditConfig": {"auditPolicy": {"configMapRef": {"name": "policy"}}},
        "auditWebhook": {"kubeconfigSecretName": "k", "batchMaxSize": 30, "version": "audit.k8s.io/v1"},
    }),
    json!({"--audit-log-path=/tmp/audit/audit.log": [
            "--audit-webhook-config-file=/etc/kubernetes/webhook/audit/kubeconfig.yaml",
            "--audit-webhook-batch-max-size=30", "--audit-webhook-version=audit.k8s.io/v1",
        ], "--audit-log-maxsize=100": [], "--audit-log-maxbackup=5": []})
)]
fn each_field_has_its_arguments(#[case] server: Value, #[case] replaced: Value) {
    let fixture = fixture(&json!({}), &server)
        .with_secret("k", [("kubeconfig", "k")])
        .with_config_map("policy", "policy", "P");
    assert_eq!(container(&rendered(&fixture))["args"], json!(arguments(&replaced)));
}
