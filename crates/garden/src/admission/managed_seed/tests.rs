//! Tests of the plugin ManagedSeed.

use rstest::rstest;
use serde_json::json;

use super::*;
use crate::admission::lookup::{SECRET_BINDINGS, SECRETS};
use crate::admission::testing::{TestGarden, merge};

fn shoot(change: &Value) -> Value {
    let mut shoot = json!({
        "metadata": {"name": "app", "namespace": "garden"},
        "spec": {
            "dns": {"domain": "app.example.com", "providers": [{"type": "r53", "primary": true}]},
            "kubernetes": {"version": "1.27.1", "verticalPodAutoscaler": {"enabled": true}},
            "networking": {"nodes": "10.1.0.0/16", "pods": "10.2.0.0/16", "services": "10.3.0.0/16"},
            "provider": {"type": "aws", "workers": [{"name": "w", "zones": ["b", "a"]}, {"name": "v", "zones": ["b"]}]},
            "region": "eu", "secretBindingName": "binding",
        },
    });
    merge(&mut shoot, change);
    shoot
}

fn garden(change: &Value) -> TestGarden {
    let binding = json!({
        "metadata": {"name": "binding", "namespace": "garden"},
            "secretRef": {"name": "aws", "namespace": "garden-secrets"},
    });
    TestGarden::default().with(SHOOTS, shoot(change)).with(SECRET_BINDINGS.resource, binding)
}

fn managed_seed(seed_spec: &Value) -> Value {
    json!({
        "metadata": {"name": "m", "namespace": "garden"},
        "spec": {"shoot": {"name": "app"}, "gardenlet": {"config": {
            "apiVersion": "gardenlet.config.gardener.cloud/v1alpha1", "kind": "GardenletConfiguration",
            "seedConfig": {"spec": seed_spec},
        }}},
    })
}

/// Admits a new object, or an update; returns the refusal and what became of the object.
fn admitted(garden: &TestGarden, old: Option<&Value>, new: &Value) -> (Option<(u16, String)>, Value) {
    let operation = if old.is_some() { Operation::Update } else { Operation::Create };
    let mut object = new.clone();
    let attributes = Attributes { old, ..garden.attributes(operation, KIND, new) };
    let refused = admit(&attributes, Some(&mut object)).err();
    (refused.map(|rejection| (rejection.code, rejection.message)), object)
}

const INVALID: &str = "ManagedSeed.seedmanagement.gardener.cloud \"m\" is invalid: ";
const SPEC: &str = "spec.gardenlet.config.seedConfig.spec";

#[rstest]
#[case(json!({"metadata": {"namespace": "other"}}),
    "metadata.namespace: Invalid value: \"other\": namespace must be garden")]
#[case(json!({"spec": {"shoot": null}}), "spec.shoot: Required value: shoot is required")]
#[case(json!({"spec": {"shoot": {"name": ""}}}), "spec.shoot.name: Required value: shoot name is required")]
#[case(json!({"spec": {"shoot": {"name": "x"}}}), "spec.shoot.name: Invalid value: \"x\": shoot garden/x not found")]
fn a_managed_seed_of_the_garden_names_a_shoot(#[case] change: Value, #[case] want: &str) {
    let mut object = managed_seed(&json!({}));
    merge(&mut object, &change);
    let (refused, _) = admitted(&garden(&json!({})), None, &object);
    assert_eq!(refused, Some((422, format!("{INVALID}{want}"))));
}

#[rstest]
#[case(json!({"spec": {"dns": null}}), "shoot garden/app does not specify a domain")]
#[case(json!({"spec": {"dns": {"domain": ""}}}), "shoot garden/app does not specify a domain")]
#[case(json!({"spec": {"addons": {"nginxIngress": {"enabled": true}}}}),
    "shoot ingress addon is not supported for managed seeds - use the managed seed ingress controller")]
#[case(json!({"spec": {"kubernetes": {"verticalPodAutoscaler": null}}}),
    "shoot VPA has to be enabled for managed seeds")]
#[case(json!({"spec": {"kubernetes": {"verticalPodAutoscaler": {"enabled": false}}}}),
    "shoot VPA has to be enabled for managed seeds")]
