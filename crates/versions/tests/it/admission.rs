//! Choice, filling in and updates of versions: the tables of the reference.

use formats::version::Version;
use rstest::rstest;
use serde_json::{Value, json};
use versions::{choice, filling, update};

use crate::given::{image, image_version, now, pool, shoot, versions};

const DOWNGRADE: &str = "Forbidden: kubernetes version downgrade is not supported";
const SKIP: &str = "Forbidden: kubernetes version upgrade cannot skip a minor version";
const AHEAD: &str =
    "Forbidden: worker group kubernetes version must not be higher than control plane version";

fn messages(refusals: impl IntoIterator<Item = versions::Refusal>) -> Vec<String> {
    refusals.into_iter().map(|refusal| refusal.to_string()).collect()
}

#[rstest]
#[case("1.20.5", "1.20.5", &[])]
#[case("1.20.5", "1.20.9", &[])]
#[case("1.20.5", "1.21.0", &[])]
#[case("1.20.5", "1.21.99", &[])]
#[case("1.20.5", "1.20.05", &[])]
#[case("1.20.5", "1.20.4", &[DOWNGRADE])]
#[case("1.20.5", "1.19.9", &[DOWNGRADE])]
#[case("1.20.5", "1.22.0", &[SKIP])]
#[case("1.20.5", "1.22.0-rc1", &[SKIP])]
#[case("1.20.5", "1.20.5-rc1", &[])]
#[case("1.20.5", "2.0.0", &[SKIP])]
#[case("1.20.5", "", &["Invalid value: \"\": cannot validate kubernetes version upgrade because it is unset"])]
#[case("1.20.5", "one", &["Invalid value: \"one\": Invalid Semantic Version"; 2])]
#[case("one", "1.20.5", &["Invalid value: \"1.20.5\": improper constraint: < one", "Invalid value: \"one\": Invalid Semantic Version"])]
fn a_version_follows_another(#[case] old: &str, #[case] new: &str, #[case] refused: &[&str]) {
    assert_eq!(messages(update::refusals(new, old)), refused);
}

fn behind(words: &str) -> String {
    format!(
        "Forbidden: worker group kubernetes version must be at most {words} minor versions behind control plane version"
    )
}

#[rstest]
#[case("1.24.6", "1.24.6", None)]
#[case("1.24.6", "1.24.7", Some(AHEAD.to_owned()))]
#[case("1.24.6", "1.25.0", Some(AHEAD.to_owned()))]
#[case("1.24.0", "1.22.17", None)]
#[case("1.25.0", "1.22.17", Some(behind("two")))]
#[case("1.27.9", "1.25.0", None)]
#[case("1.27.9", "1.24.9", Some(behind("two")))]
#[case("1.28.0", "1.25.0", None)]
#[case("1.28.0", "1.24.9", Some(behind("three")))]
#[case("2.0.0", "1.27.0", Some(behind("three")))]
#[case("1.24.6", "one", Some("Invalid value: \"1.24.6\": Invalid Semantic Version".to_owned()))]
fn a_pool_may_be_behind_its_control_plane(
    #[case] control_plane: &str,
    #[case] pool: &str,
    #[case] refused: Option<String>,
) {
    assert_eq!(messages(update::skew(control_plane, pool)).first(), refused.as_ref());
}

/// A shoot with a control plane's version and a pool; `-` for no pool, `~` for a pool without a version.
fn shoot_of(control_plane: &str, pool: &str) -> api::garden::shoot::ShootSpec {
    let worker = match pool {
        "~" => json!({"name": "cpu"}),
        version => json!({"name": "cpu", "kubernetes": {"version": version}}),
    };
    let workers = if pool == "-" { json!([]) } else { json!([worker]) };
    shoot(json!({"kubernetes": {"version": control_plane}, "provider": {"workers": workers}}))
}

