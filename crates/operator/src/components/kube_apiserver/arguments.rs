//! The arguments and volumes of kube-apiserver, in the original's order.

use std::collections::BTreeMap;

use api::garden::shoot::api_server::OidcConfig;
use api::operator::kube_apiserver::{GroupResource, VirtualApiServerConfig};

use super::files::{ServerFiles, has_watchdog};
use super::issuers::TokenIssuers;
use super::parts::OwnParts;
use super::secret_requests::{
    CA_CLIENT, CA_FRONT_PROXY, KUBE_AGGREGATOR, SERVER_CERTIFICATE, SERVICE_ACCOUNT_KEY, STATIC_TOKEN,
};
use crate::components::api_server::audit::KUBECONFIG_KEY;
use crate::components::api_server::{PodParts, ServerSettings, common, encryption};
use crate::components::durations;
use crate::components::error::RenderError;
use crate::components::generated::CA;
use crate::components::rendering::name_of;
use crate::components::values::GardenValues;

const FOLDER: &str = "/srv/kubernetes";
const AUTHENTICATION_FOLDER: &str = "/etc/kubernetes/webhook/authentication";
const AUTHORIZATION_FOLDER: &str = "/etc/kubernetes/webhook/authorization";
/// The Etcd of events.
const ETCD_EVENTS: &str = "https://virtual-garden-etcd-events-client:2379";
/// The audience that Gardener's tokens have.
const AUDIENCE: &str = "gardener";
/// APIs that make no sense without nodes; a user may enable them.
const DISABLED_APIS: [&str; 6] = [
    "apps/v1",
    "autoscaling/v2",
    "batch/v1",
    "policy/v1/poddisruptionbudgets",
    "storage.k8s.io/v1/csidrivers",
    "storage.k8s.io/v1/csinodes",
];
/// Another one, before Kubernetes 1.25.
const POD_SECURITY_POLICIES: &str = "policy/v1beta1/podsecuritypolicies";

/// All of them. OPC-077.
pub(super) fn parts(
    values: &GardenValues<'_>,
    config: &VirtualApiServerConfig,
    files: &ServerFiles<'_>,
) -> Result<PodParts, RenderError> {
    let mut parts = OwnParts::default();
    add_own_arguments(&mut parts, values, config)?;
    add_own_volumes(&mut parts, values)?;
    let settings = ServerSettings {
        feature_gates: Some(&config.feature_gates),
        requests: config.requests.as_ref(),
        logging: config.logging.as_ref(),
        watch_cache_sizes: config.watch_cache_sizes.as_ref(),
    };
    parts.0.append(common(settings, values.secrets, values.secrets.name(SERVER_CERTIFICATE)?)?);
    parts.0.append(files.audit.parts(&files.audit_policy, files.audit_kubeconfig.as_ref()));
    parts.0.append(files.plugins.parts(&files.admission_configuration, &files.admission_kubeconfigs));
    parts.0.append(encryption::parts(&files.encryption_configuration));
    if has_watchdog(values)? {
        parts.argument("--shutdown-send-retry-after=true");
    }
    add_sni(&mut parts, config);
    if let Some(oidc) = &config.oidc_config {
        add_oidc(&mut parts, oidc, files);
    }
    parts.flag("service-account-signing-key-file", format_args!("{FOLDER}/service-account-key/id_rsa"));
    parts.flag("service-account-key-file", format_args!("{FOLDER}/service-account-key-bundle/bundle.key"));
    add_authentication(&mut parts, config, files);
    add_authorization(&mut parts, files);
    Ok(parts.0)
}