#[case(json!({"spec": {"provider": {"workers": []}}}), "workerless shoot cannot be used to create managed seed")]
fn a_shoot_must_be_able_to_be_a_seed(#[case] change: Value, #[case] why: &str) {
    let (refused, _) = admitted(&garden(&change), None, &managed_seed(&json!({})));
    assert_eq!(refused, Some((422, format!("{INVALID}spec.shoot.name: Invalid value: \"app\": {why}"))));
}

#[test]
fn a_shoot_is_one_seed() {
    let other = |name: &str| {
        let mut other = managed_seed(&json!({}));
        other["metadata"]["name"] = json!(name);
        other
    };
    let new = managed_seed(&json!({}));
    let garden = garden(&json!({})).with(MANAGED_SEEDS, other("m"));
    assert_eq!(admitted(&garden, Some(&new), &new).0, None);
    let garden = self::garden(&json!({})).with(MANAGED_SEEDS, other("o"));
    let why = "shoot garden/app already registered as seed by managed seed garden/o";
    let want = format!("{INVALID}spec.shoot.name: Invalid value: \"app\": {why}");
    assert_eq!(admitted(&garden, None, &new).0, Some((422, want)));
    let garden = garden.with(MANAGED_SEEDS, other("p"));
    let why = "Internal error occurred: could not get managed seed for shoot garden/app: found more than one ManagedSeed objects \
               for shoot garden/app";
    assert_eq!(admitted(&garden, None, &new).0, Some((500, why.to_owned())));
}

#[test]
fn what_a_seed_leaves_open_comes_from_the_shoot() {
    let (refused, object) =
        admitted(&garden(&json!({})), None, &managed_seed(&json!({"backup": {"region": "eu"}})));
    let want = json!({
        "backup": {"region": "eu", "provider": "aws"},
        "ingress": {"domain": "ingress.app.example.com", "controller": {"kind": ""}},
        "dns": {"provider": {"type": "r53", "secretRef": {"name": "aws", "namespace": "garden-secrets"}}},
        "networks": {"nodes": "10.1.0.0/16", "pods": "10.2.0.0/16", "services": "10.3.0.0/16"},
        "provider": {"type": "aws", "region": "eu", "zones": ["a", "b"]},
        "settings": {"verticalPodAutoscaler": {"enabled": false}},
    });
    assert_eq!((refused, &object["spec"]["gardenlet"]["config"]["seedConfig"]["spec"]), (None, &want));
    assert_eq!(object["metadata"].get("annotations"), None);
    let (refused, again) = admitted(&garden(&json!({})), Some(&object), &object);
    assert_eq!((refused, again), (None, object));
}

#[rstest]
#[case(json!({"ingress": {"domain": "x.y"}}),
    "ingress.domain: Invalid value: \"x.y\": seed ingress domain must be equal to shoot DNS \
     domain ingress.app.example.com")]
#[case(json!({"networks": {"nodes": "1.0.0.0/8"}}),
    "networks.nodes: Invalid value: \"1.0.0.0/8\": seed nodes CIDR must be equal to \
     shoot nodes CIDR 10.1.0.0/16")]
#[case(json!({"networks": {"pods": "1.0.0.0/8"}}),
    "networks.pods: Invalid value: \"1.0.0.0/8\": seed pods CIDR must be equal to shoot \
     pods CIDR 10.2.0.0/16")]
#[case(json!({"networks": {"services": "1.0.0.0/8"}}),
    "networks.services: Invalid value: \"10.2.0.0/16\": seed services CIDR must be \
     equal to shoot services CIDR 10.3.0.0/16")]
#[case(json!({"provider": {"type": "gcp"}}),
    "provider.type: Invalid value: \"gcp\": seed provider type must be equal to shoot provider \
     type aws")]
#[case(json!({"provider": {"region": "us"}}),
    "provider.region: Invalid value: \"us\": seed provider region must be equal to shoot \
     region eu")]
#[case(json!({"settings": {"verticalPodAutoscaler": {"enabled": true}}}),
    "settings.verticalPodAutoscaler.enabled: Invalid value: true: \
    seed VPA is not supported for managed seeds - use the shoot VPA")]
#[case(json!({"secretRef": {"name": "a", "namespace": "b"}}),
    "secretRef: Invalid value: v1.SecretReference{Name:\"a\", \
    Namespace:\"b\"}: seed secretRef cannot be specified when the shoot static token kubeconfig is disabled")]
#[case(json!({"provider": {"zones": ["a", "x"]}}),
    "provider.zones: Invalid value: []string{\"a\", \"x\"}: cannot use zone in seed \
     provider that is not available in referenced shoot")]
