//! Updates of a pool's image: the table of the original's tests.

use api::garden::cloud_profile::MachineImage;
use formats::version::Version;
use rstest::rstest;
use serde_json::{Value, json};
use versions::image::target;

use crate::given::{image, image_version, now, pool, profile};

const UNKNOWN: &str = "Version does not exist in CloudProfile";
const AUTO: &str = "AutoUpdate of MachineImage configured";
const EXPIRED: &str = "MachineImage expired - force update required";

fn no_path(version: &str) -> String {
    format!(
        "no latest qualifying Shoot machine image could be determined for machine image \"CoreOs\". Either the machine image \
         is reaching end of life and migration to another machine image is required or there is a misconfiguration in the \
         CloudProfile. If it is the latter, make sure the machine image in the CloudProfile has at least one version that \
         is not expired, not in preview and greater or equal to the current Shoot image version {version:?}"
    )
}

/// The image with versions in words, each with other fields.
fn core_os(versions: &[(&str, Value)]) -> MachineImage {
    let versions = versions.iter().map(|(words, fits)| image_version(words, fits.clone())).collect();
    image("CoreOs", versions)
}

/// The update of a pool's image as text; by default the pool has Kubernetes 1.25.1 and amd64.
fn becomes(version: &str, own: Value, auto_update: bool, image: MachineImage) -> String {
    becomes_on(version, own, auto_update, image, "1.25.1")
}

fn becomes_on(version: &str, own: Value, auto_update: bool, image: MachineImage, kubelet: &str) -> String {
    let machine =
        json!({"type": "large", "architecture": "amd64", "image": {"name": "CoreOs", "version": version}});
    let mut worker = json!({"name": "cpu", "machine": machine});
    for (key, value) in own.as_object().expect("given by the test") {
        if key == "architecture" {
            worker["machine"][key] = value.clone();
        } else {
            worker[key] = value.clone();
        }
    }
    let kubelet = Version::parse(kubelet).expect("given by the test");
    match target(&pool(worker), &kubelet, auto_update, &profile(&[], vec![image]), now()) {
        Ok(None) => "stays".to_owned(),
        Ok(Some(to)) => format!("{} {} {}", to.name, to.version, to.reason),
        Err(error) => error.to_string(),
    }
}

#[rstest]
#[case::expired("1.0.0", false, &["1.0.0 expired", "1.1.1"], format!("CoreOs 1.1.1 {EXPIRED}"))]
#[case::auto_update("1.0.0", true, &["1.0.0", "1.1.1"], format!("CoreOs 1.1.1 {AUTO}"))]
#[case::auto_update_of_expired("1.0.0", true, &["1.0.0 expired", "1.1.1"], format!("CoreOs 1.1.1 {AUTO}"))]
#[case::neither("1.0.0", false, &["1.0.0", "1.1.1"], "stays".to_owned())]
#[case::newer_preview("1.0.0", true, &["1.0.0", "1.1.1", "1.1.2 preview"], format!("CoreOs 1.1.1 {AUTO}"))]
#[case::highest_already("1.1.1", true, &["1.0.0", "1.1.1"], "stays".to_owned())]
#[case::majors_are_no_border("1.0.0", true, &["1.0.0", "9.1.1"], format!("CoreOs 9.1.1 {AUTO}"))]
#[case::deleted("1.0.0", false, &["1.1.1"], format!("CoreOs 1.1.1 {UNKNOWN}"))]
#[case::on_preview("1.1.2", true, &["1.0.0", "1.1.2 preview"], "stays".to_owned())]
#[case::on_expired_preview("1.1.2", false, &["1.0.0", "1.1.2 preview expired"], "stays".to_owned())]
#[case::from_preview("1.1.2", true, &["1.1.2 preview", "1.1.3"], format!("CoreOs 1.1.3 {AUTO}"))]
#[case::not_deprecated_first("1.0.0", true, &["1.0.0", "1.1.0", "1.1.1 deprecated"], format!("CoreOs 1.1.0 {AUTO}"))]
#[case::deprecated_else("1.0.0", true, &["1.0.0 deprecated", "1.1.1 deprecated"], format!("CoreOs 1.1.1 {AUTO}"))]
#[case::not_deprecated_or_itself("1.0.0", true, &["1.0.0", "1.1.1 deprecated"], "stays".to_owned())]
#[case::no_downgrade("1.1.2", false, &["1.0.0", "1.1.2 deprecated expired"], no_path("1.1.2"))]
#[case::no_downgrade_of_unknown("1.1.2", false, &["1.0.0"], no_path("1.1.2"))]
#[case::this_second("1.0.0", false, &["1.0.0 now", "1.1.1"], format!("CoreOs 1.1.1 {EXPIRED}"))]
#[case::next_second("1.0.0", false, &["1.0.0 expires", "1.1.1"], "stays".to_owned())]
#[case::current_unreadable("new", false, &["1.1.1"], "failed to read the version of machine image \"CoreOs\": Invalid Semantic \
    Version".to_owned())]
#[case::profile_unreadable("1.0.0", true, &["1.0.0", "new"], "an error occured while determining the latest Shoot Machine Image \
    for machine image \"CoreOs\": error while parsing version 'new': Invalid Semantic Version".to_owned())]
