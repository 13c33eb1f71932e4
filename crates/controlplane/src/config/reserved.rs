//! Flags, volumes, files and units that Gardener sets and webhooks must not change.

/// Flags of a component that webhooks must not change, each with its clause; a name that ends with `*` is a prefix.
pub(super) type ReservedFlags = &'static [(&'static str, &'static str)];

/// Of kube-apiserver.
pub(super) const KUBE_API_SERVER: ReservedFlags = &[
    ("--enable-admission-plugins", "CP-016"),
    ("--disable-admission-plugins", "CP-016"),
    ("--etcd-cafile", "CP-017"),
    ("--etcd-certfile", "CP-017"),
    ("--etcd-keyfile", "CP-017"),
    ("--tls-*", "CP-017"),
    ("--client-ca-file", "CP-017"),
    ("--kubelet-certificate-authority", "CP-017"),
    ("--kubelet-client-*", "CP-017"),
    ("--proxy-client-*", "CP-017"),
    ("--requestheader-*", "CP-017"),
    ("--service-account-key-file", "CP-017"),
    ("--service-account-signing-key-file", "CP-017"),
    ("--encryption-provider-config", "CP-017"),
    ("--audit-*", "CP-018"),
    ("--secure-port", "CP-019"),
    ("--endpoint-reconciler-type", "CP-024"),
    ("--advertise-address", "CP-025"),
];

/// Of kube-controller-manager.
pub(super) const KUBE_CONTROLLER_MANAGER: ReservedFlags = &[
    ("--kubeconfig", "CP-043"),
    ("--authentication-kubeconfig", "CP-043"),
    ("--authorization-kubeconfig", "CP-043"),
    ("--leader-elect", "CP-044"),
    ("--tls-*", "CP-045"),
    ("--cluster-signing-*", "CP-045"),
    ("--root-ca-file", "CP-045"),
    ("--service-account-private-key-file", "CP-045"),
    ("--cluster-cidr", "CP-046"),
    ("--cluster-name", "CP-046"),
    ("--concurrent-*", "CP-047"),
    ("--horizontal-pod-autoscaler-*", "CP-048"),
    ("--port", "CP-049"),
    ("--secure-port", "CP-049"),
];

/// Of the kubelet.
pub(super) const KUBELET: ReservedFlags = &[
    ("--config", "CP-097"),
    ("--bootstrap-kubeconfig", "CP-098"),
    ("--kubeconfig", "CP-098"),
    ("--network-plugin", "CP-099"),
    ("--cni-bin-dir", "CP-099"),
    ("--cni-conf-dir", "CP-099"),
    ("--node-labels", "CP-100"),
];

/// Volumes in the pods of kube-apiserver and kube-controller-manager; a name that ends with `*` is a prefix.
pub(super) const VOLUMES: [&str; 29] = [
    "admission-config",
    "admission-kubeconfigs",
    "audit-policy-config",
    "audit-webhook-kubeconfig",
    "authentication-webhook-kubeconfig",
    "authorization-webhook-kubeconfig",
    "ca",
    "ca-client",
    "ca-etcd",
    "ca-front-proxy",
    "ca-kubelet",
    "ca-vpn",
    "dev-net-tun",
    "egress-selection-config",
    "etcd-client",
    "etcd-encryption-secret",
    "http-proxy",
    "kube-aggregator",
    "kube-api-access-gardener",
    "kubeconfig",
    "kubelet-client",
    "oidc-cabundle",
    "server",
    "service-account-key",
    "service-account-key-bundle",
    "static-token",
    "tls-sni-*",
    "vpn-seed-*",
    "watchdog",
];

/// Files of a node.
pub(super) const FILES: [&str; 4] = [
    "/etc/sysctl.d/99-k8s-general.conf",
    "/opt/bin/health-monitor-kubelet",
    "/var/lib/kubelet/ca.crt",
    "/var/lib/kubelet/config/kubelet",
];

/// Units of a node.
pub(super) const UNITS: [&str; 2] = ["kubelet-monitor.service", "kubelet.service"];

/// Whether a name matches a pattern.
pub(super) fn matches_pattern(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == name, |beginning| name.starts_with(beginning))
}
