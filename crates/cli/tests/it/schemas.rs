//! Schemas for editors: the project's own files and every scaffold fit them, and slips do not.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::Value;

use crate::program::call;

/// Schemas by kind of file, compiled once each.
struct Validator {
    schemas: Schemas,
    by_kind: BTreeMap<String, SchemaIndex>,
    folder: tempfile::TempDir,
}

impl Validator {
    fn new() -> Self {
        Self { schemas: Schemas::new(), by_kind: BTreeMap::new(), folder: tempfile::tempdir().unwrap() }
    }

    /// Why a document does not fit the schema of its kind.
    fn error(&mut self, kind: &str, document: &Value) -> Option<String> {
        let index = if let Some(index) = self.by_kind.get(kind) {
            *index
        } else {
            let printed = call(self.folder.path(), &["schema", kind]);
            printed.assert_exit(0, &["$schema"]);
            let schema: Value = serde_json::from_str(&printed.out).unwrap();
            let mut compiler = Compiler::new();
            let name = format!("{kind}.json");
            compiler.add_resource(&name, schema).unwrap();
            let index = compiler.compile(&name, &mut self.schemas).unwrap();
            self.by_kind.insert(kind.to_owned(), index);
            index
        };
        self.schemas.validate(document, index).err().map(|error| format!("{error:#}"))
    }
}

/// The schema for a document, by its kind; everything without our API version is a fixture.
fn kind_of(document: &Value) -> &'static str {
    if document["apiVersion"] != "conformance.gardener.cloud/v1alpha1" {
        return "fixture";
    }
    match document["kind"].as_str().unwrap_or_default() {
        "Contract" => "contract",
        "Suite" => "suite",
        "Ledger" => "ledger",
        "NotNormative" => "not-normative",
        "Attestation" => "attestation",
        "Explanations" => "explanations",
        "Variations" => "variations",
        "Releases" => "releases",
        "Mutants" => "mutants",
        "ProviderProfile" => "provider-profile",
        "ControlPlaneNamespace" => "control-plane-namespace",
        "Target" => "target",
        other => unreachable!("no schema for {other}"),
    }
}

fn yaml_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() && !entry.ends_with("go-clients") {
            yaml_files(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "yaml") {
            found.push(entry);
        }
    }
}

#[test]
fn every_file_of_contracts_and_suites_fits_its_schema() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["contracts", "suites"] {
        yaml_files(&root.join(folder), &mut files);
    }
    let mut validator = Validator::new();
    let mut wrong = Vec::new();
    for file in &files {
        for document in formats::yaml::documents(&fs::read_to_string(file).unwrap()).unwrap() {
            let error = validator.error(kind_of(&document), &document);
            wrong.extend(error.map(|error| format!("{}: {error}", file.display())));
        }
    }
    assert!(wrong.is_empty(), "{} of {} files\n{}", wrong.len(), files.len(), wrong.join("\n"));
    assert!(files.len() > 100, "{} files were found", files.len());
}

#[test]
fn every_scaffold_fits_the_schema_and_lints_clean() {
    let folder = tempfile::tempdir().unwrap();
    let mut validator = Validator::new();
    for (letter, form) in ('a'..).zip(contract::scaffold::FORMS) {
        // The ids of clauses begin with the letters of the name's words.
        let (name, file) = (format!("{form}-of-{letter}"), format!("mine/{form}.yaml"));
        let new = ["new", "contract", &name, "--form", form, "--file", &file];
        call(folder.path(), &new).assert_exit(0, &[&format!("wrote {file}")]);
        let text = fs::read_to_string(folder.path().join(file)).unwrap();
        let documents = formats::yaml::documents(&text).unwrap();
        assert_eq!(validator.error("contract", &documents[0]), None, "{form}");
    }
    call(folder.path(), &["lint", "mine"]).assert_exit(0, &["exit 0: no errors"]);
    call(folder.path(), &["fmt", "--check", "mine"]).assert_exit(0, &[]);
}

#[test]
fn slips_do_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let text = call(folder.path(), &["new", "contract", "my-behaviour"]).out;
    let mut validator = Validator::new();
    for (from, to) in [
        ("    table:", "    tabel:"),
        ("form: mutation", "form: mutations"),
        ("  target:", "  taget:"),
        ("kind: Contract", "kind: Contrat"),
        ("    when: {admission: CREATE}", "    when: {admision: CREATE}"),
        ("    then: {object:", "    then: {objekt:"),
    ] {
        assert!(text.contains(from), "{from} in {text}");
        let documents = formats::yaml::documents(&text.replace(from, to)).unwrap();
        assert!(validator.error("contract", &documents[0]).is_some(), "{to}");
    }
    call(folder.path(), &["schema", "contrat"])
        .assert_exit(2, &["there is no schema of \"contrat\"; did you mean `contract`?"]);
}
