//! The garden's domains, and those of Shoots, with the providers of their DNS records.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::Arc;

use api::garden::Shoot;
use api::garden::shoot::dns::{Dns, DnsProvider};
use controller::Request;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt as _;

/// Label of the garden's Secrets.
const ROLE: &str = "gardener.cloud/role";
/// Annotations of Secrets of domains.
const DOMAIN: &str = "dns.gardener.cloud/domain";
const PROVIDER: &str = "dns.gardener.cloud/provider";
/// Key of the Diffie-Hellman parameters.
const PARAMETERS: &str = "dh2048.pem";
/// Values of `auth_type` of the Secret for alerts.
const AUTHENTICATION: [&str; 4] = ["smtp", "none", "basic", "certificate"];

/// Why a Secret of the garden is unusable.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum DomainsError {
    /// There is no key in it.
    #[error(
        "cannot use OpenVPN Diffie Hellman secret '{0}' as it does not contain key 'dh2048.pem' (whose value should be the actual Diffie Hellman key)"
    )]
    DiffieHellman(String),
    /// It names no way to authenticate.
    #[error("invalid or missing field 'auth_type' in secret {0}")]
    Alerting(String),
    /// There are several.
    #[error("can only accept at most one {0} secret, but found {1}")]
    Several(&'static str, usize),
}

/// The domains of the garden and of the Seed's Shoots.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Domains {
    /// Provider of the internal domain.
    pub(super) internal: Option<String>,
    /// Providers of default domains, by domain.
    default: BTreeMap<String, String>,
    /// Shoots whose DNS provider's Secret does not exist.
    without_secret: BTreeSet<Request>,
}

impl Domains {
    /// Reads the copied Secrets of a Seed; `None` if there is none of any use. GCM-CRS-030 to -032.
    pub(super) fn read(secrets: &[Arc<Secret>]) -> Result<Option<Self>, DomainsError> {
        let mut domains = Self::default();
        let mut found: BTreeMap<&str, usize> = BTreeMap::new();
        for secret in secrets {
            let role = secret.labels().get(ROLE).map_or("", String::as_str);
            let name = || secret.name_any();
            match role {
                "default-domain" | "internal-domain" => {
                    let Some((domain, provider)) = domain(secret) else { continue };
                    if role == "internal-domain" {
                        domains.internal = Some(provider);
                    } else {
                        domains.default.insert(domain, provider);
                    }
                }
                "openvpn-diffie-hellman" if value(secret, PARAMETERS).is_none() => {
                    return Err(DomainsError::DiffieHellman(name()));
                }
                "alerting" if !authenticates(secret) => return Err(DomainsError::Alerting(name())),
                "openvpn-diffie-hellman"
                | "alerting"
                | "global-monitoring"
                | "global-shoot-remote-write-monitoring" => {}
                _ => continue,
            }
            *found.entry(role).or_default() += 1;
        }
        for (role, what) in [
            ("openvpn-diffie-hellman", "OpenVPN Diffie Hellman"),
            ("alerting", "alerting"),
            ("global-monitoring", "global monitoring"),
        ] {
            let count = found.get(role).copied().unwrap_or_default();
            if count > 1 {
                return Err(DomainsError::Several(what, count));
            }
        }
        Ok((!found.is_empty()).then_some(domains))
    }

    /// Notes the Shoots whose primary DNS provider names a Secret that does not exist.
    pub(super) fn with_secrets<'a>(
        mut self,
        shoots: impl Iterator<Item = &'a Shoot>,
        exists: impl Fn(&str, &str) -> bool,
    ) -> Self {
        let lacks = |shoot: &&Shoot| {
            let secret = primary(shoot).and_then(|provider| provider.secret_name.as_deref());
            secret.is_some_and(|secret| !exists(&shoot.namespace().unwrap_or_default(), secret))
        };
        self.without_secret = shoots.filter(lacks).map(Request::of).collect();
        self
    }

    /// Provider of the external domain of a Shoot: of the default domain that it is part of, else its primary one,
    /// whose type may be empty. GCM-CRS-021, GCM-CRS-022.
    pub(super) fn external(&self, shoot: &Shoot) -> Option<String> {
        let domain = shoot.spec.dns.as_ref()?.domain.as_ref()?;
        let part_of =
            |default: &str| domain.strip_suffix(default).is_some_and(|prefix| prefix.ends_with('.'));
        let default = self.default.iter().filter(|(default, _)| part_of(default));
        if let Some((_, provider)) = default.max_by_key(|(default, _)| default.len()) {
            return Some(provider.clone());
        }
        let Some(provider) = primary(shoot) else {
            log_incomplete(shoot);
            return None;
        };
        if self.without_secret.contains(&Request::of(shoot)) {
            tracing::info!(shoot = %Request::of(shoot), "Could not get the Secret of the primary DNS provider");
            return None;
        }
        Some(provider.type_.clone().unwrap_or_default())
    }
}

/// Domain and provider that a Secret is about.
fn domain(secret: &Secret) -> Option<(String, String)> {
    let annotation = |name: &str| secret.annotations().get(name).filter(|value| !value.is_empty()).cloned();
    let found = annotation(DOMAIN).zip(annotation(PROVIDER));
    if found.is_none() {
        tracing::error!(
            secret = secret.name_any(),
            "Secret of a domain lacks annotations {DOMAIN} and {PROVIDER}"
        );
    }
    found
}

fn authenticates(secret: &Secret) -> bool {
    value(secret, "auth_type")
        .is_some_and(|type_| AUTHENTICATION.iter().any(|known| known.as_bytes() == type_))
}

fn value<'a>(secret: &'a Secret, key: &str) -> Option<&'a [u8]> {
    secret.data.as_ref()?.get(key).map(|value| value.0.as_slice())
}

fn primary(shoot: &Shoot) -> Option<&DnsProvider> {
    let Dns { providers, .. } = shoot.spec.dns.as_ref()?;
    providers.iter().find(|provider| provider.primary == Some(true))
}

/// A Shoot that is deleted before it was ever reconciled may be incomplete.
fn log_incomplete(shoot: &Shoot) {
    let is_abandoned = shoot.metadata.deletion_timestamp.is_some() && shoot.status.uid.is_empty();
    if !is_abandoned {
        tracing::info!(shoot = %Request::of(shoot), "Could not determine external domain: incomplete DNS config");
    }
}
