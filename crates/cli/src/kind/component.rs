//! Components of ours as kind/manifests install them: what is particular to each. What they share is in the rooms around.

mod controller_manager;
mod controlplane_webhooks;
mod garden_admission;
mod resource_manager;

use conformance::rollouts::Combining;
use serde_json::Value;
use webhook::registration::WebhookConfiguration;

use super::installation::InstallError;
use crate::arguments::ComponentName;

/// A manifest: its path in the component's folder of kind/manifests, and what it says.
pub(super) type Manifest = (&'static str, &'static str);

/// A manifest of a component's folder in kind/manifests.
macro_rules! manifest {
    ($component:literal, $path:literal) => {
        ($path, include_str!(concat!("../../../../../kind/manifests/", $component, "/", $path)))
    };
}
use manifest;

/// A component.
pub(super) struct Component {
    /// Its program; manifests, their images and Services have the same name.
    pub(super) name: &'static str,
    /// What it has wherever it runs.
    pub(super) base: &'static [Manifest],
    /// How it stands in a cluster that it serves alone.
    pub(super) alone: Alone,
    /// How it is asked the cases of a suite; `None`: it is asked none in a cluster.
    pub(super) suite: Option<Suite>,
}

/// A component that serves the cluster it runs in.
pub(super) struct Alone {
    /// Where it runs.
    pub(super) namespace: &'static str,
    /// The folder `runtime` of its manifests.
    pub(super) manifests: &'static [Manifest],
    /// Its webhooks, if it has some.
    pub(super) webhooks: Option<Webhooks>,
}

/// Webhooks that are registered once they are served.
pub(super) struct Webhooks {
    /// The Service that their configurations name.
    pub(super) service: &'static str,
    /// The configurations, for the authority whose PEM this is, in base64.
    pub(super) objects: fn(&str) -> Result<Vec<Value>, InstallError>,
    /// Something that they are asked about, and what it lies in: once a dry run of it is answered, they are reached.
    pub(super) probe: fn() -> Probe,
}

/// What tells that webhooks are reached.
pub(super) struct Probe {
    /// Objects that stand before.
    pub(super) around: Vec<Value>,
    /// What is created in a dry run.
    pub(super) object: Value,
}

/// A component with each configuration that cases need, side by side.
pub(super) struct Suite {
    /// Components of contracts whose admission it is.
    pub(super) answers: &'static [&'static str],
    /// How configurations of cases become those of rollouts.
    pub(super) combining: Combining,
    /// What each rollout has beside the base.
    pub(super) manifests: &'static [Manifest],
    /// The configuration file of a rollout; `None`: it has none.
    pub(super) file: fn(&Value) -> Result<Option<Value>, InstallError>,
    /// Its webhook configurations under a configuration of a case, for an instance.
    pub(super) registrations: fn(&Value, &str) -> Result<Vec<WebhookConfiguration>, String>,
    /// Names of its webhooks, and the paths that serve them.
    pub(super) paths: fn() -> Vec<(&'static str, String)>,
}

impl Component {
    /// The image that `make images` builds.
    pub(super) fn image(&self) -> String {
        format!("gardener-conformance/{}", self.name)
    }
}

/// All that can be installed.
pub(super) static COMPONENTS: [&Component; 4] = [
    &resource_manager::COMPONENT,
    &garden_admission::COMPONENT,
    &controlplane_webhooks::COMPONENT,
    &controller_manager::COMPONENT,
];

/// The component of this name.
pub(super) fn named(name: ComponentName) -> &'static Component {
    match name {
        ComponentName::ResourceManager => &resource_manager::COMPONENT,
        ComponentName::GardenAdmission => &garden_admission::COMPONENT,
        ComponentName::ControlplaneWebhooks => &controlplane_webhooks::COMPONENT,
        ComponentName::ControllerManager => &controller_manager::COMPONENT,
    }
}

/// What a configuration file says, in YAML.
fn read(text: &str) -> Result<Value, InstallError> {
    formats::yaml::from_str(text).map_err(|error| InstallError::Configuration(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_that_a_kustomization_names_is_among_the_manifests() {
        for component in COMPONENTS {
            let manifests: Vec<&Manifest> = component.base.iter().chain(component.alone.manifests).collect();
            let exists = |wanted: &str| manifests.iter().any(|(path, _)| *path == wanted);
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
    fn each_is_registered_under_the_service_that_it_is_installed_with() {
        for component in COMPONENTS {
            let alone = &component.alone;
            let files = || component.base.iter().chain(alone.manifests);
            assert!(files().any(|(_, text)| text.contains(&format!("image: {}", component.name))));
            let Some(registered) = &alone.webhooks else { continue };
            assert!(files().any(|(_, text)| text.contains(registered.service)), "{}", component.name);
            let objects = (registered.objects)("QQ==").unwrap();
            let webhooks = objects.iter().flat_map(|object| object["webhooks"].as_array().unwrap());
            for webhook in webhooks {
                let to = &webhook["clientConfig"];
                assert_eq!(to["caBundle"], "QQ==");
                let asked = (to["service"]["namespace"].as_str(), to["service"]["name"].as_str());
                let want = (Some(alone.namespace), Some(registered.service));
                assert_eq!(asked, want, "{}", component.name);
            }
        }
    }
}
