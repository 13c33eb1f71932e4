//! Tests that parse and write units.

use proptest::prelude::*;
use serde_json::json;

use super::*;

const KUBELET: &str = "# made by hand\n[Unit]\nAfter=docker.service\n\n[Service]\nExecStartPre=/bin/a\n\
    ExecStartPre=/bin/b --x=y\nExecStart=/kubelet \\\n; in between\n    --one \\\n    --two\n[Unit]\nAfter = containerd.service\nWants=\n";

fn option(section: &str, name: &str, value: &str) -> UnitOption {
    UnitOption { section: section.to_owned(), name: name.to_owned(), value: value.to_owned() }
}

#[test]
fn an_option_has_its_values_in_order() {
    let unit = json!({
        "Unit": {"After": ["docker.service", "containerd.service"], "Wants": [""]},
        "Service": {
            "ExecStartPre": ["/bin/a", "/bin/b --x=y"],
            "ExecStart": ["/kubelet --one --two"],
        },
    });
    assert_eq!(parse(KUBELET), Ok(unit));
}

#[test]
fn options_keep_their_order_and_their_line_breaks() {
    let options = options(KUBELET).expect("a unit");
    let wanted = [
        option("Unit", "After", "docker.service"),
        option("Service", "ExecStartPre", "/bin/a"),
        option("Service", "ExecStartPre", "/bin/b --x=y"),
        option("Service", "ExecStart", "/kubelet \\\n    --one \\\n    --two"),
        option("Unit", "After", "containerd.service"),
        option("Unit", "Wants", ""),
    ];
    assert_eq!(options, wanted);
    let text = "[Unit]\nAfter=docker.service\nAfter=containerd.service\nWants=\n\n[Service]\nExecStartPre=/bin/a\n\
        ExecStartPre=/bin/b --x=y\nExecStart=/kubelet \\\n    --one \\\n    --two\n";
    assert_eq!(write(&options), text);
}

#[test]
fn a_backslash_at_the_end_of_a_value_is_removed() {
    for text in [
        "[Service]\nExecStart=/kubelet \\\n\n",
        "[Service]\nExecStart=/kubelet \\",
        "[Service]\nExecStart=/kubelet \\\n \\\n\n",
    ] {
        assert_eq!(parse(text), Ok(json!({"Service": {"ExecStart": ["/kubelet"]}})), "{text:?}");
    }
}

#[test]
fn case_20_a_line_continues_only_after_an_odd_number_of_backslashes() {
    let two = "[Service]\nExecStart=/k --root-dir=/var\\\\\nRestart=always\n";
    let wanted =
        [option("Service", "ExecStart", "/k --root-dir=/var\\\\"), option("Service", "Restart", "always")];
    assert_eq!(options(two), Ok(wanted.to_vec()));
    let three = "[Service]\nExecStart=/k \\\\\\\n --a\n";
    assert_eq!(parse(three), Ok(json!({"Service": {"ExecStart": ["/k \\\\ --a"]}})));
    let blanks = "[Service]\nExecStart=/k \\\n    --v=2 \\ \n    --a=/x\n";
    assert_eq!(options(blanks), Err(UnitError::Blanks(3)));
}

#[test]
fn case_20_an_empty_value_cancels_the_earlier_ones() {
    let unit = "[Service]\nExecStart=/a\nExecStart=\nExecStart=/b\n[Other]\nExecStart=/c\n";
    let options = options(unit).expect("a unit");
    assert_eq!(effective(&options, "Service", "ExecStart"), [2]);
    assert_eq!(effective(&options, "Other", "ExecStart"), [3]);
    assert_eq!(effective(&options[..2], "Service", "ExecStart"), [] as [usize; 0]);
}

#[test]
fn a_written_unit_parses_to_the_same_value() {
    let unit = parse(KUBELET).expect("a unit");
    assert_eq!(to_string(&unit).map(|text| parse(&text)), Some(Ok(unit)));
    assert_eq!(to_string(&json!({"Unit": {"After": "x"}})).as_deref(), Some("[Unit]\nAfter=x\n"));
    assert_eq!(to_string(&json!([])), None);
}

#[test]
fn a_malformed_unit_is_an_error_with_its_line() {
    assert_eq!(parse("\nAfter=x"), Err(UnitError::NoSection(2)));
    assert_eq!(parse("[Unit]\nAfter"), Err(UnitError::Line(2)));
    assert_eq!(parse(""), Ok(json!({})));
    assert_eq!(options("x=y"), Err(UnitError::NoSection(1)));
}

proptest! {
    #[test]
    fn both_parsers_accept_the_same_texts(text in "\\PC*|(?s)[\\[\\]=\\\\#; a-c\n\r\t]*") {
        let (parsed, listed) = (parse(&text), options(&text));
        prop_assert_eq!(parsed.is_ok(), listed.is_ok());
        if let Ok(listed) = listed {
            let again = options(&write(&listed)).expect("what is written is a unit");
            let mut wanted = listed.clone();
            wanted.sort_by_key(|option| listed.iter().position(|other| other.section == option.section));
            prop_assert_eq!(again, wanted);
        }
    }

    #[test]
    fn written_options_parse_to_the_same_options(
        options in prop::collection::vec(("[A-C]", "[A-Za-z]{1,3}", "([!-Z^-~]{1,4}( \\\\\n {0,4}[!-Z^-~]{1,3})*)?"), 0..6)
    ) {
        let mut options: Vec<_> = options.iter().map(|(section, name, value)| option(section, name, value)).collect();
        options.retain(|option| !option.value.lines().any(|line| line.trim().starts_with(['#', ';'])));
        let order = options.clone();
        options.sort_by_key(|option| order.iter().position(|other| other.section == option.section));
        prop_assert_eq!(super::options(&write(&options)), Ok(options));
    }
}
