//! Outlines of contracts, and their expansion one by one.

use std::collections::BTreeSet;
use std::sync::mpsc;
use std::time::Duration;

use contract::document::SourceFile;
use contract::index::Index;
use contract::load;

use crate::{contract, sources};

const ONE: &str = "- {id: X-001, text: x, given: {object: {like: pod}}, when: {admission: [CREATE, UPDATE]}, then: {object: {spec: {schedulerName: mine}}}}\n";

/// Maximal time of one round of loading.
const TIMEOUT: Duration = Duration::from_mins(1);

/// The contract `sample` in a file, with clauses of this number.
fn file(path: &str, number: usize) -> (&str, String) {
    (path, contract("", &ONE.replace("X-001", &format!("X-{number:03}"))))
}

#[test]
fn the_number_of_cases_is_known_before_they_are_expanded() {
    let index = Index::read(contracts::files()).unwrap();
    let mut unknown = BTreeSet::new();
    for outline in index.contracts() {
        let expanded = index.expand(outline).unwrap();
        for (outlined, clause) in outline.clauses.iter().zip(&expanded.clauses) {
            assert_eq!(outlined.id, clause.id);
            match outlined.cases {
                Some(cases) => assert_eq!(cases, clause.cases.len(), "{}", clause.id),
                None => drop(unknown.insert(outline.name.as_str())),
            }
        }
        assert_eq!(outline.clauses.len(), expanded.clauses.len());
    }
    // The number of its cases depends on the objects in its namespaces.
    assert_eq!(unknown, BTreeSet::from(["control-planes"]));
}

#[test]
fn a_contract_expanded_alone_is_the_same_as_beside_all_others() {
    let index = Index::read(contracts::files()).unwrap();
    let loaded = load::read(&contracts::files());
    let hashes: Vec<(String, String)> =
        loaded.catalog.clauses().map(|(_, clause)| (clause.id.clone(), clause.hash.clone())).collect();
    let summaries = index.summaries().unwrap();
    let alone: Vec<(String, String)> =
        summaries.into_iter().map(|summary| (summary.id, summary.hash)).collect();
    assert!(hashes == alone, "{} and {} clauses", hashes.len(), alone.len());
}

#[test]
fn only_files_of_the_contract_of_a_named_clause_are_read() {
    let other = contract("", ONE).replace("name: sample", "name: other").replace("X-001", "Y-001");
    let broken = ("contracts/sample/broken.yaml", "kind: Contract\nspec: [".to_owned());
    let files = [
        file("contracts/sample/a.yaml", 1),
        file("contracts/sample/b.yaml", 2),
        ("contracts/sample/other.yaml", other),
        broken,
    ];
    let sources: Vec<SourceFile> = sources(&files);
    let about = Index::read_about(&sources, &["X-002"]).unwrap().unwrap();
    let named: Vec<(&str, usize)> =
        about.contracts().iter().map(|outline| (outline.name.as_str(), outline.clauses.len())).collect();
    assert_eq!(named, [("sample", 2)]);
    let expanded = about.expand_some(&about.contracts()[0], &|id| id == "X-002").unwrap();
    let cases: Vec<&str> = expanded.clauses[0].cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!((expanded.clauses.len(), expanded.is_partial, cases), (1, true, vec!["CREATE", "UPDATE"]));
    assert!(Index::read_about(&sources, &["X-002", "X-009"]).unwrap().is_none());
    let wrong = Index::read(sources).unwrap_err();
    assert_eq!(wrong.0[0].location.file, "contracts/sample/broken.yaml");
}

#[test]
fn errors_of_cases_are_found_when_their_contract_is_expanded() {
    let text = contract("", &ONE.replace("like: pod", "like: nothing"));
    let index = Index::read(sources(&[("contracts/sample/a.yaml", text)])).unwrap();
    let wrong = index.expand(&index.contracts()[0]).unwrap_err();
    let messages: Vec<&str> = wrong.0.iter().map(|error| error.message.as_str()).collect();
    assert!(messages.contains(&"unknown fixture \"nothing\""), "{messages:?}");
}

#[test]
fn duplicate_ids_are_found_also_when_only_some_contracts_are_read() {
    let other = contract("", ONE).replace("name: sample", "name: other");
    let sources = sources(&[file("contracts/sample/a.yaml", 1), ("contracts/sample/b.yaml", other)]);
    for wrong in
        [Index::read(sources.clone()).unwrap_err(), Index::read_about(&sources, &["X-001"]).unwrap_err()]
    {
        let [error] = wrong.0.as_slice() else { unreachable!("{wrong:?}") };
        assert_eq!((error.code, error.location.file.as_str()), ("duplicate-id", "contracts/sample/b.yaml"));
    }
}

#[test]
fn errors_of_all_contracts_are_reported() {
    let broken = |name: &str, id: &str| {
        contract("", &ONE.replace("like: pod", "like: nothing").replace("X-001", id))
            .replace("name: sample", name)
    };
    let files = [
        ("contracts/sample/a.yaml", broken("name: a", "A-001")),
        ("contracts/sample/b.yaml", broken("name: b", "B-001")),
    ];
    let wrong = Index::read(sources(&files)).unwrap().summaries().unwrap_err();
    let files: BTreeSet<&str> = wrong.0.iter().map(|error| error.location.file.as_str()).collect();
    assert_eq!(files, BTreeSet::from(["contracts/sample/a.yaml", "contracts/sample/b.yaml"]));
}

#[test]
fn many_threads_do_not_wait_for_each_other_for_ever() {
    let texts: Vec<(String, String)> = (0..64)
        .map(|number| {
            let name = format!("name: sample-{number}");
            let text =
                contract("", &ONE.replace("X-001", &format!("X-{number:03}"))).replace("name: sample", &name);
            (format!("contracts/sample/{number}.yaml"), text)
        })
        .collect();
    let files: Vec<(&str, String)> = texts.iter().map(|(path, text)| (path.as_str(), text.clone())).collect();
    let sources = sources(&files);
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(64).build().unwrap();
        for _ in 0..20 {
            let loaded = pool.install(|| load::read(&sources));
            // The send fails if the test has ended.
            let _ = sender.send(loaded.catalog.contracts.len());
        }
    });
    for _ in 0..20 {
        assert_eq!(receiver.recv_timeout(TIMEOUT), Ok(64));
    }
}
