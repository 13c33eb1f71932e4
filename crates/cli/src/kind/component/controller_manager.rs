//! Our gardener-controller-manager in a garden whose kinds are custom resources. Its cases have a time of their own, which no
//! cluster has: they are asked in this process.

use super::{Alone, Component, Manifest, manifest};

pub(super) const COMPONENT: Component = Component {
    name: "gardener-controller-manager",
    base: &[
        manifest!("controller-manager", "base/deployment.yaml"),
        manifest!("controller-manager", "base/kustomization.yaml"),
        manifest!("controller-manager", "base/poddisruptionbudget.yaml"),
        manifest!("controller-manager", "base/rbac.yaml"),
        manifest!("controller-manager", "base/service.yaml"),
        manifest!("controller-manager", "base/serviceaccount.yaml"),
    ],
    alone: Alone {
        namespace: "garden",
        manifests: &[
            CONFIG,
            manifest!("controller-manager", "runtime/garden/kustomization.yaml"),
            manifest!("controller-manager", "runtime/kustomization.yaml"),
            manifest!("controller-manager", "runtime/namespaces.yaml"),
        ],
        webhooks: None,
    },
    suite: None,
};
const CONFIG: Manifest = manifest!("controller-manager", "runtime/garden/config.yaml");

#[cfg(test)]
mod tests {
    use super::*;
    use gardener_controller_manager::config::file;

    #[test]
    fn its_configuration_is_understood_and_it_listens_where_its_manifests_say() {
        let (config, warnings) = file::from_value(&super::super::read(CONFIG.1).unwrap()).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        let ports = [config.server.health_probes, config.server.metrics].map(|server| server.unwrap().port);
        let deployment = COMPONENT.base.iter().find(|(path, _)| path.ends_with("deployment.yaml")).unwrap().1;
        assert!(ports.iter().all(|port| deployment.contains(&format!("containerPort: {port}"))), "{ports:?}");
        let rbac = COMPONENT.base.iter().find(|(path, _)| path.ends_with("rbac.yaml")).unwrap().1;
        assert!(rbac.contains(&format!("resourceNames: [{}]", config.leader_election.resource_name)));
    }
}
