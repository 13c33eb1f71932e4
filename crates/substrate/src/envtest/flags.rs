//! The flags of the programs.

use std::path::Path;

/// The Service addresses of every cluster.
const SERVICES: &str = "10.0.0.0/24";

/// Flags of etcd on loopback, with its data in `folder`, without fsync.
pub(super) fn etcd(folder: &Path, client: u16, peer: u16) -> Vec<String> {
    vec![
        format!("--data-dir={}", folder.join("etcd").display()),
        format!("--listen-client-urls=http://127.0.0.1:{client}"),
        format!("--advertise-client-urls=http://127.0.0.1:{client}"),
        format!("--listen-peer-urls=http://127.0.0.1:{peer}"),
        format!("--initial-advertise-peer-urls=http://127.0.0.1:{peer}"),
        format!("--initial-cluster=default=http://127.0.0.1:{peer}"),
        "--unsafe-no-fsync".to_owned(),
    ]
}

/// Flags of kube-apiserver with the credentials in `folder`, and its objects under `prefix` in etcd.
///
/// No `--runtime-config`: it serves the default APIs. The ServiceAccount admission is off: without a controller that
/// creates service accounts it would refuse every pod.
pub(super) fn kube_apiserver(folder: &Path, prefix: &str, etcd: u16, secure: u16) -> Vec<String> {
    let path = |name: &str| folder.join(name).display().to_string();
    vec![
        format!("--etcd-servers=http://127.0.0.1:{etcd}"),
        format!("--etcd-prefix=/{prefix}"),
        format!("--secure-port={secure}"),
        "--bind-address=127.0.0.1".to_owned(),
        "--advertise-address=127.0.0.1".to_owned(),
        format!("--cert-dir={}", folder.display()),
        format!("--tls-cert-file={}", path("tls.crt")),
        format!("--tls-private-key-file={}", path("tls.key")),
        format!("--client-ca-file={}", path("ca.crt")),
        "--authorization-mode=RBAC".to_owned(),
        format!("--service-cluster-ip-range={SERVICES}"),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        format!("--service-account-key-file={}", path("sa.pub")),
        format!("--service-account-signing-key-file={}", path("sa.key")),
        "--disable-admission-plugins=ServiceAccount".to_owned(),
        "--allow-privileged".to_owned(),
    ]
}

/// Flags of kube-controller-manager with all controllers, each as its own service account, and without a port.
pub(super) fn kube_controller_manager(folder: &Path, kubeconfig: &Path) -> Vec<String> {
    let path = |name: &str| folder.join(name).display().to_string();
    vec![
        format!("--kubeconfig={}", kubeconfig.display()),
        "--secure-port=0".to_owned(),
        "--leader-elect=false".to_owned(),
        "--use-service-account-credentials".to_owned(),
        format!("--service-account-private-key-file={}", path("sa.key")),
        format!("--root-ca-file={}", path("ca.crt")),
        format!("--cluster-signing-cert-file={}", path("ca.crt")),
        format!("--cluster-signing-key-file={}", path("ca.key")),
        format!("--service-cluster-ip-range={SERVICES}"),
    ]
}
