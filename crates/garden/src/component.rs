//! The garden as a component: what it decides about versions, and its admission where Gardener's kinds are custom
//! resources.

use std::sync::Arc;

use component::{
    Combining, Component, Installation, Manifests, Probe, Rollout, StartOptions, Started, Webhooks,
};
use include_dir::{Dir, include_dir};
use jiff::Timestamp;
use serde_json::json;

use crate::{command, decisions, registrations, serving, webhooks};

/// The garden of this project.
pub static COMPONENT: Component = Component {
    name: "garden",
    program: "gardener-garden-admission",
    about: "gardener-garden-admission of a garden whose kinds are custom resources",
    version: "v1.82.0",
    features: &[],
    paths,
    main: |arguments| command::main(arguments),
    process: Some(include_str!("../process.yaml")),
    load: None,
    start: |options| Box::pin(std::future::ready(start(options))),
    decide: Some(decisions::decide),
    admits_shoots: true,
    maintains_shoots: false,
    elects_leader: false,
    installation: Installation {
        manifests: MANIFESTS,
        namespace: registrations::NAMESPACE,
        webhooks: Some(Webhooks {
            service: registrations::NAME,
            registrations: |authority| Ok(registrations::registrations(Some(authority))),
            probe,
        }),
        rollout: Some(Rollout {
            combining: Combining::Nothing,
            file: |_| Ok(None),
            registrations: |_, _| Ok(registrations::registrations(None)),
        }),
    },
};
static FOLDER: Dir<'static> = include_dir!("$MANIFESTS");
const MANIFESTS: Manifests = Manifests::new(&FOLDER);

fn start(options: StartOptions) -> Result<Started, String> {
    let client = options.client.ok_or("no API server to read facts from")?;
    let now = options.now;
    let now = Arc::new(move || now.unwrap_or_else(Timestamp::now));
    Ok(Started::webhooks(serving::webhooks(client, now), registrations::registrations(None)))
}

/// A profile with one version.
fn probe() -> Probe {
    let object = json!({
        "apiVersion": api::garden::API_VERSION, "kind": "CloudProfile", "metadata": {"name": "probe"},
        "spec": {
            "type": "local", "kubernetes": {"versions": [{"version": "1.27.3"}]},
            "machineImages": [{"name": "local", "versions": [{"version": "1.0.0", "cri": [{"name": "containerd"}, {"name": "docker"}]}]}],
            "machineTypes": [{"name": "local", "cpu": "1", "gpu": "0", "memory": "1Gi"}],
            "regions": [{"name": "local"}],
        },
    });
    Probe { around: Vec::new(), object }
}

fn paths() -> Vec<(&'static str, String)> {
    let each = webhooks::resources()
        .flat_map(|resource| resource.paths().map(move |path| (resource.name, path.to_owned())));
    each.collect()
}
