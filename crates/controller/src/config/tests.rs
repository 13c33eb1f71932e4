//! Configuration files by table: values, warnings and errors.

use std::collections::BTreeMap;

use formats::duration::GoDuration;
use serde::Deserialize;

use super::*;

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Config {
    log_level: String,
    server: Server,
    target: Option<Server>,
    labels: BTreeMap<String, String>,
    pools: Vec<Pool>,
    sync_period: GoDuration,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Server {
    #[serde(alias = "address")]
    bind_address: String,
    port: u16,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Pool {
    name: String,
}

fn normalize(value: &mut Value) {
    if let Some(host) = value.get_mut("server").and_then(Value::as_object_mut).and_then(|s| s.remove("host"))
    {
        value["server"]["bindAddress"] = host;
    }
}

const FORMAT: Format = Format {
    api_version: "test/v1",
    kind: "Config",
    normalize,
    misspellings: &[("server.certs", "server.tls.serverCertDir")],
};

fn with_head(text: &str) -> String {
    format!("apiVersion: test/v1\nkind: Config\n{text}")
}

fn warnings(text: &str) -> Vec<String> {
    let (_, warnings) = read::<Config>(&with_head(text), &FORMAT).unwrap();
    warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn yaml_and_json_read_the_same_and_nulls_say_nothing() {
    let want = Config {
        log_level: "debug".to_owned(),
        server: Server { bind_address: "::".to_owned(), port: 8 },
        target: None,
        labels: BTreeMap::from([("a/b".to_owned(), "c".to_owned())]),
        pools: vec![Pool { name: "x".to_owned() }],
        sync_period: GoDuration::from_seconds(60),
    };
    let yaml = with_head(
        "logLevel: debug\nserver: {host: '::', port: 010}\ntarget: null\nlabels: {a/b: c}\npools:\n- name: x\n\
         syncPeriod: 1m\n",
    );
    let json = r#"{"apiVersion": "test/v1", "kind": "Config", "logLevel": "debug", "syncPeriod": "1m0s",
        "server": {"address": "::", "port": 8}, "labels": {"a/b": "c", "x": null}, "pools": [{"name": "x"}]}"#;
    assert_eq!(read::<Config>(&yaml, &FORMAT).unwrap(), (want, Vec::new()));
    assert_eq!(read::<Config>(json, &FORMAT).unwrap().0, read::<Config>(&yaml, &FORMAT).unwrap().0);
    let empty = with_head("logLevel: null\nserver: ~\nlabels:\npools:\nsyncPeriod:\n");
    assert_eq!(read::<Config>(&empty, &FORMAT).unwrap(), (Config::default(), Vec::new()));
}

#[test]
fn unknown_fields_are_reported_with_position_and_suggestion() {
    let table: [(&str, &[&str]); 6] = [
        ("logLevel: x\n", &[]),
        (
            "loglevel: x\n",
            &["line 3, column 1: unknown field loglevel has no effect, did you mean logLevel?"],
        ),
        (
            "server:\n  prot: 1\n  zzz: 2\n",
            &[
                "line 4, column 3: unknown field server.prot has no effect, did you mean server.port?",
                "line 5, column 3: unknown field server.zzz has no effect",
            ],
        ),
        (
            "target: {certs: x}\nserver: {certs: x}\n",
            &[
                "line 3, column 10: unknown field target.certs has no effect",
                "line 4, column 10: unknown field server.certs has no effect, did you mean server.tls.serverCertDir?",
            ],
        ),
        (
            "pools:\n- name: a\n- nam: b\n",
            &["line 5, column 3: unknown field pools[1].nam has no effect, did you mean pools[1].name?"],
        ),
        ("labels: {anything: goes}\n", &[]),
    ];
    for (text, want) in table {
        assert_eq!(warnings(text), want, "{text}");
    }
}

#[test]
fn profiles_that_are_asked_for_are_reported_as_absent_even_if_unknown_fields_are_errors() {
    let no = |line, field| {
        format!(
            "line {line}, column 3: field debugging.{field} has no effect: this program serves no profiles"
        )
    };
    let both = "debugging:\n  enableProfiling: true\n  enableContentionProfiling: true\n";
    let one = "debugging:\n  enableProfiling: false\n  enableContentionProfiling: true\n";
    for (text, want) in [
        (both, vec![no(4, "enableProfiling"), no(5, "enableContentionProfiling")]),
        (one, vec![no(5, "enableContentionProfiling")]),
        ("debugging: {}\n", Vec::new()),
    ] {
        let (_, found) = read::<Debuggable>(&with_head(text), &FORMAT).unwrap();
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), want, "{text}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.yaml");
        std::fs::write(&path, with_head(text)).unwrap();
        assert_eq!(Debuggable::load(&path, true).unwrap().1, found, "{text}");
    }
    let unknown = "line 3, column 1: unknown field debugging has no effect";
    assert_eq!(warnings(both), [unknown]);
}

