//! The effective configuration of a target, printed by a command in its target file.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tokio::process::Command;

use super::location::{CommandLine, ProgramLocation};
use super::placeholders::Placeholders;
use super::program::Program;
use super::{CommandTarget, configuration, file};
use crate::mask;
use crate::target::{Configured, TargetError, Trial};

/// Timeout of the command.
const PATIENCE: Duration = Duration::from_secs(10);
/// Timeout of the command with the creation of a container.
const PATIENCE_OF_CONTAINERS: Duration = Duration::from_secs(30);

/// Prints the effective configuration for the case's configuration only: the target's own file would hide defaults.
pub(super) async fn print(target: &CommandTarget, trial: &Trial<'_>) -> Result<Configured, TargetError> {
    let (Some(config), false) = (&target.spec.config, target.spec.effective.is_empty()) else {
        return Ok(Configured::Started { warnings: None, effective: None });
    };
    let folder = tempfile::Builder::new().prefix("gardener-conformance-").tempdir();
    let folder = folder.map_err(|source| file("create", "a temporary folder", source))?;
    let mut location = ProgramLocation::of(target.image.as_ref(), folder.path()).await?;
    let facts =
        trial.facts.as_ref().filter(|_| target.image.is_none() || target.uses_placeholder("Kubeconfig>"));
    let kubeconfigs = location.kubeconfigs(facts, None).await?;
    let placeholders = Placeholders::new(location.files(), kubeconfigs)?;
    placeholders.write_config(&configuration::without_own_fields(config, &target.folder, trial.config)?)?;
    let command = placeholders.fill_all(&target.spec.effective)?;
    let line = location.line(Program { command, args: Vec::new(), env: BTreeMap::new() }, &[])?;
    let name = line.name.clone();
    let printed = printed(line, &target.folder).await?;
    if let Some(error) = location.creation_error() {
        return Err(error);
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if !printed.status.success() {
        let words = format!("{}{}", text(&printed.stdout), text(&printed.stderr));
        return Ok(Configured::Refused { message: mask::masked_text(words.trim_end()) });
    }
    let effective: Value = formats::yaml::from_str(&text(&printed.stdout))
        .map_err(|error| TargetError::Description { what: name, reason: error.to_string() })?;
    Ok(Configured::Started { warnings: None, effective: Some(effective) })
}

/// Runs the command and returns its output.
async fn printed(line: CommandLine, folder: &Path) -> Result<Output, TargetError> {
    let CommandLine { words, name, ends_with_stdin, .. } = line;
    let mut printing = Command::new(&words[0])
        .args(&words[1..])
        .current_dir(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
        .stdin(if ends_with_stdin { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(!ends_with_stdin)
        .spawn()
        .map_err(|source| TargetError::Spawn { command: name.clone(), source })?;
    // Closed when this function returns.
    let _input = printing.stdin.take();
    let patience = if ends_with_stdin { PATIENCE_OF_CONTAINERS } else { PATIENCE };
    let printed = tokio::time::timeout(patience, printing.wait_with_output()).await;
    let printed = printed.map_err(|_| TargetError::NotReady {
        command: name.clone(),
        ready: "its end".to_owned(),
        seconds: patience.as_secs(),
        hint: "",
        last_output: String::new(),
    })?;
    printed.map_err(|source| TargetError::Spawn { command: name, source })
}
