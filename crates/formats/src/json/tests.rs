//! Values and error messages compared with Go's.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn read(text: &str) -> (Vec<Value>, Option<String>) {
    let mut values = Vec::new();
    for value in Stream::new(text.as_bytes()) {
        match value {
            Ok(value) => values.push(value),
            Err(error) => return (values, Some(error.to_string())),
        }
    }
    (values, None)
}

#[test]
fn values_follow_each_other_with_any_white_space() {
    let wanted = vec![json!({"a": 1}), json!([2]), Value::Null, json!("x")];
    assert_eq!(read(" {\"a\":1}[2]\n null \"x\"\r\n\t"), (wanted, None));
    assert_eq!(read(" \n"), (vec![], None));
}

#[test]
fn whole_floats_are_printed_whole() {
    let wanted = json!({"a": 1, "b": [1000, 0.5, 1e300], "c": 9_007_199_254_740_993_u64});
    assert_eq!(read("{\"a\":1.0,\"b\":[1e3,0.5,1e300],\"c\":9007199254740993}"), (vec![wanted], None));
}

#[test]
fn unpaired_surrogates_are_replaced() {
    let table = [
        (r#""\ud800""#, "\u{fffd}"),
        (r#""\uDC00x""#, "\u{fffd}x"),
        (r#""\ud800\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
        (r#""\ud800\u0041""#, "\u{fffd}A"),
        (r#""\ud83d\uDE00""#, "\u{1f600}"),
        (r#""\\ud800""#, "\\ud800"),
        (r#""\\\ud800""#, "\\\u{fffd}"),
    ];
    for (text, wanted) in table {
        assert_eq!(read(text), (vec![json!(wanted)], None), "{text}");
    }
    let fault = "json: offset 7: invalid character 'x' in \\u hexadecimal character escape";
    assert_eq!(read(r#""\ud80x""#), (vec![], Some(fault.to_owned())));
}

#[test]
fn case_57_a_document_keeps_floats_and_limits_integers() {
    let table = [
        ("80.0", json!(80.0)),
        ("8e1", json!(80.0)),
        ("9223372036854775807", json!(i64::MAX)),
        ("9223372036854775808", json!(9_223_372_036_854_775_808.0)),
        ("18446744073709551615", json!(18_446_744_073_709_551_615.0)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("-9223372036854775809", json!(-9_223_372_036_854_775_809.0)),
        ("-0", json!(0)),
        ("{\"-0\": [-0, -0 ]}", json!({"-0": [0, 0]})),
        ("123456789.12345679", json!(123_456_789.123_456_79)),
    ];
    for (text, want) in table {
        assert_eq!(document(text.as_bytes()), Ok(want), "{text}");
    }
}

#[test]
fn a_float_zero_keeps_its_sign_and_an_integer_zero_has_none() {
    for (text, want) in [("-0", "0"), ("-0.0", "-0.0"), ("-0e1", "-0.0"), ("[-0,-0.00]", "[0,-0.0]")] {
        assert_eq!(document(text.as_bytes()).unwrap().to_string(), want, "{text}");
    }
}

#[test]
fn a_number_or_word_ends_where_another_character_begins() {
    for text in ["-0x", "0x", "1e5x", "truex", "null x"] {
        let why = "invalid character 'x' after top-level value";
        assert_eq!(document(text.as_bytes()), Err(why.to_owned()), "{text}");
    }
    let read: Vec<_> = Stream::new(b"1-2 true[3]x").collect();
    let syntax = StreamError::Syntax {
        offset: 12,
        message: "invalid character 'x' looking for beginning of value".to_owned(),
    };
    assert_eq!(read, [Ok(json!(1)), Ok(json!(-2)), Ok(json!(true)), Ok(json!([3])), Err(syntax)]);
}

#[test]
fn case_59_a_number_that_no_float_holds_is_read_for_a_type() {
    let text = br#"{"a": 1e400, "1e400": [-1E999, 5]}"#;
    let want = json!({"a": f64::MAX, "1e400": [f64::MIN, 5]});
    assert_eq!(typed_document(text), Ok(want));
    assert_eq!(literal(text, f64::MAX), Some("1e400"));
    assert_eq!(
        document(text),
        Err("json: cannot unmarshal number 1e400 into Go value of type float64".to_owned())
    );
}

#[test]
fn the_last_of_equal_keys_counts() {
    assert_eq!(read("{\"a\":{\"b\":1},\"a\":{\"c\":2}}"), (vec![json!({"a": {"c": 2}})], None));
}

#[test]
fn syntax_errors_have_gos_messages() {
    let table = [
        ("{\"a\":1}\n---\n{\"b\":2}", "json: offset 10: invalid character '-' in numeric literal"),
        ("{\"a\":1} foo", "json: offset 10: invalid character 'o' in literal false (expecting 'a')"),
        ("{a: 1}", "json: offset 2: invalid character 'a' looking for beginning of object key string"),
        ("{\"a\" 1}", "json: offset 6: invalid character '1' after object key"),
        ("{\"a\": }", "json: offset 7: invalid character '}' looking for beginning of value"),
        ("{\"a\": 1 \"b\"}", "json: offset 9: invalid character '\"' after object key:value pair"),
        ("{\"a\": 1,}", "json: offset 9: invalid character '}' looking for beginning of object key string"),
        ("{\"a\": [1 2]}", "json: offset 10: invalid character '2' after array element"),
        ("{\"a\": [1,]}", "json: offset 10: invalid character ']' looking for beginning of value"),
        ("{\"a\": \"\n\"}", "json: offset 8: invalid character '\\n' in string literal"),
        ("{\"a\": \"\\x\"}", "json: offset 9: invalid character 'x' in string escape code"),
        (
            "{\"a\": \"\\u12g4\"}",
            "json: offset 12: invalid character 'g' in \\u hexadecimal character escape",
        ),
        ("{\"a\": 1.}", "json: offset 9: invalid character '}' after decimal point in numeric literal"),
        ("{\"a\": 1e}", "json: offset 9: invalid character '}' in exponent of numeric literal"),
        ("{\"a\": 012}", "json: offset 8: invalid character '1' after object key:value pair"),
        ("{\"a\": ä}", "json: offset 7: invalid character 'Ã' looking for beginning of value"),
        ("{\"a\": '1'}", "json: offset 7: invalid character '\\'' looking for beginning of value"),
        ("}", "json: offset 1: invalid character '}' looking for beginning of value"),
        ("{\"a\": {\"b\": [1, {}", "unexpected EOF"),
        ("{\"a\": \"x", "unexpected EOF"),
        ("{\"a\": tru", "unexpected EOF"),
    ];
    for (text, wanted) in table {
        assert_eq!(read(text).1.as_deref(), Some(wanted), "{text}");
    }
}

#[test]
fn a_value_that_cannot_be_represented_is_an_error_and_ends_the_stream() {
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    let (values, error) = read(&deep);
    assert_eq!(values, vec![] as Vec<Value>);
    assert_eq!(error.as_deref(), Some("json: offset 10005: invalid character '[' exceeded max depth"));
    assert_eq!(Stream::new(deep.as_bytes()).count(), 1);
    assert_eq!(
        read("{\"a\":1e999}").1.as_deref(),
        Some("json: cannot unmarshal number 1e999 into Go value of type float64")
    );
}

#[test]
fn invalid_utf8_is_replaced() {
    let values: Vec<_> = Stream::new(b"{\"a\":\"\xff\"}").collect();
    assert_eq!(values, [Ok(json!({"a": "\u{fffd}"}))]);
}

proptest! {
    #[test]
    fn every_stream_ends(text in "[{}\\[\\]\",:0-9a-z\\-\\\\ \\n.]{0,40}") {
        prop_assert!(Stream::new(text.as_bytes()).count() <= text.len());
    }

    #[test]
    fn the_scanner_finds_an_error_where_the_parser_does(text in "[{}\\[\\]\",:0-2tfn\\-. ]{1,20}") {
        let text = format!("[{text}]");
        let end = scan::end(text.as_bytes());
        match Stream::new(text.as_bytes()).next() {
            Some(Ok(_)) => prop_assert!(end.is_ok(), "{:?}", end),
            other => prop_assert!(end.is_err(), "{:?}", other),
        }
    }
}

#[test]
fn a_document_is_one_value() {
    assert_eq!(super::document(b" {\"a\":1.0} \n"), Ok(json!({"a": 1.0})));
    let table = [
        ("", "unexpected end of JSON input"),
        ("{", "unexpected end of JSON input"),
        ("not", "invalid character 'o' in literal null (expecting 'u')"),
        ("{} trailing", "invalid character 't' after top-level value"),
    ];
    for (text, wanted) in table {
        assert_eq!(super::document(text.as_bytes()), Err(wanted.to_owned()), "{text}");
    }
}
