//! Which versions constraints allow, and which texts are malformed.

use super::*;

/// Constraint, versions that it allows, versions that it does not allow.
const ALLOWED: [(&str, &[&str], &[&str]); 33] = [
    (">= 1.26", &["1.26.0", "1.26", "1.27.3", "2.0.0"], &["1.25.9", "1.26.0-rc.1", "1.27.0-alpha"]),
    ("< 1.26", &["1.25.9", "0.1.0"], &["1.26.0", "1.25.0-rc.1"]),
    (">= 1.26-0", &["1.26.0-rc.1", "1.26.0"], &["1.25.9"]),
    ("< 1.25-0", &["1.24.9", "1.24.9-rc.1"], &["1.25.0-rc.1", "1.25.0"]),
    ("1.2.3", &["1.2.3", "v1.2.03", "1.2.3+build"], &["1.2.4", "1.2.3-rc.1"]),
    ("=1.2", &["1.2.0", "1.2.9"], &["1.3.0", "1.1.9"]),
    ("1.x", &["1.0.0", "1.99.0"], &["2.0.0", "0.9.0"]),
    ("1.2.*", &["1.2.7"], &["1.3.0"]),
    ("*", &["0.0.0", "3.2.1"], &["1.0.0-rc.1"]),
    ("!=1.2.3", &["1.2.4", "1.2.3-rc.1"], &["1.2.3"]),
    ("!=1.2", &["1.3.0", "2.2.0"], &["1.2.0", "1.2.9", "1.3.0-rc.1"]),
    ("!=1.x", &["2.0.0"], &["1.0.0", "1.9.9"]),
    ("!=*", &["1.0.0"], &["0.0.0"]),
    ("> 1.2.3", &["1.2.4"], &["1.2.3", "1.2.4-rc.1"]),
    ("> 1.2", &["1.3.0", "2.0.0"], &["1.2.9", "1.2.0"]),
    ("> 1", &["2.0.0"], &["1.9.9"]),
    (">*", &["0.0.1"], &["0.0.0"]),
    ("<= 1.2.3", &["1.2.3", "1.0.0"], &["1.2.4"]),
    ("<= 1.2", &["1.2.9", "1.1.0"], &["1.3.0", "2.0.0"]),
    ("=< 1", &["1.9.9", "0.1.0"], &["2.0.0"]),
    ("<=*", &["0.0.7"], &["0.1.0", "1.0.0"]),
    ("~1.2.3", &["1.2.3", "1.2.9"], &["1.2.2", "1.3.0", "2.2.3"]),
    ("~> 1.2", &["1.2.0", "1.2.9"], &["1.3.0"]),
    ("~1", &["1.0.0", "1.9.0"], &["2.0.0", "0.9.0"]),
    ("~0.0.0", &["0.0.0", "0.3.0", "7.0.0"], &["1.0.0-rc.1"]),
    ("^1.2.3", &["1.2.3", "1.9.0"], &["1.2.2", "2.0.0"]),
    ("^0.2.3", &["0.2.3", "0.2.9"], &["0.2.2", "0.3.0", "1.2.3"]),
    ("^0.0.3", &["0.0.3"], &["0.0.4", "0.1.3"]),
    ("^0.0", &["0.0.0", "0.0.9"], &["0.1.0"]),
    ("^0", &["0.0.0", "0.9.9"], &["1.0.0"]),
    (">= 1.24, < 1.27 !=1.25.3", &["1.24.0", "1.26.9", "1.25.2"], &["1.23.9", "1.27.0", "1.25.3"]),
    ("1.2 - 1.4.1", &["1.2.0", "1.4.1"], &["1.1.9", "1.4.2"]),
    ("<1.0 || >=2.1 <3", &["0.9.9", "2.1.0"], &["1.0.0", "2.0.9", "3.0.0"]),
];

#[test]
fn constraints_allow_and_exclude_versions() {
    let allows = |constraint: &str, version: &str| {
        let constraint = Constraint::parse(constraint).expect("a constraint");
        constraint.allows(&Version::parse(version).expect("a version"))
    };
    for (constraint, allowed, refused) in ALLOWED {
        for version in allowed {
            assert!(allows(constraint, version), "{constraint} allows {version}");
        }
        for version in refused {
            assert!(!allows(constraint, version), "{constraint} does not allow {version}");
        }
    }
}

#[test]
fn blanks_and_commas_separate() {
    let parse = |text: &str| Constraint::parse(text).expect("a constraint");
    for text in [">=1.2,<2", " >= 1.2 , < 2 ", ">=1.2 <2", "\t=>1.2\n<2"] {
        assert_eq!(parse(text), parse(">= 1.2, < 2"), "{text:?}");
    }
    assert_eq!(parse("1.2 - 1.4 !=1.3.1, 2"), parse(">=1.2 <=1.4 !=1.3.1 =2"));
}

#[test]
fn malformed_constraints_have_the_messages_of_masterminds_semver() {
    let error = |text: &str| Constraint::parse(text).expect_err("no constraint").to_string();
    for text in ["", " ", ">=", "foo", ">= 1.2,", "1.2,,1.3", "== 1.2", ">1<2", "1.2.3.4", "1.2 -1.4", "1 -"]
    {
        assert_eq!(error(text), format!("improper constraint: {text}"));
    }
    assert_eq!(error("1.2 || >"), "improper constraint:  >");
    for text in [">= 1.2x", "1.2.3-rc.01", "99999999999999999999"] {
        assert_eq!(error(text), "constraint Parser Error", "{text}");
    }
}