#[test]
fn errors_name_the_position_and_hide_the_value() {
    let table = [
        ("apiVersion: test/v1\n", "error decoding config: kind must be Config, found none"),
        ("kind: Config\n", "error decoding config: apiVersion must be test/v1, found none"),
        (
            "apiVersion: test/v2\nkind: Config\n",
            "error decoding config: apiVersion must be test/v1, found test/v2",
        ),
        ("apiVersion: test/v1\nkind: Other\n", "error decoding config: kind must be Config, found Other"),
        ("", "error decoding config: expected one document, found 0"),
        ("a: 1\n---\nb: 2\n", "error decoding config: expected one document, found 2"),
        (
            "apiVersion: test/v1\nkind: Config\nserver:\n  port: hunter2\n",
            "error decoding config: line 4, column 9: server.port: invalid type: string, expected u16",
        ),
        (
            "apiVersion: test/v1\nkind: Config\npools: [{name: a}, {name: [1]}]\n",
            "error decoding config: line 3, column 27: pools[1].name: invalid type: sequence, expected a \
             string",
        ),
        (
            "apiVersion: test/v1\nkind: Config\nserver: 3\n",
            "error decoding config: line 3, column 9: server: invalid type: integer `3`, expected struct \
             Server",
        ),
    ];
    for (text, want) in table {
        let error = read::<Config>(text, &FORMAT).unwrap_err().to_string();
        assert_eq!(error, want, "{text}");
    }
    let error = read::<Config>("a: [\n", &FORMAT).unwrap_err().to_string();
    assert!(error.starts_with("error decoding config: line "), "{error}");
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Debuggable {
    debugging: Debugging,
}

impl Configuration for Debuggable {
    const FORMAT: Format = FORMAT;

    fn complete(self) -> Result<Self, ConfigError> {
        Ok(self)
    }
}

impl Configuration for Config {
    const FORMAT: Format = FORMAT;

    fn complete(self) -> Result<Self, ConfigError> {
        let mut errors = Vec::new();
        checks::supported(&self.log_level, &["", "info"], &field::Path::new("logLevel"), &mut errors);
        validated(self, errors)
    }
}

#[test]
fn strict_refuses_unknown_fields_and_each_error_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.yaml");
    let error = |strict| Config::load(&path, strict).unwrap_err().to_string();
    let missing = error(false);
    assert!(missing.starts_with(&format!("error reading config file {}: ", path.display())), "{missing}");
    std::fs::write(&path, with_head("pool: []\n")).unwrap();
    assert_eq!(Config::load(&path, false).unwrap().1.len(), 1);
    for (text, want) in [
        (
            with_head("pool: []\n"),
            "error decoding config: line 3, column 1: unknown field pool has no effect, did you mean pools?",
        ),
        ("a: 1\n---\n".to_owned(), "error decoding config: expected one document, found 2"),
        (
            with_head("logLevel: loud\n"),
            "logLevel: Unsupported value: \"loud\": supported values: \"\", \"info\"",
        ),
    ] {
        std::fs::write(&path, text).unwrap();
        assert_eq!(error(true), format!("{want} (in {})", path.display()));
    }
}
