//! The components of this project, found by the name that contracts use.

pub(crate) mod garden;
mod list;

use std::ffi::OsString;
use std::process::ExitCode;

use component::Component;

use crate::terminal::Failure;

pub(crate) use list::COMPONENTS;

/// The first argument when the tool runs as a component's program.
const SUBCOMMAND: &str = "component";

/// Finds a component by its name.
///
/// # Errors
/// A usage error that lists the components.
pub(crate) fn find(name: &str) -> Result<&'static Component, Failure> {
    COMPONENTS.iter().copied().find(|component| component.name == name).ok_or_else(|| {
        let known = names().join(", ");
        Failure::usage(format!(
            "this project has no component {name}; it has {known}. To run a contract of another component, name a target: \
            `verify --target …`"
        ))
    })
}

/// Runs the tool as the program of a component, if the first argument is `component` and the second the program's name. Cases of
/// the form process start it that way.
pub(crate) fn run_as_program(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter().skip(1);
    if arguments.next()? != SUBCOMMAND {
        return None;
    }
    let arguments: Vec<OsString> = arguments.collect();
    let name = arguments.first()?;
    let component = COMPONENTS.iter().find(|component| *name == *component.program)?;
    Some((component.main)(arguments))
}

/// The command line that starts the program of a component.
pub(crate) fn program_command(component: &Component) -> Option<Vec<String>> {
    let tool = std::env::current_exe().ok()?.to_str()?.to_owned();
    Some(vec![tool, SUBCOMMAND.to_owned(), component.program.to_owned()])
}

/// The names of the components.
pub(crate) fn names() -> Vec<&'static str> {
    COMPONENTS.iter().map(|component| component.name).collect()
}

#[cfg(test)]
mod tests {
    use component::Combining;
    use contract::case::When;
    use contract::gardener::plugins;
    use serde_json::Value;
    use webhook::registration::WebhookConfiguration;

    use super::*;
    use crate::kind::InCluster;

    fn files(component: &Component) -> Vec<(&'static str, &'static str)> {
        let manifests = component.installation.manifests;
        manifests.below("base").chain(manifests.below("runtime")).collect()
    }

    #[test]
    fn every_file_that_a_kustomization_names_is_among_the_manifests() {
        for component in COMPONENTS.iter().copied() {
            let manifests = files(component);
            let exists = |wanted: &str| manifests.iter().any(|(path, _)| *path == wanted);
            assert!(exists("base/kustomization.yaml") && exists("runtime/kustomization.yaml"));
            for (path, text) in manifests.iter().filter(|(path, _)| path.ends_with("kustomization.yaml")) {
                let folder = path.trim_end_matches("/kustomization.yaml");
                let kustomization: Value = formats::yaml::from_str(text).unwrap();
                let named = kustomization["resources"].as_array().unwrap().iter().filter_map(Value::as_str);
                for name in named {
                    let above = folder.rsplit_once('/').map_or("", |(above, _)| above);
                    let wanted = match name.strip_prefix("../../") {
                        Some(name) if above == "runtime" => name.to_owned(),
                        _ => format!("{folder}/{name}"),
                    };
                    let name = component.name;
                    assert!(
                        exists(&wanted) || exists(&format!("{wanted}/kustomization.yaml")),
                        "{name} {wanted}"
                    );
                }
            }
        }
    }

    #[test]
    fn each_component_is_registered_with_the_service_that_it_is_installed_with() {
        for component in COMPONENTS.iter().copied() {
            let (installation, program) = (&component.installation, component.program);
            let has = |words: &str| files(component).iter().any(|(_, text)| text.contains(words));
            assert!(has(&format!("image: {program}")), "{program}");
            let Some(registered) = &installation.webhooks else { continue };
            assert!(has(registered.service), "{program}");
            let configurations = (registered.registrations)("QQ==").unwrap();
            let objects: Vec<Value> = configurations.iter().map(WebhookConfiguration::to_object).collect();
            for webhook in objects.iter().flat_map(|object| object["webhooks"].as_array().unwrap()) {
                let to = &webhook["clientConfig"];
                assert_eq!(to["caBundle"], "QQ==");
                let service = (to["service"]["namespace"].as_str(), to["service"]["name"].as_str());
                assert_eq!(service, (Some(installation.namespace), Some(registered.service)), "{program}");
            }
        }
    }

    #[test]
    fn each_component_starts_with_every_configuration_of_its_rollouts() {
        let contracts = contracts::all().unwrap();
        let target = InCluster::of(&contracts).unwrap();
        for component in COMPONENTS.iter().copied() {
            let Some(rollout) = &component.installation.rollout else { continue };
            let configs = target.configs_of(component.name);
            assert!(!configs.is_empty(), "{}", component.name);
            if rollout.combining == Combining::Nothing {
                let own = contracts.iter().filter(|contract| contract.component == component.name);
                let clauses = own.flat_map(|contract| &contract.clauses);
                let cases = clauses
                    .filter(|clause| !clause.not_on.contains_key("kind"))
                    .flat_map(|clause| &clause.cases);
                let reviewed = cases.filter(|case| {
                    matches!(case.when, When::Admission { .. })
                        && !plugins::are_missing(component.name, &case.config, "kind")
                });
                let left_out = reviewed.map(|case| &case.config).find(|config| !configs.contains(config));
                assert_eq!(left_out, None, "{}: no rollout has this configuration", component.name);
            }
            for config in configs {
                let file = (rollout.file)(config).unwrap();
                let (Some(file), Some(load)) = (file, component.load) else { continue };
                assert!(load(&file).is_ok(), "{:?}\n{file:#}", load(&file).err());
            }
        }
    }

    #[test]
    fn an_unknown_component_is_an_error_that_names_the_known_ones() {
        assert_eq!(find("garden").unwrap().program, "gardener-garden-admission");
        let failure = find("acme").unwrap_err();
        assert_eq!(failure.code, 2);
        assert!(names().iter().all(|name| failure.text.contains(name)), "{}", failure.text);
    }
}