#[rstest]
#[case("1.24.6", "~", "1.24.6", "1.23.13", &[DOWNGRADE])]
#[case("1.24.6", "~", "1.24.6", "1.24.6", &[])]
#[case("1.22.0", "1.22.0", "1.23.0", "1.22.0", &[])]
#[case("1.23.0", "1.22.0", "1.24.0", "1.22.0", &[])]
#[case("1.24.0", "1.22.0", "1.25.0", "1.22.0", &["two"])]
#[case("1.24.0", "1.22.0", "1.24.0", "~", &[SKIP])]
#[case("1.24.0", "1.23.5", "1.24.0", "~", &[])]
#[case("1.24.0", "1.23.5", "1.24.0", "1.24.1", &[AHEAD])]
#[case("1.24.6", "-", "1.24.6", "~", &[])]
#[case("1.24.6", "-", "1.24.6", "1.23.13", &[])]
#[case("1.24.6", "-", "1.24.6", "1.21.14", &["two"])]
fn a_pool_is_compared_with_its_old_version_and_its_control_plane(
    #[case] old_control_plane: &str,
    #[case] old_pool: &str,
    #[case] new_control_plane: &str,
    #[case] new_pool: &str,
    #[case] refused: &[&str],
) {
    let (old, new) = (shoot_of(old_control_plane, old_pool), shoot_of(new_control_plane, new_pool));
    let version = update::effective(&new, &new.provider.workers[0]);
    let mut found = messages(update::pools(&new, &old).into_iter().map(|(index, refusal)| {
        assert_eq!(index, 0);
        refusal
    }));
    found.extend(messages(update::skew(new_control_plane, version)));
    let wanted =
        refused.iter().map(|&refused| if refused == "two" { behind(refused) } else { refused.to_owned() });
    assert_eq!(found, wanted.collect::<Vec<_>>());
}

const OFFERED: [&str; 8] = [
    "1.28.0 preview",
    "1.27.4 supported",
    "1.27.3 deprecated",
    "1.27.2 deprecated expired",
    "1.26.09",
    "1.26.8 now",
    "1.25.0 expired",
    "2.0.0 preview",
];

fn unsuitable(said: &str) -> String {
    format!(
        "Invalid value: {said:?}: couldn't find a suitable version for {said}. Suitable versions have a non-expired \
         expiration date and are no 'preview' versions. 'Preview'-classified versions have to be selected explicitly"
    )
}

#[rstest]
#[case("", Ok(Some("1.27.4")))]
#[case("1", Ok(Some("1.27.4")))]
#[case("1.27", Ok(Some("1.27.4")))]
#[case("1.26", Ok(Some("1.26.09")))]
#[case("1.", Ok(Some("1.27.4")))]
#[case(".26", Ok(Some("1.26.09")))]
#[case("+1.026", Ok(Some("1.26.09")))]
#[case("1.27.3.1", Ok(Some("1.27.4")))]
#[case("1.27.4", Ok(None))]
#[case("a.b.c", Ok(None))]
#[case("1.28", Err(unsuitable("1.28")))]
#[case("1.25", Err(unsuitable("1.25")))]
#[case("2", Err(unsuitable("2")))]
#[case("-1", Err(unsuitable("-1")))]
#[case("1.x", Err("Invalid value: \"x\": must be a semantic version".to_owned()))]
#[case("v1", Err("Invalid value: \"v1\": must be a semantic version".to_owned()))]
fn a_version_is_filled_in(#[case] said: &str, #[case] wanted: Result<Option<&str>, String>) {
    let filled = filling::kubernetes(said, &versions(&OFFERED), now()).map_err(|refusal| refusal.to_string());
    assert_eq!(filled, wanted.map(|version| version.map(str::to_owned)));
}

#[test]
fn admission_accepts_a_version_at_its_expiration_time() {
    let filled = |offered: &[&str]| filling::kubernetes("1.26", &versions(offered), now());
    assert_eq!(filled(&["1.26.8 now", "1.26.7"]), Ok(Some("1.26.8".to_owned())));
    assert_eq!(filled(&["1.26.8 expired", "1.26.7"]), Ok(Some("1.26.7".to_owned())));
    assert_eq!(choice::kubernetes("1.26.8", "", &versions(&["1.26.8 now"]), now()), Ok(()));
}

