//! The project's own contracts load.

use contract::load;
use contract::source;

#[test]
fn every_contract_of_the_project_loads() {
    let loaded = load::read(&contracts::files());
    let errors: Vec<String> = loaded
        .errors
        .iter()
        .map(|error| format!("{error} [{}] {}", error.code, error.remedy.clone().unwrap_or_default()))
        .collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    assert!(!loaded.catalog.contracts.is_empty());
}

#[test]
fn a_file_replaces_the_embedded_one_of_the_same_path() {
    let base = vec![
        contract::document::SourceFile::new("contracts/a.yaml", "old"),
        contract::document::SourceFile::new("contracts/b.yaml", "b"),
    ];
    let over = vec![
        contract::document::SourceFile::new("contracts/a.yaml", "new"),
        contract::document::SourceFile::new("contracts/c.yaml", "c"),
    ];
    let texts: Vec<String> =
        source::overlay(base, over).into_iter().map(|file| format!("{}={}", file.path, file.text)).collect();
    assert_eq!(texts, ["contracts/a.yaml=new", "contracts/b.yaml=b", "contracts/c.yaml=c"]);
}
