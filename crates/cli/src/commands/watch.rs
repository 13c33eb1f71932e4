//! `watch`: verifies a target again whenever its program, its files or a contract changes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use contract::source::{EXTENSIONS, files_below};

use super::verify;
use crate::arguments::VerifyArguments;
use crate::catalog::working_folder;
use crate::ending::Ending;
use crate::signals;
use crate::targets;
use crate::terminal::{Failure, Terminal};

/// How often files are checked for changes.
const INTERVAL: Duration = Duration::from_millis(250);

/// Verifies until SIGINT or SIGTERM. Returns the end of the last run.
pub(crate) fn watch(
    arguments: &VerifyArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<Ending, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::environment(format!("failed to start: {error}")))?;
    loop {
        let folder = added.map(Path::to_owned).or_else(|| working_folder::above(Path::new(".")));
        let watched = WatchedFiles::of(arguments, folder)?;
        let before = watched.state();
        let contracts = watched
            .folder
            .as_deref()
            .filter(|folder| added.is_some() || working_folder::differing(folder) > 0);
        let ending = verify::verify(arguments, contracts, terminal)
            .unwrap_or_else(|failure| terminal.report_failure(&failure));
        if matches!(ending.code, 130 | 143) {
            return Ok(ending);
        }
        terminal.print_ending(&ending);
        terminal.note(&format!("watching {}", watched.describe()));
        match runtime.block_on(watched.changed(before)) {
            None => return Ok(Ending { cause: String::new(), ..ending }),
            Some(path) => terminal.note(&format!("\nchanged  {}", path.display())),
        }
    }
}

/// The files whose change starts another run.
struct WatchedFiles {
    /// The target's.
    files: Vec<PathBuf>,
    /// The folder of contracts.
    folder: Option<PathBuf>,
}

/// When each file was written, and its length.
type FileStates = BTreeMap<PathBuf, Option<(SystemTime, u64)>>;

impl WatchedFiles {
    fn of(arguments: &VerifyArguments, folder: Option<PathBuf>) -> Result<Self, Failure> {
        let mut files = targets::files(&arguments.target)?;
        files.extend(arguments.running.config.clone());
        files.extend(arguments.cases.execution.waivers.clone());
        if files.is_empty() && folder.is_none() {
            return Err(Failure::usage(
                "--target: there is nothing to watch: a target that runs already has no program here, and there is no folder of \
                 contracts (--contracts); use command=… or a target file",
            ));
        }
        Ok(Self { files, folder })
    }

    fn state(&self) -> FileStates {
        let in_folder = self
            .folder
            .iter()
            .flat_map(|folder| files_below(folder, &EXTENSIONS).map(|found| found.paths).unwrap_or_default());
        let state = |path: PathBuf| {
            let found =
                fs::metadata(&path).ok().and_then(|found| Some((found.modified().ok()?, found.len())));
            (path, found)
        };
        self.files.iter().cloned().chain(in_folder).map(state).collect()
    }

    /// Waits until a file has changed and all have stayed the same for a moment, so that what is being written is complete. Returns
    /// the file; `None` at SIGINT or SIGTERM.
    async fn changed(&self, before: FileStates) -> Option<PathBuf> {
        let settled = async {
            let mut last = before.clone();
            loop {
                tokio::time::sleep(INTERVAL).await;
                let now = self.state();
                let is_still = now == last;
                if let Some(path) = differing(&before, &now).filter(|_| is_still) {
                    return path;
                }
                last = now;
            }
        };
        tokio::select! {
            path = settled => Some(path),
            _ = signals::interrupt_or_terminate() => None,
        }
    }

    fn describe(&self) -> String {
        let files = self.files.iter().map(|file| file.display().to_string());
        let folder = self.folder.iter().map(|folder| format!("{}/**", folder.display()));
        files.chain(folder).collect::<Vec<_>>().join(", ")
    }
}

/// The first file that has changed. A missing file is being written again: it differs when it is back.
fn differing(before: &FileStates, now: &FileStates) -> Option<PathBuf> {
    let is_other = |(path, state): &(&PathBuf, &Option<(SystemTime, u64)>)| {
        state.is_some() && before.get(*path) != Some(*state)
    };
    let changed = now.iter().find(is_other).map(|(path, _)| path.clone());
    let is_gone = |path: &&PathBuf| !now.contains_key(*path);
    changed.or_else(|| before.keys().find(is_gone).cloned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_written_anew_differs_when_it_is_back() {
        let at = |seconds: u64| Some((SystemTime::UNIX_EPOCH + Duration::from_secs(seconds), 1));
        let states = |entries: &[(&str, Option<(SystemTime, u64)>)]| -> FileStates {
            entries.iter().map(|(path, state)| (PathBuf::from(path), *state)).collect()
        };
        let before = states(&[("a", at(1)), ("b", at(1))]);
        let found = |now: &[(&str, Option<(SystemTime, u64)>)]| {
            differing(&before, &states(now)).map(|path| path.display().to_string())
        };
        assert_eq!(found(&[("a", at(1)), ("b", at(1))]), None);
        assert_eq!(found(&[("a", None), ("b", at(1))]), None);
        assert_eq!(found(&[("a", at(2)), ("b", at(1))]).as_deref(), Some("a"));
        assert_eq!(found(&[("a", at(1)), ("b", at(1)), ("c", at(1))]).as_deref(), Some("c"));
        assert_eq!(found(&[("a", at(1))]).as_deref(), Some("b"));
    }
}