fn an_image_becomes(
    #[case] current: &str,
    #[case] auto_update: bool,
    #[case] versions: &[&str],
    #[case] wanted: String,
) {
    let versions: Vec<(&str, Value)> = versions.iter().map(|words| (*words, json!({}))).collect();
    assert_eq!(becomes(current, json!({}), auto_update, core_os(&versions)), wanted);
}

fn containerd(runtimes: &[&str]) -> Value {
    let runtimes: Vec<Value> = runtimes.iter().map(|name| json!({"type": name})).collect();
    json!({"name": "containerd", "containerRuntimes": runtimes})
}

#[rstest]
#[case::architecture(json!({"architecture": "arm64"}), json!({"architectures": ["amd64", "arm64"]}), "1.1.1")]
#[case::other_architecture(json!({"architecture": "arm64"}), json!({"architectures": ["amd64"]}), "none")]
#[case::no_architecture(json!({"architecture": null}), json!({"architectures": ["amd64"]}), "1.1.1")]
#[case::no_architectures(json!({}), json!({"architectures": []}), "1.1.1")]
#[case::no_architectures_is_amd64(json!({"architecture": "arm64"}), json!({"architectures": []}), "none")]
#[case::no_cri_is_docker(json!({}), json!({"cri": [{"name": "containerd"}]}), "none")]
#[case::no_cris_is_docker(json!({}), json!({"cri": []}), "1.1.1")]
#[case::containerd(json!({"cri": containerd(&[])}), json!({"cri": [{"name": "docker"}, containerd(&["gvisor"])]}), "1.1.1")]
#[case::no_containerd(json!({"cri": containerd(&[])}), json!({}), "none")]
#[case::runtime(json!({"cri": containerd(&["gvisor"])}), json!({"cri": [containerd(&["kata", "gvisor"])]}), "1.1.1")]
#[case::runtime_missing(json!({"cri": containerd(&["gvisor", "kata"])}), json!({"cri": [containerd(&["gvisor"])]}), "none")]
#[case::kubelet(json!({}), json!({"kubeletVersionConstraint": "< 1.26"}), "1.1.1")]
#[case::other_kubelet(json!({}), json!({"kubeletVersionConstraint": ">= 1.26"}), "none")]
fn an_image_must_fit(#[case] own: Value, #[case] fits: Value, #[case] wanted: &str) {
    let update = becomes("1.0.0", own, true, core_os(&[("1.1.1", fits)]));
    let wanted = match wanted {
        "none" => no_path("1.0.0"),
        version => format!("CoreOs {version} {UNKNOWN}"),
    };
    assert_eq!(update, wanted);
}

#[rstest]
#[case("< 1.26", "1.26.0", "stays")]
#[case("< 1.26", "1.25.1", "CoreOs 1.1.1 AutoUpdate of MachineImage configured")]
#[case(">= 1.26", "1.25.4", "stays")]
#[case(">= 1.26", "1.26.0", "CoreOs 1.1.1 AutoUpdate of MachineImage configured")]
#[case("x.y", "1.26.0", "cannot parse the kubeletVersionConstraint: improper constraint: x.y")]
fn an_image_must_run_the_kubelet(#[case] constraint: &str, #[case] kubelet: &str, #[case] wanted: &str) {
    let image = core_os(&[("1.0.0", json!({})), ("1.1.1", json!({"kubeletVersionConstraint": constraint}))]);
    assert_eq!(becomes_on("1.0.0", json!({}), true, image, kubelet), wanted);
}

#[test]
fn an_image_that_does_not_fit_any_more_counts_as_unknown() {
    let image = core_os(&[("1.0.0", json!({"architectures": ["arm64"]})), ("1.1.1", json!({}))]);
    assert_eq!(becomes("1.0.0", json!({}), false, image), format!("CoreOs 1.1.1 {UNKNOWN}"));
}

#[test]
fn an_image_is_found_by_its_name_ignoring_case() {
    let named =
        |name: &str| image(name, vec![image_version("1.0.0", json!({})), image_version("1.1.1", json!({}))]);
    assert_eq!(becomes("1.0.0", json!({}), false, named("coreos")), format!("coreos 1.1.1 {UNKNOWN}"));
    assert_eq!(becomes("1.1.1", json!({}), false, named("coreos")), "stays");
    let unknown = "failure while determining the default machine image in the CloudProfile: no machineImage with name \
                   \"CoreOs\" (specified in shoot) could be found in the cloudProfile \"local\"";
    assert_eq!(becomes("1.0.0", json!({}), false, named("flatcar")), unknown);
}

#[test]
fn a_pool_without_image_or_version_is_an_error() {
    let message = |machine: Value| {
        let worker = pool(json!({"name": "cpu", "machine": machine}));
        let profile = profile(&[], vec![core_os(&[("1.0.0", json!({}))])]);
        target(&worker, &Version::parse("1.25.1").expect("given by the test"), true, &profile, now())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(message(json!({})), "worker pool \"cpu\" has no machine image");
    assert_eq!(message(json!({"image": {"name": "CoreOs"}})), "machine image \"CoreOs\" has no version");
}