#[rstest]
#[case("1.27.4", "", true)]
#[case("1.27.3", "", true)]
#[case("1.28.0", "", true)]
#[case("1.26.8", "", true)]
#[case("1.27.2", "", false)]
#[case("1.27.2", "1.27.2", true)]
#[case("1.26.9", "", false)]
#[case("1.24.0", "", false)]
#[case("1.24.0", "1.24.0", true)]
fn a_version_is_chosen(#[case] chosen: &str, #[case] old: &str, #[case] may: bool) {
    let refused = format!(
        "Unsupported value: {chosen:?}: supported values: \"1.28.0 (preview)\", \"1.27.4\", \"1.27.3\", \"1.26.09\", \
         \"1.26.8\", \"2.0.0 (preview)\""
    );
    let wanted = if may { Ok(()) } else { Err(refused) };
    let found = choice::kubernetes(chosen, old, &versions(&OFFERED), now());
    assert_eq!(found.map_err(|refusal| refusal.to_string()), wanted);
}

fn images() -> Vec<api::garden::cloud_profile::MachineImage> {
    let arm = json!({"architectures": ["arm64"]});
    let modern = json!({"cri": [{"name": "docker"}, {"name": "containerd", "containerRuntimes": [{"type": "gvisor"}]}]});
    vec![
        image("arm-only", vec![image_version("1.0.0 supported", arm)]),
        image(
            "gardenlinux",
            vec![
                image_version("3.0.0 preview", json!({})),
                image_version("2.1.0 deprecated", json!({})),
                image_version("2.0.0 supported", modern),
                image_version("1.0.0 supported expired", json!({})),
                image_version("0.9.0 supported now", json!({"kubeletVersionConstraint": "< 1.26"})),
            ],
        ),
        image(
            "stateless",
            vec![image_version("1.0.0", json!({})), image_version("0.5.0 preview", json!({}))],
        ),
        image("new", vec![image_version("1.0.0 preview", json!({}))]),
    ]
}

fn machine(image: Value) -> api::garden::shoot::worker::Worker {
    pool(json!({"name": "cpu", "machine": {"type": "large", "image": image}}))
}

#[rstest]
#[case::first_that_fits(json!(null), None, Ok("gardenlinux 2.0.0"))]
#[case::by_name(json!({"name": "gardenlinux"}), None, Ok("gardenlinux 2.0.0"))]
#[case::without_state(json!({"name": "stateless"}), None, Ok("stateless 1.0.0"))]
#[case::whole(json!({"name": "gardenlinux", "version": "7"}), None, Ok("gardenlinux 7"))]
#[case::old_stays(json!(null), Some(json!({"name": "gardenlinux", "version": "1.0.0"})), Ok("gardenlinux 1.0.0"))]
#[case::old_version_stays(json!({"name": "gardenlinux"}), Some(json!({"name": "gardenlinux", "version": "1.0.0"})), Ok("gardenlinux 1.0.0"))]
#[case::other_name(json!({"name": "stateless"}), Some(json!({"name": "gardenlinux", "version": "1.0.0"})), Ok("stateless 1.0.0"))]
#[case::unknown(json!({"name": "flatcar"}), None, Err("\"flatcar\": image is not supported"))]
#[case::previews(json!({"name": "new"}), None, Err("\"new\": failed to determine latest machine image from cloud profile: unable to \
    determine latest expirable version"))]
fn an_image_is_filled_in(
    #[case] said: Value,
    #[case] old: Option<Value>,
    #[case] wanted: Result<&str, &str>,
) {
    let filled = filling::image(&machine(said), old.map(machine).as_ref(), &images());
    let filled = filled.map(|image| format!("{} {}", image.name, image.version.unwrap_or_default()));
    let wanted = wanted.map(str::to_owned).map_err(|refused| format!("Invalid value: {refused}"));
    assert_eq!(filled.map_err(|refusal| refusal.to_string()), wanted);
}

#[test]
fn without_a_fitting_image_none_is_filled_in() {
    let message = |pool: &api::garden::shoot::worker::Worker, images: &[_]| {
        filling::image(pool, None, images).unwrap_err().to_string()
    };
    let none = "Invalid value: \"\": the cloud profile does not contain any machine image - cannot create shoot cluster";
    assert_eq!(message(&machine(json!(null)), &[]), none);
    let amd64 = "Invalid value: \"\": no valid machine image found that support architecture `amd64`";
    assert_eq!(message(&machine(json!(null)), &images()[..1]), amd64);
}

const SUPPORTED: &str = "supported machine image versions are: [gardenlinux:2.0.0 gardenlinux:2.1.0 gardenlinux:3.0.0 \
    new:1.0.0 stateless:0.5.0 stateless:1.0.0]";

