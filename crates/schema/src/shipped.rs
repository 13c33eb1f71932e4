//! The CRDs that come with the project: crds/*.yaml, converted to JSON in data/crds.json (`cargo xtask kinds --crds`).

use std::sync::LazyLock;

use serde_json::Value;

use crate::crd::Crd;

/// The files by name; data/crds.json has the same order.
const FILES: [&str; 35] = [
    include_str!("../crds/autoscaling.k8s.io_hvpas.yaml"),
    include_str!("../crds/autoscaling.k8s.io_verticalpodautoscalers.yaml"),
    include_str!("../crds/core.gardener.cloud_backupbuckets.yaml"),
    include_str!("../crds/core.gardener.cloud_backupentries.yaml"),
    include_str!("../crds/core.gardener.cloud_cloudprofiles.yaml"),
    include_str!("../crds/core.gardener.cloud_controllerdeployments.yaml"),
    include_str!("../crds/core.gardener.cloud_controllerinstallations.yaml"),
    include_str!("../crds/core.gardener.cloud_controllerregistrations.yaml"),
    include_str!("../crds/core.gardener.cloud_exposureclasses.yaml"),
    include_str!("../crds/core.gardener.cloud_internalsecrets.yaml"),
    include_str!("../crds/core.gardener.cloud_projects.yaml"),
    include_str!("../crds/core.gardener.cloud_quotas.yaml"),
    include_str!("../crds/core.gardener.cloud_secretbindings.yaml"),
    include_str!("../crds/core.gardener.cloud_seeds.yaml"),
    include_str!("../crds/core.gardener.cloud_shoots.yaml"),
    include_str!("../crds/core.gardener.cloud_shootstates.yaml"),
    include_str!("../crds/druid.gardener.cloud_etcds.yaml"),
    include_str!("../crds/extensions.gardener.cloud_backupbuckets.yaml"),
    include_str!("../crds/extensions.gardener.cloud_backupentries.yaml"),
    include_str!("../crds/extensions.gardener.cloud_bastions.yaml"),
    include_str!("../crds/extensions.gardener.cloud_clusters.yaml"),
    include_str!("../crds/extensions.gardener.cloud_containerruntimes.yaml"),
    include_str!("../crds/extensions.gardener.cloud_controlplanes.yaml"),
    include_str!("../crds/extensions.gardener.cloud_dnsrecords.yaml"),
    include_str!("../crds/extensions.gardener.cloud_extensions.yaml"),
    include_str!("../crds/extensions.gardener.cloud_infrastructures.yaml"),
    include_str!("../crds/extensions.gardener.cloud_networks.yaml"),
    include_str!("../crds/extensions.gardener.cloud_operatingsystemconfigs.yaml"),
    include_str!("../crds/extensions.gardener.cloud_workers.yaml"),
    include_str!("../crds/machine.sapcloud.io_machines.yaml"),
    include_str!("../crds/operations.gardener.cloud_bastions.yaml"),
    include_str!("../crds/operator.gardener.cloud_gardens.yaml"),
    include_str!("../crds/resources.gardener.cloud_managedresources.yaml"),
    include_str!("../crds/seedmanagement.gardener.cloud_managedseeds.yaml"),
    include_str!("../crds/seedmanagement.gardener.cloud_managedseedsets.yaml"),
];

static CRDS: LazyLock<Vec<Crd>> = LazyLock::new(|| {
    let objects: Vec<Value> =
        serde_json::from_str(include_str!("../data/crds.json")).expect("read by a test");
    let crd = |(object, yaml)| Crd::from_value(object).expect("each is read by a test").with_yaml(yaml);
    objects.into_iter().zip(FILES).map(crd).collect()
});

