//! `new contract`: a contract file to fill in, with the component of its folder and an id that no clause has.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path};

use contract::index::Index;
use contract::scaffold::{self, ContractHead};

use super::write::failed;
use crate::arguments::NewCommand;
use crate::catalog::{self, working_folder};
use crate::ending::Ending;
use crate::terminal::{Failure, Terminal};

/// The component of a contract outside of any folder of contracts.
const MY_COMPONENT: &str = "my-component";

/// Prints or writes a new contract; never overwrites a file.
pub(crate) fn new(
    command: &NewCommand,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<Ending, Failure> {
    let NewCommand::Contract { name, component, form, file } = command;
    let (name, file) = named_by_path(name, file.as_deref());
    let of_path = file.and_then(component_of);
    let component = component.as_deref().or(of_path.as_deref()).unwrap_or(MY_COMPONENT);
    // A user's folder that has errors must not keep him from writing a contract into it.
    let start = file.and_then(existing_parent).unwrap_or(Path::new("."));
    let found = added.map(Path::to_owned).or_else(|| working_folder::above(start));
    let index = catalog::index(found.as_deref()).or_else(|_| catalog::index(None))?;
    let id = free_id(&index, name, component);
    let head = ContractHead { name, component, id: &id };
    let text = scaffold::contract(&head, form).map_err(Failure::usage)?;
    let Some(file) = file else {
        terminal.print(&text);
        return Ok(Ending::done());
    };
    if file.exists() {
        return Err(Failure::usage(format!("{} exists already; name another file", file.display())));
    }
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(|error| failed("create", folder, &error))?;
    }
    fs::write(file, text).map_err(|error| failed("write", file, &error))?;
    terminal.note(&format!("wrote {} with clause {id} of {component}", file.display()));
    terminal.note(&format!("next  gardener-conformance lint {}", file.display()));
    Ok(Ending::done())
}

/// The name and the file; a name that is a path is that of the file.
fn named_by_path<'a>(name: &'a str, file: Option<&'a Path>) -> (&'a str, Option<&'a Path>) {
    let path = Path::new(name);
    let is_path = file.is_none() && (name.contains('/') || path.extension().is_some_and(|end| end == "yaml"));
    match path.file_stem().and_then(OsStr::to_str) {
        Some(stem) if is_path => (stem, Some(path)),
        _ => (name, file),
    }
}

/// The component whose folder a file is in: the part of the path after `contracts`, if there is a folder between it and the file.
fn component_of(file: &Path) -> Option<String> {
    let absolute = std::path::absolute(file).ok()?;
    let parts: Vec<&str> = absolute
        .components()
        .filter_map(|part| if let Component::Normal(part) = part { part.to_str() } else { None })
        .collect();
    let at = parts.iter().rposition(|part| *part == "contracts")?;
    (at + 2 < parts.len()).then(|| parts[at + 1].to_owned())
}

fn existing_parent(file: &Path) -> Option<&Path> {
    file.ancestors().skip(1).find(|folder| folder.is_dir())
}

/// An id that neither a clause nor a ledger has.
fn free_id(index: &Index, name: &str, component: &str) -> String {
    let clauses = |of: Option<&str>| -> BTreeSet<&str> {
        let contracts = index.contracts().iter();
        let contracts = contracts.filter(|contract| of.is_none_or(|name| contract.component == name));
        contracts.flat_map(|contract| &contract.clauses).map(|clause| clause.id.as_str()).collect()
    };
    let ledgers = index.ledgers().ok();
    let numbered = ledgers.iter().flat_map(|ledgers| &ledgers.ledgers);
    let numbered = numbered.flat_map(|(ledger, _)| &ledger.entries).flat_map(|entry| &entry.clauses);
    let mut all = clauses(None);
    all.extend(numbered.map(String::as_str));
    scaffold::free_id(name, &clauses(Some(component)), &all)
}
