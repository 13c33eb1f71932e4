//! What the secrets manager is asked for first: authorities.

use std::collections::BTreeMap;
use std::time::Duration;

use api::operator::Garden;
use jiff::Timestamp;
use secrets::{
    CertificateContent, CertificateKind, Content, GenerateOptions, RotationStrategy, SecretRequest, Setup,
};

use crate::components::generated::{CA, CA_ETCD, CA_GARDENER, CA_RUNTIME};
use crate::components::{NAMESPACE, RequestedSecret};

/// Identity of the operator's secrets manager.
const IDENTITY: &str = "gardener-operator";

/// How long the authority of the runtime cluster is valid, which renews itself.
const RUNTIME_VALIDITY: Duration = Duration::from_hours(30 * 24);
/// How old it is when its predecessor is no longer trusted.
const RUNTIME_OVERLAP: Duration = Duration::from_hours(24);
/// The other authorities with their common names, in the order in which they are made.
const ROTATED: [(&str, &str); 6] = [
    (CA_ETCD, "etcd"),
    ("ca-etcd-peer", "etcd-peer"),
    (CA, "kubernetes"),
    ("ca-client", "kubernetes-client"),
    ("ca-front-proxy", "front-proxy"),
    (CA_GARDENER, "gardener"),
];
/// Token with which kube-apiserver is asked for its health; it is rotated with the authorities.
const STATIC_TOKEN: &str = "kube-apiserver-static-token";
const ACCOUNT_KEY: &str = "service-account-key";
const ENCRYPTION_KEYS: [&str; 2] =
    ["kube-apiserver-etcd-encryption-key", "gardener-apiserver-etcd-encryption-key"];
const OBSERVABILITY: &str = "observability-ingress";
const COMPLETING: &str = "Completing";

/// How the secrets manager of one reconciliation begins.
pub(super) fn setup(garden: &Garden) -> Setup {
    Setup {
        namespace: NAMESPACE.to_owned(),
        identity: IDENTITY.to_owned(),
        renews_authorities: true,
        rotations: rotations(garden),
    }
}

/// The seven authorities, in the order in which they are made.
pub(super) fn requests(garden: &Garden) -> Vec<RequestedSecret> {
    let rotation = garden.status.credentials.as_ref().and_then(|credentials| credentials.rotation.as_ref());
    let authorities = rotation.and_then(|rotation| rotation.certificate_authorities.as_ref());
    let ignore_old = authorities.is_some_and(|authorities| authorities.phase == COMPLETING);
    let runtime = RequestedSecret {
        request: authority(CA_RUNTIME, "", Some(RUNTIME_VALIDITY)),
        options: GenerateOptions {
            rotation: RotationStrategy::KeepOld,
            ignore_old_after: Some(RUNTIME_OVERLAP),
            ..GenerateOptions::default()
        },
    };
    let rotated = ROTATED.map(|(name, common_name)| RequestedSecret {
        request: authority(name, common_name, None),
        options: GenerateOptions {
            rotation: RotationStrategy::KeepOld,
            ignore_old,
            ..GenerateOptions::default()
        },
    });
    std::iter::once(runtime).chain(rotated).collect()
}

/// When the last rotation of each request began, as the status of the Garden says it.
fn rotations(garden: &Garden) -> BTreeMap<String, Timestamp> {
    let credentials = garden.status.credentials.as_ref();
    let Some(rotation) = credentials.and_then(|credentials| credentials.rotation.as_ref()) else {
        return BTreeMap::new();
    };
    let authorities =
        rotation.certificate_authorities.as_ref().and_then(|of| of.last_initiation_time.as_ref());
    let account_key = rotation.service_account_key.as_ref().and_then(|of| of.last_initiation_time.as_ref());
    let encryption_key =
        rotation.etcd_encryption_key.as_ref().and_then(|of| of.last_initiation_time.as_ref());
    let observability = rotation.observability.as_ref().and_then(|of| of.last_initiation_time.as_ref());
    let with_authorities = ROTATED.map(|(name, _)| name).into_iter().chain([STATIC_TOKEN]);
    let begun = with_authorities
        .map(|name| (name, authorities))
        .chain([(ACCOUNT_KEY, account_key), (OBSERVABILITY, observability)])
        .chain(ENCRYPTION_KEYS.map(|name| (name, encryption_key)));
    begun.filter_map(|(name, time)| Some((name.to_owned(), time?.0))).collect()
}

fn authority(name: &str, common_name: &str, validity: Option<Duration>) -> SecretRequest {
    let content = CertificateContent {
        common_name: common_name.to_owned(),
        validity,
        ..CertificateContent::new(CertificateKind::Authority)
    };
    SecretRequest::new(name, Content::Certificate(content))
}

#[cfg(test)]
mod tests {
    use secrets::{SecretsManager, SystemMaterial};
    use serde_json::{Value, json};

    use super::*;

    const TIME: &str = "2023-11-14T22:13:20Z";

    fn garden(rotation: &Value) -> Garden {
        serde_json::from_value(json!({"status": {"credentials": {"rotation": rotation}}})).unwrap()
    }

    /// Names that the original gives.
    #[test]
    fn authorities_have_the_names_of_the_original() {
        let now: Timestamp = TIME.parse().unwrap();
        let garden = Garden::default();
        let mut manager = SecretsManager::new(setup(&garden), Vec::new(), now).unwrap();
        let names = requests(&garden).into_iter().map(|RequestedSecret { request, options }| {
            manager.generate(&request, &options, now, &mut SystemMaterial).unwrap().secret.name
        });
        let want = [
            "ca-garden-runtime-03768586",
            "ca-etcd-f7594faa",
            "ca-etcd-peer-23be1f02",
            "ca-f6032ea0",
            "ca-client-58f8e9ac",
            "ca-front-proxy-4841e85d",
            "ca-gardener-39044a95",
        ];
        assert_eq!(names.collect::<Vec<_>>(), want);
    }

    #[test]
    fn old_authorities_go_when_their_rotation_completes() {
        let ignored = |phase: &str| -> Vec<bool> {
            let garden = garden(&json!({"certificateAuthorities": {"phase": phase}}));
            requests(&garden).iter().map(|requested| requested.options.ignore_old).collect()
        };
        assert_eq!(ignored("Prepared"), [false; 7]);
        assert_eq!(ignored("Completing"), [false, true, true, true, true, true, true]);
    }

    #[test]
    fn each_rotation_makes_its_own_secrets() {
        let names = |field: &str| -> Vec<String> {
            let garden = garden(&json!({field: {"lastInitiationTime": TIME}}));
            rotations(&garden).into_keys().collect()
        };
        let authorities = [
            "ca",
            "ca-client",
            "ca-etcd",
            "ca-etcd-peer",
            "ca-front-proxy",
            "ca-gardener",
            "kube-apiserver-static-token",
        ];
        assert_eq!(names("certificateAuthorities"), authorities);
        assert_eq!(names("serviceAccountKey"), ["service-account-key"]);
        let keys = ["gardener-apiserver-etcd-encryption-key", "kube-apiserver-etcd-encryption-key"];
        assert_eq!(names("etcdEncryptionKey"), keys);
        assert_eq!(names("observability"), ["observability-ingress"]);
        assert!(rotations(&Garden::default()).is_empty());
    }
}