/// The CRDs that come with the project for every substrate, ordered by group and plural name.
///
/// They are the garden's kinds, the operator's Garden, the extension kinds, druid's Etcd, HVPA, VerticalPodAutoscaler, Machine and
/// ManagedResource. Names, short names, scopes and subresources are those of Gardener's CRDs. The schemas are the project's
/// own and open: fields that Gardener's components read have types, no field is required, and `spec` and `status` keep
/// undeclared fields. The schemas of the garden's kinds are generated from crates/api: every field has a type, and every
/// object keeps undeclared fields.
#[must_use]
pub fn crds() -> &'static [Crd] {
    &CRDS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kinds, ListKind, Shape};

    #[test]
    fn the_json_has_the_content_of_the_files() {
        assert_eq!(crds().len(), FILES.len());
        for crd in crds() {
            let yaml: Value =
                serde_saphyr::from_str(crd.yaml().expect("shipped with its text")).expect("YAML");
            assert_eq!(crd.json(), &yaml, "{} is stale: run cargo xtask kinds --crds", crd.name());
            assert_eq!(yaml["metadata"]["name"], crd.name());
        }
    }

    /// Version, plural name, kind, scope, short names and subresources.
    const RESOURCES: [&str; 36] = [
        "autoscaling.k8s.io/v1alpha1 hvpas Hvpa namespaced [] [scale,status]",
        "autoscaling.k8s.io/v1 verticalpodautoscalers VerticalPodAutoscaler namespaced [vpa] []",
        "autoscaling.k8s.io/v1beta2 verticalpodautoscalers VerticalPodAutoscaler namespaced [vpa] []",
        "core.gardener.cloud/v1beta1 backupbuckets BackupBucket cluster [bbc] [status]",
        "core.gardener.cloud/v1beta1 backupentries BackupEntry namespaced [bec] [status]",
        "core.gardener.cloud/v1beta1 cloudprofiles CloudProfile cluster [cprofile,cpfl] []",
        "core.gardener.cloud/v1beta1 controllerdeployments ControllerDeployment cluster [ctrldeploy] []",
        "core.gardener.cloud/v1beta1 controllerinstallations ControllerInstallation cluster [ctrlinst] [status]",
        "core.gardener.cloud/v1beta1 controllerregistrations ControllerRegistration cluster [ctrlreg] []",
        "core.gardener.cloud/v1beta1 exposureclasses ExposureClass cluster [expclass,expcls] []",
        "core.gardener.cloud/v1beta1 internalsecrets InternalSecret namespaced [ins] []",
        "core.gardener.cloud/v1beta1 projects Project cluster [] [status]",
        "core.gardener.cloud/v1beta1 quotas Quota namespaced [squota] []",
        "core.gardener.cloud/v1beta1 secretbindings SecretBinding namespaced [sb] []",
        "core.gardener.cloud/v1beta1 seeds Seed cluster [] [status]",
        "core.gardener.cloud/v1beta1 shoots Shoot namespaced [] [binding,status]",
        "core.gardener.cloud/v1beta1 shootstates ShootState namespaced [] []",
        "druid.gardener.cloud/v1alpha1 etcds Etcd namespaced [] [status]",
        "extensions.gardener.cloud/v1alpha1 backupbuckets BackupBucket cluster [bb] [status]",
        "extensions.gardener.cloud/v1alpha1 backupentries BackupEntry cluster [be] [status]",
        "extensions.gardener.cloud/v1alpha1 bastions Bastion namespaced [] [status]",
        "extensions.gardener.cloud/v1alpha1 clusters Cluster cluster [] [status]",
        "extensions.gardener.cloud/v1alpha1 containerruntimes ContainerRuntime namespaced [cr] [status]",
        "extensions.gardener.cloud/v1alpha1 controlplanes ControlPlane namespaced [cp] [status]",
        "extensions.gardener.cloud/v1alpha1 dnsrecords DNSRecord namespaced [dns] [status]",
        "extensions.gardener.cloud/v1alpha1 extensions Extension namespaced [ext] [status]",
        "extensions.gardener.cloud/v1alpha1 infrastructures Infrastructure namespaced [infra] [status]",
        "extensions.gardener.cloud/v1alpha1 networks Network namespaced [] [status]",
        "extensions.gardener.cloud/v1alpha1 operatingsystemconfigs OperatingSystemConfig namespaced [osc] [status]",
        "extensions.gardener.cloud/v1alpha1 workers Worker namespaced [] [status]",
        "machine.sapcloud.io/v1alpha1 machines Machine namespaced [mc] [status]",
        "operations.gardener.cloud/v1alpha1 bastions Bastion namespaced [] [status]",
        "operator.gardener.cloud/v1alpha1 gardens Garden cluster [grdn] [status]",
        "resources.gardener.cloud/v1alpha1 managedresources ManagedResource namespaced [mr] [status]",
        "seedmanagement.gardener.cloud/v1alpha1 managedseeds ManagedSeed namespaced [ms] [status]",
        "seedmanagement.gardener.cloud/v1alpha1 managedseedsets ManagedSeedSet namespaced [mss] [status]",
    ];

    #[test]
    fn scopes_short_names_and_subresources_are_those_of_gardener() {
        let resources: Vec<String> = crds()
            .iter()
            .flat_map(Crd::resources)
            .map(|resource| {
                let scope = if resource.namespaced { "namespaced" } else { "cluster" };
                let below: Vec<&str> =
                    resource.subresources.iter().map(|below| below.name.as_str()).collect();
                let (name, short) =
                    (format!("{} {}", resource.api_version(), resource.plural), resource.short_names);
                format!("{name} {} {scope} [{}] [{}]", resource.kind, short.join(","), below.join(","))
            })
            .collect();
        assert_eq!(resources, RESOURCES);
    }

    #[test]
    fn crds_that_gardener_protects_from_deletion_have_its_label() {
        let bare: Vec<&str> = crds()
            .iter()
            .filter(|crd| crd.json()["metadata"]["labels"]["gardener.cloud/deletion-protected"] != "true")
            .map(Crd::plural)
            .collect();
        let garden = [
            "backupbuckets",
            "backupentries",
            "cloudprofiles",
            "controllerdeployments",
            "controllerinstallations",
            "controllerregistrations",
            "exposureclasses",
            "internalsecrets",
            "projects",
            "quotas",
            "secretbindings",
            "seeds",
            "shoots",
            "shootstates",
        ];
        assert_eq!(bare[..2], ["hvpas", "verticalpodautoscalers"]);
        assert_eq!(bare[2..16], garden);
        assert_eq!(
            bare[16..],
            ["clusters", "bastions", "gardens", "managedresources", "managedseeds", "managedseedsets"]
        );
    }

    #[test]
    fn fields_that_webhooks_read_have_types_and_other_fields_are_kept() {
        let at = |group: &str, kind: &str, path: &str| {
            Kinds::gardener().type_of(group, "v1alpha1", kind).expect("shipped").at(path)
        };
        let shape = |group: &str, kind: &str, path: &str| at(group, kind, path).map(|ty| ty.shape());
        let extensions = "extensions.gardener.cloud";
        assert_eq!(shape(extensions, "DNSRecord", "spec.recordType"), Some(Shape::String));
        assert_eq!(shape(extensions, "DNSRecord", "spec.recordtype"), None);
        assert_eq!(shape(extensions, "Infrastructure", "spec.providerConfig.networks.vpc"), Some(Shape::Any));
        assert_eq!(
            shape(extensions, "Worker", "spec.pools[].nodeTemplate.capacity[cpu]"),
            Some(Shape::Quantity)
        );
        assert_eq!(shape(extensions, "Worker", "metadata.annotations.x"), Some(Shape::String));
        assert!(at(extensions, "Worker", "spec").expect("declared").is_open());
        let units = at(extensions, "OperatingSystemConfig", "spec.units").expect("declared");
        assert_eq!(units.list_kind(), Some(ListKind::Atomic));
        let least = shape("autoscaling.k8s.io", "Hvpa", "spec.hpa.template.spec.minReplicas");
        assert_eq!(least, shape("autoscaling.k8s.io", "Hvpa", "spec.replicas"));
        assert_eq!(shape("druid.gardener.cloud", "Etcd", "spec.backup.store.prefix"), Some(Shape::String));
        assert_eq!(
            shape("druid.gardener.cloud", "Etcd", "spec.backup.deltaSnapshotPeriod"),
            Some(Shape::Duration)
        );
    }
}
