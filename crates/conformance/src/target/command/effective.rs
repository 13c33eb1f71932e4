//! The configuration that a target works with, printed by the command that its target file names.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::process::Command;

use super::place::{Line, Place, Program};
use super::placeholders::Placeholders;
use super::{CommandTarget, configuration, file};
use crate::mask;
use crate::target::{Configured, TargetError, Trial};

/// How long printing may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Prints what becomes of the case's configuration alone: the target's own file would hide defaults.
pub(super) async fn print(target: &CommandTarget, trial: &Trial<'_>) -> Result<Configured, TargetError> {
    let (Some(config), false) = (&target.spec.config, target.spec.effective.is_empty()) else {
        return Ok(Configured::Started { warnings: None, effective: None });
    };
    let folder = tempfile::Builder::new().prefix("gardener-conformance-").tempdir();
    let folder = folder.map_err(|source| file("create", "a temporary folder", source))?;
    let mut place = Place::of(target.image.as_ref(), folder.path()).await?;
    let kubeconfigs = place.kubeconfigs(trial.facts.as_ref(), None).await?;
    let placeholders = Placeholders::new(place.files(), kubeconfigs)?;
    placeholders.write_config(&configuration::alone(config, &target.folder, trial.config)?)?;
    let command = placeholders.fill_all(&target.spec.effective)?;
    let Line { words, name, removal: _removal, .. } =
        place.line(Program { command, args: Vec::new(), env: BTreeMap::new() }, &[]);
    let printing = Command::new(&words[0])
        .args(&words[1..])
        .current_dir(if target.folder.as_os_str().is_empty() {
            ".".as_ref()
        } else {
            target.folder.as_path()
        })
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let printed = tokio::time::timeout(PATIENCE, printing).await.map_err(|_| TargetError::NotReady {
        command: name.clone(),
        ready: "its end".to_owned(),
        seconds: PATIENCE.as_secs(),
        last_words: String::new(),
    })?;
    let printed = printed.map_err(|source| TargetError::Spawn { command: name.clone(), source })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if !printed.status.success() {
        let words = format!("{}{}", text(&printed.stdout), text(&printed.stderr));
        return Ok(Configured::Refused { message: mask::masked_text(words.trim_end()) });
    }
    let effective: Value = formats::yaml::from_str(&text(&printed.stdout))
        .map_err(|error| TargetError::Description { what: name, reason: error.to_string() })?;
    Ok(Configured::Started { warnings: None, effective: Some(effective) })
}