/// OPC-078 to -082.
fn add_own_arguments(
    parts: &mut OwnParts,
    values: &GardenValues<'_>,
    config: &VirtualApiServerConfig,
) -> Result<(), RenderError> {
    let host = format!("api.{}", values.first_domain()?);
    parts.flag("anonymous-auth", config.enable_anonymous_authentication.unwrap_or_default());
    parts.flag("api-audiences", audiences(&config.api_audiences).join(","));
    parts.flag("client-ca-file", format_args!("{FOLDER}/{CA_CLIENT}/bundle.crt"));
    parts.argument("--enable-aggregator-routing=true");
    parts.argument("--enable-bootstrap-token-auth=true");
    parts.flag("etcd-servers-overrides", etcd_overrides(&config.resources_to_store_in_etcd_events));
    parts.flag("external-hostname", &host);
    let not_ready = config.default_not_ready_toleration_seconds;
    parts.optional_flag("default-not-ready-toleration-seconds", not_ready);
    let unreachable = config.default_unreachable_toleration_seconds;
    parts.optional_flag("default-unreachable-toleration-seconds", unreachable);
    parts.optional_flag("event-ttl", config.event_ttl.as_ref().map(durations::printed));
    parts.flag("proxy-client-cert-file", format_args!("{FOLDER}/aggregator/tls.crt"));
    parts.flag("proxy-client-key-file", format_args!("{FOLDER}/aggregator/tls.key"));
    parts.flag("requestheader-client-ca-file", format_args!("{FOLDER}/{CA_FRONT_PROXY}/bundle.crt"));
    parts.argument("--requestheader-extra-headers-prefix=X-Remote-Extra-");
    parts.argument("--requestheader-group-headers=X-Remote-Group");
    parts.argument("--requestheader-username-headers=X-Remote-User");
    let is_before_1_25 = values.target_version()?.is_below(1, 25);
    parts.flag("runtime-config", served_apis(&config.runtime_config, is_before_1_25));
    let tokens = config.service_account_config.as_ref();
    let issuers = TokenIssuers::new(tokens, format!("https://{host}"));
    for issuer in std::iter::once(&issuers.issuer).chain(&issuers.accepted) {
        parts.flag("service-account-issuer", issuer);
    }
    let extended = tokens.and_then(|tokens| tokens.extend_token_expiration);
    parts.optional_flag("service-account-extend-token-expiration", extended);
    let longest = tokens.and_then(|tokens| tokens.max_token_expiration.as_ref());
    parts.optional_flag("service-account-max-token-expiration", longest.map(durations::printed));
    parts.flag("service-cluster-ip-range", &values.garden.spec.virtual_cluster.networking.services);
    parts.argument("--secure-port=443");
    parts.flag("token-auth-file", format_args!("{FOLDER}/token/static_tokens.csv"));
    Ok(())
}

fn add_own_volumes(parts: &mut OwnParts, values: &GardenValues<'_>) -> Result<(), RenderError> {
    let secrets = values.secrets;
    let signing_key = secrets.all(SERVICE_ACCOUNT_KEY)?;
    let bundles = [(CA, "ca"), (CA_CLIENT, "ca-client"), (CA_FRONT_PROXY, "ca-front-proxy")];
    for (request, volume) in bundles {
        parts.secret(volume, secrets.name(request)?, &format!("{FOLDER}/{volume}"));
    }
    let path = format!("{FOLDER}/service-account-key");
    parts.secret("service-account-key", &signing_key.current.name, &path);
    let bundle = secrets.name(SERVICE_ACCOUNT_KEY)?;
    parts.secret("service-account-key-bundle", bundle, &format!("{FOLDER}/service-account-key-bundle"));
    parts.secret("static-token", secrets.name(STATIC_TOKEN)?, &format!("{FOLDER}/token"));
    parts.secret("kube-aggregator", secrets.name(KUBE_AGGREGATOR)?, &format!("{FOLDER}/aggregator"));
    Ok(())
}

/// OPC-079.
fn audiences(configured: &[String]) -> Vec<&str> {
    if configured.is_empty() {
        return vec!["kubernetes", AUDIENCE];
    }
    let mut audiences: Vec<&str> = configured.iter().map(String::as_str).collect();
    if !audiences.contains(&AUDIENCE) {
        audiences.push(AUDIENCE);
    }
    audiences
}

/// Resources that are stored in the Etcd of events: events themselves first, unless they are listed. OPC-080.
fn etcd_overrides(configured: &[GroupResource]) -> String {
    let are_events = |resource: &GroupResource| resource.group.is_empty() && resource.resource == "events";
    let events = (!configured.iter().any(are_events)).then_some(("", "events"));
    let configured = configured.iter().map(|resource| (resource.group.as_str(), resource.resource.as_str()));
    let all = events.into_iter().chain(configured);
    let all: Vec<String> = all.map(|(group, resource)| format!("{group}/{resource}#{ETCD_EVENTS}")).collect();
    all.join(",")
}

