//! Runs the program in kind/messages, which prints the protobuf layout of Go's types, and objects as Go encodes them.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::bundle::gzip;
use super::releases;

/// The messages of kinds, one per line, compressed.
pub(crate) fn table(kinds: &str) -> Result<Vec<u8>> {
    gzip(&run("table", kinds)?)
}

/// Encoded objects of kinds, one per line, compressed.
pub(crate) fn vectors(kinds: &str) -> Result<Vec<u8>> {
    gzip(&run("vectors", kinds)?)
}

/// The kinds of an index and those of older releases, as lines of `group/version/kind definition`.
pub(crate) fn kinds(index: &[u8], crates: &Path) -> Result<String> {
    let newest = of_index(index)?;
    Ok(releases::lines(&newest) + &releases::retired_kinds(crates, &newest)?)
}

fn run(what: &str, kinds: &str) -> Result<String> {
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

/// The definitions of an index by kind.
fn of_index(index: &[u8]) -> Result<BTreeMap<String, String>> {
    let index: Value = serde_json::from_slice(index).context("the index is not JSON")?;
    let kinds = index["kinds"].as_object().context("the index has no kinds")?;
    let entry = |(kind, name): (&String, &Value)| Some((kind.clone(), name.as_str()?.to_owned()));
    kinds.iter().map(entry).collect::<Option<_>>().context("a kind has no definition")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_names_the_definition_of_each_kind() {
        let index = br#"{"kinds": {"/v1/Pod": "io.k8s.api.core.v1.Pod", "apps/v1/Deployment": "io.k8s.api.apps.v1.Deployment"}}"#;
        let wanted =
            [("/v1/Pod", "io.k8s.api.core.v1.Pod"), ("apps/v1/Deployment", "io.k8s.api.apps.v1.Deployment")];
        let wanted = wanted.map(|(kind, name)| (kind.to_owned(), name.to_owned()));
        assert_eq!(of_index(index).expect("an index"), BTreeMap::from(wanted));
        assert!(of_index(b"{}").is_err());
        assert!(of_index(br#"{"kinds": {"a": 1}}"#).is_err());
    }
}
