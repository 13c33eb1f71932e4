//! The command line of gardener-apiserver.

use std::process::Command;

use rstest::rstest;

use super::aggregated::certified;

#[rstest]
#[case(&[], 1, "--cluster-identity: must be specified")]
#[case(&["--cluster-identity=a"], 1, "--tls-cert-file: must be specified with --tls-private-key-file")]
#[case(&["--cluster-identity=a", "--tls-cert-file=/none"], 1, "--tls-cert-file=/none: needs --tls-private-key-file")]
#[case(&["--etcd-servers=https://etcd:2379"], 1, "--storage-dir")]
#[case(&["--encryption-provider-config=/none"], 1, "--encryption-provider-config: is not built")]
#[case(&["--version"], 0, "gardener-apiserver v")]
#[case(&["--help"], 0, "--authentication-kubeconfig VALUE")]
fn the_reason_is_printed(#[case] flags: &[&str], #[case] code: i32, #[case] want: &str) {
    let ended = Command::new(env!("CARGO_BIN_EXE_gardener-apiserver")).args(flags).output().unwrap();
    let printed = String::from_utf8(ended.stdout).unwrap();
    assert_eq!(ended.status.code(), Some(code), "{printed}");
    assert!(printed.contains(want), "{printed}");
}

/// Outside a cluster, each kubeconfig is needed; the flags before `missing` are given.
#[rstest]
#[case(&[], "kubeconfig")]
#[case(&["kubeconfig"], "authentication-kubeconfig")]
#[case(&["kubeconfig", "authentication-kubeconfig"], "authorization-kubeconfig")]
fn a_missing_kubeconfig_is_named_with_its_remedy(#[case] given: &[&str], #[case] missing: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let pair = certified("gardener-apiserver").1;
    std::fs::write(path("tls.crt"), pair.certificate_pem).unwrap();
    std::fs::write(path("tls.key"), pair.key_pem).unwrap();
    std::fs::write(path("kubeconfig"), KUBECONFIG).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gardener-apiserver"));
    command.env_remove("KUBERNETES_SERVICE_HOST").env_remove("KUBERNETES_SERVICE_PORT");
    command.arg("--cluster-identity=a");
    command.arg(format!("--tls-cert-file={}", path("tls.crt")));
    command.arg(format!("--tls-private-key-file={}", path("tls.key")));
    command.args(given.iter().map(|flag| format!("--{flag}={}", path("kubeconfig"))));
    let ended = command.output().unwrap();
    let printed = String::from_utf8(ended.stdout).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{printed}");
    let want = format!("Error: --{missing}: must be specified outside a cluster: write --{missing}=FILE, ");
    assert!(printed.contains(&want), "{printed}");
}

/// A kubeconfig that can be read; nothing connects to its server.
const KUBECONFIG: &str = r#"
{apiVersion: v1, kind: Config, current-context: a,
 clusters: [{name: a, cluster: {server: "https://127.0.0.1:1", insecure-skip-tls-verify: true}}],
 users: [{name: a, user: {token: a}}],
 contexts: [{name: a, context: {cluster: a, user: a}}]}
"#;
