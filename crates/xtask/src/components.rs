//! The components of the project, from `[package.metadata.component]` in their manifests.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

/// A component crate.
#[derive(Debug)]
pub struct Component {
    /// The name of its folders in `crates`, `contracts` and `kind/manifests`.
    pub name: String,
    /// The name of its package.
    pub package: String,
    /// Its programs, each of which has an image.
    pub programs: Vec<String>,
    /// The prefix of its clauses' ids, such as `GRM`.
    pub clauses: String,
    /// Sources of other crates that decide for it, as files and folders from the root.
    pub decisions: Vec<String>,
}

/// All components of the workspace, sorted by name.
///
/// # Errors
/// If cargo fails, or a field is missing in a manifest.
pub fn all(root: &Path) -> Result<Vec<Component>> {
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).current_dir(root);
    let output = cargo.output().context("failed to start cargo metadata")?;
    ensure!(output.status.success(), "cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value =
        serde_json::from_slice(&output.stdout).context("failed to read the output of cargo metadata")?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let described = packages.filter(|package| package["metadata"]["component"].is_object());
    let mut components = described.map(read).collect::<Result<Vec<_>>>()?;
    components.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(components)
}

/// The component with this name.
///
/// # Errors
/// Those of [`all`], and an unknown name; the error lists the known names.
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
    let manifest =
        package["manifest_path"].as_str().context("cargo metadata names no manifest of a package")?;
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
        Path::new(manifest).parent().and_then(Path::file_name).context("a manifest has no parent folder")?;
    Ok(Component {
        name: folder.to_string_lossy().into_owned(),
        package: field(&package["name"], "name")?,
        programs,
        clauses: field(&described["clauses"], "clauses")?,
        decisions,
    })
}
