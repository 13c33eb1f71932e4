//! Tests of when the resource-manager needs the kubeconfig of the bootstrap, and what that is.

use jiff::Timestamp;
use rstest::rstest;
use secrets::Content;
use serde_json::{Value, json};

use super::fixture;
use crate::components::fixture::Fixture;
use crate::components::rendering::ObjectName;
use crate::components::virtual_resource_manager::{MANAGED, bootstrap_request, must_bootstrap};

const NOW: &str = "2023-11-14T12:00:00Z";

/// An access Secret with this time of renewal.
fn access(renewal: Option<&str>) -> Value {
    let annotations = renewal.map_or_else(
        || json!({}),
        |time| json!({"serviceaccount.resources.gardener.cloud/token-renew-timestamp": time}),
    );
    json!({"metadata": {"annotations": annotations}})
}

/// A ManagedResource with this message about applying.
fn applied(status: &str, message: &str) -> Value {
    let condition = json!({"type": "ResourcesApplied", "status": status, "message": message});
    json!({"status": {"conditions": [condition]}})
}

const FORBIDDEN: &str =
    "a is forbidden: User \"system:serviceaccount:kube-system:gardener-resource-manager\" cannot patch it";

#[rstest]
#[case::nothing(None, None, true)]
#[case::never_filled(Some(access(None)), Some(applied("True", "")), true)]
#[case::expired(Some(access(Some("2023-11-14T11:59:59Z"))), Some(applied("True", "")), true)]
#[case::expires_now(Some(access(Some("2023-11-14T13:00:00+01:00"))), Some(applied("True", "")), false)]
#[case::no_permissions(Some(access(Some("2023-11-14T12:00:01Z"))), None, true)]
#[case::works(Some(access(Some("2023-11-14T12:00:01Z"))), Some(applied("True", "")), false)]
#[case::not_applied_yet(Some(access(Some("2023-11-14T12:00:01Z"))), Some(json!({})), false)]
#[case::fails_otherwise(
    Some(access(Some("2023-11-14T12:00:01Z"))),
    Some(applied("False", "conflict")),
    false
)]
#[case::is_unknown(
    Some(access(Some("2023-11-14T12:00:01Z"))),
    Some(applied("False", "failed: Unauthorized")),
    true
)]
#[case::is_refused(Some(access(Some("2023-11-14T12:00:01Z"))), Some(applied("False", FORBIDDEN)), true)]
#[case::was_refused(
    Some(access(Some("2023-11-14T12:00:01Z"))),
    Some(applied("Progressing", FORBIDDEN)),
    false
)]
fn it_bootstraps_without_a_token_that_works(
    #[case] secret: Option<Value>,
    #[case] managed_resource: Option<Value>,
    #[case] want: bool,
) {
    assert_eq!(must_bootstrap(&observed(secret, managed_resource).values()).unwrap(), want);
}

fn observed(secret: Option<Value>, managed_resource: Option<Value>) -> Fixture {
    let mut fixture = fixture(&json!({}));
    fixture.observed.time = Some(NOW.parse::<Timestamp>().unwrap());
    let secret = secret.map(|secret| {
        (ObjectName::in_garden("v1", "Secret", "shoot-access-gardener-resource-manager"), secret)
    });
    let version = "resources.gardener.cloud/v1alpha1";
    let managed_resource =
        managed_resource.map(|object| (ObjectName::in_garden(version, "ManagedResource", MANAGED), object));
    fixture.observed.existing.0.extend(secret.into_iter().chain(managed_resource));
    fixture
}

#[test]
fn a_time_of_renewal_that_is_none_is_refused() {
    let error = must_bootstrap(&observed(Some(access(Some("soon"))), None).values()).unwrap_err().to_string();
    assert!(error.starts_with("could not parse renew timestamp: "), "{error}");
}

#[test]
fn the_certificate_of_the_bootstrap_is_short_lived() {
    let requested = bootstrap_request(&fixture(&json!({})).values()).unwrap();
    assert_eq!(requested.request.name, "shoot-access-gardener-resource-manager-bootstrap");
    assert_eq!(requested.options.signer.unwrap().authority, "ca-client");
    let Content::ControlPlane(content) = requested.request.content else { panic!("another content") };
    let certificate = content.certificate.unwrap();
    assert_eq!(certificate.common_name, "gardener.cloud:system:gardener-resource-manager");
    assert_eq!(certificate.organizations, ["system:masters"]);
    assert_eq!(certificate.validity.unwrap().as_secs(), 600);
    assert_eq!(content.clusters[0].host, "virtual-garden-kube-apiserver");
    assert_eq!(content.clusters[0].authorities, b"ca bundle");
}
