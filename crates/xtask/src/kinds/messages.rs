//! Runs the program in kind/messages, which prints the protobuf layout of Go's types, and objects as Go encodes them.

use std::io::{self, Write as _};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::bundle::gzip;

/// The messages of the kinds of an index, one per line, compressed.
pub(crate) fn table(index: &[u8]) -> Result<Vec<u8>> {
    gzip(&run("table", index)?)
}

/// Encoded objects of the kinds of an index, one per line, compressed.
pub(crate) fn vectors(index: &[u8]) -> Result<Vec<u8>> {
    gzip(&run("vectors", index)?)
}

fn run(what: &str, index: &[u8]) -> Result<String> {
    let kinds = kinds(index)?;
    let mut go = Command::new("go")
        .args(["run", "-mod=readonly", ".", what])
        .current_dir(crate::chore::root().join("kind/messages"))
        .env("CGO_ENABLED", "0")
        .env("GOWORK", "off")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(io::stderr())
        .spawn()
        .context("failed to start go; kind/messages needs Go")?;
    // The program reads all kinds before it prints, so this cannot deadlock.
    let input = go.stdin.take().context("the input is not piped")?;
    { input }.write_all(kinds.as_bytes()).context("failed to write the kinds to kind/messages")?;
    let output = go.wait_with_output().context("failed to wait for kind/messages")?;
    ensure!(output.status.success(), "kind/messages {what} failed: {}", output.status);
    String::from_utf8(output.stdout).context("the output of kind/messages is not UTF-8")
}

/// The kinds of an index as lines of `group/version/kind definition`.
fn kinds(index: &[u8]) -> Result<String> {
    let index: Value = serde_json::from_slice(index).context("the index is not JSON")?;
    let kinds = index["kinds"].as_object().context("the index has no kinds")?;
    let line = |(kind, name): (&String, &Value)| Some(format!("{kind} {}\n", name.as_str()?));
    kinds.iter().map(line).collect::<Option<String>>().context("a kind has no definition")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_written_one_per_line() {
        let index = br#"{"kinds": {"/v1/Pod": "io.k8s.api.core.v1.Pod", "apps/v1/Deployment": "io.k8s.api.apps.v1.Deployment"}}"#;
        let wanted = "/v1/Pod io.k8s.api.core.v1.Pod\napps/v1/Deployment io.k8s.api.apps.v1.Deployment\n";
        assert_eq!(kinds(index).expect("an index"), wanted);
        assert!(kinds(b"{}").is_err());
        assert!(kinds(br#"{"kinds": {"a": 1}}"#).is_err());
    }
}
