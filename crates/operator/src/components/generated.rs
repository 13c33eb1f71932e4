//! Secrets of the secrets manager: what components ask for, and what they get.

use std::collections::BTreeMap;

use formats::base64;
use secrets::{
    AuthorityChoice, CertificateContent, CertificateKind, Content, GenerateOptions, ManagedSecret,
    SecretClass, SecretRequest, SecretsManager, Signer,
};

use super::error::RenderError;

/// Certificates of an authority's bundle, in PEM.
const BUNDLE: &str = "bundle.crt";

/// Name of the request of the authority of the virtual cluster.
pub const CA: &str = "ca";
/// Name of the request of the authority of components in the runtime cluster.
pub const CA_RUNTIME: &str = "ca-garden-runtime";
/// Name of the request of the authority of etcd.
pub const CA_ETCD: &str = "ca-etcd";
/// Name of the request of the authority of Gardener's own control plane.
pub const CA_GARDENER: &str = "ca-gardener";
/// Name of the request of the client certificate for etcd.
pub const ETCD_CLIENT: &str = "etcd-client";
/// Name of the request of the kubeconfig whose token is in a file.
pub const GENERIC_TOKEN_KUBECONFIG: &str = "generic-token-kubeconfig";

/// A Secret that a component needs from the secrets manager before it is rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedSecret {
    /// What it holds.
    pub request: SecretRequest,
    /// How it is signed and rotated.
    pub options: GenerateOptions,
}

/// The Secrets that answer one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedSecret {
    /// The one in use.
    pub current: ManagedSecret,
    /// The one before the last rotation, while it is kept.
    pub old: Option<ManagedSecret>,
    /// Both together, for authorities and some keys.
    pub bundle: Option<ManagedSecret>,
}

/// The Secrets of the secrets manager, by the name of their request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GeneratedSecrets(pub BTreeMap<String, GeneratedSecret>);

impl RequestedSecret {
    /// A certificate of a server for these names, which is replaced when it is rotated; it does not contain its authority.
    #[must_use]
    pub fn server(
        name: &str,
        common_name: &str,
        dns_names: Vec<String>,
        authority: &str,
        choice: AuthorityChoice,
    ) -> Self {
        let content = CertificateContent {
            common_name: common_name.to_owned(),
            dns_names,
            without_authority: true,
            ..CertificateContent::new(CertificateKind::Server)
        };
        let signer = Some(Signer::new(authority).choosing(choice));
        Self {
            request: SecretRequest::new(name, Content::Certificate(content)),
            options: GenerateOptions { signer, ..GenerateOptions::default() },
        }
    }
}

impl GeneratedSecrets {
    /// What the manager has generated for these requests; those that it does not know are left out.
    #[must_use]
    pub fn of<'a>(manager: &SecretsManager, names: impl IntoIterator<Item = &'a str>) -> Self {
        let known = |name: &str, class| manager.get(name, Some(class)).cloned();
        let secrets = names.into_iter().filter_map(|name| {
            let current = known(name, SecretClass::Current)?;
            let (old, bundle) = (known(name, SecretClass::Old), known(name, SecretClass::Bundle));
            Some((name.to_owned(), GeneratedSecret { current, old, bundle }))
        });
        Self(secrets.collect())
    }

    /// All Secrets of a request.
    ///
    /// # Errors
    /// If it was not generated.
    pub fn all(&self, name: &str) -> Result<&GeneratedSecret, RenderError> {
        self.0.get(name).ok_or_else(|| RenderError::UnknownSecret(name.to_owned()))
    }

    /// The Secret that a component mounts: the bundle where there is one, else the current one.
    ///
    /// # Errors
    /// If it was not generated.
    pub fn get(&self, name: &str) -> Result<&ManagedSecret, RenderError> {
        let known = self.all(name)?;
        Ok(known.bundle.as_ref().unwrap_or(&known.current))
    }

    /// The name of that Secret.
    ///
    /// # Errors
    /// If it was not generated.
    pub fn name(&self, name: &str) -> Result<&str, RenderError> {
        self.get(name).map(|secret| secret.name.as_str())
    }

    /// The certificates of an authority's bundle, PEM.
    ///
    /// # Errors
    /// If it was not generated.
    pub fn bundle_pem(&self, authority: &str) -> Result<&[u8], RenderError> {
        self.get(authority).map(|secret| secret.data.get(BUNDLE))
    }

    /// The same in base64, as fields `caBundle` have it.
    ///
    /// # Errors
    /// If it was not generated.
    pub fn bundle_base64(&self, authority: &str) -> Result<String, RenderError> {
        self.bundle_pem(authority).map(base64::encode)
    }
}

/// The four names of a Service in its cluster, the shortest first.
#[must_use]
pub fn service_names(service: &str, namespace: &str) -> Vec<String> {
    let suffixes = ["", ".svc", ".svc.cluster.local"];
    let long = suffixes.map(|suffix| format!("{service}.{namespace}{suffix}"));
    std::iter::once(service.to_owned()).chain(long).collect()
}