fn what_a_seed_says_agrees_with_the_shoot(#[case] seed_spec: Value, #[case] want: &str) {
    let (refused, _) = admitted(&garden(&json!({})), None, &managed_seed(&seed_spec));
    assert_eq!(refused, Some((422, format!("{INVALID}{SPEC}.{want}"))));
}

#[test]
fn all_disagreements_are_listed() {
    let kubernetes = json!({"spec": {"kubernetes": {
        "kubeAPIServer": {"featureGates": {"TopologyAwareHints": false}},
        "kubeControllerManager": {"featureGates": {"TopologyAwareHints": false}},
        "kubeProxy": {"featureGates": {"TopologyAwareHints": false}},
    }}});
    let seed = json!({"provider": {"type": "gcp"}, "settings": {"topologyAwareRouting": {"enabled": true}}});
    let (refused, _) = admitted(&garden(&kubernetes), None, &managed_seed(&seed));
    let gate = |component: &str| {
        format!(
            "{SPEC}.settings.topologyAwareRouting.enabled: Invalid value: true: the topology-aware routing seed setting cannot be \
             enabled when the TopologyAwareHints feature gate is disabled for {component}"
        )
    };
    let provider = format!(
        "{SPEC}.provider.type: Invalid value: \"gcp\": seed provider type must be equal to shoot provider type aws"
    );
    let all =
        [provider, gate("kube-apiserver"), gate("kube-controller-manager"), gate("kube-proxy")].join(", ");
    assert_eq!(refused, Some((422, format!("{INVALID}[{all}]"))));
}

#[rstest]
#[case(json!({"providers": [{"type": "r53", "primary": true, "secretName": "s"}]}), json!({"secretBindingName": null}),
    Ok(json!({"type": "r53", "secretRef": {"name": "s", "namespace": "garden"}})))]
#[case(json!({"providers": [{"primary": true}]}), json!({}),
    Err("primary DNS provider of shoot garden/app does not have a type"))]
#[case(json!({"providers": [{"type": "r53", "primary": true}]}), json!({"secretBindingName": null}),
    Err("shoot secretbindingName is nil for garden/app"))]
#[case(json!({"providers": [{"type": "r53", "primary": true}]}), json!({"secretBindingName": "x"}),
    Err("secret binding garden/x not found"))]
#[case(json!({"providers": null, "domain": "app.default.com"}), json!({}),
    Ok(json!({"type": "cloud", "secretRef": {"name": "default", "namespace": "garden"}})))]
#[case(json!({"providers": [{"type": "unmanaged", "primary": true}], "domain": "app.nodefault.com"}), json!({}),
    Ok(json!({"type": "cloud", "secretRef": {"name": "default", "namespace": "garden"}})))]
#[case(json!({"providers": [{"type": "r53"}]}), json!({}),
    Err("domain of shoot garden/app is neither a custom domain nor a default domain"))]
fn dns_comes_from_the_shoot_or_a_default_domain(
    #[case] dns: Value,
    #[case] spec: Value,
    #[case] want: Result<Value, &str>,
) {
    let annotations =
        json!({"dns.gardener.cloud/provider": "cloud", "dns.gardener.cloud/domain": "default.com"});
    let labels = json!({"gardener.cloud/role": "default-domain"});
    let secret = json!({"metadata": {"name": "default", "namespace": "garden", "labels": labels,
        "annotations": annotations}});
    let elsewhere = json!({"metadata": {"name": "a", "namespace": "other", "labels": labels}});
    let mut change = json!({"spec": spec});
    change["spec"]["dns"] = dns;
    let garden = garden(&change).with(SECRETS, secret).with(SECRETS, elsewhere);
    let (refused, object) = admitted(&garden, None, &managed_seed(&json!({})));
    match want {
        Ok(provider) => {
            let found = &object["spec"]["gardenlet"]["config"]["seedConfig"]["spec"]["dns"]["provider"];
            assert_eq!((refused, found), (None, &provider));
        }
        Err(why) => {
            let domain = "ingress.app.example.com";
            let value = format!(
                "core.Ingress{{Domain:\"{domain}\", Controller:core.IngressController{{Kind:\"\", \
         ProviderConfig:(*runtime.RawExtension)(nil)}}}}"
            );
            assert_eq!(
                refused,
                Some((422, format!("{INVALID}{SPEC}.ingress: Invalid value: {value}: {why}")))
            );
        }
    }
}

