//! Updates of a version of Kubernetes: the tables of the original's tests and of the reference.

use rstest::rstest;
use versions::kubernetes::target;

use crate::given::{now, versions};

const UNKNOWN: &str = "Version does not exist in CloudProfile";
const EXPIRED: &str = "Kubernetes version expired - force update required";
const AUTO: &str = "AutoUpdate of Kubernetes version configured";

fn no_path(version: &str) -> String {
    format!(
        "cannot perform minor Kubernetes version update for expired Kubernetes version {version:?}. No suitable version \
         found in CloudProfile - this is most likely a misconfiguration of the CloudProfile"
    )
}

/// The update of a version as text: `stays`, `<version> <reason>`, or the error.
fn becomes(current: &str, auto_update: bool, offered: &[&str]) -> String {
    match target(current, auto_update, &versions(offered), now()) {
        Ok(None) => "stays".to_owned(),
        Ok(Some(to)) => format!("{} {}", to.to, to.reason),
        Err(error) => error.to_string(),
    }
}

const REST: [&str; 6] = ["1.1.2", "1.1.1", "1.1.0", "1.0.1", "1.0.0", "2.0.0"];

#[rstest]
#[case::patch_expired("1.0.1", false, &["1.0.1 expired", "1.0.2"], format!("1.0.2 {EXPIRED}"))]
#[case::preview_is_skipped("1.0.0", false, &["1.0.0 expired", "1.0.2 preview", "1.0.1"], format!("1.0.1 {EXPIRED}"))]
#[case::minor("1.0.2", false, &["1.0.2 expired", "1.1.2", "1.1.1"], format!("1.1.2 {EXPIRED}"))]
#[case::minor_with_auto_update("1.0.2", true, &["1.0.2 expired", "1.1.2", "1.1.1"], format!("1.1.2 {EXPIRED}"))]
#[case::minor_not_expired_first("1.0.2", false, &["1.0.2 expired", "1.1.2 expired", "1.1.1"], format!("1.1.1 {EXPIRED}"))]
#[case::minor_all_expired("1.0.2", false, &["1.0.2 expired", "1.1.1 expired", "1.1.2 expired"], format!("1.1.2 {EXPIRED}"))]
#[case::minor_all_preview("1.0.2", false, &["1.0.2 expired", "1.1.1 preview", "1.1.2 preview"], no_path("1.0.2"))]
#[case::expired_beats_preview("1.0.2", false, &["1.0.2 expired", "1.1.1 expired", "1.1.2 preview"], format!("1.1.1 {EXPIRED}"))]
#[case::auto_update("1.0.1", true, &["1.0.1", "1.0.2"], format!("1.0.2 {AUTO}"))]
#[case::no_auto_update("1.0.1", false, &["1.0.1", "1.0.2"], "stays".to_owned())]
#[case::auto_update_stays_in_its_minor("1.0.1", true, &["1.0.1", "1.1.2"], "stays".to_owned())]
#[case::auto_update_to_deprecated("1.0.1", true, &["1.0.1", "1.0.2 deprecated"], format!("1.0.2 {AUTO}"))]
#[case::auto_update_not_to_expired("1.0.1", true, &["1.0.1", "1.0.2 expired"], "stays".to_owned())]
#[case::auto_update_not_to_preview("1.0.1", true, &["1.0.1", "1.0.2 preview"], "stays".to_owned())]
#[case::auto_update_from_preview("1.0.1", true, &["1.0.1 preview", "1.0.2"], format!("1.0.2 {AUTO}"))]
#[case::deprecated_is_no_force("1.0.1", false, &["1.0.1 deprecated", "1.0.2"], "stays".to_owned())]
#[case::unknown_patch("1.0.0", false, &["1.1.2", "1.1.1", "1.0.2"], format!("1.0.2 {UNKNOWN}"))]
#[case::unknown_minor("1.0.2", false, &["1.1.2", "1.1.1"], format!("1.1.2 {UNKNOWN}"))]
#[case::never_down("1.0.2", false, &["1.0.2 expired", "1.0.1", "1.1.0"], format!("1.1.0 {EXPIRED}"))]
#[case::never_another_major("1.1.2", false, &["1.1.2 expired", "2.0.0", "2.1.0"], no_path("1.1.2"))]
#[case::never_two_minors("1.20.12", false, &["1.20.12 expired", "1.22.7", "1.22.8"], no_path("1.20.12"))]
#[case::one_minor("1.20.12", false, &["1.20.12 expired", "1.21.9", "1.21.10", "1.22.8"], format!("1.21.10 {EXPIRED}"))]
#[case::this_second("1.0.1", false, &["1.0.1 now", "1.0.2"], format!("1.0.2 {EXPIRED}"))]
#[case::not_to_this_second("1.0.1", false, &["1.0.1 now", "1.0.2 now", "1.1.0"], format!("1.1.0 {EXPIRED}"))]
#[case::next_second("1.0.1", false, &["1.0.1 expires", "1.0.2"], "stays".to_owned())]
#[case::text_is_kept("1.21.5", true, &["1.21.5", "1.21.09"], format!("1.21.09 {AUTO}"))]
#[case::text_is_read("1.21.09", false, &["1.21.9 expired", "1.21.10"], format!("1.21.10 {EXPIRED}"))]
#[case::suffix_is_cut("v1.27.3-dev.1", false, &["1.27.3"], "stays".to_owned())]
#[case::current_unreadable("one", false, &["1.27.3"], "improper constraint: = one".to_owned())]
#[case::profile_unreadable("1.27.3", false, &["one", "1.27.3"], "Invalid Semantic Version".to_owned())]
#[case::profile_unreadable_later("1.27.3", true, &["1.27.3", "one"], "failure while determining the latest Kubernetes patch \
    version in the CloudProfile: error while parsing version 'one': Invalid Semantic Version".to_owned())]
#[case::unreadable_preview("1.27.3", true, &["1.27.3", "one preview"], "stays".to_owned())]
#[case::empty_profile("1.27.3", true, &[], no_path("1.27.3"))]
fn a_version_becomes(
    #[case] current: &str,
    #[case] auto_update: bool,
    #[case] offered: &[&str],
    #[case] wanted: String,
) {
    assert_eq!(becomes(current, auto_update, offered), wanted);
}

#[test]
fn other_versions_and_their_order_do_not_matter() {
    let mut offered = vec!["1.0.2 expired"];
    offered.extend(REST);
    assert_eq!(becomes("1.0.2", false, &offered), format!("1.1.2 {EXPIRED}"));
    offered.reverse();
    assert_eq!(becomes("1.0.2", false, &offered), format!("1.1.2 {EXPIRED}"));
    assert_eq!(becomes("1.1.2", false, &offered), "stays");
}
