//! The command of kube-controller-manager: the program and its flags, in the original's order.

use crate::components::NAMESPACE;
use crate::components::access::KUBECONFIG;
use crate::components::api_server::{CIPHER_SUITES, gates};
use crate::components::durations;
use crate::components::error::RenderError;
use crate::components::values::GardenValues;
use crate::network::Network;

use super::PORT;

/// OPC-103.
const CONTROLLERS: &str = "namespace,serviceaccount,clusterrole-aggregation,garbagecollector,csrapproving,csrcleaner,csrsigning,\
     bootstrapsigner,tokencleaner,resourcequota";
/// How long certificates are valid that it signs, unless the Garden says otherwise; a Garden that the API server has defaulted does.
const SIGNING_DURATION: &str = "720h0m0s";
const CA_FOLDER: &str = "/srv/kubernetes/ca";
const CLIENT_CA_FOLDER: &str = "/srv/kubernetes/ca-client";
const KEY_FOLDER: &str = "/srv/kubernetes/service-account-key";
const SERVER_FOLDER: &str = "/var/lib/kube-controller-manager-server";

/// Volumes with Secrets, and where they are mounted.
pub(super) const MOUNTS: [(&str, &str); 4] = [
    ("ca", CA_FOLDER),
    ("ca-client", CLIENT_CA_FOLDER),
    ("service-account-key", KEY_FOLDER),
    ("server", SERVER_FOLDER),
];

/// The whole command. OPC-103 to -106.
pub(super) fn command(values: &GardenValues<'_>) -> Result<Vec<String>, RenderError> {
    let cluster = &values.garden.spec.virtual_cluster;
    let config = cluster.kubernetes.kube_controller_manager.as_ref();
    let duration = config.and_then(|config| config.certificate_signing_duration.as_ref());
    let duration = duration.map_or_else(|| SIGNING_DURATION.to_owned(), durations::printed);
    let (certificate, key) = (format!("{CLIENT_CA_FOLDER}/ca.crt"), format!("{CLIENT_CA_FOLDER}/ca.key"));
    let mut command = vec![
        "/usr/local/bin/kube-controller-manager".to_owned(),
        format!("--authentication-kubeconfig={KUBECONFIG}"),
        format!("--authorization-kubeconfig={KUBECONFIG}"),
        format!("--kubeconfig={KUBECONFIG}"),
        format!("--controllers={CONTROLLERS}"),
        format!("--cluster-name={NAMESPACE}"),
        format!("--cluster-signing-kube-apiserver-client-cert-file={certificate}"),
        format!("--cluster-signing-kube-apiserver-client-key-file={key}"),
        format!("--cluster-signing-legacy-unknown-cert-file={certificate}"),
        format!("--cluster-signing-legacy-unknown-key-file={key}"),
        format!("--cluster-signing-duration={duration}"),
        "--concurrent-endpoint-syncs=15".to_owned(),
        "--concurrent-gc-syncs=250".to_owned(),
        "--concurrent-service-endpoint-syncs=15".to_owned(),
        "--concurrent-namespace-syncs=100".to_owned(),
        "--concurrent-resource-quota-syncs=100".to_owned(),
        "--resource-quota-sync-period=1m0s".to_owned(),
    ];
    command.extend(config.and_then(|config| gates(&config.feature_gates)));
    command.extend([
        format!("--root-ca-file={CA_FOLDER}/bundle.crt"),
        format!("--service-account-private-key-file={KEY_FOLDER}/id_rsa"),
        format!("--secure-port={PORT}"),
        format!("--service-cluster-ip-range={}", network(&cluster.networking.services)?),
        "--profiling=false".to_owned(),
        format!("--tls-cert-file={SERVER_FOLDER}/tls.crt"),
        format!("--tls-private-key-file={SERVER_FOLDER}/tls.key"),
        format!("--tls-cipher-suites={}", CIPHER_SUITES.join(",")),
        "--use-service-account-credentials=true".to_owned(),
        "--v=2".to_owned(),
    ]);
    Ok(command)
}

/// A network with its base address.
fn network(text: &str) -> Result<Network, RenderError> {
    Network::parse(text).ok_or_else(|| RenderError::ServiceNetwork(text.to_owned()))
}