#[rstest]
#[case::active("2.0.0", json!({}), &[])]
#[case::preview_by_name("3.0.0", json!({}), &[])]
#[case::deprecated("2.1.0", json!({}), &[])]
#[case::unknown("7.0.0", json!({}), &["machine.image: machine image version is not supported, {SUPPORTED}"])]
#[case::expired("1.0.0", json!({}), &["machine.image: machine image version 'gardenlinux:1.0.0' is expired, {SUPPORTED}"])]
#[case::last_moment("0.9.0", json!({}), &["machine.image: machine image version 'gardenlinux:0.9.0' is expired, {SUPPORTED}"])]
#[case::runtime("2.0.0", json!({"cri": {"name": "containerd", "containerRuntimes": [{"type": "gvisor"}]}}), &[])]
#[case::no_cri("2.1.0", json!({"cri": {"name": "containerd"}}), &["cri.name: machine image 'gardenlinux@2.1.0' does not support \
    CRI 'containerd', supported values: [docker]"])]
#[case::no_runtime("2.0.0", json!({"cri": {"name": "containerd", "containerRuntimes": [{"type": "gvisor"}, {"type": "kata"}]}}),
    &["cri.containerRuntimes[1].type: machine image 'gardenlinux@2.0.0' does not support container runtime 'kata', supported \
    values: [gvisor]"])]
fn an_image_is_chosen(#[case] version: &str, #[case] own: Value, #[case] refused: &[&str]) {
    let mut worker = machine(json!({"name": "gardenlinux", "version": version}));
    worker.cri = serde_json::from_value(own["cri"].clone()).expect("given by the test");
    let kubelet = Version::parse("1.25.4").expect("given by the test");
    let found = choice::image(&worker, None, &images(), &kubelet, now());
    let found = found.into_iter().map(|(at, refusal)| match refusal {
        versions::Refusal::Invalid { detail, .. } => format!("{at}: {detail}"),
        other => format!("{at}: {other}"),
    });
    let wanted: Vec<String> = refused.iter().map(|text| text.replace("{SUPPORTED}", SUPPORTED)).collect();
    assert_eq!(found.collect::<Vec<_>>(), wanted);
    // The old image may stay, even if the profile does not offer it any more.
    assert_eq!(choice::image(&worker, Some(&worker), &images(), &kubelet, now()), []);
}

#[test]
fn an_image_is_printed_as_go_does() {
    let worker = machine(json!({"name": "gardenlinux", "version": "0.9.0"}));
    let other = machine(json!({"name": "gardenlinux", "version": "2.0.0"}));
    let mut images = images();
    images[1].versions[4].expiration_date = None;
    let kubelet = Version::parse("1.26.1").expect("given by the test");
    let found = choice::image(&worker, Some(&other), &images, &kubelet, now());
    let shown = "core.ShootMachineImage{Name:\"gardenlinux\", ProviderConfig:(*runtime.RawExtension)(nil), Version:\"0.9.0\"}";
    let message = format!(
        "Invalid value: {shown}: machine image 'gardenlinux@0.9.0' does not support kubelet version '1.26.1', supported \
         kubelet versions by this machine image version: '< 1.26'"
    );
    let found: Vec<_> = found.into_iter().map(|(at, refusal)| (at, refusal.to_string())).collect();
    assert_eq!(found, [("machine.image".to_owned(), message)]);
}

#[test]
fn an_image_is_checked_again_if_the_architecture_changes() {
    let worker = machine(json!({"name": "gardenlinux", "version": "2.0.0"}));
    let mut moved = worker.clone();
    moved.machine.architecture = Some("arm64".to_owned());
    let kubelet = Version::parse("1.26.1").expect("given by the test");
    let found = choice::image(&moved, Some(&worker), &images(), &kubelet, now());
    let [(at, versions::Refusal::Invalid { detail, .. })] = &found[..] else { panic!("{found:?}") };
    assert_eq!(at, "machine.image");
    let message = "machine image version 'gardenlinux:2.0.0' does not support CPU architecture \"arm64\", supported machine image \
                versions are: [arm-only:1.0.0]";
    assert_eq!(detail, message);
}
