//! Images by versions, overwritten images, and files that are not valid.

use rstest::rstest;

use super::*;

const VECTOR: &str = r#"
images:
- name: any
  repository: example.com/any
  tag: "1"
- name: tagless
  repository: example.com/tagless
- name: digest
  repository: example.com/digest
  tag: sha256:0123
- name: versions
  repository: example.com/all
  tag: all
- name: versions
  repository: example.com/new
  tag: new
  targetVersion: ">= 1.27"
- name: versions
  repository: example.com/exact
  tag: exact
  targetVersion: "1.27.3"
- name: both
  repository: example.com/both
  runtimeVersion: "< 1.26"
  targetVersion: "1.25.x"
- name: arm
  repository: example.com/arm
  architectures: [arm64]
"#;

#[rstest]
#[case("any", None, None, "example.com/any:1")]
#[case("any", Some("1.27.1"), Some("1.27.1"), "example.com/any:1")]
#[case("tagless", None, None, "example.com/tagless")]
#[case("tagless", None, Some("1.27.1"), "example.com/tagless:v1.27.1")]
#[case("tagless", Some("1.26.1"), Some("v1.27.1-foo.1"), "example.com/tagless:v1.27.1-foo.1")]
#[case("digest", None, None, "example.com/digest@sha256:0123")]
#[case::without_a_version_the_first("versions", None, None, "example.com/all:all")]
#[case("versions", None, Some("1.26.9"), "example.com/all:all")]
#[case("versions", None, Some("1.27.0"), "example.com/new:new")]
#[case::a_prerelease_counts_as_its_version("versions", None, Some("1.27.0-alpha.1"), "example.com/new:new")]
#[case("versions", None, Some("1.27.3"), "example.com/exact:exact")]
#[case("both", Some("1.25.0"), Some("1.25.4"), "example.com/both:v1.25.4")]
fn an_image_is_found_by_name_and_versions(
    #[case] name: &str,
    #[case] runtime: Option<&str>,
    #[case] target: Option<&str>,
    #[case] want: &str,
) {
    let vector = ImageVector::parse(VECTOR).unwrap();
    assert_eq!(vector.find(name, ImageVersions { runtime, target }).unwrap().to_string(), want);
}

#[rstest]
#[case("unknown", None, None, r#"could not find image "unknown" opts "#)]
#[case(
    "both",
    Some("1.26.0"),
    Some("1.25.4"),
    r#"could not find image "both" opts runtime version 1.26.0 target version 1.25.4 "#
)]
#[case("both", None, Some("1.26.0"), r#"could not find image "both" opts target version 1.26.0 "#)]
#[case::of_another_architecture("arm", None, None, r#"could not find image "arm" opts "#)]
fn a_missing_image_is_named(
    #[case] name: &str,
    #[case] runtime: Option<&str>,
    #[case] target: Option<&str>,
    #[case] want: &str,
) {
    let vector = ImageVector::parse(VECTOR).unwrap();
    assert_eq!(vector.find(name, ImageVersions { runtime, target }).unwrap_err().to_string(), want);
}

#[test]
fn an_overwritten_image_keeps_its_tag_unless_it_gets_one() {
    let other = "images: [
        {name: any, repository: mirror/any},
        {name: digest, repository: mirror/digest, tag: '2'},
        {name: versions, repository: mirror/new, targetVersion: '>= 1.27'},
        {name: added, repository: mirror/added},
    ]";
    let vector = ImageVector::parse(VECTOR).unwrap().overwritten_by(ImageVector::parse(other).unwrap());
    let found = |name, target| {
        vector.find(name, ImageVersions { runtime: None, target }).map(|image| image.to_string()).unwrap()
    };
    assert_eq!(found("any", None), "mirror/any:1");
    assert_eq!(found("digest", None), "mirror/digest:2");
    assert_eq!(found("versions", Some("1.27.0")), "mirror/new:new");
    assert_eq!(found("versions", Some("1.26.0")), "example.com/all:all");
    assert_eq!(found("added", None), "mirror/added");
}

#[rstest]
#[case(
    "images: [{tag: ''}]",
    "the image vector is not valid: images[0].name: Required value: image name is required, \
     images[0].repository: Required value: image repository is required, \
     images[0].tag: Invalid value: \"\": image tag must not be empty if specified"
)]
#[case(
    "images: [{name: a, repository: b, targetVersion: '!'}]",
    "the image vector is not valid: images[0].targetVersion: Invalid value: \"!\": improper constraint: !"
)]
fn what_is_wrong_with_a_file_is_named(#[case] text: &str, #[case] want: &str) {
    assert_eq!(ImageVector::parse(text).unwrap_err().to_string(), want);
}

/// The images of the operator's components, as the original's v1.82.0 has them.
#[rstest]
#[case("gardener-apiserver", None, "eu.gcr.io/gardener-project/gardener/apiserver")]
#[case("kube-apiserver", Some("1.27.3"), "registry.k8s.io/kube-apiserver:v1.27.3")]
#[case("kube-controller-manager", Some("1.28.15"), "registry.k8s.io/kube-controller-manager:v1.28.15")]
#[case("etcd-druid", Some("1.27.3"), "eu.gcr.io/gardener-project/gardener/etcd-druid:v0.20.2")]
#[case("kube-state-metrics", None, "registry.k8s.io/kube-state-metrics/kube-state-metrics:v2.8.2")]
#[case("gardener-metrics-exporter", None, "eu.gcr.io/gardener-project/gardener/metrics-exporter:0.27.0")]
#[case("istio-istiod", None, "gcr.io/istio-release/pilot:1.17.1-distroless")]
fn the_built_in_images(#[case] name: &str, #[case] target: Option<&str>, #[case] want: &str) {
    let vector = ImageVector::built_in().unwrap();
    assert_eq!(vector.find(name, ImageVersions { runtime: None, target }).unwrap().to_string(), want);
}

#[test]
fn image_vectors_of_components_are_checked() {
    let text = "components:\n- name: etcd-druid\n  imageVectorOverwrite: |\n    images:\n    - name: etcd\n      repository: a\n";
    let vectors = of_components(text).unwrap();
    assert_eq!(vectors["etcd-druid"], "images:\n- name: etcd\n  repository: a\n");
    let nameless = "components:\n- imageVectorOverwrite: 'images: []'\n";
    assert!(matches!(of_components(nameless), Err(ImageVectorError::Invalid(_))));
    let invalid = "components:\n- name: a\n  imageVectorOverwrite: 'images: [{name: b}]'\n";
    assert!(matches!(of_components(invalid), Err(ImageVectorError::Invalid(_))));
}
