//! What Secrets may hold, and the checksum of that: it is part of a Secret's name, so a changed request makes a new Secret.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use crate::authority::{AuthorityError, SigningAuthority};
use crate::checksum::{self, StructChecksum};

/// Go's number of the encoding PKCS #8 of keys; that of PKCS #1 is 0.
const PKCS8: i64 = 1;

/// A Secret that a component needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretRequest {
    /// Its name; that of the Secret begins with it.
    pub name: String,
    /// What it holds.
    pub content: Content,
}

/// What a Secret holds.
#[derive(Clone, PartialEq, Eq)]
pub enum Content {
    /// A certificate and its key; without a signer an authority.
    Certificate(CertificateContent),
    /// A certificate and kubeconfigs with it.
    ControlPlane(ControlPlaneContent),
    /// A user and a random password.
    BasicAuth {
        /// The user.
        user: String,
        /// How many characters the password has.
        password_length: usize,
    },
    /// Users with random tokens, by a key that names each of them.
    StaticTokens(BTreeMap<String, TokenUser>),
    /// An RSA key.
    RsaKey {
        /// Its size: 2048, 3072 or 4096.
        bits: u32,
        /// Whether the public key is added in OpenSSH's notation.
        for_ssh: bool,
    },
    /// A key with which an API server encrypts what it stores.
    EtcdEncryptionKey {
        /// How many characters it has.
        length: usize,
    },
    /// A key that OpenVPN's two ends share.
    VpnKey,
    /// A kubeconfig.
    Kubeconfig(KubeconfigContent),
    /// Certificates of authorities, in PEM.
    CertificateBundle(Vec<Vec<u8>>),
    /// RSA keys, in PEM.
    KeyBundle(Vec<Vec<u8>>),
}

/// A certificate to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateContent {
    /// Common name of the subject; an authority is called like its Secret instead.
    pub common_name: String,
    /// Organizations of the subject.
    pub organizations: Vec<String>,
    /// Names of a server.
    pub dns_names: Vec<String>,
    /// Addresses of a server. An empty list and none have different checksums, as in Go.
    pub ip_addresses: Option<Vec<IpAddr>>,
    /// What it is for.
    pub kind: CertificateKind,
    /// Whether the key is written as PKCS #8 instead of PKCS #1.
    pub pkcs8: bool,
    /// How long it is valid; ten years if absent.
    pub validity: Option<Duration>,
    /// Leaves the authority's certificate out of the Secret.
    pub without_authority: bool,
    /// Appends the authority's certificate to a server's.
    pub with_chain: bool,
}

/// What a certificate is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificateKind {
    /// To sign others.
    Authority,
    /// For servers.
    Server,
    /// For clients.
    Client,
    /// For both ends.
    ServerAndClient,
}

/// A certificate and kubeconfigs with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControlPlaneContent {
    /// The certificate, if there is one.
    pub certificate: Option<CertificateContent>,
    /// The clusters of the kubeconfig; without any there is none.
    pub clusters: Vec<KubeconfigCluster>,
}

/// A cluster in the kubeconfig of a [`ControlPlaneContent`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubeconfigCluster {
    /// Its name.
    pub name: String,
    /// Host of its API server.
    pub host: String,
    /// Certificates of its authorities, in PEM; those of the certificate's authority if empty.
    pub authorities: Vec<u8>,
}

/// A user with a token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenUser {
    /// The user.
    pub name: String,
    /// The user's id.
    pub id: String,
    /// The user's groups.
    pub groups: Vec<String>,
}

/// A kubeconfig with one cluster.
#[derive(Clone, PartialEq, Eq)]
pub struct KubeconfigContent {
    /// Name of its context, cluster and user.
    pub context: String,
    /// Address of the API server; `https://` is put before it if missing.
    pub server: String,
    /// Certificates of the API server's authorities, in PEM.
    pub authorities: Vec<u8>,
    /// The user's token; empty if it is in a file.
    pub token: String,
    /// Path of the file with the user's token.
    pub token_file: String,
}

impl SecretRequest {
    /// A request.
    #[must_use]
    pub fn new(name: &str, content: Content) -> Self {
        Self { name: name.to_owned(), content }
    }

    /// The certificate that it asks for.
    #[must_use]
    pub fn certificate(&self) -> Option<&CertificateContent> {
        match &self.content {
            Content::Certificate(certificate) => Some(certificate),
            Content::ControlPlane(content) => content.certificate.as_ref(),
            _ => None,
        }
    }

    /// The checksum of the original's structure for it.
    pub(crate) fn checksum(&self, authority: Option<&SigningAuthority>) -> Result<u64, AuthorityError> {
        let name = self.name.as_str();
        let of = |kind: &str| StructChecksum::new(kind).text("Name", name);
        Ok(match &self.content {
            Content::Certificate(content) => content.checksum(name, authority)?,
            Content::ControlPlane(content) => content.checksum(name, authority)?,
            Content::BasicAuth { user, password_length } => of("BasicAuthSecretConfig")
                .text("Format", "normal")
                .text("Username", user)
                .integer("PasswordLength", length(*password_length))
                .value(),
            Content::StaticTokens(users) => {
                let entries = users.iter().map(|(key, user)| (checksum::text(key), user.checksum()));
                of("StaticTokenSecretConfig").field("Tokens", checksum::map(entries)).value()
            }
            Content::RsaKey { bits, for_ssh } => {
                of("RSASecretConfig").integer("Bits", i64::from(*bits)).flag("UsedForSSH", *for_ssh).value()
            }
            Content::EtcdEncryptionKey { length: characters } => {
                of("ETCDEncryptionKeySecretConfig").integer("SecretLength", length(*characters)).value()
            }
            Content::VpnKey => of("VPNTLSAuthConfig").value(),
            Content::Kubeconfig(content) => content.checksum(name),
            Content::CertificateBundle(parts) => {
                of("CertificateBundleSecretConfig").list("CertificatePEMs", &each(parts)).value()
            }
            Content::KeyBundle(parts) => {
                of("RSAPrivateKeyBundleSecretConfig").list("PrivateKeyPEMs", &each(parts)).value()
            }
        })
    }
}

