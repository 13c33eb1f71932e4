//! Translates the flags of kube-apiserver to options of the embedded API server.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use apiserver::flags::access::{CLIENTS, bundle, front_proxies, key_pair};
use apiserver::flags::{FlagError, GivenFlags, read_file};
use apiserver::{Authentication, Authorization, ClientAuthority, KeyPair, SigningKey, User, VerifyingKey};

use super::known::{
    ADDRESS, ADVERTISED, ANONYMOUS, AUDIENCES, AUTHORIZATION, DISABLED_PLUGINS, ENABLED_PLUGINS, ISSUER,
    OWN_PROXY_CERTIFICATE, OWN_PROXY_KEY, PORT, SIGNING, TOKENS, VERIFYING,
};
use super::{certificates, token_file};

/// An address for documentation, which no host has.
const NOWHERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
/// The admission plugin that can be switched off.
const SERVICE_ACCOUNT: &str = "ServiceAccount";
/// Other admission plugins that the embedded API server has.
const PLUGINS: [&str; 8] = [
    "CertificateApproval",
    "CertificateSigning",
    "DefaultTolerationSeconds",
    "MutatingAdmissionWebhook",
    "Priority",
    "StorageObjectInUseProtection",
    "TaintNodesByCondition",
    "ValidatingAdmissionWebhook",
];

/// Options of the server.
#[derive(Debug)]
pub(super) struct ServerOptions {
    pub(super) address: SocketAddr,
    pub(super) advertised: SocketAddr,
    pub(super) certificate: KeyPair,
    pub(super) authentication: Authentication,
    pub(super) front_proxy: FrontProxy,
    pub(super) authorization: Authorization,
    pub(super) tokens: Vec<(String, User)>,
    pub(super) signing: Option<SigningKey>,
    pub(super) verifying: Vec<VerifyingKey>,
    pub(super) issuers: Vec<String>,
    pub(super) audiences: Vec<String>,
    /// Whether new pods need a service account that exists.
    pub(super) service_account_admission: bool,
}

/// The client certificate for aggregated API servers.
#[derive(Debug)]
pub(super) enum FrontProxy {
    /// A generated certificate.
    Own,
    /// This certificate, or none.
    Given(Option<KeyPair>),
}

impl ServerOptions {
    /// Reads flags and the files that they name. Logs values that are not supported.
    ///
    /// # Errors
    /// When a value or a file cannot be used.
    pub(super) fn from_flags(given: &GivenFlags) -> Result<Self, FlagError> {
        let ip = given.address(ADDRESS)?.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        let port = given.port(PORT)?.unwrap_or(6443);
        if port == 0 {
            return Err(FlagError::of_value(PORT, "0", "must be between 1 and 65535"));
        }
        let advertised = given.address(ADVERTISED)?.unwrap_or(if ip.is_unspecified() { NOWHERE } else { ip });
        let authentication = authentication(given)?;
        warn_of_plugins(given);
        Ok(Self {
            address: SocketAddr::new(ip, port),
            advertised: SocketAddr::new(advertised, port),
            certificate: certificates::serving(given, ip)?,
            front_proxy: front_proxy(given, &authentication)?,
            authentication,
            authorization: authorization(&given.list(AUTHORIZATION))?,
            tokens: tokens(given)?,
            signing: signing(given)?,
            verifying: verifying(given)?,
            issuers: given.all(ISSUER).iter().filter(|issuer| !issuer.is_empty()).cloned().collect(),
            audiences: given.list(AUDIENCES),
            service_account_admission: !given
                .list(DISABLED_PLUGINS)
                .iter()
                .any(|plugin| plugin == SERVICE_ACCOUNT),
        })
    }
}

fn authentication(given: &GivenFlags) -> Result<Authentication, FlagError> {
    let clients = bundle(given, CLIENTS)?.map_or(ClientAuthority::None, ClientAuthority::Bundle);
    let request_headers = front_proxies(given)?;
    Ok(Authentication { clients, request_headers, anonymous: given.switch(ANONYMOUS, true)? })
}

