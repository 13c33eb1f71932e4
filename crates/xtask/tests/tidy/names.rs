//! Components: one name for folder, package, contracts, manifests and program; what each crate has; the list in `cli`.

use crate::tree::{none, root};
use xtask::components;

#[test]
fn a_component_has_one_name() {
    let root = root();
    let wrong = components::all(&root).expect("manifests describe the components").into_iter().flat_map(
        |component| {
            let name = &component.name;
            let mut wrong = Vec::new();
            let mut must = |holds: bool, text: String| {
                if !holds {
                    wrong.push(format!("crates/{name}: {text}"));
                }
            };
            must(component.package == format!("gardener-{name}"), format!("its package is gardener-{name}"));
            for folder in ["contracts", "kind/manifests"] {
                must(root.join(folder).join(name).is_dir(), format!("there is no folder {folder}/{name}"));
            }
            let suite = format!("contracts/{name}/suite.yaml");
            must(root.join(&suite).is_file(), format!("there is no {suite}"));
            must(
                root.join(format!("crates/{name}/tests/contracts.rs")).is_file(),
                "tests/contracts.rs asks its contracts".to_owned(),
            );
            let is_named =
                |program: &String| *program == component.package || program.contains(&format!("-{name}-"));
            must(
                component.programs.iter().any(is_named),
                format!("its program is gardener-{name} or gardener-{name}-…"),
            );
            let exported = std::fs::read_to_string(root.join("crates").join(name).join("src/component.rs"));
            let exported = exported.unwrap_or_default();
            must(
                exported.contains("pub static COMPONENT: Component"),
                "src/component.rs exports COMPONENT".to_owned(),
            );
            must(exported.contains(&format!("name: \"{name}\"")), format!("COMPONENT is called {name}"));
            let started = component
                .programs
                .iter()
                .any(|program| exported.contains(&format!("program: \"{program}\"")));
            must(started, "COMPONENT.program is one of the programs".to_owned());
            wrong
        },
    );
    none(&wrong.collect::<Vec<_>>());
}

#[test]
fn every_component_is_listed() {
    let root = root();
    let listed =
        std::fs::read_to_string(root.join("crates/cli/src/components/list.rs")).expect("it is there");
    let missing =
        components::all(&root).expect("manifests describe the components").into_iter().filter(|component| {
            !listed.contains(&format!("&{}::COMPONENT", component.package.replace('-', "_")))
        });
    none(
        &missing
            .map(|component| format!("crates/cli/src/components/list.rs: {} is missing", component.name))
            .collect::<Vec<_>>(),
    );
}