#[rstest]
#[case(json!(null), "domain secret has no annotations")]
#[case(json!({"dns.gardener.cloud/provider": "cloud"}), "missing dns domain annotation on domain secret")]
#[case(json!({"dns.gardener.cloud/domain": "d"}), "missing dns provider annotation on domain secret")]
fn a_broken_default_domain_is_an_internal_error(#[case] annotations: Value, #[case] why: &str) {
    let labels = json!({"gardener.cloud/role": "default-domain"});
    let secret = json!({"metadata": {"name": "default", "namespace": "garden", "labels": labels,
        "annotations": annotations}});
    let garden = garden(&json!({"spec": {"dns": {"providers": null}}})).with(SECRETS, secret);
    let (refused, _) = admitted(&garden, None, &managed_seed(&json!({})));
    let text =
        format!("Internal error occurred: could not get domain info from domain secret annotations: {why}");
    assert_eq!(refused, Some((500, text)));
}

#[test]
fn a_secret_of_the_seed_is_mirrored_and_stays() {
    let garden = garden(&json!({"spec": {"kubernetes": {"enableStaticTokenKubeconfig": true}}}));
    let (refused, mut object) =
        admitted(&garden, None, &managed_seed(&json!({"secretRef": {"name": "a", "namespace": "b"}})));
    let want = json!({
        "seedmanagement.gardener.cloud/seed-secret-name": "a",
            "seedmanagement.gardener.cloud/seed-secret-namespace": "b",
    });
    assert_eq!((refused, &object["metadata"]["annotations"]), (None, &want));
    let old = object.clone();
    merge(
        &mut object,
        &json!({"spec": {"gardenlet": {"config": {"seedConfig": {"spec": {"secretRef": null}}}}}}),
    );
    let (refused, updated) = admitted(&garden, Some(&old), &object);
    assert_eq!((refused, &updated["metadata"]["annotations"]), (None, &want));
}

#[rstest]
#[case(json!({"spec": {"gardenlet": null}}), "no gardenlet config specified in managedseed m")]
#[case(json!({"spec": {"gardenlet": {"config": null}}}), "no gardenlet config specified in managedseed m")]
#[case(json!({"spec": {"gardenlet": {"config": {"seedConfig": null}}}}), "no seed config found for managedseed m")]
#[case(json!({"spec": {"gardenlet": {"config": {"kind": "X"}}}}),
    "Internal error occurred: could not convert config: no kind \"X\" is registered for version \
     \"gardenlet.config.gardener.cloud/v1alpha1\" in scheme \"pkg/runtime/scheme.go:100\"")]
fn a_managed_seed_has_a_configuration_with_a_seed(#[case] change: Value, #[case] want: &str) {
    let mut object = managed_seed(&json!({}));
    merge(&mut object, &change);
    let (refused, _) = admitted(&garden(&json!({})), None, &object);
    assert_eq!(refused, Some((500, want.to_owned())));
}

#[rstest]
#[case::kept(&["x", "a"], &["x", "a"], false, None)]
#[case::removed(&["x", "a"], &["a"], false, None)]
#[case::removed_and_used(&["x", "a"], &["a"], true,
    Some("Forbidden: zones must not be removed while shoots are still scheduled onto seed"))]
#[case::added(&["x"], &["x", "b"], true, None)]
#[case::added_elsewhere(&["x"], &["x", "z", "y"], false,
    Some("Invalid value: []string{\"y\", \"z\"}: added zones must match zone names \
    configured for workers in the referenced shoot cluster"))]
fn zones_of_an_update_are_added_and_kept(
    #[case] old: &[&str],
    #[case] new: &[&str],
    #[case] is_used: bool,
    #[case] want: Option<&str>,
) {
    let mut garden = garden(&json!({}));
    if is_used {
        let user = json!({"metadata": {"name": "user", "namespace": "n"}, "spec": {"seedName": "m"}});
        garden = garden.with(SHOOTS, user);
    }
    let of = |zones: &[&str]| managed_seed(&json!({"provider": {"zones": zones}}));
    let (refused, _) = admitted(&garden, Some(&of(old)), &of(new));
    let want = want.map(|why| (422, format!("{INVALID}{SPEC}.provider.zones: {why}")));
    assert_eq!(refused, want);
}
