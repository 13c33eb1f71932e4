//! The outcomes of the mutants so far, one line each, so that a stopped run can continue.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::instrument::Mutant;
use super::trial::Fate;

/// A file of outcomes.
pub(super) struct Outcomes {
    path: PathBuf,
    file: Mutex<File>,
    known: BTreeMap<String, Fate>,
}

impl Outcomes {
    /// Reads what the file has, and opens it to add more.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let text = if path.exists() {
            std::fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display()))?
        } else {
            String::new()
        };
        // A line that a killed run wrote in part is left out; its mutant is tried again.
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let known = lines
            .filter_map(|line| Some((line["key"].as_str()?.to_owned(), fate(line["outcome"].as_str()?)?)));
        let known = known.collect();
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.with_context(|| format!("failed to open {}", path.display()))?;
        Ok(Self { path: path.to_owned(), file: Mutex::new(file), known })
    }

    /// What became of the mutant with this key.
    pub(super) fn get(&self, key: &str) -> Option<Fate> {
        self.known.get(key).copied()
    }

    /// Adds a line.
    pub(super) fn add(&self, key: &str, mutant: &Mutant, fate: Fate, seconds: f64) -> Result<()> {
        let line = json!({"key": key, "mutant": mutant.name, "outcome": name(fate), "seconds": seconds});
        let mut file = self.file.lock().map_err(|_| anyhow::anyhow!("a trial panicked"))?;
        writeln!(file, "{line}").with_context(|| format!("failed to write {}", self.path.display()))
    }
}

fn name(fate: Fate) -> &'static str {
    match fate {
        Fate::Noticed => "noticed",
        Fate::Hung => "hung",
        Fate::Survived => "survived",
    }
}

fn fate(name: &str) -> Option<Fate> {
    [Fate::Noticed, Fate::Hung, Fate::Survived].into_iter().find(|fate| self::name(*fate) == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_run_knows_what_an_earlier_one_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("outcomes.jsonl");
        let mutant = Mutant { id: 1, file: "a.rs".to_owned(), name: "a.rs: delete ! in f".to_owned() };
        Outcomes::open(&path).unwrap().add("k1", &mutant, Fate::Survived, 0.5).unwrap();
        std::fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap()
            .write_all(b"{\"key\": \"k2\", \"outc")
            .unwrap();
        let read = Outcomes::open(&path).unwrap();
        assert_eq!((read.get("k1"), read.get("k2")), (Some(Fate::Survived), None));
    }
}
