//! Secrets that kube-apiserver needs from the secrets manager.

use std::collections::BTreeMap;

use api::operator::Garden;
use secrets::request::TokenUser;
use secrets::{
    AuthorityChoice, CertificateContent, CertificateKind, Content, GenerateOptions, RotationStrategy,
    SecretRequest, Signer,
};

use super::{NAME, domains};
use crate::components::NAMESPACE;
use crate::components::api_server::encryption;
use crate::components::error::RenderError;
use crate::components::generated::{CA, GeneratedSecrets, RequestedSecret, service_names};
use crate::components::values::encryption_key_phase;

/// The key that encrypts data in etcd.
pub const ENCRYPTION_KEY: &str = "kube-apiserver-etcd-encryption-key";
/// The key that signs tokens of ServiceAccounts.
pub const SERVICE_ACCOUNT_KEY: &str = "service-account-key";
/// The client certificate for aggregated API servers.
pub const KUBE_AGGREGATOR: &str = "kube-aggregator";
/// The server certificate.
pub const SERVER_CERTIFICATE: &str = "kube-apiserver";
/// The file with static tokens.
pub const STATIC_TOKEN: &str = "kube-apiserver-static-token";
/// The authority of aggregated API servers' clients.
pub(super) const CA_FRONT_PROXY: &str = "ca-front-proxy";
/// The authority of clients.
pub(super) const CA_CLIENT: &str = "ca-client";
/// Key of the file with static tokens.
const TOKENS_KEY: &str = "static_tokens.csv";
/// The user of probes.
const HEALTH_CHECK: &str = "health-check";
/// The phase of a rotation in which the old key goes.
const COMPLETING: &str = "Completing";
/// Bits of the key that signs tokens.
const KEY_BITS: u32 = 4096;

/// What kube-apiserver needs, in the original's order. OPC-083, OPC-084, OPC-098.
#[must_use]
pub fn requests(garden: &Garden) -> Vec<RequestedSecret> {
    vec![
        encryption::request(ENCRYPTION_KEY, encryption_key_phase(garden)),
        service_account_key(garden),
        kube_aggregator(),
        server_certificate(garden),
        static_token(),
    ]
}

/// The token with which the container's probes authenticate. OPC-085.
pub(super) fn health_check_token(secrets: &GeneratedSecrets) -> Result<String, RenderError> {
    let data = &secrets.all(STATIC_TOKEN)?.current.data;
    let text = String::from_utf8_lossy(data.get(TOKENS_KEY)).into_owned();
    let of_user = text.lines().find_map(|line| {
        let mut fields = line.split(',');
        let (token, user) = (fields.next()?, fields.next()?);
        (user == HEALTH_CHECK).then(|| token.to_owned())
    });
    of_user.ok_or_else(|| RenderError::UnknownSecret(format!("{STATIC_TOKEN} with user {HEALTH_CHECK}")))
}

fn service_account_key(garden: &Garden) -> RequestedSecret {
    let credentials = garden.status.credentials.as_ref();
    let rotation =
        credentials.and_then(|credentials| credentials.rotation.as_ref()?.service_account_key.as_ref());
    let options = GenerateOptions {
        persist: true,
        rotation: RotationStrategy::KeepOld,
        ignore_old: rotation.is_some_and(|rotation| rotation.phase == COMPLETING),
        ..GenerateOptions::default()
    };
    let content = Content::RsaKey { bits: KEY_BITS, for_ssh: false };
    RequestedSecret { request: SecretRequest::new(SERVICE_ACCOUNT_KEY, content), options }
}

fn kube_aggregator() -> RequestedSecret {
    let content = CertificateContent {
        common_name: "system:kube-aggregator".to_owned(),
        without_authority: true,
        ..CertificateContent::new(CertificateKind::Client)
    };
    let signer = Some(Signer::new(CA_FRONT_PROXY));
    RequestedSecret {
        request: SecretRequest::new(KUBE_AGGREGATOR, Content::Certificate(content)),
        options: GenerateOptions { signer, ..GenerateOptions::default() },
    }
}

/// With the authority in the chain. The original gives it an empty list of addresses, which counts in its checksum.
fn server_certificate(garden: &Garden) -> RequestedSecret {
    let names = [service_names(NAME, NAMESPACE), domains(garden)].concat();
    let mut requested = RequestedSecret::server(SERVER_CERTIFICATE, NAME, names, CA, AuthorityChoice::ByKind);
    if let Content::Certificate(content) = &mut requested.request.content {
        content.ip_addresses = Some(Vec::new());
        content.with_chain = true;
    }
    requested
}

fn static_token() -> RequestedSecret {
    let user = TokenUser { name: HEALTH_CHECK.to_owned(), id: HEALTH_CHECK.to_owned(), groups: Vec::new() };
    let content = Content::StaticTokens(BTreeMap::from([(HEALTH_CHECK.to_owned(), user)]));
    RequestedSecret {
        request: SecretRequest::new(STATIC_TOKEN, content),
        options: GenerateOptions { persist: true, ..GenerateOptions::default() },
    }
}
