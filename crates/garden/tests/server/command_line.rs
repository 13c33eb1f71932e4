//! The command line of gardener-apiserver.

use std::process::Command;

use rstest::rstest;

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