impl CertificateContent {
    /// A certificate of this kind for nobody.
    #[must_use]
    pub fn new(kind: CertificateKind) -> Self {
        Self {
            common_name: String::new(),
            organizations: Vec::new(),
            dns_names: Vec::new(),
            ip_addresses: None,
            kind,
            pkcs8: false,
            validity: None,
            without_authority: false,
            with_chain: false,
        }
    }

    fn checksum(&self, name: &str, authority: Option<&SigningAuthority>) -> Result<u64, AuthorityError> {
        let addresses = self.ip_addresses.as_ref().map(|addresses| {
            // Go's net.ParseIP gives 16 bytes for addresses of both versions.
            let octets = |address: &IpAddr| match address {
                IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
                IpAddr::V6(address) => address.octets(),
            };
            checksum::list(addresses.iter().map(|address| checksum::bytes(&octets(address))))
        });
        let nanoseconds = |validity: Duration| i64::try_from(validity.as_nanos()).unwrap_or(i64::MAX);
        Ok(StructChecksum::new("CertificateSecretConfig")
            .text("Name", name)
            .text("CommonName", &self.common_name)
            .texts("Organization", &self.organizations)
            .texts("DNSNames", &self.dns_names)
            .optional("IPAddresses", addresses)
            .text("CertType", self.kind.name())
            .optional("SigningCA", authority.map(SigningAuthority::checksum).transpose()?)
            .integer("PKCS", if self.pkcs8 { PKCS8 } else { 0 })
            .optional("Validity", self.validity.map(|validity| checksum::integer(nanoseconds(validity))))
            .flag("SkipPublishingCACertificate", self.without_authority)
            .flag("IncludeCACertificateInServerChain", self.with_chain)
            .value())
    }
}

impl ControlPlaneContent {
    fn checksum(&self, name: &str, authority: Option<&SigningAuthority>) -> Result<u64, AuthorityError> {
        // The certificate gets its name when it is made, which is later.
        let certificate =
            self.certificate.as_ref().map(|content| content.checksum("", authority)).transpose()?;
        let clusters: Vec<u64> = self.clusters.iter().map(KubeconfigCluster::checksum).collect();
        Ok(StructChecksum::new("ControlPlaneSecretConfig")
            .text("Name", name)
            .optional("CertificateSecretConfig", certificate)
            .list("KubeConfigRequests", &clusters)
            .value())
    }
}

impl CertificateKind {
    fn name(self) -> &'static str {
        match self {
            Self::Authority => "ca",
            Self::Server => "server",
            Self::Client => "client",
            Self::ServerAndClient => "both",
        }
    }
}

impl KubeconfigCluster {
    fn checksum(&self) -> u64 {
        StructChecksum::new("KubeConfigRequest")
            .text("ClusterName", &self.name)
            .text("APIServerHost", &self.host)
            .bytes("CAData", &self.authorities)
            .value()
    }
}

impl TokenUser {
    fn checksum(&self) -> u64 {
        StructChecksum::new("TokenConfig")
            .text("Username", &self.name)
            .text("UserID", &self.id)
            .texts("Groups", &self.groups)
            .value()
    }
}

impl KubeconfigContent {
    fn checksum(&self, name: &str) -> u64 {
        let cluster = StructChecksum::new("Cluster")
            .text("Server", &self.server)
            .bytes("CertificateAuthorityData", &self.authorities);
        let has_cluster = !self.server.is_empty() || !self.authorities.is_empty();
        let user =
            StructChecksum::new("AuthInfo").text("Token", &self.token).text("TokenFile", &self.token_file);
        let has_user = !self.token.is_empty() || !self.token_file.is_empty();
        StructChecksum::new("KubeconfigSecretConfig")
            .text("Name", name)
            .text("ContextName", &self.context)
            .optional("Cluster", has_cluster.then(|| cluster.value()))
            .optional("AuthInfo", has_user.then(|| user.value()))
            .value()
    }
}

impl fmt::Debug for KubeconfigContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KubeconfigContent").field("server", &self.server).finish_non_exhaustive()
    }
}

/// Without what may be secret.
impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Certificate(content) => fmt::Debug::fmt(content, f),
            Self::ControlPlane(content) => fmt::Debug::fmt(content, f),
            Self::BasicAuth { user, .. } => write!(f, "BasicAuth({user})"),
            Self::StaticTokens(users) => fmt::Debug::fmt(users, f),
            Self::RsaKey { bits, .. } => write!(f, "RsaKey({bits})"),
            Self::EtcdEncryptionKey { length } => write!(f, "EtcdEncryptionKey({length})"),
            Self::VpnKey => f.write_str("VpnKey"),
            Self::Kubeconfig(content) => fmt::Debug::fmt(content, f),
            Self::CertificateBundle(parts) => write!(f, "CertificateBundle({})", parts.len()),
            Self::KeyBundle(parts) => write!(f, "KeyBundle({})", parts.len()),
        }
    }
}

fn length(characters: usize) -> i64 {
    i64::try_from(characters).unwrap_or(i64::MAX)
}

fn each(parts: &[Vec<u8>]) -> Vec<u64> {
    parts.iter().map(|part| checksum::bytes(part)).collect()
}

#[cfg(test)]
mod tests;
