//! `cargo xtask mutants`: changes the decision code of components, one place at a time, with the contracts as the only tests.
//!
//! A change that no contract notices is a missing clause, unless `mutants.yaml` beside the crate says why not. All changes are
//! compiled at once (`instrument`), so that each costs a start of the test and no build.

mod build;
mod instrument;
mod operators;
mod outcomes;
mod sample;
mod table;
mod tree;
mod trial;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use sha2::{Digest as _, Sha256};

use crate::chore::root;
use build::Built;
use instrument::Mutant;
use outcomes::Outcomes;
use table::Table;
use tree::Tree;
use trial::Fate;
use xtask::components::{self, Component};

/// Which mutants are tried.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The component whose code is changed; default: each in turn
    #[arg(long)]
    component: Option<String>,
    /// Only mutants of files whose path contains this text (repeatable)
    #[arg(long)]
    file: Vec<String>,
    /// Only mutants whose name contains this text (repeatable)
    #[arg(long)]
    name: Vec<String>,
    /// How many of a component, of every file at least one; 0: all
    #[arg(long, default_value_t = 300)]
    sample: usize,
    /// What chooses the sample
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Stop after this many minutes; the next run continues
    #[arg(long, default_value_t = 60)]
    minutes: u64,
    /// Try again what an earlier run decided
    #[arg(long)]
    anew: bool,
    /// Write the figures to contracts/<component>/mutants.yaml, where `coverage` reads them
    #[arg(long, conflicts_with_all = ["file", "name"])]
    write: bool,
    /// How many are tried at a time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
}

/// Files of a component that hold no decision: they connect it to the process, the network and the cluster.
const CONNECTING: [&str; 9] = [
    "src/main.rs",
    "src/lib.rs",
    "src/component.rs",
    "src/command.rs",
    "src/command/",
    "src/serving.rs",
    "src/serving/",
    "src/facts.rs",
    "src/facts/",
];

/// Tries the mutants of each component, prints the tables, and fails on a survivor without a stated reason.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let root = root().canonicalize()?;
    let components = match &arguments.component {
        Some(name) => vec![components::named(&root, name)?],
        None => components::all(&root)?,
    };
    // One copy and one build for all: libraries and the harness are compiled once.
    let mut code = BTreeMap::new();
    for component in &components {
        code.insert(component.name.as_str(), decision_code(&root, component)?);
    }
    let all: BTreeSet<&String> = code.values().flatten().collect();
    let folder = root.join("target/mutants");
    let tree = Tree::copy(&root, &folder.join("tree"), all.into_iter().cloned().collect())?;
    let packages: Vec<&str> = components.iter().map(|component| component.package.as_str()).collect();
    let built = build::build(&tree, &packages, &folder.join("build"))?;
    let keys = keys(&built, &tests(&root)?);
    let (mut tried, mut open, mut untried) = (0, 0, 0);
    for component in &components {
        print(&format!("{}\n", component.name));
        let run =
            Run { arguments, component, code: &code[component.name.as_str()], root: &root, tree: &tree };
        let table = run.table(&built, &keys)?;
        print(&table.to_text());
        (tried, open, untried) = (tried + table.tried(), open + table.open.len(), untried + table.untried);
        if arguments.write && table.untried == 0 {
            write(&table, component, &root)?;
        }
    }
    ensure!(tried > 0, "no mutant was tried: does a file or a name match --file and --name?");
    ensure!(
        untried == 0,
        "{untried} mutants are untried after {} minutes; run it again to go on",
        arguments.minutes
    );
    if open > 0 {
        bail!("{open} mutants survived without a stated reason: add a case, or a reason in mutants.yaml");
    }
    Ok(())
}

/// The mutants of one component.
struct Run<'a> {
    arguments: &'a Arguments,
    component: &'a Component,
    /// Its files that hold mutants.
    code: &'a [String],
    root: &'a Path,
    tree: &'a Tree,
}

