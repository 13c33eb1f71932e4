//! Targets outside of this process that do not start: each error contains the reason.

use std::time::Duration;

use conformance::target::command::CommandTarget;
use conformance::target::url::{TargetDescription, UrlTarget};
use conformance::target::{Facts, Setup, Target};
use contract::document::target::TargetSpec;
use serde_json::Value;
use webhook::dial::Trust;

/// Why a target does not start.
pub(crate) async fn refusal(target: &dyn Target) -> String {
    refusal_with(target, None).await
}

/// The same, with a cluster.
pub(crate) async fn refusal_with(target: &dyn Target, facts: Option<Facts>) -> String {
    let setup = Setup {
        component: "webhook",
        now: None,
        config: &Value::Null,
        instance: "seed",
        controller: None,
        facts,
        clusters: None,
    };
    let started =
        tokio::time::timeout(Duration::from_mins(1), target.start(setup)).await.expect("it gives up in time");
    match started {
        Ok(_) => "it started".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn command(line: &[&str]) -> CommandTarget {
    let spec = TargetSpec {
        command: line.iter().map(|word| (*word).to_owned()).collect(),
        ready: Some("http://127.0.0.1:<healthPort>/readyz".to_owned()),
        ..TargetSpec::default()
    };
    CommandTarget {
        known: TargetDescription::default(),
        spec,
        folder: "".into(),
        image: None,
        decisions: None,
    }
}

#[tokio::test]
async fn a_command_that_ends_early_is_quoted_without_its_secrets() {
    let script = "echo starting; echo password=hunter2 in vain >&2; exit 3";
    let text = refusal(&command(&["sh", "-c", script])).await;
    assert!(text.starts_with("sh ended before it was ready (exit status: 3); its last output:\n"), "{text}");
    assert!(text.contains("password=*** in vain") && !text.contains("hunter2"), "{text}");
}

#[tokio::test]
async fn long_keys_are_masked_and_invalid_text_is_replaced() {
    let script = "printf '\\377 begins\\n' >&2; echo '-----BEGIN RSA PRIVATE KEY-----' >&2; \
                  for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do echo SECRET$i >&2; done; \
                  echo '-----END RSA PRIVATE KEY-----' >&2; echo last >&2; exit 3";
    let text = refusal(&command(&["sh", "-c", script])).await;
    assert!(text.ends_with("its last output:\n\u{fffd} begins\n***\nlast"), "{text}");
}

#[tokio::test]
async fn a_command_that_does_not_exist_is_named() {
    let text = refusal(&command(&["./no-such-binary"])).await;
    assert_eq!(text, "failed to start ./no-such-binary: No such file or directory (os error 2)");
}

#[tokio::test]
async fn a_command_that_reads_a_cluster_needs_one() {
    let text = refusal(&command(&["sh", "-c", "true", "<sourceKubeconfig>"])).await;
    let want = "failed to read target <sourceKubeconfig>: <sourceKubeconfig> needs a cluster for facts (--kubeconfig, or an embedded one)";
    assert_eq!(text, want);
}

#[tokio::test]
async fn an_address_without_a_listener_is_an_environment_error() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let target = UrlTarget {
        known: TargetDescription::default(),
        url: format!("https://{free}"),
        trust: Trust::Insecure,
        config: None,
    };
    let text = refusal(&target).await;
    assert!(
        text.starts_with(&format!("could not reach the target: failed to connect to https://{free}")),
        "{text}"
    );
}