/// As kube-apiserver, the server presents no certificate if front proxies are given and a certificate is not.
fn front_proxy(given: &GivenFlags, authentication: &Authentication) -> Result<FrontProxy, FlagError> {
    let pair = key_pair(given, (OWN_PROXY_CERTIFICATE, OWN_PROXY_KEY))?;
    Ok(match (pair, &authentication.request_headers) {
        (None, None) => FrontProxy::Own,
        (pair, _) => FrontProxy::Given(pair),
    })
}

fn authorization(modes: &[String]) -> Result<Authorization, FlagError> {
    let mut chosen = if modes.is_empty() { Some(Authorization::AlwaysAllow) } else { None };
    for mode in modes {
        match mode.as_str() {
            "AlwaysAllow" => chosen = Some(Authorization::AlwaysAllow),
            "RBAC" => chosen = chosen.or(Some(Authorization::Rbac)),
            "Node" | "ABAC" | "Webhook" => {
                tracing::warn!("--{AUTHORIZATION}={mode} has no effect on the embedded API server");
            }
            other => return Err(FlagError::of_value(AUTHORIZATION, other, "is not supported")),
        }
    }
    chosen.ok_or_else(|| {
        FlagError::of_value(AUTHORIZATION, &modes.join(","), "has neither RBAC nor AlwaysAllow")
    })
}

fn tokens(given: &GivenFlags) -> Result<Vec<(String, User)>, FlagError> {
    let Some((path, content)) = given.file(TOKENS)? else { return Ok(Vec::new()) };
    token_file::parse(&content).map_err(|error| FlagError::of_value(TOKENS, &path, error.to_string()))
}

fn signing(given: &GivenFlags) -> Result<Option<SigningKey>, FlagError> {
    let Some((path, content)) = given.file(SIGNING)? else { return Ok(None) };
    let key = SigningKey::from_pem(&content);
    key.map(Some).map_err(|error| FlagError::of_value(SIGNING, &path, error.to_string()))
}

fn verifying(given: &GivenFlags) -> Result<Vec<VerifyingKey>, FlagError> {
    let mut keys = Vec::new();
    for path in given.all(VERIFYING) {
        let read = VerifyingKey::all_from_pem(&read_file(VERIFYING, path)?);
        keys.extend(read.map_err(|error| FlagError::of_value(VERIFYING, path, error.to_string()))?);
    }
    Ok(keys)
}

fn is_known(plugin: &str) -> bool {
    plugin == SERVICE_ACCOUNT || PLUGINS.contains(&plugin)
}

fn warn_of_plugins(given: &GivenFlags) {
    let disabled = given.list(DISABLED_PLUGINS);
    for plugin in given.list(ENABLED_PLUGINS).iter().filter(|plugin| !is_known(plugin)) {
        tracing::warn!(
            "--{ENABLED_PLUGINS}={plugin} has no effect: the embedded API server has no such plugin"
        );
    }
    for plugin in disabled.iter().filter(|plugin| PLUGINS.contains(&plugin.as_str())) {
        tracing::warn!("--{DISABLED_PLUGINS}={plugin} has no effect: the plugin stays on");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_authorization_mode_that_is_supported_is_enough() {
        let of = |modes: &[&str]| {
            authorization(&modes.iter().map(|mode| (*mode).to_owned()).collect::<Vec<_>>())
                .map_err(|error| error.to_string())
        };
        let refused = |reason: &str| Err(format!("--authorization-mode={reason}"));
        let table: [(&[&str], _); 7] = [
            (&[], Ok(Authorization::AlwaysAllow)),
            (&["RBAC"], Ok(Authorization::Rbac)),
            (&["Node", "RBAC"], Ok(Authorization::Rbac)),
            (&["RBAC", "AlwaysAllow"], Ok(Authorization::AlwaysAllow)),
            (&["AlwaysAllow", "RBAC"], Ok(Authorization::AlwaysAllow)),
            (&["Node"], refused("Node: has neither RBAC nor AlwaysAllow")),
            (&["AlwaysDeny"], refused("AlwaysDeny: is not supported")),
        ];
        for (modes, want) in table {
            assert_eq!(of(modes), want, "{modes:?}");
        }
    }
}
