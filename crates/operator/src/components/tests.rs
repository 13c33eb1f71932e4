//! What holds for all components.

use rstest::rstest;
use serde_json::{Value, json};

use super::fixture::Fixture;
use super::*;

fn everything() -> Fixture {
    let fields = json!({"spec": {
        "runtimeCluster": {"settings": {"topologyAwareRouting": {"enabled": true}}},
        "virtualCluster": {
            "controlPlane": {"highAvailability": {}},
            "gardener": {"gardenerAdmissionController": {"resourceAdmissionConfiguration": {
                "limits": [{"resources": ["secrets"], "size": "1Mi"}],
            }}},
        },
    }});
    Fixture::with(&fields).with_hvpa().with_seed_authorizer().with_service("gardener-apiserver", "10.2.0.7")
}

/// Objects of the runtime cluster are in the namespace `garden`, and each can be written; the same values give the same objects.
#[rstest]
#[case::minimal(Fixture::default())]
#[case::everything(everything())]
fn objects_can_be_written(#[case] fixture: Fixture) {
    for component in GardenComponent::ALL {
        let rendering = component.render(&fixture.values()).unwrap();
        assert_eq!(component.render(&fixture.values()).unwrap(), rendering);
        for object in rendering.steps.iter().filter_map(DirectStep::object) {
            assert_eq!(object["metadata"]["namespace"], "garden", "{object}");
        }
        for managed in &rendering.managed {
            let data = managed.data().unwrap();
            assert_eq!(data.0.len(), managed.objects.len(), "{component:?}");
            let [secret, resource] = managed.written().unwrap();
            assert_eq!(resource["spec"]["secretRefs"][0]["name"], secret["metadata"]["name"]);
            let is_namespaced = |object: &&Value| {
                managed.target == ManagedTarget::Runtime
                    && !object["kind"].as_str().unwrap().starts_with("Cluster")
            };
            for object in managed.objects.iter().filter(is_namespaced) {
                assert_eq!(object["metadata"]["namespace"], "garden", "{object}");
            }
        }
    }
}

/// What a component asks for is what it reads.
#[test]
fn without_its_secrets_a_component_is_not_rendered() {
    for component in GardenComponent::ALL {
        let fixture = Fixture::default();
        for RequestedSecret { request, .. } in component.requests(&fixture.garden) {
            let mut fixture = fixture.clone();
            fixture.secrets.0.remove(&request.name);
            let error = component.render(&fixture.values()).unwrap_err().to_string();
            assert_eq!(error, format!("secret {:?} not found", request.name));
        }
    }
}

/// OPC-139: an image vector may give images of Gardener a tag.
#[test]
fn a_tag_of_the_image_vector_wins_over_the_operators_version() {
    let mut fixture = Fixture::default();
    let text = "images:\n- {name: gardener-scheduler, repository: mirror/scheduler, tag: own}\n";
    fixture.images = fixture.images.overwritten_by(image_vector::ImageVector::parse(text).unwrap());
    let values = fixture.values();
    assert_eq!(values.gardener_image("gardener-scheduler").unwrap(), "mirror/scheduler:own");
    let apiserver = values.gardener_image("gardener-apiserver").unwrap();
    assert_eq!(apiserver, "eu.gcr.io/gardener-project/gardener/apiserver:v1.82.0");
    let virtual_apiserver = values.target_image("kube-apiserver").unwrap();
    assert_eq!(virtual_apiserver, "registry.k8s.io/kube-apiserver:v1.27.3");
    assert_eq!(values.runtime_image("kube-apiserver").unwrap(), "registry.k8s.io/kube-apiserver:v1.27.1");
}
