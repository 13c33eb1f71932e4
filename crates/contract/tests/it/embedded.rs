//! The project's own contracts load.

use contract::load;
use contract::source;

#[test]
fn every_contract_of_the_project_loads() {
    let loaded = load::read(&source::embedded());
    let errors: Vec<String> = loaded
        .errors
        .iter()
        .map(|error| format!("{error} [{}] {}", error.code, error.remedy.clone().unwrap_or_default()))
        .collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    assert!(!loaded.catalog.contracts.is_empty());
}
