//! Manifests as users write them: reading, access to fields, and unchanged writing.

use api::garden::cloud_profile::Classification;
use api::garden::shoot::worker::CRI_CONTAINERD;
use api::garden::{
    BackupBucket, BackupEntry, Bastion, CloudProfile, ClusterOpenIdConnectPreset, ControllerDeployment,
    ControllerInstallation, ControllerRegistration, ExposureClass, InternalSecret, ManagedSeed,
    ManagedSeedSet, OpenIdConnectPreset, Project, Quota, SecretBinding, Seed, Shoot, ShootState,
};
use api::operator::Garden;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use k8s_openapi::{ListableResource, Metadata, Resource};
use rstest::rstest;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

const CLOUD_PROFILE: &str = include_str!("manifests/cloud-profile.yaml");
const SHOOT: &str = include_str!("manifests/shoot.yaml");

#[rstest]
#[case::backup_bucket(read_and_write::<BackupBucket>, include_str!("manifests/backup-bucket.yaml"))]
#[case::backup_entry(read_and_write::<BackupEntry>, include_str!("manifests/backup-entry.yaml"))]
#[case::bastion(read_and_write::<Bastion>, include_str!("manifests/bastion.yaml"))]
#[case::controller_deployment(read_and_write::<ControllerDeployment>, include_str!("manifests/controller-deployment.yaml"))]
#[case::controller_installation(read_and_write::<ControllerInstallation>, include_str!("manifests/controller-installation.yaml"))]
#[case::controller_registration(read_and_write::<ControllerRegistration>, include_str!("manifests/controller-registration.yaml"))]
#[case::garden(read_and_write::<Garden>, include_str!("manifests/garden.yaml"))]
#[case::internal_secret(read_and_write::<InternalSecret>, include_str!("manifests/internal-secret.yaml"))]
#[case::managed_seed(read_and_write::<ManagedSeed>, include_str!("manifests/managed-seed.yaml"))]
#[case::managed_seed_set(read_and_write::<ManagedSeedSet>, include_str!("manifests/managed-seed-set.yaml"))]
#[case::shoot_state(read_and_write::<ShootState>, include_str!("manifests/shoot-state.yaml"))]
#[case::cloud_profile(read_and_write::<CloudProfile>, CLOUD_PROFILE)]
#[case::exposure_class(read_and_write::<ExposureClass>, include_str!("manifests/exposure-class.yaml"))]
#[case::open_id_connect_preset(read_and_write::<OpenIdConnectPreset>, include_str!("manifests/open-id-connect-preset.yaml"))]
#[case::cluster_open_id_connect_preset(read_and_write::<ClusterOpenIdConnectPreset>, include_str!("manifests/cluster-open-id-connect-preset.yaml"))]
#[case::project(read_and_write::<Project>, include_str!("manifests/project.yaml"))]
#[case::quota(read_and_write::<Quota>, include_str!("manifests/quota.yaml"))]
#[case::secret_binding(read_and_write::<SecretBinding>, include_str!("manifests/secret-binding.yaml"))]
#[case::seed(read_and_write::<Seed>, include_str!("manifests/seed.yaml"))]
#[case::shoot(read_and_write::<Shoot>, SHOOT)]
#[case::workerless_shoot(read_and_write::<Shoot>, include_str!("manifests/shoot-workerless.yaml"))]
fn a_manifest_is_written_unchanged(#[case] read_and_write: fn(&str) -> Value, #[case] manifest: &str) {
    let came: Value = formats::yaml::from_str(manifest).expect("YAML");
    assert_eq!(read_and_write(manifest), came);
}

#[test]
fn versions_keep_their_text_and_classifications_their_names() {
    let profile: CloudProfile = formats::yaml::from_str(CLOUD_PROFILE).expect("a profile");
    let versions: Vec<_> = profile
        .spec
        .kubernetes
        .versions
        .iter()
        .map(|version| {
            let expires = version.expiration_date.as_ref().map(|time| time.0.to_string());
            (version.version.as_str(), version.classification.clone(), expires)
        })
        .collect();
    assert_eq!(
        versions,
        [
            ("1.28.2", Some(Classification::Preview), None),
            ("1.27.5", Some(Classification::Supported), None),
            ("1.27.04", Some(Classification::Deprecated), Some("2024-09-30T23:59:59Z".to_owned())),
            ("1.26.8", None, Some("2024-06-30T23:59:59Z".to_owned())),
            ("1.25.0", Some(Classification::Other("retired".to_owned())), None),
        ]
    );
}

