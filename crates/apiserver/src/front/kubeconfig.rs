//! A kubeconfig, as kubectl and client-go read it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::authority::KeyPair;

/// One cluster, one user, one context.
pub(super) fn text(url: &str, ca_pem: &str, client: &KeyPair) -> String {
    let authority = STANDARD.encode(ca_pem);
    let certificate = STANDARD.encode(&client.certificate_pem);
    let key = STANDARD.encode(&client.key_pem);
    format!(
        "apiVersion: v1
kind: Config
clusters:
- name: embedded
  cluster:
    server: {url}
    certificate-authority-data: {authority}
users:
- name: admin
  user:
    client-certificate-data: {certificate}
    client-key-data: {key}
contexts:
- name: embedded
  context:
    cluster: embedded
    user: admin
current-context: embedded
"
    )
}