/// `a=true,b=false`, by name. OPC-081.
fn served_apis(configured: &BTreeMap<String, bool>, is_before_1_25: bool) -> String {
    let older = is_before_1_25.then_some(POD_SECURITY_POLICIES);
    let mut apis: BTreeMap<&str, bool> =
        DISABLED_APIS.into_iter().chain(older).map(|name| (name, false)).collect();
    apis.extend(configured.iter().map(|(name, is_served)| (name.as_str(), *is_served)));
    let each: Vec<String> = apis.iter().map(|(name, is_served)| format!("{name}={is_served}")).collect();
    each.join(",")
}

/// The certificate for other names is in a Secret that is not copied. OPC-099.
fn add_sni(parts: &mut OwnParts, config: &VirtualApiServerConfig) {
    let Some(sni) = &config.sni else { return };
    let path = format!("{FOLDER}/tls-sni/0");
    let patterns = sni.domain_patterns.join(",");
    let separator = if patterns.is_empty() { "" } else { ":" };
    parts.flag("tls-sni-cert-key", format_args!("{path}/tls.crt,{path}/tls.key{separator}{patterns}"));
    parts.read_only_secret("tls-sni-0", &sni.secret_name, &path);
}

/// Required claims are sorted; the original's order differs from time to time.
fn add_oidc(parts: &mut OwnParts, oidc: &OidcConfig, files: &ServerFiles<'_>) {
    if let Some(authority) = &files.oidc_authority {
        parts.flag("oidc-ca-file", format_args!("{FOLDER}/oidc/ca.crt"));
        parts.secret("oidc-cabundle", name_of(authority), &format!("{FOLDER}/oidc"));
    }
    let texts = [
        ("issuer-url", &oidc.issuer_url),
        ("client-id", &oidc.client_id),
        ("username-claim", &oidc.username_claim),
        ("groups-claim", &oidc.groups_claim),
        ("username-prefix", &oidc.username_prefix),
        ("groups-prefix", &oidc.groups_prefix),
    ];
    for (flag, text) in texts {
        parts.optional_flag(&format!("oidc-{flag}"), text.as_ref());
    }
    if !oidc.signing_algs.is_empty() {
        parts.flag("oidc-signing-algs", oidc.signing_algs.join(","));
    }
    for (claim, value) in &oidc.required_claims {
        parts.flag("oidc-required-claim", format_args!("{claim}={value}"));
    }
}

/// OPC-089.
fn add_authentication(parts: &mut OwnParts, config: &VirtualApiServerConfig, files: &ServerFiles<'_>) {
    let webhook = config.authentication.as_ref().and_then(|of| of.webhook.as_ref());
    let (Some(webhook), Some(kubeconfig)) = (webhook, &files.authentication_kubeconfig) else { return };
    let file = format!("{AUTHENTICATION_FOLDER}/{KUBECONFIG_KEY}");
    parts.flag("authentication-token-webhook-config-file", file);
    parts.read_only_secret("authentication-webhook-kubeconfig", name_of(kubeconfig), AUTHENTICATION_FOLDER);
    let ttl = webhook.cache_ttl.as_ref().map(durations::printed);
    parts.optional_flag("authentication-token-webhook-cache-ttl", ttl);
    parts.optional_flag("authentication-token-webhook-version", webhook.version.as_ref());
}

/// OPC-090 to -092.
fn add_authorization(parts: &mut OwnParts, files: &ServerFiles<'_>) {
    let Some(kubeconfig) = &files.authorization_kubeconfig else {
        parts.argument("--authorization-mode=RBAC");
        return;
    };
    let file = format!("{AUTHORIZATION_FOLDER}/{KUBECONFIG_KEY}");
    parts.flag("authorization-webhook-config-file", file);
    parts.read_only_secret("authorization-webhook-kubeconfig", name_of(kubeconfig), AUTHORIZATION_FOLDER);
    parts.argument("--authorization-webhook-cache-authorized-ttl=0s");
    parts.argument("--authorization-webhook-cache-unauthorized-ttl=0s");
    parts.argument("--authorization-mode=RBAC,Webhook");
}