#[test]
fn all_fields_of_a_pool_are_read() {
    let shoot: Shoot = formats::yaml::from_str(SHOOT).expect("a shoot");
    let pool = &shoot.spec.provider.workers[0];
    assert_eq!(pool.max_surge, Some(IntOrString::Int(1)));
    assert_eq!(pool.max_unavailable, Some(IntOrString::String("10%".to_owned())));
    assert_eq!(pool.cri.as_ref().map(|cri| cri.name.as_str()), Some(CRI_CONTAINERD));
    assert_eq!(pool.kubernetes.as_ref().and_then(|own| own.version.as_deref()), Some("1.26.8"));
    assert_eq!(pool.unknown["fromTheFuture"], serde_json::json!({"kept": true}));
}

#[test]
fn kinds_have_the_api_group_version_and_plural_of_gardener() {
    fn api<K: Resource + ListableResource + Metadata>() -> [&'static str; 4] {
        [K::API_VERSION, K::KIND, K::LIST_KIND, K::URL_PATH_SEGMENT]
    }
    let core = "core.gardener.cloud/v1beta1";
    assert_eq!(api::<BackupBucket>(), [core, "BackupBucket", "BackupBucketList", "backupbuckets"]);
    assert_eq!(api::<BackupEntry>(), [core, "BackupEntry", "BackupEntryList", "backupentries"]);
    assert_eq!(api::<CloudProfile>(), [core, "CloudProfile", "CloudProfileList", "cloudprofiles"]);
    assert_eq!(
        api::<ControllerDeployment>(),
        [core, "ControllerDeployment", "ControllerDeploymentList", "controllerdeployments"]
    );
    assert_eq!(
        api::<ControllerInstallation>(),
        [core, "ControllerInstallation", "ControllerInstallationList", "controllerinstallations"]
    );
    assert_eq!(
        api::<ControllerRegistration>(),
        [core, "ControllerRegistration", "ControllerRegistrationList", "controllerregistrations"]
    );
    assert_eq!(api::<ExposureClass>(), [core, "ExposureClass", "ExposureClassList", "exposureclasses"]);
    assert_eq!(api::<InternalSecret>(), [core, "InternalSecret", "InternalSecretList", "internalsecrets"]);
    assert_eq!(api::<Project>(), [core, "Project", "ProjectList", "projects"]);
    assert_eq!(api::<Quota>(), [core, "Quota", "QuotaList", "quotas"]);
    assert_eq!(api::<SecretBinding>(), [core, "SecretBinding", "SecretBindingList", "secretbindings"]);
    assert_eq!(api::<Seed>(), [core, "Seed", "SeedList", "seeds"]);
    assert_eq!(api::<Shoot>(), [core, "Shoot", "ShootList", "shoots"]);
    assert_eq!(api::<ShootState>(), [core, "ShootState", "ShootStateList", "shootstates"]);
    let operations = "operations.gardener.cloud/v1alpha1";
    assert_eq!(api::<Bastion>(), [operations, "Bastion", "BastionList", "bastions"]);
    let operator = "operator.gardener.cloud/v1alpha1";
    assert_eq!(api::<Garden>(), [operator, "Garden", "GardenList", "gardens"]);
    let settings = "settings.gardener.cloud/v1alpha1";
    assert_eq!(
        api::<OpenIdConnectPreset>(),
        [settings, "OpenIDConnectPreset", "OpenIDConnectPresetList", "openidconnectpresets"]
    );
    assert_eq!(
        api::<ClusterOpenIdConnectPreset>(),
        [
            settings,
            "ClusterOpenIDConnectPreset",
            "ClusterOpenIDConnectPresetList",
            "clusteropenidconnectpresets"
        ]
    );
    let seeds = "seedmanagement.gardener.cloud/v1alpha1";
    assert_eq!(api::<ManagedSeed>(), [seeds, "ManagedSeed", "ManagedSeedList", "managedseeds"]);
    assert_eq!(api::<ManagedSeedSet>(), [seeds, "ManagedSeedSet", "ManagedSeedSetList", "managedseedsets"]);
}

fn read_and_write<K: Serialize + DeserializeOwned>(manifest: &str) -> Value {
    let read: K = formats::yaml::from_str(manifest).expect("a manifest of this kind");
    serde_json::to_value(read).expect("an object is written")
}