impl Run<'_> {
    fn table(&self, built: &Built, keys: &BTreeMap<u32, String>) -> Result<Table> {
        let (arguments, name) = (self.arguments, &self.component.name);
        let reasons = table::reasons(&self.root.join("crates").join(name).join("mutants.yaml"))?;
        let outcomes = Outcomes::open(&self.root.join("target/mutants").join(format!("{name}.jsonl")))?;
        let own = built.mutants.iter().filter(|mutant| self.code.contains(&mutant.file));
        let selected: Vec<Mutant> = own.filter(|mutant| arguments.selects(mutant)).cloned().collect();
        let mut table = Table {
            seed: arguments.seed,
            mutants: selected.len(),
            unviable: built.unviable.iter().filter(|file| self.code.contains(file)).count(),
            ..Table::default()
        };
        let mut untried = Vec::new();
        for mutant in sample::sample(&selected, arguments.sample, arguments.seed) {
            match outcomes.get(&keys[&mutant.id]).filter(|_| !arguments.anew) {
                // A case that was added since may notice what survived.
                None | Some(Fate::Survived) => untried.push(mutant),
                Some(fate) => table.add(&mutant.name, fate, &reasons),
            }
        }
        let program =
            built.programs.get(name).with_context(|| format!("crates/{name} has no test `contracts`"))?;
        let crate_folder = self.tree.root().join("crates").join(name);
        let deadline = Instant::now() + Duration::from_secs(arguments.minutes * 60);
        table.untried = untried.len();
        let table = Mutex::new(table);
        trial::try_all(program, &crate_folder, &untried, arguments.jobs, &|mutant, fate, took| {
            outcomes.add(&keys[&mutant.id], mutant, fate, took.as_secs_f64())?;
            let mut table = table.lock().map_err(|_| anyhow::anyhow!("a trial panicked"))?;
            table.add(&mutant.name, fate, &reasons);
            table.untried -= 1;
            Ok(Instant::now() < deadline)
        })?;
        table.into_inner().map_err(|_| anyhow::anyhow!("a trial panicked"))
    }
}

impl Arguments {
    fn selects(&self, mutant: &Mutant) -> bool {
        let contains = |texts: &[String], text: &str| {
            texts.is_empty() || texts.iter().any(|part| text.contains(part.as_str()))
        };
        contains(&self.file, &mutant.file) && contains(&self.name, &mutant.name)
    }
}

/// What identifies each mutant from run to run: the code and contracts of the project, its name, and which one of that name it is.
fn keys(built: &Built, tests: &str) -> BTreeMap<u32, String> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut keys = BTreeMap::new();
    for mutant in &built.mutants {
        let number = seen.entry(&mutant.name).or_default();
        *number += 1;
        keys.insert(mutant.id, format!("{tests} {number} {}", mutant.name));
    }
    keys
}

/// A hash of everything that decides whether a mutant is noticed.
fn tests(root: &Path) -> Result<String> {
    let mut files = Vec::new();
    for folder in ["contracts", "crates"] {
        collect(&root.join(folder), &["rs", "yaml"], &mut files)?;
    }
    files.retain(|file| !file.ends_with("mutants.yaml") && !file.starts_with(root.join("crates/xtask")));
    files.sort();
    let mut hasher = Sha256::new();
    for file in files {
        let content = std::fs::read(&file).with_context(|| format!("failed to read {}", file.display()))?;
        hasher.update(Sha256::digest(&content));
    }
    Ok(format!("{:x}", hasher.finalize()))
}

/// The sources that decide something, from the root: those of the component's crate, and those of other crates that its
/// manifest names as `decisions`.
fn decision_code(root: &Path, component: &Component) -> Result<Vec<String>> {
    let own = format!("crates/{}", component.name);
    let mut files = Vec::new();
    collect(&root.join(&own).join("src"), &["rs"], &mut files)?;
    files.retain(|file| {
        let of_crate = file.strip_prefix(root.join(&own)).map(|path| path.to_string_lossy().into_owned());
        of_crate.is_ok_and(|path| !CONNECTING.iter().any(|connecting| path.starts_with(connecting)))
    });
    for other in &component.decisions {
        let path = root.join(other);
        ensure!(path.exists(), "crates/{}/Cargo.toml: decisions: there is no {other}", component.name);
        if path.is_dir() { collect(&path, &["rs"], &mut files)? } else { files.push(path) }
    }
    let from_root = files.iter().filter_map(|file| file.strip_prefix(root).ok()?.to_str().map(str::to_owned));
    let mut files: Vec<String> = from_root.filter(|file| !is_test(file)).collect();
    files.sort();
    Ok(files)
}

fn is_test(file: &str) -> bool {
    file.ends_with("/tests.rs") || file.contains("/tests/")
}

fn collect(folder: &Path, extensions: &[&str], files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| format!("failed to list {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, extensions, files)?;
        } else if path.extension().is_some_and(|extension| extensions.iter().any(|known| extension == *known))
        {
            files.push(path);
        }
    }
    Ok(())
}

fn write(table: &Table, component: &Component, root: &Path) -> Result<()> {
    let file = root.join("contracts").join(&component.name).join("mutants.yaml");
    let head = "# Written by `cargo xtask mutants --write`: changes of the component's code, and how many its contracts noticed.\n";
    let document = formats::yaml::to_string(&table.to_document(&component.name))?;
    std::fs::write(&file, format!("{head}{document}"))
        .with_context(|| format!("failed to write {}", file.display()))
}

#[expect(clippy::print_stdout, reason = "a chore prints its result")]
fn print(text: &str) {
    print!("{text}");
}
