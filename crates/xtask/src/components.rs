//! The components of the project, as their manifests describe them under `[package.metadata.component]`.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

/// A component crate.
#[derive(Debug)]
pub struct Component {
    /// The name of its folders below `crates`, `contracts` and `kind/manifests`.
    pub name: String,
    /// Its package.
    pub package: String,
    /// Its programs, each of which has an image.
    pub programs: Vec<String>,
    /// How ids of its clauses begin: `GRM`.
    pub clauses: String,
    /// Sources of other crates that decide for it, as files and folders from the root.
    pub decisions: Vec<String>,
}

/// Every component of the workspace whose root this is, by name.
///
/// # Errors
/// When cargo cannot be asked, or a manifest lacks a field.
pub fn all(root: &Path) -> Result<Vec<Component>> {
    let mut asking = Command::new("cargo");
    asking.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).current_dir(root);
    let output = asking.output().context("failed to start cargo metadata")?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value =
        serde_json::from_slice(&output.stdout).context("failed to read cargo's metadata")?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let described = packages.filter(|package| package["metadata"]["component"].is_object());
    let mut components = described.map(read).collect::<Result<Vec<_>>>()?;
    components.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(components)
}

/// The component of a name.
///
/// # Errors
/// As of [`all`]; and for an unknown name, with those that are known.
pub fn named(root: &Path, name: &str) -> Result<Component> {
    let components = all(root)?;
    let known: Vec<&str> = components.iter().map(|component| component.name.as_str()).collect();
    let known = known.join(", ");
    match components.into_iter().find(|component| component.name == name) {
        Some(component) => Ok(component),
        None => bail!("there is no component {name}; there are: {known}"),
    }
}

fn read(package: &Value) -> Result<Component> {
    let manifest = package["manifest_path"].as_str().context("a package has no manifest")?;
    let described = &package["metadata"]["component"];
    let field = |value: &Value, field: &str| {
        let text = value.as_str().map(str::to_owned);
        text.with_context(|| format!("{manifest}: [package.metadata.component] {field} is missing"))
    };
    let programs = described["programs"].as_array().into_iter().flatten();
    let programs = programs.map(|program| field(program, "programs")).collect::<Result<Vec<_>>>()?;
    ensure!(!programs.is_empty(), "{manifest}: [package.metadata.component] programs is missing");
    let decisions = described["decisions"].as_array().into_iter().flatten();
    let decisions = decisions.map(|path| field(path, "decisions")).collect::<Result<Vec<_>>>()?;
    let folder =
        Path::new(manifest).parent().and_then(Path::file_name).context("a manifest lies in a folder")?;
    Ok(Component {
        name: folder.to_string_lossy().into_owned(),
        package: field(&package["name"], "name")?,
        programs,
        clauses: field(&described["clauses"], "clauses")?,
        decisions,
    })
}
